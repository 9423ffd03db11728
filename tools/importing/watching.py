"""The live tail: transcripts that have grown are indexed, and what people write in the zones of pages is
taken.

A session is indexed after its growth by so many bytes or messages since the last *indexed* point, once it has
been quiet for a moment; smaller growth accumulates. At its end it is always indexed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from watchfiles import watch as changes_in

from memtape.schemas.errors import MemtapeError
from memtape.tools.capture.profiles import silence_of
from memtape.tools.capture.writing import Writer
from memtape.tools.importing import finding
from memtape.tools.importing.finding import ImportSource
from memtape.tools.importing.taking import Importer
from memtape.tools.importing.transcripts import PARSERS, records_from
from memtape.tools.keep.zones import Zones

GROWN_BYTES = 100_000
GROWN_MESSAGES = 50
QUIET_S = 1.5
ENDED_S = 600.0
"""A session quiet for this long counts as ended; no host marks the end in its transcript."""
LOOK_MS = 500
"""The interval of checks for quiet sessions."""
NEW_FOLDERS_S = 30.0
"""The interval of checks for new folders of hosts."""


class Indexed(NamedTuple):
    """The counts of taken and of known records of a session, or texts of zones (`path` is None)."""

    path: Path | None
    taken: int
    known: int = 0


Clock = Callable[[], float]
Tell = Callable[["Indexed | str"], None]
"""It gets what was taken, and the problems of zones, a sentence each."""


class Watcher:
    """Tails the sessions of hosts in their folders, by default the usual ones, until `stop`."""

    def __init__(
        self,
        writer: Writer,
        scope: str | None = None,
        folders: dict[str, list[Path]] | None = None,
        tell: Tell = lambda taken: None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._writer, self._scope, self._tell, self._clock = writer, scope, tell, clock
        self._folders = folders if folders is not None else finding.host_folders()
        self._vault = writer.home.vault
        self._zones = Zones(writer.home, writer.log, tell)
        self._saved_at: float | None = None
        self._changed: dict[Path, float] = {}
        self._looked: dict[Path, float] = {}
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
            folders, until = self._watched(), self._clock() + NEW_FOLDERS_S
            for changes in changes_in(
                *folders,
                stop_event=self.stop,
                rust_timeout=LOOK_MS,
                yield_on_timeout=True,
                raise_interrupt=False,
            ):
                self.changed(Path(path) for _, path in changes)
                self.index_due()
                if self._clock() > until and self._watched() != folders:
                    break
        self.index(filter(None, map(self._source, list(self._changed))), always=True)
        self._take_zones()

    def sources(self) -> Iterator[ImportSource]:
        """Yield the existing sessions."""
        return (it for it in finding.host_files(self._folders) if it.format in PARSERS)

    def changed(self, paths: Iterable[Path]) -> None:
        """Note that files have changed."""
        for path in paths:
            if self._source(path) is not None:
                self._changed[path] = self._clock()
            elif path.suffix == ".md" and path.is_relative_to(self._vault):
                self._saved_at = self._clock()

    def index_due(self) -> None:
        """Index the due sessions, and read edited pages after their last save."""
        now = self._clock()
        if self._saved_at is not None and now - self._saved_at >= QUIET_S:
            self._take_zones()
        for path, changed in list(self._changed.items()):
            has_ended = now - changed >= ENDED_S
            if now - changed < QUIET_S or (self._looked.get(path, changed) > changed and not has_ended):
                continue
            self._looked[path] = now
            if (source := self._source(path)) is None or not path.exists():
                self._forget(path)
            else:
                self.index([source], always=has_ended)

    def index(self, sources: Iterable[ImportSource], *, always: bool) -> None:
        """Index sessions with enough growth, or with any growth at their end; none in a pause."""
        if silence_of(self._writer.home.path, None) is not None:
            return
        importer = Importer(self._writer, self._scope)
        for source in sources:
            try:
                grown, due = growth(source, importer.positions.of(source.path).offset, always=always)
            except OSError:
                continue  # It is gone, or comes again.
            if due:
                before = importer.summary.taken, importer.summary.known
                importer.take_file(source)
                importer.append()
                taken, known = importer.summary.taken - before[0], importer.summary.known - before[1]
                self._tell(Indexed(source.path, taken, known))
            if always or due or not grown:
                self._forget(source.path)

    def _forget(self, path: Path) -> None:
        self._changed.pop(path, None)
        self._looked.pop(path, None)

    def _take_zones(self) -> None:
        self._saved_at, before = None, self._zones.done
        self._zones.once()
        if self._zones.done > before:
            self._tell(Indexed(None, self._zones.done - before))

    def _watched(self) -> list[Path]:
        hosts = (folder for folders in self._folders.values() for folder in folders)
        return [folder for folder in (*hosts, self._vault) if folder.is_dir()]

    def _source(self, path: Path) -> ImportSource | None:
        for format, folders in self._folders.items():
            for folder in folders:
                if path.is_relative_to(folder):
                    source = finding.host_file(path, format, folder)
                    return source if source is not None and source.format in PARSERS else None
        return None


def growth(source: ImportSource, indexed: int, *, always: bool) -> tuple[int, bool]:
    """Return how many bytes a session has grown beyond an offset, and whether it is due to be indexed.

    Messages are only counted where bytes do not decide. `always` is for a session that has ended.
    """
    size = source.path.stat().st_size
    start = indexed if indexed <= size else 0
    grown = size - start
    if not grown or always or grown >= GROWN_BYTES:
        return grown, grown > 0
    found = records_from(source.path, source.format, {"session": source.session, "cwd": source.cwd}, start)
    return grown, sum(record.origin in ("user", "agent") for record in found) >= GROWN_MESSAGES
