"""The search index of one partition: a folder a scope, with immutable segments and a manifest of their names.

One process writes, any number read. A write makes new files and renames the manifest last, so that a reader
finds the index before or after it. Rows added one by one gather in a small segment, written anew each time;
eight segments of one size are merged into one of the next. Searchable rows stand in tables, and segments have
their addresses. The meaning of a row, and tokenizing, are in `state`.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from operator import add
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
import numpy as np
import uuid_utils

from memtape.schemas.embedding import dimensions_of
from memtape.schemas.rows import (
    ConflictRow,
    Guarded,
    LivingRow,
    MemoryRow,
    ScopeHeld,
    TableName,
    TombstoneRow,
    TurnRow,
    VectorRow,
)  # fmt: skip
from memtape.sinks.home.files import make_folder, write_whole
from memtape.sinks.index_files import (
    FORMAT,
    MANIFEST,
    Manifest,
    ManifestSegment,
    SegmentT,
    read_manifest,
    read_segment,
    write_segment,
)
from memtape.state.index.entries import HIDDEN, KINDS, SUMMARY, TURN, language_read, number_of, usual_language
from memtape.state.index.parts import (
    AT_HAND,
    EVERY_TEXT,
    Choice,
    MaskedSegment,
    joined,
    languages_of,
    shown_of,
)  # fmt: skip
from memtape.state.index.segments import Flags, Segment, merged
from memtape.state.index.sorted_values import stands
from memtape.state.index.vectors import MOST_ROWS as MOST_VECTORS
from memtape.state.index.vectors import VectorSegment, merged_vectors, vector_segment_of
from memtape.state.views.indexed import (
    FOUND,
    GONE,
    INDEXED,
    TABLE_NAMES,
    TABLE_OF,
    Take,
    address_of,
    embedder_of,
    kept_at,
    key_of,
    languages_of_rows,
    no_rows,
    segment_of_rows,
    table_number,
    vector_key,
)

RowT = TypeVar("RowT", bound=LivingRow)

MOST_ROWS = 262_144
"""Maximum rows of a merged segment: a merge of this many takes some hundred megabytes."""
NAMED_HIDDEN = 20  # Hidden ids listed in the counts of a scope.
OPEN_SCOPES = 16  # Scopes whose segments stay open, the last used.
DELTA_ROWS = 512  # Rows of the small segment for rows added one by one, written anew each time.
TIER = 8  # Segments of one size merged into one of the next.
UNWRITTEN = ManifestSegment("", 0, 0)  # The name of a segment without a file.
Merge = Callable[[Sequence[SegmentT], Sequence[Flags]], SegmentT]


class OpenIndex(NamedTuple):
    """The index of a scope as a manifest names it: segments of texts and of vectors, and the living rows.

    `take` reads searchable rows from their tables.
    """

    manifest: Manifest
    segments: tuple[Segment, ...]
    living: tuple[Flags, ...]
    take: Take = no_rows
    vectors: tuple[VectorSegment, ...] = ()
    vectors_living: tuple[Flags, ...] = ()

    @property
    def pairs(self) -> list[tuple[Segment, Flags]]:
        """The segments of texts, each with which of its rows live."""
        return list(zip(self.segments, self.living, strict=True))

    def vectors_of(self, embedder: str) -> list[tuple[VectorSegment, Flags]]:
        """Return the segments of an embedder's vectors, each with which of its rows live."""
        every = zip(self.vectors, self.vectors_living, self.manifest.vectors, strict=True)
        return [(part, alive) for part, alive, named in every if named.embedder == embedder]

    def parts(self, choice: Choice = AT_HAND) -> list[MaskedSegment]:
        """Return the segments with a mask of the shown texts of each."""
        return [MaskedSegment(segment, shown_of(segment, alive, choice)) for segment, alive in self.pairs]

    def rows(self, row_type: type[RowT]) -> Iterator[RowT]:
        """Yield the live rows of a table."""
        number, table = table_number(TABLE_OF[row_type]), TABLE_OF[row_type]
        for n, (segment, alive) in enumerate(self.pairs):
            chosen = alive & (segment.tables == number)
            chosen[: segment.size] &= segment.wordings == 0
            places = np.flatnonzero(chosen).tolist()
            if table in FOUND:
                yield from self.rows_at([(n, place) for place in places])
            else:
                yield from (kept_at(segment, place) for place in places)

    def rows_at(self, places: Sequence[tuple[int, int]]) -> list[Any]:
        """Return the rows of documents, each given by (segment, row); of another wording its memory's row."""
        return self.take([address_of(self.segments[n], place) for n, place in places])

    def check_addresses(self, placed: Mapping[TableName, Mapping[int, tuple[str, int, int]]]) -> None:
        """Raise `ValueError` unless the row at the address of each living document is the document's.

        `placed` has the key, generation and offset of the rows of each table, by address.
        """
        for segment, alive in self.pairs:
            keys = segment.row_keys()
            for row in np.flatnonzero(alive[: segment.size]).tolist():
                number, address, *guard = address_of(segment, row)
                key, *found = placed[TABLE_NAMES[number]].get(address, ("", 0, 0))
                id = key.removeprefix(f"{self.manifest.scope}/")
                if found != guard or key_of(TABLE_NAMES[number], id) != int(keys[row]):
                    raise ValueError(f"A text of {self.manifest.scope} has the address of another row.")

    def held(self) -> ScopeHeld:
        """Return the counts of the index, archived texts included, as `status` prints them."""
        counts, hidden = Counter[str](), 0
        for n, (segment, alive) in enumerate(self.pairs):
            shown = alive[: segment.size] & (segment.wordings == 0) & (segment.flags & HIDDEN == 0)
            hidden += int(self.restorable(n).sum())
            for table in FOUND:
                counts[table] += int((segment.tables[: segment.size][shown] == table_number(table)).sum())
        pending = (row.status == "pending" for row in self.rows(ConflictRow))
        return ScopeHeld(
            memories=counts["memories"],
            turns=counts["turns"],
            summaries=counts["summaries"],
            hidden=hidden,
            hidden_ids=tuple(self.hidden(NAMED_HIDDEN)) if hidden else (),
            conflicts=sum(pending),
        )

    def hidden(self, most: int) -> list[str]:
        """Return the ids of some texts that are hidden."""
        places = list[tuple[int, int]]()
        for n in range(len(self.segments)):
            rows = np.flatnonzero(self.restorable(n))[: most - len(places)]
            places += [(n, row) for row in rows.tolist()]
        return [row.id for row in self.rows_at(places)]

    def restorable(self, number: int) -> Flags:
        """Return a mask of hidden rows; of pages only forgotten ones, no earlier versions and proposals."""
        segment, alive = self.pairs[number]
        hidden: Flags = alive[: segment.size] & (segment.flags & HIDDEN != 0) & (segment.wordings == 0)
        pages = np.flatnonzero(hidden & (segment.kinds == KINDS.index("page"))).tolist()
        for place, row in zip(pages, self.rows_at([(number, place) for place in pages]), strict=True):
            hidden[place] = self.row(TombstoneRow, f"id:{row.id}") is not None
        return hidden

    def called(self, id: str) -> list[tuple[int, int]]:
        """Return (segment, row) of the texts that live and can be called by an id."""
        pairs = enumerate(self.pairs)
        return [(n, row) for n, (part, alive) in pairs for row in part.called(id).tolist() if alive[row]]

    def rows_called(self, id: str) -> list[MemoryRow | TurnRow]:
        """Return the living memories and turns that an id resolves to, hidden ones included."""
        said = (row for row in self.rows_at(self.called(id)) if isinstance(row, (MemoryRow, TurnRow)))
        return [row for row in said if id == row.id or (isinstance(row, MemoryRow) and id in row.ids)]

    def knows(self, ids: Sequence[str]) -> dict[str, None]:
        """Return which of many ids a text can be called by, living or not."""
        numbers = np.array([number_of(id) for id in ids], "<u8")
        known = np.zeros(len(ids), np.bool_)
        for segment in self.segments:
            known |= stands(segment.aliases, numbers)
        return {id: None for id, is_known in zip(ids, known.tolist(), strict=True) if is_known}

    def saying(self, said: int) -> list[tuple[int, int]]:
        """Return (segment, row) of the living memories that have a text with this number, in any wording."""
        found = []
        for n, (segment, alive) in enumerate(self.pairs):
            memories = alive[: segment.size] & (segment.flags & (TURN | SUMMARY) == 0)
            same = (segment.said == np.uint64(said)) & memories
            found += [(n, segment.head_of(row)) for row in np.flatnonzero(same).tolist()]
        return found

    def has_any(self, row_type: type[LivingRow]) -> bool:
        """Return whether a row of a table lives."""
        return next(self.rows(row_type), None) is not None

    def row(self, row_type: type[RowT], id: str) -> RowT | None:
        """Return the row of a table under an id."""
        key = key_of(TABLE_OF[row_type], id)
        for n, (segment, alive) in enumerate(self.pairs):
            for place in segment.rows_of(key).tolist():
                if alive[place] and segment.tables[place] != GONE:
                    is_kept = place >= segment.size
                    found: RowT = kept_at(segment, place) if is_kept else self.rows_at([(n, place)])[0]
                    return found
        return None


_NOTHING = Manifest(format=FORMAT, scope="", number=0, usual=usual_language([]), segments=[], made="")
NOTHING = OpenIndex(_NOTHING, (), ())  # The index of a scope without rows.


def scope_folder(folder: Path, scope: str) -> Path:
    """Return the folder of a scope's index: a scope's name may hold characters not allowed in file names."""
    return folder / f"{number_of(scope):016x}"


def indexed_scopes(folder: Path) -> list[str]:
    """Return the scopes that have an index in a partition's folder, sorted."""
    folders = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    manifests = map(read_manifest, folders)
    return sorted(manifest.scope for manifest in manifests if manifest is not None)


def open_index(
    folder: Path, before: OpenIndex | None = None, take: Take = no_rows
) -> OpenIndex | None:  # fmt: skip
    """Return the index of a scope in its folder, None without one; open segments of `before` are reused.

    Raises the error of a damaged index.
    """
    manifest = read_manifest(folder)
    if manifest is None or (before is not None and manifest == before.manifest):
        return before if manifest is not None else None
    if manifest.format != FORMAT:
        raise ValueError(f"The index has the format {manifest.format} and not {FORMAT}.")
    held: dict[ManifestSegment, Any] = {}
    if before is not None and before.manifest.made == manifest.made:
        held = dict(zip(before.manifest.segments, before.segments, strict=True))
        held |= dict(zip(before.manifest.vectors, before.vectors, strict=True))

    def opened(named: ManifestSegment, kind: type[SegmentT]) -> SegmentT:
        found: SegmentT = held.get(named) or read_segment(folder / named.name, kind, named.bytes)
        return found

    try:
        segments = [opened(named, Segment) for named in manifest.segments]
        vectors = [opened(named, VectorSegment) for named in manifest.vectors]
        packed = (folder / manifest.living).read_bytes() if manifest.living else b""
    except FileNotFoundError:
        if read_manifest(folder) == manifest:  # No writer has been here meanwhile.
            raise
        return open_index(folder, before, take)
    sizes = [named.rows for named in (*manifest.segments, *manifest.vectors)]
    flags = np.ones(sum(sizes), np.bool_)
    if manifest.living:
        if zlib.crc32(packed) != manifest.living_crc:
            raise ValueError(f"{manifest.living} is not as it was written.")
        flags = np.unpackbits(np.frombuffer(packed, np.uint8), count=sum(sizes)).astype(np.bool_)
    split = np.split(flags, np.cumsum(sizes)[:-1]) if sizes else []
    living, vectors_living = split[: len(segments)], split[len(segments) :]
    return OpenIndex(manifest, tuple(segments), tuple(living), take, tuple(vectors), tuple(vectors_living))


def with_rows(
    opened: OpenIndex | None, scope: str, rows: Sequence[tuple[Guarded, int]], take: Take
) -> OpenIndex:
    """Return an index with rows over it that no file has, each with the address by which `take` reads it."""
    made, number = _IndexBuilder(opened, take), (opened or NOTHING).manifest.number
    made.add([(guarded, address) for guarded, address in rows if guarded.table in INDEXED])
    found = made.opened()
    return found._replace(manifest=msgspec.structs.replace(found.manifest, scope=scope, number=number))


class SearchIndex:
    """The indexes of one partition's scopes. One process writes them. `take` reads rows of the tables."""

    def __init__(self, folder: Path, take: Take) -> None:
        self._folder = folder
        self._take = take
        self._scopes: dict[str, OpenIndex] = {}
        self.numbers: dict[str, int] = {}
        """The number of the manifest of each scope that was written."""
        self.held: dict[str, ScopeHeld] = {}
        """The counts of each scope written, or found written already."""

    def write(self, rows: Sequence[Guarded], addresses: Sequence[int]) -> None:
        """Write rows, each with its address in its table; skip one no newer than the stored row."""
        for scope, its in _by_scope(enumerate(rows)).items():
            opened = self.open(scope)
            made = _IndexBuilder(opened, self._take)
            made.add([(guarded, addresses[n]) for n, guarded in its])
            if made.changed or opened is None:
                folder, number = scope_folder(self._folder, scope), 1 + (opened or NOTHING).manifest.number
                make_folder(folder)
                self._scopes[scope] = written = made.written(folder, scope, number)
                self.numbers[scope], self.held[scope] = number, written.held()
            elif scope not in self.held:  # It was written by who ended before the watermark.
                self.held[scope] = opened.held()

    def known(self, rows: Sequence[Guarded]) -> list[bool]:
        """Return for each row whether a row may be stored under its key; True for all vectors."""
        known = [True] * len(rows)
        for scope, its in _by_scope(enumerate(rows)).items():
            opened = self.open(scope) or NOTHING
            its = [(n, guarded) for n, guarded in its if guarded.table != "vectors"]
            keys = np.array([key_of(guarded.table, guarded.row.id) for _, guarded in its], "<u8")
            held = np.zeros(len(its), np.bool_)
            for segment in opened.segments:
                held |= stands(segment.keys, keys)
            for (n, _), is_held in zip(its, held.tolist(), strict=True):
                known[n] = is_held
        return known

    def open(self, scope: str, before: OpenIndex | None = None) -> OpenIndex | None:
        """Return the index of a scope as it is now, None without one.

        Open segments are reused: those of `before`, by default those of the last call.
        """
        last = self._scopes.pop(scope, None)
        folder = scope_folder(self._folder, scope)
        opened = open_index(folder, last if before is None else before, self._take)
        if opened is not None:
            self._scopes[scope] = opened
        while len(self._scopes) > OPEN_SCOPES:
            self._scopes.pop(next(iter(self._scopes)))
        return opened


@dataclass(eq=False)
class _Part(Generic[SegmentT]):
    """A segment, a mask of its live rows, and its name in the manifest."""

    segment: SegmentT
    living: Flags
    name: ManifestSegment = UNWRITTEN

    @property
    def alive(self) -> int:
        """How many rows live."""
        return int(self.living.sum())


class _Tiers(list[_Part[SegmentT]]):
    """Segments. `merge` makes one of the live rows of several, with at most `most_rows` rows."""

    def __init__(self, merge: Merge[SegmentT], most_rows: int) -> None:
        self._merge: Merge[SegmentT] = merge
        self._most_rows = most_rows

    def replace(self, newest: Mapping[int, tuple[int, int]]) -> list[int]:
        """Mark older rows under these keys as dead; return the keys whose live row is not older.

        `newest` has by key the generation and the offset of the event behind the new row.
        """
        newer: dict[int, None] = {}
        keys = np.array(sorted(newest), "<u8")
        for segment, alive in ((part.segment, part.living) for part in self):
            starts = np.searchsorted(segment.keys, keys, "left")
            ends = np.searchsorted(segment.keys, keys, "right")
            for n in np.flatnonzero(starts < ends).tolist():
                key = int(keys[n])
                for row in segment.by_key[int(starts[n]) : int(ends[n])].tolist():
                    if not alive[row]:
                        continue
                    if newest[key] > (int(segment.generations[row]), int(segment.offsets[row])):
                        alive[row] = False
                    else:
                        newer[key] = None
        return list(newer)

    def settle(self) -> None:
        """Merge small segments, and rewrite segments whose rows are mostly dead."""
        while len(self) > 1 and self[-1].alive + self[-2].alive <= DELTA_ROWS:
            self._join(self[-2:])
        for part in list(self):
            if 2 * part.alive < len(part.living):
                self._join([part])
        while due := self._due():
            self._join(due)

    def _due(self) -> list[_Part[SegmentT]]:
        """Return the segments of one tier to be merged, none if there are too few.

        Tier 0 has segments of up to 512 rows, and each further tier those of eight times as many.
        """
        tiers: dict[int, list[_Part[SegmentT]]] = {}
        for part in self:
            tier = next(tier for tier in count() if part.alive <= DELTA_ROWS * TIER**tier)
            tiers.setdefault(tier, []).append(part)
        for parts in tiers.values():
            fitting, rows = list[_Part[SegmentT]](), 0
            for part in parts if len(parts) >= TIER else ():
                if rows + part.alive <= self._most_rows:
                    fitting.append(part)
                    rows += part.alive
            if len(fitting) > 1:
                return fitting[:TIER]
        return []

    def _join(self, parts: Sequence[_Part[SegmentT]]) -> None:
        """Replace segments by their merger, in the place of the first."""
        made = self._merge([part.segment for part in parts], [part.living for part in parts])
        self[self.index(parts[0])] = _Part(made, np.ones(sum(part.alive for part in parts), np.bool_))
        for part in parts[1:]:
            self.remove(part)


class _IndexBuilder:
    """The index of a scope while rows are added: segments of texts, and of vectors by their embedder."""

    def __init__(self, opened: OpenIndex | None, take: Take) -> None:
        opened = opened or NOTHING
        manifest = opened.manifest
        self._take = take
        self._texts, self._vectors = _Tiers(merged, MOST_ROWS), dict[str, _Tiers[VectorSegment]]()
        for segment, alive, name in zip(opened.segments, opened.living, manifest.segments, strict=True):
            self._texts.append(_Part(segment, alive.copy(), name))
        for part, alive, name in zip(opened.vectors, opened.vectors_living, manifest.vectors, strict=True):
            self._tiers_of(name.embedder).append(_Part(part, alive.copy(), name))
        self._usual = manifest.usual
        self._made = manifest.made or str(uuid_utils.uuid7())
        self.changed = False

    def add(self, rows: Sequence[tuple[Guarded, int]]) -> None:
        """Add rows, each with its address; skip a row no newer than the stored row with its key."""
        texts, vectors = list[tuple[int, Guarded]](), dict[str, list[tuple[int, Guarded]]]()
        placed: dict[int, int] = {}
        for its, address in rows:
            if its.table == "vectors":
                vectors.setdefault(embedder_of(its.row), []).append((vector_key(its.row), its))
            else:
                key = key_of(its.table, its.row.id)
                texts.append((key, its))
                placed[key] = address
        if newest := self._newer(self._texts, texts):
            added = {key: (guarded, placed[key]) for key, guarded in newest.items()}
            self._settle_language(added)
            segment = segment_of_rows(added.values(), self._usual)
            self._texts.append(_Part(segment, np.ones(len(segment.tables), np.bool_)))
            self._texts.settle()
        for embedder, keyed in vectors.items():
            tiers = self._tiers_of(embedder)
            if newest := self._newer(tiers, keyed):
                made = [
                    (key, *_guard(its), its.row.vector if isinstance(its.row, VectorRow) else b"")
                    for key, its in newest.items()
                ]
                part = vector_segment_of(made, dimensions_of(embedder))
                tiers.append(_Part(part, np.ones(len(part.keys), np.bool_)))
                tiers.settle()

    def _newer(self, tiers: _Tiers[SegmentT], rows: Iterable[tuple[int, Guarded]]) -> dict[int, Guarded]:
        """Return the newest of some rows under each key, without those no newer than the stored row."""
        newest: dict[int, Guarded] = {}
        for key, guarded in rows:
            if key not in newest or _guard(newest[key]) < _guard(guarded):
                newest[key] = guarded
        for key in tiers.replace({key: _guard(guarded) for key, guarded in newest.items()}):
            del newest[key]
        self.changed |= bool(newest)
        return newest

    def _tiers_of(self, embedder: str) -> _Tiers[VectorSegment]:
        return self._vectors.setdefault(embedder, _Tiers(merged_vectors, MOST_VECTORS))

    def _settle_language(self, added: dict[int, tuple[Guarded, int]]) -> None:
        """Find the language of most texts, and add again the texts that were tokenized in another one."""
        segments = [(part.segment, part.living) for part in self._texts]
        told_of = [it.told[shown_of(it, alive, EVERY_TEXT)] for it, alive in segments]
        counts = languages_of(joined(told_of, np.int64))
        new = languages_of_rows(guarded.row for guarded, _ in added.values())
        usual = usual_language(map(add, counts, new))
        if usual == self._usual:
            return
        self._usual = usual
        for segment, alive in segments:
            read = np.array([language_read(its, usual) for its in segment.told.tolist()], np.uint8)
            keys = segment.row_keys()
            otherwise = np.flatnonzero(alive[: segment.size] & (read != segment.read)).tolist()
            heads = list(dict.fromkeys(map(segment.head_of, otherwise)))
            addresses = [address_of(segment, row) for row in heads]
            for row, at, stored in zip(heads, addresses, self._take(addresses), strict=True):
                own = segment.with_wordings(row)
                guarded = Guarded(TABLE_NAMES[at.table], stored, at.generation, at.offset)
                added[int(keys[row])] = guarded, at.address
                alive[own] = False

    def opened(self) -> OpenIndex:
        """Return the index with the pending changes; its new segments have no file yet."""
        vectors = [(embedder, part) for embedder, its in self._vectors.items() for part in its]
        return OpenIndex(
            Manifest(
                format=FORMAT,
                scope="",
                number=0,
                usual=self._usual,
                segments=[part.name for part in self._texts],
                made=self._made,
                vectors=[msgspec.structs.replace(part.name, embedder=name) for name, part in vectors],
            ),
            tuple(part.segment for part in self._texts),
            tuple(part.living for part in self._texts),
            self._take,
            tuple(part.segment for _, part in vectors),
            tuple(part.living for _, part in vectors),
        )

    def written(self, folder: Path, scope: str, number: int) -> OpenIndex:
        """Write the new segments and a manifest with their names; delete files named by no manifest."""
        _write(self._texts, folder, f"{number}")
        for place, tiers in enumerate(self._vectors.values()):
            _write(tiers, folder, f"{number}-vectors-{place}")
        made = self.opened()
        every = [*made.living, *made.vectors_living]
        living, packed = "", b""
        if not all(alive.all() for alive in every):
            living = f"{number}-living"
            packed = np.packbits(np.concatenate(every)).tobytes()
            write_whole(folder / living, packed)
        manifest = msgspec.structs.replace(
            made.manifest, scope=scope, number=number, living=living, living_crc=zlib.crc32(packed)
        )
        write_whole(folder / MANIFEST, msgspec.json.encode(manifest))
        known = {MANIFEST, living, *(named.name for named in (*manifest.segments, *manifest.vectors))}
        for path in folder.iterdir():
            if path.name not in known:
                path.unlink(missing_ok=True)
        return made._replace(manifest=manifest)


def _write(tiers: _Tiers[SegmentT], folder: Path, beginning: str) -> None:
    """Write the segments without a file, under names with a prefix, and map them."""
    for place, part in enumerate(tiers):
        if part.name is UNWRITTEN:
            path = folder / f"{beginning}-{place}"
            size = write_segment(path, part.segment)
            part.name = ManifestSegment(path.name, len(part.living), size)
            part.segment = read_segment(path, type(part.segment), size)


def _by_scope(rows: Iterable[tuple[int, Guarded]]) -> dict[str, list[tuple[int, Guarded]]]:
    """Return the rows of tables that the index has by their scopes, each with its number."""
    by_scope: dict[str, list[tuple[int, Guarded]]] = {}
    for n, guarded in rows:
        if guarded.table in INDEXED:
            by_scope.setdefault(guarded.row.scope, []).append((n, guarded))
    return by_scope


def _guard(guarded: Guarded) -> tuple[int, int]:
    return guarded.generation, guarded.offset
