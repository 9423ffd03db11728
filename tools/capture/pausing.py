"""Whether anything may be stored now: by the pauses of a home, and by the environment of this run.

`sinks/home/pauses.py` defines pauses. Every code that appends a text for a caller asks here first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memtape.schemas.errors import Paused
from memtape.schemas.times import format_time
from memtape.schemas.variables import CAPTURE_OFF, CAPTURE_VARIABLE
from memtape.sinks.home.pauses import Pause, pauses_of, stores_nothing


class Silence(NamedTuple):
    """The reason why nothing is stored, and the way to end the pause: a sentence each."""

    told: str
    then: str

    def __str__(self) -> str:
        return f"{self.told} {self.then}"


OF_RUN = Silence(f"Memory is paused for this run ({CAPTURE_VARIABLE}={CAPTURE_OFF}).", "Nothing of it is stored.")


def silence_of(home: Path, scope: Callable[[], str] | None) -> Silence | None:
    """Return why nothing is stored in a scope, None where all is; without a scope, of the whole home.

    The scope is only asked for where a project is paused, since it takes time. Raises `MemtapeError` for a file of
    pauses that is damaged.
    """
    if stores_nothing():
        return OF_RUN
    now = time.time_ns() // 1_000
    lasting = pauses_of(home).lasting(now)
    if lasting and lasting[0].scope is None:
        return silence_by(lasting[0])
    if not lasting or scope is None:
        return None
    name = scope()
    return next((silence_by(it) for it in lasting if it.concerns(name)), None)


def silence_by(pause: Pause) -> Silence:
    """Return the messages about a pause in effect."""
    until = "" if pause.until is None else f" until {format_time(pause.until)}"
    of, word = ("", "") if pause.scope is None else (f" for {pause.scope}", f" --scope {pause.scope}")
    return Silence(f"Memory is paused{of}{until}: nothing is stored.", f"`memtape resume{word}` ends the pause.")


def check_storing(home: Path, scope: Callable[[], str] | None) -> None:
    """Raise `Paused` where nothing is stored in a scope; without a scope, in the whole home."""
    if (silence := silence_of(home, scope)) is not None:
        raise Paused(*silence)
