"""An import: files to records to the log, in bounded memory, and how far each file has been read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import msgspec

from memtape.schemas.errors import Denied, MemtapeError
from memtape.schemas.private import without_private
from memtape.tools.capture.native_ids import (
    CLAUDE_AI,
    CLAUDE_CODE,
    CLAUDE_MEMORY,
    CODEX,
    DOCUMENTS,
    GEMINI,
    MARKDOWN,
    MEM0,
)
from memtape.tools.capture.withdrawing import Withdrawing
from memtape.tools.capture.writing import Writer, now_us
from memtape.tools.importing import claude_code, codex, documents, exports, finding, gemini, notes, reading
from memtape.tools.importing.batches import SECRETS, Batch, Waiting
from memtape.tools.importing.finding import ImportSource, Unfit
from memtape.tools.importing.positions import FilePosition, Positions, digest
from memtape.tools.importing.records import Found, Record, Skipped, State, Take
from memtape.tools.importing.summary import ImportSummary

SAVE_EVERY_S = 2.0
SPEAKING = frozenset({MARKDOWN, CLAUDE_MEMORY, DOCUMENTS, MEM0, CLAUDE_AI})
"""Sources whose edited or deleted files withdraw their texts, turns apart."""
ROWS = "rows"
"""Rows of JSON, each with its own type."""
PARSERS: dict[str, Take] = {CLAUDE_CODE: claude_code.take, CODEX: codex.take, GEMINI: gemini.take}

OnProgress = Callable[[int], None]
"""It is told how many bytes more have been read."""


class Importer:
    """Imports files. `scope` overrides each file's scope; `reread` reads unchanged files again.

    `gone` says that missing files are gone for good. `summary` counts on the way. Nothing is written in a dry
    run.
    """

    def __init__(
        self,
        writer: Writer,
        scope: str | None = None,
        *,
        dry_run: bool = False,
        reread: bool = False,
        only: str | None = None,
        gone: bool = False,
        on_progress: OnProgress = lambda taken: None,
    ) -> None:
        self._writer = writer
        self.summary = ImportSummary(dry_run=dry_run)
        self.positions = Positions(writer.home, writer.log, scope, writer.redactor)
        self._batch = Batch(writer, scope, self.summary)
        self._withdrawing = Withdrawing(writer, dry_run=dry_run)
        self._folders: dict[Path, str] = {}
        self._said: dict[str, list[str]] = {}
        self._reread = reread or dry_run
        self._only = only
        self._gone = gone
        self._sound = True
        self._on_progress = on_progress
        self._pending: dict[Path, FilePosition] = {}
        self._saved = time.monotonic()
        self._unsaved = False

    def take(self, sources: Iterable[ImportSource | Unfit], folders: Iterable[Path] = ()) -> ImportSummary:
        """Import these files, and remember the read position of each.

        `folders` are folders wholly given by the files, or missing files: texts of files gone from them are
        withdrawn.
        """
        self._folders = {folder: self.positions.key(folder) for folder in folders}
        there, unfit = [], []
        for source in sources:
            there.append(source.path)
            if isinstance(source, Unfit):
                self.summary.skip(source.why, source.path)
                self.summary.unread += source.why.problem
                unfit.append(source)
            else:
                self.take_file(source)
        self.append()
        if self._folders:
            keys = frozenset(self.positions.key(path) for path in there)
            unread = [one.path for one in unfit if one.path.is_dir() or one.why == finding.NO_TARGET]
            for folder in self._folders:
                self._withdraw_gone(folder, self.positions.gone(folder, keys), there, unread)
        self.finish()
        return self.summary

    def take_file(self, source: ImportSource) -> None:
        """Read a file; its records may wait until `finish`."""
        seen = self.summary.problem_count
        self._anything = False
        try:
            self._writer.redactor.check_path(str(source.path))
            with reading.opened(source.path) as file:
                status = os.fstat(file.fileno())
                if not self._reread and self.positions.unchanged(source.path, status):
                    self.summary.unchanged += 1
                    if not self.summary.dry_run and self.positions.name_folder(source.path, self._folder_of(source)):
                        self._unsaved = True
                    self._on_progress(status.st_size)
                    return
                if reading.is_packed(source.path):
                    self._take_packed(source, file, status)
                elif source.format in PARSERS:
                    self._take_rows(source, file, status)
                else:
                    self._take_whole(source, file, status)
        except Denied:
            self.summary.skip(SECRETS, source.path)
            self.summary.denied += 1
            return
        except OSError as error:
            self.summary.skip(Skipped(f"cannot be read: {error.strerror}", problem=True), source.path)
        if self._anything or self.summary.problem_count == seen:
            self.summary.files += 1
        else:
            self.summary.unread += 1
            self._pending.pop(source.path, None)  # Whoever asks again is told again.

    def append(self) -> None:
        """Append the waiting records; now and then write the positions."""
        try:
            self._batch.append()
        except OSError as error:
            raise MemtapeError(
                f"The home cannot be written: {error.strerror}.", "Give the same command again."
            ) from None
        self._withdraw_changed()
        for path, position in self._pending.items() if not self.summary.dry_run else ():
            if path in self._batch.deferred:
                continue
            self.positions.drop(self.positions.moved(path, position))
            self.positions.put(path, position)
            self._unsaved = True
        self._pending.clear()
        if time.monotonic() - self._saved > SAVE_EVERY_S:
            self._save()

    def finish(self) -> None:
        """Append the waiting records, and write the positions."""
        self.append()
        self._save()

    def _withdraw_changed(self) -> None:
        """Withdraw the texts gone from re-read files, and restore returned texts."""
        gone: dict[str, list[str]] = {}
        back: dict[str, list[str]] = {}
        now = {id: None for read in self._pending.values() for ids in read.said.values() for id in ids}
        for path, position in self._pending.items():
            before = self.positions.said(path)
            for scope, ids in before.items():
                gone.setdefault(scope, []).extend(id for id in ids if id not in now)
            for scope, ids in position.said.items():
                told = dict.fromkeys(before.get(scope, ()))
                back.setdefault(scope, []).extend(id for id in ids if id in self._batch.known and id not in told)
        self._withdraw(gone, map(self.positions.key, self._pending))
        self.summary.again += self._withdrawing.say_again({scope: ids for scope, ids in back.items() if ids})

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
        if hides or (not self._gone and (is_empty or not folder.exists())):
            self.summary.missing += saying
            return
        gone: dict[str, list[str]] = {}
        for position in files.values():
            for scope, ids in position.said.items():
                gone.setdefault(scope, []).extend(ids)
        self._withdraw(gone, files)
        if files and not self.summary.dry_run:
            self.positions.drop(files)
            self._unsaved = True

    def _withdraw(self, gone: dict[str, list[str]], files: Iterable[str]) -> None:
        """Withdraw the texts that are in no file outside `files` (keys)."""
        said = self.positions.said_elsewhere((id for ids in gone.values() for id in ids), files)
        left = {scope: [id for id in ids if id not in said] for scope, ids in gone.items()}
        self.summary.withdrawn += self._withdrawing.withdraw({scope: ids for scope, ids in left.items() if ids})

    def _save(self) -> None:
        if self._unsaved:
            with suppress(OSError):  # Without positions the next import reads more, and that is all.
                self.positions.save()
        self._saved, self._unsaved = time.monotonic(), False

    def _take_rows(self, source: ImportSource, file: IO[bytes], status: os.stat_result) -> None:
        offset, state = self._start(source, file)
        if source.format == GEMINI:
            # Rows change afterwards, so that only the whole file tells which of them count.
            offset, state = 0, self._state(source)
            file.seek(0)
            state["last"] = gemini.last_rows(
                (row.start, row.value) for row in reading.rows(file) if isinstance(row.value, dict)
            )
        file.seek(offset)
        self._anything = offset > 0
        moment, end = status.st_mtime_ns // 1_000, offset
        for row in reading.rows(file, offset):
            end = row.end
            self._on_progress(row.end - row.start)
            if isinstance(row.value, dict):
                state["place"] = row.start
                moment = self._put_all(PARSERS[source.format](row.value, state), source, f"byte {row.start}", moment)
            elif row.value is not None:
                self.summary.skip(row.value, source.path, f"byte {row.start}")
            if self._batch.full:
                self._remember(source, file, status, end, state)
                self.append()
                file.seek(end)
        self._remember(source, file, status, end, state)

    def _take_packed(self, source: ImportSource, file: IO[bytes], status: os.stat_result) -> None:
        whole, problem = reading.unpacked(file)
        with whole:
            self._take_rows(source, whole, status)
        if problem is not None:
            self.summary.skip(problem, source.path)

    def _start(self, source: ImportSource, file: IO[bytes]) -> tuple[int, State]:
        """Return the offset to begin at, and the parser's state there."""
        if self._reread:
            return 0, self._state(source)
        offset, state = self.positions.resume(source.path, file)
        return (offset, state) if offset else (0, self._state(source))

    def _state(self, source: ImportSource) -> State:
        return {"session": source.session, "cwd": source.cwd}

    def _take_whole(self, source: ImportSource, file: IO[bytes], status: os.stat_result) -> None:
        modified, problems = status.st_mtime_ns // 1_000, self.summary.problem_count
        self._said, self._sound = {}, True
        if source.format == finding.ARCHIVE:
            self._take_archive(source, file, modified)
        else:
            in_rows = source.format == finding.EXPORT and source.path.suffix.lower() == ".jsonl"
            self._take_member(source, file, ROWS if in_rows else source.format, "", modified)
            self._on_progress(status.st_size)
        self._keep_said(source.path, sound=self._sound and self.summary.problem_count == problems)
        self._remember(source, file, status, status.st_size, {})

    def _keep_said(self, path: Path, *, sound: bool) -> None:
        """Keep the earlier texts of a file read for another scope or in part: they may still be there."""
        for scope, ids in self.positions.said(path).items():
            if not sound or (self._said and scope not in self._said):
                self._said[scope] = [*dict.fromkeys([*self._said.get(scope, ()), *ids])]

    def _take_archive(self, source: ImportSource, file: IO[bytes], modified: int) -> None:
        for member in reading.members(file):
            if isinstance(member.file, Skipped):
                self.summary.skip(member.file, source.path, member.name)
            else:
                try:
                    self._writer.redactor.check_path(member.name)
                    self._take_member(source, member.file, _format_in_archive(member.name), member.name, modified)
                except Denied:
                    self.summary.skip(SECRETS, source.path, member.name)
                except reading.BAD_ARCHIVE:
                    self.summary.skip(Skipped("damaged in its archive", problem=True), source.path, member.name)
            self._on_progress(member.size)

    def _take_member(
        self, source: ImportSource, file: IO[bytes], format: str | None, place: str, modified: int
    ) -> None:
        """Take a file that is read whole: an export, a note, or rows in an archive."""
        if format in (MARKDOWN, CLAUDE_MEMORY):
            self._take_text(source, file, format, place, modified)
        elif format == DOCUMENTS:
            data = file.read(documents.MAX_FILE_BYTES + 1)
            found = documents.take_document(data, source.path.suffix.lower(), source.name, modified)
            self._put_all(found, source, place, modified)
        elif format == finding.EXPORT:
            self._take_items(source, file, place, modified)
        elif format is not None:
            state, parser = self._state(source), PARSERS.get(format)
            for row in reading.rows(file):
                where = f"{place} byte {row.start}"
                if isinstance(row.value, dict):
                    parser = parser or PARSERS.get(finding.format_of_row(row.value) or "")
                    found = parser(row.value, state) if parser else exports.take(None, row.value, state)
                    modified = self._put_all(found, source, where, modified)
                elif row.value is not None:
                    self.summary.skip(row.value, source.path, where)
        else:
            self.summary.skip(finding.NO_FORMAT, source.path, place)

    def _take_items(self, source: ImportSource, file: IO[bytes], place: str, modified: int) -> None:
        state = self._state(source)
        for number, item in enumerate(reading.items(file)):
            where = f"{place} item {number}".strip()
            if isinstance(item.value, Skipped):
                self.summary.skip(item.value, source.path, where)
            else:
                self._put_all(self._of_source(item, state), source, where, modified)

    def _of_source(self, item: reading.ListItem, state: State) -> Iterator[Found]:
        return exports.take(item.key, item.value, state)

    def _take_text(self, source: ImportSource, file: IO[bytes], format: str, place: str, modified: int) -> None:
        text, problem = reading.text(file)
        text = without_private(text)  # A private part may reach over several points.
        if problem is not None:
            self.summary.skip(problem, source.path, place)
        name = place or source.name
        if not text.strip():
            self._anything = self._anything or problem is None
        elif format == CLAUDE_MEMORY:
            self._put_all(notes.take_memory(text, name, modified, source.cwd), source, place, modified)
        else:
            self._put_all(notes.take_note(text, name, modified), source, place, modified)

    def _put_all(self, found: Iterable[Found], source: ImportSource, place: str, moment: int) -> int:
        """Add records to the batch; return the time of the last. One without a time has its predecessor's."""
        for one in found:
            if isinstance(one, Record) and self._only in (None, one.source):
                moment = min(one.at if one.at is not None else moment, now_us())
                self._batch.add(Waiting(one, source.path, place, moment))
                speaks = one.source in SPEAKING and one.kind != "turn"
                if speaks and (found_ids := self._batch.ids_of(one, source.path)):
                    self._said.setdefault(found_ids[0], []).extend(found_ids[1])
                self._anything = True
                if self._batch.full and source.format not in PARSERS:
                    self.append()
            elif isinstance(one, Record):
                self._sound = False
                self.summary.skip(Skipped(f"of {one.source}, which was not asked for"), source.path)
            else:
                self.summary.skip(one, source.path, place)
                self._sound = self._sound and one != exports.OTHER
                self._anything = self._anything or not one.problem
        return moment

    def _remember(self, source: ImportSource, file: IO[bytes], status: os.stat_result, end: int, state: State) -> None:
        """Note the read position of a file; it counts once all records up to it are on the log."""
        kept: dict[str, Any] = {key: value for key, value in state.items() if key not in ("last", "place", "head")}
        packed = status.st_size if reading.is_packed(source.path) else 0
        size = max(end, os.fstat(file.fileno()).st_size if packed else status.st_size)
        state = msgspec.json.decode(msgspec.json.encode(kept))
        said = {} if source.format in PARSERS else self._said
        position = FilePosition(
            end, size, status.st_mtime_ns, digest(file, end), state, packed, said, self._folder_of(source),
            (status.st_dev, status.st_ino),
        )  # fmt: skip
        self._pending[source.path] = position

    def _folder_of(self, source: ImportSource) -> str:
        """Return the key of the folder that a file was named with, empty where it was named by itself."""
        parents = frozenset(source.path.parents)
        return next((key for folder, key in self._folders.items() if folder in parents), "")


def _format_in_archive(name: str) -> str | None:
    """Return how a file in an archive is to be read, None where it is none of ours."""
    hidden = any(part.startswith((".", "__MACOSX")) for part in name.split("/"))
    ending = name.lower().rpartition(".")[2]
    endings = {"json": finding.EXPORT, "jsonl": ROWS, "md": MARKDOWN, "markdown": MARKDOWN}
    return None if hidden else endings.get(ending)
