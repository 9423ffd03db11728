"""`questions.json` of a home: the questions that people have kept on the page, by names that they gave.

It stands in the home alone: no log and no other machine has it. A damaged file keeps none. It can be deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote_plus

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.folders import write_whole

NAME = "questions.json"
MOST_QUESTIONS = 100


def questions_of(home: Path) -> dict[str, str]:
    """Return the addresses of the questions that are kept, by their names, sorted."""
    try:
        kept = msgspec.json.decode((home / NAME).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}
    return dict(sorted(kept.items()))


def keep_question(home: Path, name: str, address: str) -> None:
    """Keep a question under a name, instead of what that named before. Raises `MemtapeError` for too many."""
    kept = questions_of(home) | {name: address}
    if len(kept) > MOST_QUESTIONS:
        raise MemtapeError(f"{MOST_QUESTIONS} questions are kept already.", "Drop one first.")
    write_whole(home / NAME, msgspec.json.encode(kept))


def drop_question(home: Path, name: str) -> str:
    """Delete a stored question; return its address, empty for an unknown question."""
    kept = questions_of(home)
    address = kept.pop(name, "")
    if address:
        write_whole(home / NAME, msgspec.json.encode(kept))
    return address


def drop_questions(home: Path, is_gone: Callable[[str], bool]) -> None:
    """Keep no question of which the name or the address says what `is_gone`."""
    kept = questions_of(home)
    left = {name: address for name, address in kept.items() if not is_gone(f"{name} {unquote_plus(address)}")}
    if left != kept:
        write_whole(home / NAME, msgspec.json.encode(left))
