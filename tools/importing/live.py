"""Growing transcripts: when a session is due to be indexed. Clocks are arguments.

A session is indexed after its growth by so many bytes or messages since the last *indexed* point, once it has
been quiet for a moment; smaller growth accumulates. At its end it is always indexed.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from memtape.tools.importing import reading
from memtape.tools.importing.finding import ImportSource
from memtape.tools.importing.latest import records
from memtape.tools.importing.records import State

GROWN_BYTES = 100_000
GROWN_MESSAGES = 50
QUIET_S = 1.5
ENDED_S = 600.0
"""A session quiet for this long counts as ended; no host marks the end in its transcript."""


class Growth(NamedTuple):
    """The growth of a file since its last indexed point."""

    bytes: int
    messages: int


class ChangedSessions:
    """The changed sessions and their due times. Times are seconds of any one clock."""

    def __init__(self) -> None:
        self._changed: dict[Path, float] = {}
        self._looked: dict[Path, float] = {}

    def changed(self, path: Path, now_s: float) -> None:
        """Record a change of a file."""
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
        """Whether a session was quiet for `ENDED_S` seconds and counts as ended."""
        return now_s - self._changed[path] >= ENDED_S

    def indexed(self, path: Path) -> None:
        """Forget a file after its last record was indexed."""
        self._changed.pop(path, None)
        self._looked.pop(path, None)

    def rest(self) -> list[Path]:
        """Return the changed files that are not indexed yet."""
        return list(self._changed)


def is_due(growth: Growth, ended: bool) -> bool:
    """Whether a session is to be indexed now."""
    return growth.bytes > 0 and (ended or growth.bytes >= GROWN_BYTES or growth.messages >= GROWN_MESSAGES)


def growth(source: ImportSource, indexed: int) -> Growth:
    """Return how far a file has grown beyond an offset; messages are only counted where bytes do not decide."""
    size = source.path.stat().st_size
    if reading.is_packed(source.path):  # It has ended, and its bytes are not those that were read.
        return Growth(0 if indexed else size, 0)
    start = indexed if indexed <= size else 0
    if size - start >= GROWN_BYTES:
        return Growth(size - start, 0)
    state: State = {"session": source.session, "cwd": source.cwd}
    return Growth(
        size - start,
        sum(1 for record in records(source.path, source.format, state, start) if record.origin in ("user", "agent")),
    )
