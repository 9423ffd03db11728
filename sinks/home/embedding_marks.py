"""`embedding.json` of a home, by embedder: below which offset of each partition no text waits for a vector, and when
texts that had been given up were last tried again.

It is a cache. Where it is missing, damaged or of another log, or of a history that the log does not hold, the embed
worker reads the log from its beginning.
"""

from __future__ import annotations

import msgspec

from memtape.schemas.log import Log, strayed, trail_of
from memtape.sinks.home.folders import Home, write_whole

RETRY_EVERY_S = 24 * 3_600

_Mark = tuple[int, str]
"""An offset, and the trail of the log before it."""


class _File(msgspec.Struct, frozen=True):
    log_id: str
    marks: dict[str, list[_Mark]] = {}
    tried_again_s: dict[str, int] = {}


class EmbeddingMarks:
    """The marks of one log in a home."""

    def __init__(self, home: Home, log: Log) -> None:
        self._path = home.embedding_path
        self._log = log
        self._written: dict[str, list[_Mark]] = {}

    def read(self, embedder: str) -> list[int] | None:
        """Return the marks of an embedder, None where nothing is known; 0 where the log is not as it was before one."""
        marks = self._known().marks.get(embedder)
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
        if known.marks.get(embedder) != marks:
            self._write(msgspec.structs.replace(known, marks=known.marks | {embedder: marks}))

    def is_due(self, embedder: str, now_s: int) -> bool:
        """Whether texts that were given up are to be tried again: once a day, or when nobody knows of the last time."""
        last_s = self._known().tried_again_s.get(embedder)
        return last_s is None or not 0 <= now_s - last_s < RETRY_EVERY_S

    def given_up(self, embedder: str, now_s: int) -> None:
        """Note that a text was given up, a day from when the first of them is tried again."""
        if embedder not in self._known().tried_again_s:
            self.tried_again(embedder, now_s)

    def tried_again(self, embedder: str, now_s: int) -> None:
        """Note when texts that had been given up were tried again; 0 has it done now."""
        known = self._known()
        self._write(msgspec.structs.replace(known, tried_again_s=known.tried_again_s | {embedder: now_s}))

    def _write(self, file: _File) -> None:
        write_whole(self._path, msgspec.json.encode(file))

    def _known(self) -> _File:
        try:
            file = msgspec.json.decode(self._path.read_bytes(), type=_File)
        except (OSError, msgspec.MsgspecError):
            return _File(self._log.log_id)
        return file if file.log_id == self._log.log_id else _File(self._log.log_id)
