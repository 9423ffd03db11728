"""What parsers make, records and skips with their reasons, the counts of an import, and readings of values.

No source is known here, and none is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from typing import Any

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Kind, Origin
from memtape.schemas.times import MAX_TIME_US, MIN_TIME_US, US_PER_S, parse_iso
from memtape.tools.capture.injected import clean, said
from memtape.tools.capture.native_ids import HOSTS, Role, heard, versioned
from memtape.tools.capture.writing import Line

MAX_NAME_CHARS = 200
MAX_PROBLEMS = 1_000
State = dict[str, Any]
"""A parser's state of a session from earlier rows, as plain JSON; it is remembered between two imports."""


class Skipped(msgspec.Struct, frozen=True):
    """Something that is not taken, and why: counted, and named with its place where it is a `problem` or
    `named`.
    """

    reason: str
    problem: bool = False
    named: bool = False


THINKING = Skipped("thinking")
INJECTED = Skipped("injected by a host or a memory")
EMPTY = Skipped("no text")
CALL = Skipped("tool call")
TOOL = Skipped("a tool's message")
BOOKKEEPING = Skipped("bookkeeping of the host")
COMPACTION = Skipped("summary of a compaction")
NO_ID = Skipped("a turn without an id", problem=True)
NO_MESSAGES = Skipped("a conversation without its messages", problem=True)
SECRETS = Skipped("of a file of secrets, and not taken")
NO_FORMAT = Skipped("a file of no known format", named=True)
"""In a folder it is no problem; a file that was given by itself is one."""


def unknown(name: object) -> Skipped:
    """Return the skip of a row of an unknown type; skips are counted by type name."""
    return Skipped(f"unknown type {clean(str(name))[:40]!r}", named=True)


class ImportProblem(msgspec.Struct, frozen=True):
    """Something that was not taken: the file, where in it (a byte, or a name in an archive), and why."""

    path: str
    place: str
    reason: str


class ImportSummary(msgspec.Struct):
    """Counts of an import. `files` were read, `unchanged` not again, `unread` gave nothing, `denied` stayed
    shut.

    `scopes` has records taken.
    `withdrawn` texts are gone from their file, `again` texts returned to one. `missing` files are absent, but
    nothing of theirs was withdrawn, since their folder is missing or empty, or cannot be read whole.
    `spooled` events wait in the home for an unreachable broker. `hidden` texts, of those taken or already
    there, were forgotten; `hidden_ids` are the first of them. `problems` are the first thousand of
    `problem_count`, and `left` the first thousand files and parts that are no problem, and of no known form.
    """

    dry_run: bool = False
    files: int = 0
    unchanged: int = 0
    unread: int = 0
    denied: int = 0
    taken: int = 0
    known: int = 0
    withdrawn: int = 0
    again: int = 0
    missing: int = 0
    scopes: dict[str, int] = msgspec.field(default_factory=dict)
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    spooled: int = 0
    hidden: int = 0
    hidden_ids: list[str] = msgspec.field(default_factory=list)
    problem_count: int = 0
    problems: list[ImportProblem] = msgspec.field(default_factory=list)
    left: list[ImportProblem] = msgspec.field(default_factory=list)

    def skip(self, skipped: Skipped, path: object, place: object = "") -> None:
        """Count a skipped record, and list its place where the skip is a problem or named."""
        self.skipped[skipped.reason] += 1
        self.problem_count += skipped.problem
        listed = self.problems if skipped.problem else self.left if skipped.named else None
        if listed is not None and len(listed) < MAX_PROBLEMS:
            listed.append(ImportProblem(str(path), str(place), skipped.reason))

    def take(self, scope: str) -> None:
        """Count a record that was taken."""
        self.taken += 1
        self.scopes[scope] = self.scopes.get(scope, 0) + 1

    @property
    def nothing_read(self) -> bool:
        """Whether no file could be read and none was denied. An empty folder does not count."""
        return self.unread > 0 and not (self.files or self.unchanged or self.denied)


class Record(Line, frozen=True, kw_only=True):
    """A said or written text, with `at` in microseconds, None where the source does not tell.

    `heard` is the native id under which a hook may have captured the same text (`native_ids.heard`). Texts
    are whole: a text too long is cut after the removal of its secrets. Of an attachment only the first
    `most_chars` characters are kept.
    """

    source: str
    native_id: str
    origin: Origin
    kind: Kind = "turn"
    at: int | None = None
    split: bool = True
    cwd: str | None = None
    heard: str | None = None
    most_chars: int | None = None


Found = Record | Skipped
Take = Callable[[dict[str, Any], State], Iterator[Found]]
"""A parser of one row; it may change the state."""


def turn(source: str, role: Role, text: str, **fields: Any) -> Found:
    """Return a turn of a user or an assistant, or the skip of a text without words of its own."""
    words, session, is_user = said(text), fields.get("session"), role == "user"
    if not words and not fields.get("media"):
        return INJECTED if text.strip() else EMPTY
    fields = {"actor": None if is_user else source, **fields}
    if session and source in HOSTS.values():
        fields["heard"] = heard(session, role, words)
    return Record(source=source, origin="user" if is_user else "agent", text=words, **fields)


def rewritten(source: str, name: str, text: str, **fields: Any) -> Found:
    """Return the record of a text that a source rewrites under one name, or the skip of an empty text."""
    told = said(text)
    if not told:
        return INJECTED if text.strip() else EMPTY
    return Record(source=source, native_id=versioned(name, told), text=told, **fields)


def text_of(row: Any, *keys: str) -> str | None:
    """Return the value of the first key with a non-blank text."""
    if isinstance(row, dict):
        for key in keys:
            value = row.get(key)
            if isinstance(value, str) and value.strip():
                return value
    return None


def object_in(row: Any, key: str) -> dict[str, Any]:
    """Return the object under a key of a row, empty where there is none."""
    value = row.get(key) if isinstance(row, dict) else None
    return value if isinstance(value, dict) else {}


def list_in(row: Any, key: str) -> list[Any]:
    """Return the list under a key of a row, empty where there is none."""
    value = row.get(key) if isinstance(row, dict) else None
    return value if isinstance(value, list) else []


def time_of(value: Any) -> int | None:
    """Return microseconds of ISO 8601, or of seconds or milliseconds since 1970; None for anything else."""
    with suppress(MemtapeError, ValueError, OverflowError):
        if isinstance(value, date):  # YAML reads dates and moments by itself.
            value = value.isoformat()
        if isinstance(value, str) and len(value) >= 8:
            return _sound(parse_iso(value))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _sound(round(value * (1_000 if abs(value) >= 10**11 else US_PER_S)))
    return None


def blocks_text(content: Any, *types: str) -> str:
    """Return the text of a content: a text, a block, or a list of them, without blocks of other types."""
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
