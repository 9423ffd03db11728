"""The times at which repositories were asked for their last commit, so that each is asked once a day.

The file is a cache: without it each repository is asked again, and known commits are not appended twice.
"""

from __future__ import annotations

import msgspec

from memtape.sinks.home.folders import Home, write_whole

Mark = tuple[int, int]
"""When the repository of a scope was asked last, and the time of a commit that was put on the log; microseconds."""


class CommitMarks:
    """The marks of one log, by scope, in a file of a home."""

    def __init__(self, home: Home, log_id: str) -> None:
        self._path = home.commits_path
        self._log_id = log_id

    def read(self) -> dict[str, Mark]:
        """Return the marks, none where the file is missing, damaged or of another log."""
        try:
            log_id, marks = msgspec.json.decode(self._path.read_bytes(), type=tuple[str, dict[str, Mark]])
        except (OSError, msgspec.MsgspecError):
            return {}
        return marks if log_id == self._log_id else {}

    def write(self, marks: dict[str, Mark]) -> None:
        """Replace all stored marks by `marks`."""
        write_whole(self._path, msgspec.json.encode((self._log_id, marks)))
