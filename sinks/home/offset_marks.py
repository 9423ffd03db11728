"""A file of workers' positions in each partition of a log.

The file is a cache. If it is missing, damaged or of another log, or of a history that the log does not hold,
a worker reads the log from its beginning.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from memtape.schemas.log import Log, strayed, trail_of
from memtape.sinks.home.folders import write_whole

Mark = tuple[int, str]
"""An offset, and the trail of the log before it."""


class MarksFile(msgspec.Struct, frozen=True):
    """The content of the file: the marks of each partition, by the name of a worker's task."""

    log_id: str
    marks: dict[str, list[Mark]] = {}


class OffsetMarks:
    """The marks of one log in a file."""

    form: type[MarksFile] = MarksFile

    def __init__(self, path: Path, log: Log) -> None:
        self._path = path
        self._log = log
        self._written: dict[str, list[Mark]] = {}

    def read(self, name: str) -> list[int] | None:
        """Return the offsets under a name, None if unknown; 0 if a partition changed before the offset."""
        marks = self._known().marks.get(name)
        if marks is None or len(marks) != self._log.partitions:
            return None
        return [0 if strayed(self._log, number, *mark) else mark[0] for number, mark in enumerate(marks)]

    def write(self, name: str, offsets: list[int]) -> None:
        """Store offsets, one per partition, under a name; keep the offsets of all other names."""
        known = self._known()
        marks = self._written.get(name) or [(-1, "")] * self._log.partitions
        for number, offset in enumerate(offsets):
            if marks[number][0] != offset:
                marks[number] = offset, trail_of(self._log, number, offset)
        self._written[name] = marks
        if known.marks.get(name) != marks:
            self._write(msgspec.structs.replace(known, marks=known.marks | {name: marks}))

    def _write(self, file: MarksFile) -> None:
        write_whole(self._path, msgspec.json.encode(file))

    def _known(self) -> MarksFile:
        try:
            file = msgspec.json.decode(self._path.read_bytes(), type=self.form)
        except (OSError, msgspec.MsgspecError):
            return self.form(self._log.log_id)
        return file if file.log_id == self._log.log_id else self.form(self._log.log_id)
