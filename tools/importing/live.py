"""Transcripts that grow: when a session is due to be indexed, and the newest turns of one. Clocks are handed in.

A session is indexed when it has grown by so many bytes or messages since the last *indexed* point, once it has been
quiet for a moment; growth below that accumulates. At its end it is always indexed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from recollect.tools.importing import finding, gemini, reading
from recollect.tools.importing.finding import Source
from recollect.tools.importing.records import Record, State
from recollect.tools.importing.taking import PARSERS
from recollect.tools.native_ids import GEMINI, Role, digest

GROWN_BYTES = 100_000
GROWN_MESSAGES = 50
QUIET_S = 1.5
ENDED_S = 600.0
"""A session that has been quiet for so long counts as ended; no host says so in its transcript."""
TAIL_BYTES = 512 * 1_024


class Growth(NamedTuple):
    """How far a file has grown since the point up to which it is indexed."""

    bytes: int
    messages: int


class Said(NamedTuple):
    """The record of a turn, if it is the last thing said, and the latest that said the same before; None for none."""

    now: Record | None
    before: Record | None


class Sessions:
    """Which sessions have changed, and which of them are due. Times are seconds of any one clock."""

    def __init__(self) -> None:
        self._changed: dict[Path, float] = {}
        self._looked: dict[Path, float] = {}

    def changed(self, path: Path, now_s: float) -> None:
        """Note that a file has changed."""
        self._changed[path] = now_s

    def quiet(self, now_s: float) -> list[Path]:
        """Return the files that have changed and then been quiet, each once until it changes again or has ended."""
        due = []
        for path, changed in self._changed.items():
            looked = self._looked.get(path, float("-inf"))
            if now_s - changed >= QUIET_S and (looked <= changed or self.ended(path, now_s)):
                due.append(path)
                self._looked[path] = now_s
        return due

    def ended(self, path: Path, now_s: float) -> bool:
        """Whether a session has been quiet for so long that it counts as ended."""
        return now_s - self._changed[path] >= ENDED_S

    def indexed(self, path: Path) -> None:
        """Forget a file that has been indexed to its end."""
        self._changed.pop(path, None)
        self._looked.pop(path, None)

    def rest(self) -> list[Path]:
        """Return what has changed and has not been indexed."""
        return list(self._changed)


def is_due(growth: Growth, ended: bool) -> bool:
    """Whether a session is to be indexed now."""
    return growth.bytes > 0 and (ended or growth.bytes >= GROWN_BYTES or growth.messages >= GROWN_MESSAGES)


def growth(source: Source, indexed: int) -> Growth:
    """Return how far a file has grown beyond an offset; messages are only counted where bytes do not decide."""
    size = source.path.stat().st_size
    if reading.is_packed(source.path):  # It has ended, and its bytes are not those that were read.
        return Growth(0 if indexed else size, 0)
    start = indexed if indexed <= size else 0
    if size - start >= GROWN_BYTES:
        return Growth(size - start, 0)
    return Growth(size - start, sum(1 for record in _records(source, start) if record.origin in ("user", "agent")))


def find_turn(source: Source, role: Role, text: str) -> Said:
    """Return where, near the end of a transcript, this role says this.

    A hook is told a text; the record tells the native id of it (see `native_ids`). Only the last 512 KiB are read.
    """
    origin, wanted = ("user" if role == "user" else "agent"), digest(text)
    now = before = None
    try:
        start = max(0, source.path.stat().st_size - TAIL_BYTES)
        for record in _records(source, start):
            if record.origin == origin and digest(record.text) == wanted:
                now, before = record, now or before
            elif now is not None and record.origin in ("user", "agent"):
                now, before = None, now  # It went on since.
    except OSError:
        pass
    return Said(now, before)


def transcript(path: Path, host: str) -> Source:
    """Return a transcript that a hook names, of a host by its `source` (`native_ids.HOSTS`)."""
    return finding.named_session(path, host)


def _records(source: Source, start: int) -> Iterator[Record]:
    """Yield the records from near an offset on: from the first whole line."""
    state: State = {"session": source.session, "cwd": source.cwd}
    with source.path.open("rb") as file:
        if start and source.format in PARSERS:
            for row in reading.rows(file):  # The head tells the session.
                if isinstance(row.value, dict):
                    list(PARSERS[source.format](row.value, state))
                break
            file.seek(start - 1)
            start = start - 1 + len(file.readline(reading.MAX_LINE_BYTES))
        else:
            start = 0
        values = [row.value for row in reading.rows(file, start) if isinstance(row.value, dict)]
    if source.format == GEMINI:
        last = gemini.last_rows(enumerate(values))
        values = [value for place, value in enumerate(values) if last.get(str(value.get("id")), place) == place]
    for value in values:
        yield from (found for found in PARSERS[source.format](value, state) if isinstance(found, Record))
