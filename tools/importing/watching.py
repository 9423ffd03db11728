"""The live tail: it waits for transcripts to grow and indexes those that are due (`live`), and for people to write in
the zones of pages. Here is the clock.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from watchfiles import watch as changes_in

from memtape.flows.workers.worker import OnNote
from memtape.schemas.errors import MemtapeError
from memtape.tools.capture.pausing import silence_of
from memtape.tools.capture.writing import Writer
from memtape.tools.importing import finding
from memtape.tools.importing.finding import BY_ROWS, ImportSource
from memtape.tools.importing.live import QUIET_S, ChangedSessions, growth, is_due
from memtape.tools.importing.taking import Importer
from memtape.tools.keep.zones import Zones

LOOK_MS = 500
"""The interval of checks for quiet sessions."""
NEW_FOLDERS_S = 30.0
"""The interval of checks for new folders of hosts."""


class Indexed(NamedTuple):
    """A session that was indexed: how many records were taken, and how many stood on the log already."""

    path: Path
    taken: int
    known: int


OnIndexed = Callable[[Indexed], None]
Clock = Callable[[], float]


class Watcher:
    """Tails the sessions of hosts in their folders, by default the usual ones. `stop` ends it, in any thread.

    `zones` reads people's edits in the pages of the vault; `on_written` gets the number of their texts.
    """

    def __init__(
        self,
        writer: Writer,
        scope: str | None = None,
        folders: dict[str, list[Path]] | None = None,
        on_indexed: OnIndexed = lambda indexed: None,
        clock: Clock = time.monotonic,
        on_note: OnNote = lambda note: None,
        on_written: Callable[[int], None] = lambda texts: None,
    ) -> None:
        self._writer, self._scope = writer, scope
        self._folders = folders if folders is not None else finding.host_folders()
        self._on_indexed = on_indexed
        self._clock = clock
        self._vault = writer.home.vault
        self._zones = Zones(writer.home, writer.log, on_note)
        self._on_written = on_written
        self._saved_at: float | None = None
        self._sessions = ChangedSessions()
        self.stop = threading.Event()

    def run(self) -> None:
        """Index the sessions left from before, watch until `stop` is set, and index the rest."""
        if not self._watched():
            raise MemtapeError(
                "No host has kept a session here yet.",
                "Use Claude Code, Codex or Gemini once, or set its home variable.",
            )
        self.index(self.sources(), always=True)
        self._take_zones()
        while not self.stop.is_set():
            self._watch_for(NEW_FOLDERS_S)
        self.index(filter(None, map(self._source, self._sessions.rest())), always=True)
        self._take_zones()

    def sources(self) -> Iterator[ImportSource]:
        """Yield the existing sessions."""
        for folder in self._watched():
            for path in finding.walk(folder) if folder != self._vault else ():
                source = self._source(path) if isinstance(path, Path) else None
                if source is not None:
                    yield source

    def changed(self, paths: Iterable[Path]) -> None:
        """Note that files have changed."""
        for path in paths:
            if self._source(path) is not None:
                self._sessions.changed(path, self._clock())
            elif path.suffix == ".md" and path.is_relative_to(self._vault):
                self._saved_at = self._clock()

    def index_due(self) -> None:
        """Index the due sessions, and read edited pages after their last save."""
        now = self._clock()
        if self._saved_at is not None and now - self._saved_at >= QUIET_S:
            self._take_zones()
        for path in self._sessions.quiet(now):
            source = self._source(path)
            if source is None or not path.exists():
                self._sessions.indexed(path)
            else:
                self.index([source], always=self._sessions.ended(path, now))

    def index(self, sources: Iterable[ImportSource], *, always: bool) -> None:
        """Index sessions with enough growth, or with any growth at their end; none in a pause."""
        if silence_of(self._writer.home.path, None) is not None:
            return
        importer = Importer(self._writer, self._scope)
        summary = importer.summary
        for source in sources:
            try:
                grown = growth(source, importer.positions.offset(source.path))
            except OSError:
                continue  # It is gone, or comes again.
            if is_due(grown, always):
                before = summary.taken, summary.known
                importer.take_file(source)
                importer.append()
                self._on_indexed(Indexed(source.path, summary.taken - before[0], summary.known - before[1]))
            if always or is_due(grown, always) or not grown.bytes:
                self._sessions.indexed(source.path)
        importer.finish()

    def _take_zones(self) -> None:
        self._saved_at, before = None, self._zones.done
        self._zones.once()
        if self._zones.done > before:
            self._on_written(self._zones.done - before)

    def _watch_for(self, seconds: float) -> None:
        folders = self._watched()
        until = self._clock() + seconds
        for changes in changes_in(
            *folders, stop_event=self.stop, rust_timeout=LOOK_MS, yield_on_timeout=True, raise_interrupt=False
        ):
            self.changed(Path(path) for _, path in changes)
            self.index_due()
            if self._clock() > until and self._watched() != folders:
                return

    def _watched(self) -> list[Path]:
        hosts = (folder for folders in self._folders.values() for folder in folders)
        return [folder for folder in (*hosts, self._vault) if folder.is_dir()]

    def _source(self, path: Path) -> ImportSource | None:
        for format, folders in self._folders.items():
            for folder in folders:
                if path.is_relative_to(folder):
                    source = finding.host_file(path, format, folder)
                    return source if source is not None and source.format in BY_ROWS else None
        return None
