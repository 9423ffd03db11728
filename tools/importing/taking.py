"""An import: files to records to the log, in bounded memory, and how far each file has been read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

import msgspec

from memtape.schemas.errors import Denied, MemtapeError
from memtape.schemas.private import without_private
from memtape.tools.capture.native_ids import CLAUDE_AI, CLAUDE_MEMORY, DOCUMENTS, GEMINI, MARKDOWN, MEM0
from memtape.tools.capture.writing import Writer, now_us, withdraw
from memtape.tools.importing import documents, exports, finding, reading
from memtape.tools.importing.batches import Batch
from memtape.tools.importing.exported import take_events
from memtape.tools.importing.finding import ARCHIVE, EVENTS, EXPORT, ImportSource
from memtape.tools.importing.positions import FilePosition, Positions, digest
from memtape.tools.importing.records import NO_FORMAT, SECRETS, Found, ImportSummary, Record, Skipped, State
from memtape.tools.importing.transcripts import PARSERS, records_of, rows_of

SPEAKING = frozenset({MARKDOWN, CLAUDE_MEMORY, DOCUMENTS, MEM0, CLAUDE_AI})
"""Sources whose edited or deleted files withdraw their texts, turns apart."""
ROWS = "rows"
"""The format of a file of rows, each with its own type."""
_DAMAGED = Skipped("damaged in its archive", problem=True)
_IN_ARCHIVES = {"json": EXPORT, "jsonl": ROWS, "md": MARKDOWN, "markdown": MARKDOWN}

OnProgress = Callable[[int], None]
"""It is told how many bytes more have been read."""


class _Reading:
    """One reading of a file: the parser's state, and what was found so far, with the ids of the texts."""

    def __init__(self, source: ImportSource, file: IO[bytes]) -> None:
        self.source, self.file, self.status = source, file, os.fstat(file.fileno())
        self.state: State = {"session": source.session, "cwd": source.cwd}
        self.began = self.moment = self.status.st_mtime_ns // 1_000
        self.anything, self.sound = False, True
        self.said: dict[str, list[str]] = {}


class Importer:
    """Imports files. `scope` overrides each file's scope; `summary` counts on the way.

    In a dry run nothing is written. `gone` says that missing files are gone for good.
    """

    def __init__(
        self,
        writer: Writer,
        scope: str | None = None,
        *,
        dry_run: bool = False,
        gone: bool = False,
        on_progress: OnProgress = lambda taken: None,
    ) -> None:
        self._scope = scope
        self._writer, self._dry_run, self._gone, self._on_progress = writer, dry_run, gone, on_progress
        self.summary = ImportSummary(dry_run=dry_run)
        self.positions = Positions(writer.home, writer.log, scope, writer.redactor)
        self._batch = Batch(writer, scope, self.summary)
        self._folders: dict[Path, str] = {}
        self._pending: dict[Path, FilePosition] = {}

    def take(self, sources: Iterable[ImportSource], folders: Iterable[Path] = ()) -> ImportSummary:
        """Import these files, and remember the read position of each.

        `folders` are folders wholly given by the files, or missing files: texts of files gone from them are
        withdrawn.
        """
        self._folders = {folder: self.positions.key(folder) for folder in folders}
        there, unread = list[Path](), list[Path]()
        for source in sources:
            there.append(source.path)
            if source.unfit is not None:
                self.summary.skip(source.unfit, source.path)
                self.summary.unread += source.unfit.problem
                if source.path.is_dir() or source.unfit == finding.NO_TARGET:
                    unread.append(source.path)
            else:
                self.take_file(source)
        self.append()
        keys = frozenset(map(self.positions.key, there)) if self._folders else frozenset[str]()
        for folder in self._folders:
            files = self.positions.gone(folder, keys)
            saying = sum(bool(position.said) for position in files.values())
            # An absent disk looks like a missing or empty folder, and unreadable files may hold the texts:
            # then nothing is withdrawn.
            is_empty = saying > 1 and not any(folder in path.parents for path in there)
            hides = any(folder in (path, *path.parents) or path in folder.parents for path in unread)
            if hides or (not self._gone and (is_empty or not folder.exists())):
                self.summary.missing += saying
            else:
                self._replace(dict.fromkeys(files))
        return self.summary

    def take_file(self, source: ImportSource) -> None:
        """Read a file; its records may wait until `append`."""
        seen, anything = self.summary.problem_count, False
        try:
            self._writer.redactor.check_path(str(source.path))
            with reading.opened(source.path) as file:
                read = _Reading(source, file)
                kept = None if self._dry_run else self.positions.unchanged(source.path, read.status)
                if kept is not None:
                    self.summary.unchanged += 1
                    self._on_progress(read.status.st_size)
                    if (folder := self._folder_of(source)) not in ("", kept.folder):
                        self._pending[source.path] = msgspec.structs.replace(kept, folder=folder)
                    return
                if source.format == EVENTS:
                    self._take_events(read)
                else:
                    self._take_rows(read) if source.format in PARSERS else self._take_whole(read)
                anything = read.anything
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
        """Let new positions count, by key: withdraw texts that no file says now, restore returned texts."""
        gone, new = self.positions.differences(files)
        known = {scope: [id for id in ids if id in self._batch.known] for scope, ids in new.items()}
        self.summary.withdrawn += withdraw(self._writer, gone, dry_run=self._dry_run)
        self.summary.again += withdraw(self._writer, known, on=False, dry_run=self._dry_run)
        if files and not self._dry_run:
            self.positions.put(files)

    def _take_rows(self, read: _Reading) -> None:
        """Read a transcript from where it was read last. A record without a time has its predecessor's."""
        end, format = 0, read.source.format
        if not self._dry_run and (resumed := self.positions.resume(read.source.path, read.file)):
            end, read.state, read.anything = *resumed, True
        for row, found in rows_of(format, read.file, read.state, 0 if format == GEMINI else end):
            end = row.end
            self._put(read, f"byte {row.start}", found)
            self._on_progress(row.end - row.start)
            if self._batch.full:
                self._remember(read, end)
                self.append()
        self._remember(read, end)

    def _take_events(self, read: _Reading) -> None:
        """Append the events of an export of Memtape that the log does not have."""
        for end, has_any in take_events(read.file, self._writer, self._scope, self.summary, read.source.path):
            read.anything = read.anything or has_any
            self._on_progress(end)
        self._remember(read, read.status.st_size)

    def _take_whole(self, read: _Reading) -> None:
        """Read a file that has no end to go on from."""
        seen, source = self.summary.problem_count, read.source
        for place, found in self._parts(read):
            self._put(read, place, found)
        if source.format != ARCHIVE:
            self._on_progress(read.status.st_size)
        is_sound = read.sound and self.summary.problem_count == seen
        for scope, ids in self.positions.of(source.path).said.items():
            # The earlier texts of a file that was read for another scope, or in part, may still be there.
            if not is_sound or (read.said and scope not in read.said):
                read.said[scope] = [*dict.fromkeys([*read.said.get(scope, ()), *ids])]
        read.state = {}
        self._remember(read, read.status.st_size)

    def _parts(self, read: _Reading) -> Iterator[tuple[str, Iterable[Found]]]:
        """Yield the parts of a file that is read whole: each place for messages, and its records."""
        if read.source.format != ARCHIVE:
            in_rows = read.source.format == EXPORT and read.source.path.suffix.lower() == ".jsonl"
            yield from _content(read, read.file, ROWS if in_rows else read.source.format)
            return
        begun = read.state
        for name, size, member in reading.members(read.file):
            read.state = dict(begun)
            hidden = any(part.startswith((".", "__MACOSX")) for part in name.split("/"))
            format = None if hidden else _IN_ARCHIVES.get(name.lower().rpartition(".")[2])
            try:
                self._writer.redactor.check_path(name)
                if isinstance(member, Skipped):
                    yield name, [member]
                else:
                    yield from _content(read, member, format, name)
            except Denied:
                yield name, [SECRETS]
            except reading.BAD_ARCHIVE:
                yield name, [_DAMAGED]
            self._on_progress(size)

    def _put(self, read: _Reading, place: str, found: Iterable[Found]) -> None:
        """Add the records of a part of a file to the batch. One without a time has its predecessor's."""
        for one in found:
            if not isinstance(one, Record):
                self.summary.skip(one, read.source.path, place)
                read.sound = read.sound and one != exports.OTHER
                read.anything = read.anything or not one.problem
            else:
                read.moment = min(one.at if one.at is not None else read.moment, now_us())
                read.anything, timed = True, msgspec.structs.replace(one, at=read.moment)
                added = self._batch.add(timed, read.source.path, place)
                if added and one.source in SPEAKING and one.kind != "turn":
                    read.said.setdefault(added.scope, []).extend(added.ids[:2])  # Whole, and the first part.
                if self._batch.full and read.source.format not in PARSERS:
                    self.append()

    def _remember(self, read: _Reading, end: int) -> None:
        """Note the read position of a file; it counts once all records up to it are on the log."""
        status = read.status
        self._pending[read.source.path] = FilePosition(
            offset=end, size=max(end, status.st_size), modified=status.st_mtime_ns,
            digest=digest(read.file, end), said=read.said, folder=self._folder_of(read.source),
            state=msgspec.json.decode(msgspec.json.encode(read.state)),
            file=(status.st_dev, status.st_ino),
        )  # fmt: skip

    def _folder_of(self, source: ImportSource) -> str:
        """Return the key of the folder that a file was named with, empty where it was named by itself."""
        parents = frozenset(source.path.parents)
        return next((key for folder, key in self._folders.items() if folder in parents), "")


def _content(
    read: _Reading, file: IO[bytes], format: str | None, place: str = ""
) -> Iterator[tuple[str, Iterable[Found]]]:
    """Yield the parts of a file or of a member of an archive.

    Only rows go on with the time of the row before.
    """
    source, read.moment = read.source, read.began
    if format in (MARKDOWN, CLAUDE_MEMORY):
        name, (text, problem) = place or source.name, reading.text(file)
        text = without_private(text)  # A private part may reach over several points.
        if problem is not None:
            yield place, [problem]
        if text.strip() and format == CLAUDE_MEMORY:
            yield place, documents.take_memory(text, name, read.began, source.cwd)
        elif text.strip():
            yield place, documents.take_note(text, name, read.began)
    elif format == DOCUMENTS:
        data = file.read(documents.MAX_FILE_BYTES + 1)
        yield place, documents.take_document(data, source.path.suffix.lower(), source.name, read.began)
    elif format == EXPORT:
        for number, item in enumerate(reading.items(file)):
            read.moment = read.began
            found = [item] if isinstance(item, Skipped) else exports.take(item, read.state)
            yield f"{place} item {number}".strip(), found
    elif format == ROWS:
        parser = None
        for row in reading.rows(file):
            if parser is None and isinstance(row.value, dict):
                parser = PARSERS.get(finding.format_of_row(row.value) or "")
            yield f"{place} byte {row.start}".strip(), records_of(parser or exports.take, row, read.state)
    else:
        yield place, [NO_FORMAT]
