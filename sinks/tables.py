"""The views of one partition: its tables, the search indexes over them, and the watermark of both.

An epoch writes the tables first, then the indexes, which have the addresses of the rows, and the watermark
last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from memtape.schemas.codec import canonical
from memtape.schemas.log import Log
from memtape.schemas.log import strayed as strayed_from
from memtape.schemas.rows import (
    TABLES,
    Guarded,
    LivingRow,
    ScopeHeld,
    Watermark,
)  # fmt: skip
from memtape.sinks.home.builds import Build
from memtape.sinks.home.files import make_folder, write_whole
from memtape.sinks.row_tables import RowTables, guarded_read, vectors_table
from memtape.sinks.search_index import OpenIndex, SearchIndex, indexed_scopes
from memtape.state.views.indexed import FOUND

WATERMARK, INDEX = "watermark.json", "index"
"""The entries of a partition's folder beside its tables."""
RowT = TypeVar("RowT", bound=LivingRow)


class _Written(msgspec.Struct):
    """The values stored with a watermark: the versions of the tables and of each scope's search index.

    `held` has the counts of each scope, so that `status` opens no index.
    """

    tables: dict[str, int] = {}
    indexes: dict[str, int] = {}
    held: dict[str, ScopeHeld] = {}


class _Rules(msgspec.Struct, frozen=True):
    """The one field of a watermark that every version has."""

    rules: str


# msgspec looks at a type when it first meets it, and two threads that do so at once crash the process.
msgspec.json.Decoder(_Rules)
_WATERMARK, _WRITTEN = msgspec.json.Decoder(Watermark), msgspec.json.Decoder(_Written)


class _WatermarkFile:
    """The watermark of a partition and the versions stored with it, read again where the file has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[tuple[int, int, int], Watermark | None, _Written] | None = None

    def read(self) -> tuple[Watermark | None, _Written]:
        """Return the watermark, None if missing or of another version, and what is stored with it."""
        try:
            found = self._path.stat()
            written = found.st_ino, found.st_mtime_ns, found.st_size
            if self._read is None or self._read[0] != written:
                data = self._path.read_bytes()
                mark, others = None, _Written()
                with suppress(msgspec.ValidationError):
                    mark = _WATERMARK.decode(data)
                    others = _WRITTEN.decode(data)
                self._read = written, mark, others
        except (FileNotFoundError, NotADirectoryError):
            return None, _Written()
        return self._read[1:]

    def tables(self) -> dict[str, int]:
        """Return the versions of the tables."""
        return self.read()[1].tables

    def write(self, watermark: Watermark, written: _Written) -> None:
        """Write a watermark, and the versions stored with the watermark."""
        said = msgspec.to_builtins(watermark) | msgspec.to_builtins(written)
        make_folder(self._path.parent)
        write_whole(self._path, canonical(said))


def served_versions(shard: Path) -> dict[str, int]:
    """Return the version of each table that the watermark in the folder of a shard names."""
    return _WatermarkFile(shard / WATERMARK).tables()


class Shard:
    """The tables and search indexes of one partition. One process writes them; any number may read.

    A reader raises `DamagedViews` for views that cannot be read, and `RowsMoved` for rows that are replaced
    while they are read.
    """

    def __init__(self, path: Path, partition: int) -> None:
        self.path = path
        self.partition = partition
        self._open()

    def _open(self) -> None:
        # None of these refers to the shard: a cycle of large arrays would outlive its last use.
        self._mark = _WatermarkFile(self.path / WATERMARK)
        self._tables = RowTables(self.path, self.partition, self._mark.tables)
        self._index = SearchIndex(self.path / INDEX, self._tables.take)
        self._is_whole = False

    def exists(self) -> bool:
        """Return whether a first row has ever come."""
        return self.path.is_dir()

    def write(self, rows: Sequence[Guarded]) -> None:
        """Write rows; skip a row no newer than the stored row with its key."""
        # Tables as the watermark has them hold the rows that the index knows, and no other.
        self._is_whole = self._is_whole or self._is_as_marked()
        is_new = [not known for known in self._index.known(rows)] if self._is_whole else [False] * len(rows)
        self._is_whole = False
        self._index.write(rows, self._tables.write(rows, is_new))
        self._is_whole = True

    def _is_as_marked(self) -> bool:
        """Return whether every table has the version that the watermark names, or none was ever written."""
        named = self._mark.read()[1].tables
        if self._mark.read()[0] is None or named.keys() != dict.fromkeys(self._tables.names()).keys():
            return not self.exists()
        tables = {name: self._tables.table(name) for name in named}
        return all(table is not None and table.version == named[name] for name, table in tables.items())

    @guarded_read
    def write_watermark(self, watermark: Watermark) -> None:
        """Store the offset up to which all written rows are valid; call it last.

        Small fragments of the tables are merged then, so that no reader waits for that.
        """
        self._store(watermark)
        if self._tables.tidy():
            self._store(watermark)

    def _store(self, watermark: Watermark) -> None:
        for name in self._tables.names():
            # Read once: no other process writes here, and this one records its own writes.
            if name not in self._tables.versions and (table := self._tables.table(name)) is not None:
                self._tables.versions[name] = table.version
        indexes, held = dict(self._index.numbers), dict(self._index.held)
        with suppress(msgspec.MsgspecError):  # One that cannot be read is written over.
            before = self._mark.read()[1]
            indexes, held = before.indexes | indexes, before.held | held
        self._mark.write(watermark, _Written(self._tables.versions, indexes, held))

    def rules(self) -> str:
        """Return by which rules the views were made, also of another version; empty where nothing says so."""
        try:
            return msgspec.json.decode((self.path / WATERMARK).read_bytes(), type=_Rules).rules
        except (OSError, msgspec.MsgspecError):
            return ""

    @guarded_read
    def watermark(self) -> Watermark | None:
        """Return the last watermark, None if missing or of another version (its views are made anew)."""
        return self._mark.read()[0]

    @guarded_read
    def index(self, scope: str, before: OpenIndex | None = None) -> OpenIndex | None:
        """Return the search index of a scope as it is now, None if no row of it was ever written.

        Open segments are reused as by `SearchIndex.open`.
        """
        written = self._mark.read()[1].indexes.get(scope, 0)  # Read first: an index may only be newer.
        opened = self._index.open(scope, before)
        if (0 if opened is None else opened.manifest.number) < written:
            raise FileNotFoundError(f"The newest search index of {scope} is gone.")
        return opened

    @guarded_read
    def indexes(self) -> dict[str, OpenIndex]:
        """Return the search index of every scope with one, by scope."""
        names = indexed_scopes(self.path / INDEX)
        found = {name: self.index(name) for name in dict.fromkeys((*names, *self._mark.read()[1].indexes))}
        return {name: opened for name, opened in found.items() if opened is not None}

    @guarded_read
    def held(self) -> dict[str, ScopeHeld]:
        """Return the counts of each scope with content, from the watermark."""
        return {name: held for name, held in sorted(self._mark.read()[1].held.items()) if held != ScopeHeld()}

    @guarded_read
    def check(self) -> None:
        """Read every table whole, the search indexes, and the watermark."""
        self._mark.read()
        self._tables.check()
        for opened in self.indexes().values():
            for _ in (row for kind in TABLES.values() for row in opened.rows(kind)):
                pass

    @guarded_read
    def check_addresses(self, indexes: Iterable[OpenIndex]) -> None:
        """Raise `DamagedViews` unless each text of the search indexes has the address of its row."""
        placed = {name: self._tables.placed(name) for name in FOUND}
        for opened in indexes:
            opened.check_addresses(placed)

    @guarded_read
    def rows(self, row_type: type[RowT], scope: str | None = None) -> list[RowT]:
        """Return the rows of a table except removed ones, of one scope or all, in the order of their keys."""
        return self._tables.rows(row_type, scope)

    @guarded_read
    def folder(self) -> TableFolder | None:
        """Return where the tables are, and how far they are true; None before the first watermark."""
        mark, written = self._mark.read()
        if mark is None:
            return None
        embedders = dict.fromkeys(filter(None, (mark.embedder, mark.embedder_next)))
        vectors = {key: name for key in embedders if (name := vectors_table(key)) in written.tables}
        return TableFolder(self.partition, self.path, mark.offset, dict(written.tables), vectors)

    def clean(self) -> None:
        """Delete the versions of the tables before those that the watermark names."""
        self._tables.clean()

    def reopen(self) -> None:
        """Open the tables anew at the next question."""
        self._tables.reopen()

    def discard(self) -> None:
        """Delete the whole shard, to be written again from the log."""
        from shutil import rmtree

        self._open()
        rmtree(self.path, ignore_errors=True)


class TableFolder(NamedTuple):
    """The LanceDB tables of one partition, for other tools: a folder that `lancedb.connect` opens.

    Their rows are what the log says before `offset`, in the `versions` by table; a later version may hold a
    part of an epoch. A row with `gone` was removed. `vectors` has the table of each embedder's vectors.
    """

    partition: int
    path: Path
    offset: int
    versions: dict[str, int]
    vectors: dict[str, str]


def table_folders(build: Build, partitions: int) -> list[TableFolder]:
    """Return the tables of the partitions of a build that have any. Raises `DamagedViews`."""
    shards = (Shard(build.shard(number), number) for number in range(partitions))
    return [found for shard in shards if (found := shard.folder()) is not None]


def foreign(log: Log, watermark: Watermark) -> str:
    """Return the reason why views with this watermark are not of the log as it is now, empty if they are."""
    if watermark.log_id != log.log_id:
        return f"those of partition {watermark.partition} are of another log"
    return strayed_from(log, watermark.partition, watermark.offset, watermark.trail)
