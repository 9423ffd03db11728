"""Files that people edit: each is read once after a save, and its note says what people should mend in it.

`zones` and `tree_files` decide which events an edit makes. Files are read before pages are written, under the
lock of imports, so that two processes never append the same. A note is written after the events of its file:
a kill between the two has the file read again, and adds nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from memtape.flows.workers.worker import Worker
from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import PageBytes, PageNote, ScopeFiles, Stamp, ZoneNotes
from memtape.sinks.vault import Vault
from memtape.tools.capture.writing import Writer


class EditedFiles(ABC):
    """The files of one kind (`of`) in one scope, by path with the stamp of each.

    The caller holds the right to import into the home.
    """

    def __init__(
        self, worker: Worker, home: Home, log: Log, scope: str, stamps: dict[str, Stamp], of: str = ""
    ) -> None:
        self._worker, self._home, self._log, self._scope, self._stamps = worker, home, log, scope, stamps
        self._vault, self._files = Vault(home), ScopeFiles(home, scope)
        self._notes = ZoneNotes(home, log, scope, of)
        self._writer = Writer(home, log, scope=scope, origin="user")
        self._writer.session = None

    def take(self) -> None:
        """Read the files with a changed stamp, append their events, and tell the problems of all files."""
        kept, notes = self._notes.pages, dict[str, PageNote]()
        for path, stamp in self._stamps.items():
            if (before := kept.get(path)) is not None and before.stamp == stamp:
                notes[path] = before
            elif (page := self._files.page(path)) is not None:
                notes |= self._read(path, page, before)
        self._end()
        if notes != kept:
            self._notes.write(notes)
        for problem in (problem for note in notes.values() for problem in note.problems):
            self._worker.note(problem)

    @abstractmethod
    def _read(self, path: str, page: PageBytes, before: PageNote | None) -> dict[str, PageNote]:
        """Append the events of a file, and return the note by path: the new path of a renamed file."""

    def _end(self) -> None:  # noqa: B027 (most kinds have nothing left to do)
        """Do the rest of a taking, after the last file."""

    def _name(self, path: str) -> str:
        return (self._home.scope_folder(self._scope) / path).relative_to(self._home.path).as_posix()
