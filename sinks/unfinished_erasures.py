"""Interrupted erasures: the data that the next call needs to finish and prove them.

A plan's file holds the erased texts, since their absence can be proven only with them: a digest of a word
reveals the word to a trial of all words. The file is readable by its owner alone, and is deleted once the
absence is proven. Until then `status` and `doctor` name the command that finishes the erasure.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

import msgspec

from memtape.sinks.home.folders import Home, make_folder, write_whole

Plan = TypeVar("Plan")


def keep_unfinished(home: Home, name: str, plan: msgspec.Struct) -> None:
    """Keep a plan under a name, durably, until `drop_unfinished`."""
    make_folder(home.erasures)
    write_whole(home.erasures / f"{name}.json", msgspec.json.encode(plan), durable=True)


def unfinished_erasures(home: Home, type: type[Plan]) -> Iterator[Plan]:
    """Yield each kept plan. A file that cannot be read stays, and a proof names it."""
    for path in sorted(home.erasures.glob("*.json")):
        try:
            yield msgspec.json.decode(path.read_bytes(), type=type)
        except (OSError, msgspec.MsgspecError):
            continue


class _Named(msgspec.Struct):
    """The part of an erasure plan read here: its scope."""

    scope: str


def commands_that_finish(home: Home) -> list[str]:
    """Return for each kept plan, even an incomplete one, the command that finishes its erasure."""
    scopes = dict.fromkeys((path.name.strip(".").partition(".")[0] for path in home.erasures.glob("*")), "")
    for name in scopes:
        with suppress(OSError, msgspec.MsgspecError):
            scopes[name] = msgspec.json.decode((home.erasures / f"{name}.json").read_bytes(), type=_Named).scope
    return [f"memtape erase {name}" + (f" --scope {scope}" if scope else "") for name, scope in sorted(scopes.items())]


def drop_unfinished(home: Home, name: str) -> None:
    """Delete a kept plan, and the unfinished file of a killed writer."""
    for path in home.erasures.glob(f"*{name}.json*"):
        path.unlink(missing_ok=True)
