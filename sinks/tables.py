"""LanceDB tables, one folder a partition: this file owns their schemas, guarded writes and reading.

A write is idempotent: a row is only replaced by one of a later generation or offset. A row that is gone
stays, blank, so that a late write meets its guard. The tables are read and written by Lance, the engine under
LanceDB, which is imported in a sixth of the time; LanceDB opens the folder of a partition as a database.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import cache, wraps
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

import msgspec
import numpy as np

from memtape.schemas.codec import canonical
from memtape.schemas.embedding import dimensions_of
from memtape.schemas.errors import DamagedViews, MemtapeError
from memtape.schemas.log import Log
from memtape.schemas.log import strayed as strayed_from
from memtape.schemas.rows import (
    TABLES,
    DeadLetter,
    GoneRow,
    Guarded,
    LivingRow,
    Row,
    ScopeHeld,
    TableName,
    VectorRow,
    Watermark,
)
from memtape.schemas.scopes import check_scope
from memtape.sinks.home.folders import make_folder, write_whole
from memtape.sinks.search_index import OpenIndex, SearchIndex, indexed_scopes

if TYPE_CHECKING:
    import pyarrow as pa
    from lance import LanceDataset

VECTORS = "vectors-"
"""The prefix of the names of vectors' tables; the rest is a digest of the embedder's key."""
OPTIMIZE_EVERY = 64
"""Versions of a table between two clean-ups: a thousand one-row commits make reads ten times slower."""
WATERMARK, INDEX = "watermark.json", "index"
"""The entries of a partition's folder beside its tables."""
KEEP_VERSIONS = timedelta(minutes=10)
"""Time for which old versions stay, for readers with one open."""

_NEWER = "source.generation > target.generation"
_NEWER += " OR (source.generation = target.generation AND source.offset > target.offset)"

ReadT = TypeVar("ReadT")
Given = ParamSpec("Given")
RowT = TypeVar("RowT", bound=LivingRow)


def _reads(method: Callable[Concatenate[Shard, Given], ReadT]) -> Callable[Concatenate[Shard, Given], ReadT]:
    """Wrap a reading method: raise `DamagedViews` for any error in it.

    Lance, Arrow and Rust under them have no one class for damage, and a panic is no `Exception`.
    """

    @wraps(method)
    def reading(self: Shard, /, *args: Given.args, **kwargs: Given.kwargs) -> ReadT:
        try:
            return method(self, *args, **kwargs)
        except (MemtapeError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            raise DamagedViews(
                f"The views of partition {self.partition} cannot be read.",
                "`memtape run --once` makes them anew from the log; the next search may, too.",
                self.partition,
            ) from error

    return reading


class _Written(msgspec.Struct):
    """The values stored with a watermark: the versions of the tables and of each scope's search index.

    `held` has the counts of each scope, so that `status` opens no index.
    """

    tables: dict[str, int] = {}
    indexes: dict[str, int] = {}
    held: dict[str, ScopeHeld] = {}


# msgspec looks at a type when it first meets it, and two threads that do so at once crash the process.
_WATERMARK, _WRITTEN = msgspec.json.Decoder(Watermark), msgspec.json.Decoder(_Written)


class Shard:
    """The tables of one partition. One process writes them; any number may read.

    A reader raises `DamagedViews` for tables that cannot be read.
    """

    def __init__(self, path: Path, partition: int) -> None:
        self.path = path
        self.partition = partition
        self._tables: dict[str, LanceDataset] = {}
        self._versions: dict[str, int] = {}
        self._mark: tuple[tuple[int, int, int], Watermark | None, _Written] | None = None
        self._index = SearchIndex(path / INDEX)
        self._made: dict[str, None] = {}

    def exists(self) -> bool:
        """Return whether a first row has ever come."""
        return self.path.is_dir()

    def write(self, rows: Sequence[Guarded], dead_letters: Sequence[DeadLetter]) -> None:
        """Write rows and dead letters; skip a row no newer than the stored row with its key."""
        known = self._index.known(rows) if self._made else []
        try:
            self._write(rows, known)
            self._index.write(rows)
        except BaseException:
            self._made.clear()  # The index does not know by now what the tables have.
            raise
        if dead_letters:
            records = [msgspec.to_builtins(letter) for letter in dead_letters]
            self._merge("dead_letters", _schema(DeadLetter, guarded=False), records)

    @_reads
    def write_watermark(self, watermark: Watermark) -> None:
        """Store the offset up to which all written rows are valid; call it last."""
        for path in sorted(self.path.glob("*.lance")):
            # Read once: no other process writes here, and this one records its own writes.
            if path.stem not in self._versions and (table := self._table(path.stem)) is not None:
                self._versions[path.stem] = table.version
        indexes, held = dict(self._index.numbers), dict(self._index.held)
        with suppress(msgspec.MsgspecError):  # One that cannot be read is written over.
            before = self._marked()[1]
            indexes, held = before.indexes | indexes, before.held | held
        said = msgspec.to_builtins(watermark) | msgspec.to_builtins(_Written(self._versions, indexes, held))
        make_folder(self.path)
        write_whole(self.path / WATERMARK, canonical(said))

    @_reads
    def watermark(self) -> Watermark | None:
        """Return the last watermark, None if missing or of another version (its views are made anew)."""
        return self._marked()[0]

    def _marked(self) -> tuple[Watermark | None, _Written]:
        path = self.path / WATERMARK
        try:
            found = path.stat()
            written = found.st_ino, found.st_mtime_ns, found.st_size
            if self._mark is None or self._mark[0] != written:
                data = path.read_bytes()
                mark, others = None, _Written()
                with suppress(msgspec.ValidationError):
                    mark = _WATERMARK.decode(data)
                    others = _WRITTEN.decode(data)
                self._mark = written, mark, others
        except (FileNotFoundError, NotADirectoryError):
            return None, _Written()
        return self._mark[1:]

    @_reads
    def index(self, scope: str, before: OpenIndex | None = None) -> OpenIndex | None:
        """Return the search index of a scope as it is now, None if no row of it was ever written.

        Open segments are reused as by `SearchIndex.open`.
        """
        written = self._marked()[1].indexes.get(scope, 0)  # Read first: an index may only be newer.
        opened = self._index.open(scope, before)
        if (0 if opened is None else opened.manifest.number) < written:
            raise FileNotFoundError(f"The newest search index of {scope} is gone.")
        return opened

    @_reads
    def indexes(self) -> dict[str, OpenIndex]:
        """Return the search index of every scope with one, by scope."""
        names = indexed_scopes(self.path / INDEX)
        found = {name: self.index(name) for name in dict.fromkeys((*names, *self._marked()[1].indexes))}
        return {name: opened for name, opened in found.items() if opened is not None}

    @_reads
    def held(self) -> dict[str, ScopeHeld]:
        """Return the counts of each scope with content, from the watermark."""
        return {name: held for name, held in sorted(self._marked()[1].held.items()) if held != ScopeHeld()}

    @_reads
    def check(self) -> None:
        """Read every table whole, and its watermark."""
        self._marked()
        for name in self._known_tables():
            if (table := self._table(name)) is not None:
                for batch in table.to_batches():
                    batch.validate(full=True)
        for opened in self.indexes().values():
            for _ in (row for kind in TABLES.values() for row in opened.rows(kind)):
                pass

    @_reads
    def rows(self, row_type: type[RowT], scope: str | None = None) -> list[RowT]:
        """Return the rows of a table except removed ones, of one scope or all, in the order of their keys.

        A table of older rules, read until it is rebuilt, lacks fields added since.
        """
        wanted = "NOT gone" if scope is None else f"NOT gone AND scope = '{check_scope(scope)}'"
        rows: list[RowT] = []
        # Of vectors there is one table an embedder.
        names: list[str] = [name for name, kind in TABLES.items() if kind is row_type]
        if row_type is VectorRow:
            names = [name for name in self._known_tables() if name.startswith(VECTORS)]
        for name in names:
            table = self._table(name)
            if table is not None:
                fields = [field for field in table.schema.names if field in row_type.__struct_fields__]
                found = table.to_table(columns=fields, filter=wanted)
                rows += (msgspec.convert(row, row_type) for row in _records(found))
        return sorted(rows, key=lambda row: row.key)

    def all_rows(self, name: TableName) -> list[Row]:
        """Return the rows of a table except removed ones, for comparing whole views."""
        return list(self.rows(TABLES[name]))

    @_reads
    def dead_letters(self, limit: int) -> list[DeadLetter]:
        """Return dead letters in the order of their offsets."""
        table = self._table("dead_letters")
        rows = table.to_table().to_pylist() if table else []
        letters = (msgspec.convert(row, DeadLetter) for row in rows)
        return sorted(letters, key=lambda letter: letter.offset)[:limit]

    def discard(self) -> None:
        """Delete the whole shard, to be written again from the log."""
        from shutil import rmtree

        self._tables.clear()
        self._versions.clear()
        self._mark = None
        self._made.clear()
        self._index = SearchIndex(self.path / INDEX)
        rmtree(self.path, ignore_errors=True)

    def _known_tables(self) -> list[str]:
        """Return the names of the present tables, and of the tables in the watermark."""
        return sorted({*(path.stem for path in self.path.glob("*.lance")), *self._marked()[1].tables})

    def _write(self, rows: Sequence[Guarded], known: Sequence[bool]) -> None:
        """Write rows to their tables; `known` says which may be there, if this object has made a table."""
        for name, row_type in TABLES.items():
            own = [n for n, guarded in enumerate(rows) if guarded.table == name]
            if row_type is VectorRow:
                by_embedder: dict[str, list[dict[str, Any]]] = {}
                for n in own:
                    # A gone row says no more than its key, which ends in the embedder.
                    said = rows[n].row.key.removeprefix(f"{rows[n].row.scope}/")
                    embedder = said.partition(":")[2]
                    by_embedder.setdefault(embedder, []).append(_record(row_type, rows[n]))
                for embedder, records in by_embedder.items():
                    schema = _vector_schema(dimensions_of(embedder))
                    self._merge(_vectors_table(embedder), schema, records)
                continue
            is_new = {n: name in self._made and not known[n] for n in own}
            for new in (True, False):
                if records := [_record(row_type, rows[n]) for n in own if is_new[n] is new]:
                    self._merge(name, _schema(row_type), records, new)

    def _merge(self, name: str, schema: pa.Schema, records: list[dict[str, Any]], new: bool = False) -> None:
        """Add rows, and replace older ones. Surely `new` rows take a third of the time, in any table."""
        import lance
        import pyarrow as pa

        data = pa.Table.from_pylist(records, schema=schema)
        table = self._table(name)
        if table is None:
            table = self._create(name, data)
        elif new:
            table = lance.write_dataset(data, table, mode="append")
        else:
            key, newer = ("key", _NEWER) if "key" in schema.names else ("offset", None)
            table.merge_insert(key).when_matched_update_all(newer).when_not_matched_insert_all().execute(data)
        if table.version % OPTIMIZE_EVERY == 0:
            self._tidy(table)
        self._tables[name], self._versions[name] = table, table.version

    def _create(self, name: str, data: pa.Table) -> LanceDataset:
        """Make a table of its first rows."""
        import lance

        self._made[name] = None
        make_folder(self.path)
        return lance.write_dataset(data, self.path / f"{name}.lance")

    def _tidy(self, table: LanceDataset) -> None:
        """Merge many small files into few large ones, and delete the versions that no reader uses."""
        table.optimize.compact_files()
        table.cleanup_old_versions(KEEP_VERSIONS)

    def _table(self, name: str) -> LanceDataset | None:
        """Return a table at its newest version, None if it does not exist."""
        if name not in self._tables:
            # A maker that was killed leaves a folder without a version, which is no table yet.
            if not any((self.path / f"{name}.lance" / "_versions").glob("*.manifest")):
                if name in self._marked()[1].tables:
                    raise FileNotFoundError(f"The table {name} is gone.")
                return None
            import lance

            self._tables[name] = lance.dataset(self.path / f"{name}.lance")
        table = self._tables[name]
        table.checkout_latest()  # type: ignore[no-untyped-call]
        # Where the newest version is lost, Lance opens the one before it without a word.
        if table.version < self._marked()[1].tables.get(name, 0):
            raise FileNotFoundError(f"The newest version of the table {name} is gone.")
        return table


def foreign(log: Log, watermark: Watermark) -> str:
    """Return the reason why views with this watermark are not of the log as it is now, empty if they are."""
    if watermark.log_id != log.log_id:
        return f"those of partition {watermark.partition} are of another log"
    return strayed_from(log, watermark.partition, watermark.offset, watermark.trail)


def _record(row_type: type[Any], guarded: Guarded) -> dict[str, Any]:
    fields = msgspec.to_builtins(guarded.row, builtin_types=(bytes,))
    if isinstance(guarded.row, VectorRow):
        fields["vector"] = np.frombuffer(guarded.row.vector, dtype="<i2").astype(np.float32)
    gone = isinstance(guarded.row, GoneRow)
    record = {name: fields.get(name) for name in row_type.__struct_fields__}
    return {**record, "gone": gone, "generation": guarded.generation, "offset": guarded.offset}


@cache
def _schema(row_type: type[Any], guarded: bool = True) -> pa.Schema:
    """Return the Arrow schema of a row; all but its key may be null, since a gone row is."""
    import pyarrow as pa

    # Of two merges that insert the same key, a table with a primary key keeps one row.
    keyed = {("key" if guarded else "offset"): {"lance-schema:unenforced-primary-key": "true"}}
    needed = ("key", "id", "scope") if guarded else row_type.__struct_fields__
    fields = [
        pa.field(name, _arrow_type(hint), name not in needed, keyed.get(name))
        for name, hint in typing.get_type_hints(row_type).items()
    ]
    if guarded:
        fields += [pa.field("gone", pa.bool_(), nullable=False)]
        fields += [pa.field(name, pa.int64(), nullable=False) for name in ("generation", "offset")]
    return pa.schema(fields)


@cache
def _vector_schema(dimensions: int) -> pa.Schema:
    """Return the schema of an embedder's vectors: integers as float32, so that the recorded bytes follow."""
    import pyarrow as pa

    schema = _schema(VectorRow)
    place = schema.get_field_index("vector")
    return schema.set(place, pa.field("vector", pa.list_(pa.float32(), dimensions)))


def _vectors_table(embedder: str) -> str:
    """Return the table of an embedder's vectors: a key may hold characters not allowed in file names."""
    return f"{VECTORS}{blake2b(embedder.encode(), digest_size=8).hexdigest()}"


def _records(found: pa.Table) -> list[dict[str, Any]]:
    """Return found rows as plain values, vectors as recorded."""
    if "vector" not in found.column_names:
        return list(found.to_pylist())
    column = found.column("vector")
    values = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    matrix = values.reshape(-1, column.type.list_size).astype("<i2")
    rest = found.drop_columns(["vector"]).to_pylist()
    return [{**record, "vector": row.tobytes()} for record, row in zip(rest, matrix, strict=True)]


def _arrow_type(hint: Any) -> pa.DataType:
    import pyarrow as pa

    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _arrow_type(next(option for option in inside if option is not type(None)))
    if origin is tuple:
        return pa.list_(_arrow_type(inside[0]))
    if origin is Literal:
        return pa.string()
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        inner = typing.get_type_hints(hint).items()
        return pa.struct([pa.field(name, _arrow_type(kind)) for name, kind in inner])
    return {str: pa.string(), int: pa.int64(), bool: pa.bool_(), bytes: pa.binary()}[hint]
