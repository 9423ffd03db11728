"""The LanceDB tables of one partition: this file owns their schemas, guarded writes, reading and upkeep.

A write is idempotent: a row is only replaced by one of a later generation or offset. A row that is gone
stays, blank, so that a late write meets its guard. The tables are read and written by Lance, the engine under
LanceDB, which is imported in a sixth of the time; LanceDB opens the folder of a partition as a database.

A row stands whole in the column `row`, as MessagePack, but for its text, which has a column of its own. The
other columns repeat single values of the row for other tools: Memtape does not read them.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import cache, wraps
from hashlib import blake2b
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import msgspec
import numpy as np

from memtape.schemas.embedding import dimensions_of
from memtape.schemas.errors import DamagedViews, MemtapeError
from memtape.schemas.rows import (
    TABLES,
    GoneRow,
    Guarded,
    LivingRow,
    TableName,
    VectorRow,
)
from memtape.schemas.scopes import check_scope
from memtape.sinks.home.files import make_folder
from memtape.state.views.indexed import FOUND, TABLE_NAMES, RowAddress

if TYPE_CHECKING:
    import pyarrow as pa
    from lance import LanceDataset

VECTORS = "vectors-"
"""The prefix of the names of vectors' tables; the rest is a digest of the embedder's key."""
MOST_FILES = 50  # Files that a table has at most, by `tidy`.
MOST_SMALL = 8
"""Small fragments of a table that are merged into one: a write leaves one or two, of up to three files."""
SMALL_ROWS = 8_192
"""Fragments of fewer rows are small; others are written anew once a tenth of their rows is replaced."""
KEEP_VERSIONS = timedelta(seconds=5)  # Time for which old versions stay, for readers with one open.
TAKEN_AT_ONCE = 1_000  # Rows named in one question to a table.
CACHED_ROWS = 32_768  # Rows that stay in memory once they were read.

_REPEATED = ("scope", "session", "actor")
"""Fields of a row that many rows share: of a turn a fifth of its memory."""

_NEWER = "source.generation > target.generation"
_NEWER += " OR (source.generation = target.generation AND source.offset > target.offset)"
_READ = ("text", "row", "generation", "offset")

RowT = TypeVar("RowT", bound=LivingRow)


class RowsMoved(Exception):
    """A row at an address was replaced since the index with the address was opened: open it anew."""


class _Views(Protocol):
    """Views of a partition, which can be opened anew."""

    partition: int

    def reopen(self) -> None: ...


ReadT = TypeVar("ReadT")
ViewsT = TypeVar("ViewsT", bound=_Views)
Given = ParamSpec("Given")


def guarded_read(
    method: Callable[Concatenate[ViewsT, Given], ReadT],
) -> Callable[Concatenate[ViewsT, Given], ReadT]:
    """Wrap a reading method: raise `DamagedViews` for any error in it that comes again.

    Lance, Arrow and Rust under them have no one class for damage, and a panic is no `Exception`. Once, a
    version that was deleted while it was read is no damage.
    """

    @wraps(method)
    def reading(self: ViewsT, /, *args: Given.args, **kwargs: Given.kwargs) -> ReadT:
        for is_last in (False, True):
            try:
                return method(self, *args, **kwargs)
            except (MemtapeError, RowsMoved, KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:
                if is_last:
                    raise DamagedViews(
                        f"The views of partition {self.partition} cannot be read.",
                        "`memtape run --once` makes them anew from the log; the next search may, too.",
                        self.partition,
                    ) from error
                self.reopen()
        raise AssertionError("the last try has returned or raised")

    return reading


class RowTables:
    """The tables of one partition. One process writes them; any number may read.

    `named` gives the versions of the tables that the watermark names. The errors of reading are those of
    Lance, and `FileNotFoundError` for a version that was lost; `take` raises `DamagedViews`.
    """

    def __init__(self, path: Path, partition: int, named: Callable[[], Mapping[str, int]]) -> None:
        self.path = path
        self.partition = partition
        self.versions: dict[str, int] = {}
        """The version of each table that was written or looked at here."""
        self._named = named
        self._tables: dict[str, LanceDataset] = {}
        self._rows: dict[RowAddress, Any] = {}

    def names(self) -> list[str]:
        """Return the names of the present tables, and of the tables in the watermark."""
        return sorted({*(path.stem for path in self.path.glob("*.lance")), *self._named()})

    def write(self, rows: Sequence[Guarded], is_new: Sequence[bool]) -> list[int]:
        """Write rows; skip a row no newer than the stored row with its key.

        `is_new` says which keys surely have no row yet. Returns the address of each row in its table, 0 for
        rows that the search index does not address.
        """
        addresses = [0] * len(rows)
        for name, row_type in TABLES.items():
            own = [n for n, guarded in enumerate(rows) if guarded.table == name]
            if row_type is VectorRow:
                self._write_vectors([rows[n] for n in own])
                continue
            for fresh in (True, False):
                its = [n for n in own if is_new[n] is fresh]
                if not its:
                    continue
                data = _data(_schema(row_type), [rows[n] for n in its])
                before = self._write(name, data, fresh)
                if name in FOUND:
                    found = self._addresses(name, before, [rows[n].row.key for n in its])
                    for n in its:
                        addresses[n] = found[rows[n].row.key]
        return addresses

    def tidy(self) -> bool:
        """Merge the small fragments of tables, and delete the versions that no reader uses; return if any is.

        Call it while the newest versions are those of the watermark: these then stay for every reader.
        """
        before = dict(self.versions)
        for name, table in self._tables.items():
            rows = [fragment.physical_rows for fragment in table.get_fragments()]
            is_crowded = len(rows) > MOST_FILES // 2
            if is_crowded or sum(count < SMALL_ROWS for count in rows) >= MOST_SMALL:
                most = max(SMALL_ROWS, is_crowded * sum(rows) // MOST_SMALL)
                table.optimize.compact_files(target_rows_per_fragment=most)
                # What a killed writer left is no part of any version. Nobody else writes here.
                table.cleanup_old_versions(KEEP_VERSIONS, delete_unverified=True)
                self.versions[name] = table.version
        return self.versions != before

    def clean(self) -> None:
        """Delete the versions older than the versions of the watermark: a bulk load leaves some."""
        for name in self.versions:
            table = self.table(name)
            if table is not None and table.version == self._named().get(name):
                table.cleanup_old_versions(timedelta(0), delete_unverified=True)

    @guarded_read
    def take(self, addresses: Sequence[RowAddress]) -> list[Any]:
        """Return the rows at some addresses, in their order.

        A row that is being replaced is read in the version of the watermark. Raises `RowsMoved` for a row
        that neither version has.
        """
        missing = [its for its in dict.fromkeys(addresses) if its not in self._rows]
        for number in dict.fromkeys(its.table for its in missing):
            name = TABLE_NAMES[number]
            wanted = [its for its in missing if its.table == number]
            self._read(self.table(name), number, wanted)
            if moved := [its for its in wanted if its not in self._rows]:
                self._read(self._as_named(name), number, moved)
        try:
            rows = [self._rows[its] for its in addresses]
        except KeyError as error:
            raise RowsMoved from error
        while len(self._rows) > CACHED_ROWS:
            self._rows.pop(next(iter(self._rows)), None)
        return rows

    def rows(self, row_type: type[RowT], scope: str | None = None) -> list[RowT]:
        """Return the rows of a table except removed ones, of one scope or all, in the order of their keys."""
        import pyarrow as pa

        wanted = "NOT gone" if scope is None else f"NOT gone AND scope = '{check_scope(scope)}'"
        names: list[str] = [name for name, kind in TABLES.items() if kind is row_type]
        if row_type is VectorRow:  # There is one table an embedder.
            names = [name for name in self.names() if name.startswith(VECTORS)]
        rows: list[RowT] = []
        for name in names:
            if (table := self.table(name)) is None:
                continue
            # Some at once, since what is made of a whole table takes as much as its rows once more.
            for batch in table.to_batches(columns=_columns_of(row_type), filter=wanted):
                found = pa.Table.from_batches([batch])
                made = _vector_rows(found) if row_type is VectorRow else _rows_of(row_type, found)
                rows += typing.cast("list[RowT]", made)
        return sorted(rows, key=lambda row: row.key)

    def placed(self, name: TableName) -> dict[int, tuple[str, int, int]]:
        """Return key, generation and offset of the rows of a table by their addresses, removed ones too."""
        if (table := self.table(name)) is None:
            return {}
        found = table.to_table(columns=["key", "generation", "offset"], with_row_id=True)
        columns = [found.column(it).to_pylist() for it in ("key", "generation", "offset")]
        return dict(zip(found.column("_rowid").to_pylist(), zip(*columns, strict=True), strict=True))

    def check(self) -> None:
        """Read every table whole."""
        for name in self.names():
            if (table := self.table(name)) is not None:
                for batch in table.to_batches():
                    batch.validate(full=True)

    def reopen(self) -> None:
        """Open every table anew at the next question."""
        self._tables = {}

    def table(self, name: str) -> LanceDataset | None:
        """Return a table at its newest version, None if it does not exist."""
        if name not in self._tables:
            # A maker that was killed leaves a folder without a version, which is no table yet.
            if not any((self.path / f"{name}.lance" / "_versions").glob("*.manifest")):
                if name in self._named():
                    raise FileNotFoundError(f"The table {name} is gone.")
                return None
            import lance

            self._tables[name] = lance.dataset(self.path / f"{name}.lance")
        table = self._tables[name]
        table.checkout_latest()  # type: ignore[no-untyped-call]
        # Where the newest version is lost, Lance opens the one before it without a word.
        if table.version < self._named().get(name, 0):
            raise FileNotFoundError(f"The newest version of the table {name} is gone.")
        return table

    def _as_named(self, name: str) -> LanceDataset | None:
        """Return a table in the version that the watermark names, None where that is gone by now."""
        try:
            return self._tables[name].checkout_version(self._named()[name])
        except (KeyError, OSError, ValueError):  # Lance has no one class for a version that was deleted.
            return None

    def _read(self, table: LanceDataset | None, number: int, wanted: Sequence[RowAddress]) -> None:
        """Read the rows at addresses of a table into memory, each with its guard."""
        row_type = TABLES[TABLE_NAMES[number]]
        for start in range(0, len(wanted) if table is not None else 0, TAKEN_AT_ONCE):
            assert table is not None
            ids = [its.address for its in wanted[start : start + TAKEN_AT_ONCE]]
            # A filter by `_rowid` is public, and takes twice as long. The version of Lance is bounded, and
            # tests take rows.
            found = table._take_rows(ids, columns=["_rowid", *_READ])
            guards = (found.column(it).to_pylist() for it in ("_rowid", "generation", "offset"))
            living = found.column("row").is_valid().to_pylist()
            placed = zip(*guards, living, _rows_of(row_type, found), strict=True)
            self._rows |= {
                RowAddress(number, address, generation, offset): row
                for address, generation, offset, is_living, row in placed
                if is_living
            }

    def _write(self, name: str, data: pa.Table, is_new: bool) -> int:
        """Append surely new rows, a tenth of the time, or merge; return the last fragment before."""
        import lance

        table, before = self.table(name), -1
        if table is None:  # Its row ids stay through updates and tidying.
            make_folder(self.path)
            table = lance.write_dataset(data, self.path / f"{name}.lance", enable_stable_row_ids=True)
        else:
            before = max((fragment.fragment_id for fragment in table.get_fragments()), default=-1)
            if is_new:
                table = lance.write_dataset(data, table, mode="append")
            else:
                merge = table.merge_insert("key").when_matched_update_all(_NEWER)
                merge.when_not_matched_insert_all().execute(data)
        self._tables[name], self.versions[name] = table, table.version
        return before

    def _addresses(self, name: str, before: int, keys: Sequence[str]) -> dict[str, int]:
        """Return the addresses of rows just written, by key: these stand in fragments after `before`."""
        table = self._tables[name]
        fragments = [fragment for fragment in table.get_fragments() if fragment.fragment_id > before]
        found: dict[str, int] = {}
        if fragments:
            scanned = table.scanner(columns=["key"], with_row_id=True, fragments=fragments).to_table()
            found = dict(zip(*(scanned.column(it).to_pylist() for it in ("key", "_rowid")), strict=True))
        if missing := [key for key in keys if key not in found]:  # They were as new already.
            named = ",".join("'" + key.replace("'", "''") + "'" for key in missing)
            scanned = table.to_table(columns=["key"], filter=f"key in ({named})", with_row_id=True)
            found |= zip(*(scanned.column(it).to_pylist() for it in ("key", "_rowid")), strict=True)
        return found

    def _write_vectors(self, rows: Sequence[Guarded]) -> None:
        by_embedder: dict[str, list[Guarded]] = {}
        for guarded in rows:
            # A gone row says no more than its key, which ends in the embedder.
            said = guarded.row.key.removeprefix(f"{guarded.row.scope}/")
            by_embedder.setdefault(said.partition(":")[2], []).append(guarded)
        for embedder, its in by_embedder.items():
            self._write(vectors_table(embedder), _data(_vector_schema(dimensions_of(embedder)), its), False)


def vectors_table(embedder: str) -> str:
    """Return the table of an embedder's vectors: a key may hold characters not allowed in file names."""
    return f"{VECTORS}{blake2b(embedder.encode(), digest_size=8).hexdigest()}"


_VECTOR_COLUMNS = ("key", "id", "scope", "embedder", "vector")
_ENCODE = msgspec.msgpack.Encoder().encode
_ELSEWHERE = ("key", "text")
"""Fields that are not in the column `row`: a key follows from scope and id."""


def _fields_of(row_type: type[LivingRow]) -> tuple[list[str], msgspec.msgpack.Decoder[tuple[Any, ...]]]:
    """Return the fields of the column `row`, and the decoder of their values: names would be half of it."""
    hints = typing.get_type_hints(row_type, include_extras=True)
    names = [name for name in row_type.__struct_fields__ if name not in _ELSEWHERE]
    return names, msgspec.msgpack.Decoder(tuple[tuple(hints[name] for name in names)])  # type: ignore[misc]


_FIELDS = {row_type: _fields_of(row_type) for row_type in TABLES.values()}


def _data(schema: pa.Schema, rows: Sequence[Guarded]) -> pa.Table:
    """Return rows as a table: single values in columns, the text in its own, and all fields in `row`.

    A vector has a column instead of `row`. Of a removed row there is the key alone.
    """
    import pyarrow as pa

    given: list[Any] = [None if isinstance(its.row, GoneRow) else its.row for its in rows]
    columns = {name: [getattr(row, name, None) for row in given] for name in schema.names}
    if "vector" in columns:
        vectors = columns["vector"]
        columns["vector"] = [it and np.frombuffer(it, "<i2").astype(np.float16) for it in vectors]
    columns |= {name: [getattr(its.row, name) for its in rows] for name in ("key", "id", "scope")}
    if "row" in schema.names:
        columns["row"] = [
            row and _ENCODE([getattr(row, it) for it in _FIELDS[type(row)][0]]) for row in given
        ]
    columns["gone"] = [row is None for row in given]
    columns["generation"] = [its.generation for its in rows]
    columns["offset"] = [its.offset for its in rows]
    arrays = [pa.array(columns[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _rows_of(row_type: type[Any], found: pa.Table) -> list[Any]:
    """Return the rows of a table's columns `row` and `text`; None for one that is gone."""
    names, decoder = _FIELDS[row_type]
    columns = [found.column(name).to_pylist() for name in _columns_of(row_type)]
    repeated, shared = [name for name in _REPEATED if name in names], dict[str, str]()
    rows = list[Any]()
    for data, *text in zip(*columns, strict=True):
        if data is None:
            rows.append(None)
            continue
        values = dict(zip(names, decoder.decode(data), strict=True))
        for name in repeated:
            values[name] = shared.setdefault(values[name], values[name])
        values |= {"key": f"{values['scope']}/{values['id']}"} | ({"text": text[0]} if text else {})
        rows.append(row_type(**values))
    return rows


def _columns_of(row_type: type[Any]) -> list[str]:
    """Return the columns of which the rows of a table are made."""
    if row_type is VectorRow:
        return [*_VECTOR_COLUMNS]
    return ["row", "text"] if "text" in row_type.__struct_fields__ else ["row"]


def _vector_rows(found: pa.Table) -> list[VectorRow]:
    column = found.column("vector")
    values = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    matrix = values.reshape(-1, column.type.list_size).astype("<i2")
    rest = found.drop_columns(["vector"]).to_pylist()
    return [VectorRow(**record, vector=row.tobytes()) for record, row in zip(rest, matrix, strict=True)]


@cache
def _schema(row_type: type[Any]) -> pa.Schema:
    """Return the Arrow schema of a table: the fields of its rows that are single values, and `row`."""
    import pyarrow as pa

    kinds = {name: _arrow_type(hint) for name, hint in typing.get_type_hints(row_type).items()}
    return _guarded_schema({name: it for name, it in kinds.items() if it is not None} | {"row": pa.binary()})


@cache
def _vector_schema(dimensions: int) -> pa.Schema:
    """Return the schema of an embedder's vectors: integers below 2,048, which float16 has exactly."""
    import pyarrow as pa

    return _guarded_schema({"embedder": pa.string(), "vector": pa.list_(pa.float16(), dimensions)})


def _guarded_schema(kinds: Mapping[str, pa.DataType]) -> pa.Schema:
    """Return the schema of columns between a key and a guard. They may be null, since a gone row is."""
    import pyarrow as pa

    # Of two merges that insert the same key, a table with a primary key keeps one row.
    keyed = {"key": {"lance-schema:unenforced-primary-key": "true"}}
    keys = ("key", "id", "scope")
    fields = [pa.field(name, pa.string(), False, keyed.get(name)) for name in keys]
    fields += [pa.field(name, kind) for name, kind in kinds.items() if name not in keys]
    fields += [pa.field("gone", pa.bool_(), nullable=False)]
    fields += [pa.field(name, pa.int64(), nullable=False) for name in ("generation", "offset")]
    return pa.schema(fields)


def _arrow_type(hint: Any) -> pa.DataType | None:
    """Return the type of a column of single values or lists of texts, None for a field that has none."""
    import pyarrow as pa

    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _arrow_type(next(option for option in inside if option is not type(None)))
    if origin is tuple:
        return pa.list_(pa.string()) if inside[0] is str else None
    if origin is Literal:
        return pa.string()
    return {str: pa.string(), int: pa.int64(), bool: pa.bool_()}.get(hint)
