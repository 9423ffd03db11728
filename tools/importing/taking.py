"""An import: files to records to the log, in bounded memory, and how far each file has been read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from memtape.schemas.errors import Denied, MemtapeError
from memtape.tools.capture.native_ids import CLAUDE_AI, CLAUDE_MEMORY, DOCUMENTS, MARKDOWN, MEM0
from memtape.tools.capture.withdrawing import withdraw
from memtape.tools.capture.writing import Writer, now_us
from memtape.tools.importing import exports, finding, reading
from memtape.tools.importing.batches import Batch, Waiting
from memtape.tools.importing.finding import ImportSource, Unfit
from memtape.tools.importing.parsing import PARSERS, FilePiece, pieces_of, rows_of
from memtape.tools.importing.positions import FilePosition, Positions, digest
from memtape.tools.importing.records import SECRETS, ImportSummary, Record, Skipped, State

SPEAKING = frozenset({MARKDOWN, CLAUDE_MEMORY, DOCUMENTS, MEM0, CLAUDE_AI})
"""Sources whose edited or deleted files withdraw their texts, turns apart."""

OnProgress = Callable[[int], None]
"""It is told how many bytes more have been read."""


class ImportOptions(NamedTuple):
    """How an import reads: `reread` reads unchanged files again, `only` takes one source's records, `gone` says
    that missing files are gone for good. In a dry run nothing is written.
    """

    dry_run: bool = False
    reread: bool = False
    only: str | None = None
    gone: bool = False


class _Reading:
    """One reading of a file: the parser's state, and what was found so far, with the ids of the texts."""

    def __init__(self, source: ImportSource, file: IO[bytes], status: os.stat_result) -> None:
        self.source, self.file, self.status = source, file, status
        self.state: State = {"session": source.session, "cwd": source.cwd}
        self.began = self.moment = status.st_mtime_ns // 1_000
        self.anything, self.sound = False, True
        self.said: dict[str, list[str]] = {}


class Importer:
    """Imports files. `scope` overrides each file's scope; `summary` counts on the way."""

    def __init__(
        self,
        writer: Writer,
        scope: str | None = None,
        options: ImportOptions = ImportOptions(),  # noqa: B008 (nobody can change it)
        on_progress: OnProgress = lambda taken: None,
    ) -> None:
        self._writer, self._options, self._on_progress = writer, options, on_progress
        self.summary = ImportSummary(dry_run=options.dry_run)
        self.positions = Positions(writer.home, writer.log, scope, writer.redactor)
        self._batch = Batch(writer, scope, self.summary)
        self._reread = options.reread or options.dry_run
        self._folders: dict[Path, str] = {}
        self._pending: dict[Path, FilePosition] = {}

    def take(self, sources: Iterable[ImportSource | Unfit], folders: Iterable[Path] = ()) -> ImportSummary:
        """Import these files, and remember the read position of each.

        `folders` are folders wholly given by the files, or missing files: texts of files gone from them are
        withdrawn.
        """
        self._folders = {folder: self.positions.key(folder) for folder in folders}
        there, unread = list[Path](), list[Path]()
        for source in sources:
            there.append(source.path)
            if isinstance(source, Unfit):
                self.summary.skip(source.why, source.path)
                self.summary.unread += source.why.problem
                if source.path.is_dir() or source.why == finding.NO_TARGET:
                    unread.append(source.path)
            else:
                self.take_file(source)
        self.append()
        if self._folders:
            keys = frozenset(map(self.positions.key, there))
            for folder in self._folders:
                self._withdraw_gone(folder, self.positions.gone(folder, keys), there, unread)
        return self.summary

    def take_file(self, source: ImportSource) -> None:
        """Read a file; its records may wait until `append`."""
        seen, anything = self.summary.problem_count, False
        try:
            self._writer.redactor.check_path(str(source.path))
            with reading.opened(source.path) as file:
                status = os.fstat(file.fileno())
                if not self._reread and (kept := self.positions.unchanged(source.path, status)) is not None:
                    self.summary.unchanged += 1
                    self._on_progress(status.st_size)
                    if (folder := self._folder_of(source)) not in ("", kept.folder):
                        self._pending[source.path] = msgspec.structs.replace(kept, folder=folder)
                    return
                take = self._take_rows if source.format in PARSERS else self._take_whole
                anything = take(_Reading(source, file, status))
        except Denied:
            self.summary.skip(SECRETS, source.path)
            self.summary.denied += 1
            return
        except OSError as error:
            self.summary.skip(Skipped(f"cannot be read: {error.strerror}", problem=True), source.path)
        if anything or self.summary.problem_count == seen:
            self.summary.files += 1
        else:
            self.summary.unread += 1
            self._pending.pop(source.path, None)  # Whoever asks again is told again.

    def append(self) -> None:
        """Append the waiting records, and write the positions."""
        try:
            self._batch.append()
        except OSError as error:
            raise MemtapeError(
                f"The home cannot be written: {error.strerror}.", "Give the same command again."
            ) from None
        counted = ((path, read) for path, read in self._pending.items() if path not in self._batch.deferred)
        files = {self.positions.key(path): read for path, read in counted}
        self._replace({**files, **dict.fromkeys(self.positions.moved(files))})
        self._pending.clear()

    def _replace(self, files: Mapping[str, FilePosition | None]) -> None:
        """Let new positions count, by key: withdraw the texts that no file says any more, restore returned texts."""
        gone, new = self.positions.differences(files)
        back = {scope: known for scope, ids in new.items() if (known := [id for id in ids if id in self._batch.known])}
        self.summary.withdrawn += withdraw(self._writer, gone, dry_run=self._options.dry_run)
        self.summary.again += withdraw(self._writer, back, on=False, dry_run=self._options.dry_run)
        if files and not self.summary.dry_run:
            self.positions.put(files)
            with suppress(OSError):  # Without positions the next import reads more, and that is all.
                self.positions.save()

    def _withdraw_gone(
        self, folder: Path, files: dict[str, FilePosition], there: list[Path], unread: list[Path]
    ) -> None:
        """Withdraw the texts of files that are gone from a folder.

        An absent disk looks like a missing or empty folder, and unreadable files may hold the texts: then
        nothing is withdrawn.
        """
        saying = sum(bool(position.said) for position in files.values())
        is_empty = saying > 1 and not any(folder in path.parents for path in there)
        hides = any(folder in (path, *path.parents) or path in folder.parents for path in unread)
        if hides or (not self._options.gone and (is_empty or not folder.exists())):
            self.summary.missing += saying
            return
        self._replace(dict.fromkeys(files))

    def _take_rows(self, read: _Reading) -> bool:
        """Read a transcript from where it was read last; return whether anything was found."""
        end = 0
        if not self._reread:
            end, state = self.positions.resume(read.source.path, read.file)
            read.state, read.anything = state if end else read.state, end > 0
        for piece in rows_of(read.source, read.file, read.state, end):
            end = piece.end
            self._put(piece, read)
            if self._batch.full:
                self._remember(read, end)
                self.append()
        self._remember(read, end)
        return read.anything

    def _take_whole(self, read: _Reading) -> bool:
        """Read a file that has no end to go on from; return whether anything was found."""
        seen, source = self.summary.problem_count, read.source
        for piece in pieces_of(source, read.file, read.state, read.began, self._writer.redactor.check_path):
            self._put(piece, read)
        if source.format != finding.ARCHIVE:
            self._on_progress(read.status.st_size)
        is_sound = read.sound and self.summary.problem_count == seen
        for scope, ids in self.positions.of(source.path).said.items():
            # The earlier texts of a file that was read for another scope, or in part, may still be there.
            if not is_sound or (read.said and scope not in read.said):
                read.said[scope] = [*dict.fromkeys([*read.said.get(scope, ()), *ids])]
        read.state = {}
        self._remember(read, read.status.st_size)
        return read.anything

    def _put(self, piece: FilePiece, read: _Reading) -> None:
        """Add the records of a piece to the batch. One without a time has its predecessor's."""
        read.moment = read.moment if piece.follows else read.began
        for one in piece.found:
            if not isinstance(one, Record):
                self.summary.skip(one, read.source.path, piece.place)
                read.sound = read.sound and one != exports.OTHER
                read.anything = read.anything or not one.problem
            elif self._options.only not in (None, one.source):
                read.sound = False
                self.summary.skip(Skipped(f"of {one.source}, which was not asked for"), read.source.path)
            else:
                read.moment, read.anything = min(one.at if one.at is not None else read.moment, now_us()), True
                self._batch.add(Waiting(one, read.source.path, piece.place, read.moment))
                speaks = one.source in SPEAKING and one.kind != "turn"
                if speaks and (ids := self._batch.ids_of(one, read.source.path)):
                    read.said.setdefault(ids[0], []).extend(ids[1])
                if self._batch.full and read.source.format not in PARSERS:
                    self.append()
        self._on_progress(piece.size)

    def _remember(self, read: _Reading, end: int) -> None:
        """Note the read position of a file; it counts once all records up to it are on the log."""
        status = read.status
        kept = {key: value for key, value in read.state.items() if key not in ("last", "place")}
        self._pending[read.source.path] = FilePosition(
            offset=end,
            size=max(end, status.st_size),
            modified=status.st_mtime_ns,
            digest=digest(read.file, end),
            state=msgspec.json.decode(msgspec.json.encode(kept)),
            said=read.said,
            folder=self._folder_of(read.source),
            file=(status.st_dev, status.st_ino),
        )

    def _folder_of(self, source: ImportSource) -> str:
        """Return the key of the folder that a file was named with, empty where it was named by itself."""
        parents = frozenset(source.path.parents)
        return next((key for folder, key in self._folders.items() if folder in parents), "")
