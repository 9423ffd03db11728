"""`questions.json` of a home: the questions saved by people on the page, by name.

The file is in the home alone: no log and no other machine has it. A damaged file counts as empty. It can be
deleted.
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
    """Save a question under a name, replacing an older one. Raises `MemtapeError` for too many."""
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
    """Delete the questions whose name or address satisfies `is_gone`."""
    kept = questions_of(home)
    left = {name: address for name, address in kept.items() if not is_gone(f"{name} {unquote_plus(address)}")}
    if left != kept:
        write_whole(home / NAME, msgspec.json.encode(left))
