"""`embedding.json` of a home: below which offset of each partition no text waits for a vector, by embedder.

It is a cache. Where it is missing, damaged or of another log, or of a history that the log does not hold, the embed
worker reads the log from its beginning.
"""

from __future__ import annotations

import msgspec

from memtape.schemas.log import Log, strayed, trail_of
from memtape.sinks.home.folders import Home, write_whole

_Mark = tuple[int, str]
"""An offset, and the trail of the log before it."""


class _File(msgspec.Struct, frozen=True):
    log_id: str
    marks: dict[str, list[_Mark]]


class EmbeddingMarks:
    """The marks of one log in a home."""

    def __init__(self, home: Home, log: Log) -> None:
        self._path = home.embedding_path
        self._log = log
        self._written: dict[str, list[_Mark]] = {}

    def read(self, embedder: str) -> list[int] | None:
        """Return the marks of an embedder, None where nothing is known; 0 where the log is not as it was before one."""
        marks = self._known().get(embedder)
        if marks is None or len(marks) != self._log.partitions:
            return None
        return [0 if strayed(self._log, number, *mark) else mark[0] for number, mark in enumerate(marks)]

    def write(self, embedder: str, offsets: list[int]) -> None:
        """Keep the marks of an embedder beside those of others."""
        known = self._known()
        marks = self._written.get(embedder) or [(-1, "")] * self._log.partitions
        for number, offset in enumerate(offsets):
            if marks[number][0] != offset:
                marks[number] = offset, trail_of(self._log, number, offset)
        self._written[embedder] = marks
        if known.get(embedder) != marks:
            write_whole(self._path, msgspec.json.encode(_File(self._log.log_id, known | {embedder: marks})))

    def _known(self) -> dict[str, list[_Mark]]:
        try:
            file = msgspec.json.decode(self._path.read_bytes(), type=_File)
        except (OSError, msgspec.MsgspecError):
            return {}
        return file.marks if file.log_id == self._log.log_id else {}
