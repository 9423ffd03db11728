"""The records that parsers make, and readings of values that several parsers share. No source is known here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import msgspec

from memtape.schemas.actions import Act
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Kind, Origin
from memtape.schemas.times import MAX_TIME_US, MIN_TIME_US, US_PER_S, parse_iso
from memtape.tools.capture.injected import said
from memtape.tools.capture.lines import Line
from memtape.tools.capture.native_ids import HOSTS, Role, heard
from memtape.tools.importing import skips
from memtape.tools.importing.skips import Skipped

MAX_NAME_CHARS = 200
State = dict[str, Any]
"""A parser's state of a session from earlier rows, as plain JSON; it is remembered between two imports."""


class FinishedCommand(msgspec.Struct, frozen=True):
    """A finished command: its words, its output, whether it failed, and the exit code where known."""

    act: Act
    command: str
    output: str
    failed: bool
    exit: int | None


class Record(Line, frozen=True, kw_only=True):
    """A said or written text, with `at` in microseconds, None where the source does not tell.

    `heard` is the native id under which a hook may have captured the same text (`native_ids.heard`). Texts
    are whole: a text too long is cut after the removal of its secrets, and of one with `only_head`, as an
    attachment, only the head is kept. `ran` is the command of an agent, told in one line of its own.
    """

    source: str
    native_id: str
    origin: Origin
    kind: Kind = "turn"
    at: int | None = None
    split: bool = True
    cwd: str | None = None
    heard: str | None = None
    only_head: bool = False
    ran: FinishedCommand | None = None


Found = Record | Skipped
Take = Callable[[dict[str, Any], State], Iterator[Found]]
"""A parser of one row; it may change the state."""


def turn(source: str, role: Role, text: str, **fields: Any) -> Found:
    """Return a turn of a user or an assistant, or the skip of a text without words of its own."""
    words, session, is_user = said(text), fields.get("session"), role == "user"
    if not words and not fields.get("media"):
        return skips.INJECTED if text.strip() else skips.EMPTY
    fields = {"actor": None if is_user else source, **fields}
    if session and source in HOSTS.values():
        fields["heard"] = heard(session, role, words)
    return Record(source=source, origin="user" if is_user else "agent", text=words, **fields)


def text_of(row: Any, *keys: str) -> str | None:
    """Return the value of the first key with a non-blank text."""
    if isinstance(row, dict):
        for key in keys:
            value = row.get(key)
            if isinstance(value, str) and value.strip():
                return value
    return None


def time_of(value: Any) -> int | None:
    """Return microseconds of ISO 8601, or of seconds or milliseconds since 1970; None for anything else."""
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, date):  # YAML reads dates and moments by itself.
            value = value.isoformat()
        if isinstance(value, str):
            return _sound(parse_iso(value)) if len(value) >= 8 else None
        if isinstance(value, int | float):
            return _sound(round(value * (1_000 if abs(value) >= 10**11 else US_PER_S)))
    except (MemtapeError, ValueError, OverflowError):
        pass
    return None


def blocks_text(content: Any, *types: str) -> str:
    """Return the text of a content that is a text, a block, or a list of them; blocks of other types are left out."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = (
        part if isinstance(part, str) else text_of(part, "text")
        for part in parts
        if isinstance(part, str) or (isinstance(part, dict) and part.get("type", "text") in types)
    )
    return "\n\n".join(text for text in texts if text)


def _sound(time_us: int) -> int | None:
    return time_us if MIN_TIME_US <= time_us <= MAX_TIME_US else None
