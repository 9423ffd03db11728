"""The search index of one partition: a folder a scope, with segments that never change and a manifest that names them.

One process writes, any number read. A write makes new files and renames the manifest last, so that a reader finds the
index before or after it. What a row means, and how texts are taken apart, is in `state`.
"""

from __future__ import annotations

import zlib
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import add
from pathlib import Path
from typing import NamedTuple

import numpy as np
import uuid_utils

from memtape.schemas.rows import Guarded, LivingRow, TableName
from memtape.sinks.home.folders import write_whole
from memtape.sinks.index_files import (
    FORMAT,
    MANIFEST,
    Manifest,
    Named,
    read_manifest,
    read_segment,
    write_manifest,
    write_segment,
)
from memtape.state.index.entries import HIDDEN, TURN, language_read, number_of, usual_language
from memtape.state.index.segments import Flags, Segment, merged
from memtape.state.index.sorted_values import is_one_of
from memtape.state.index.texts import Part, counted_languages, shown_of
from memtape.state.text.terms import TOLD_LANGUAGES
from memtape.state.views.indexed import (
    FOUND,
    GONE,
    KEPT,
    TABLE_NAMES,
    key_of,
    languages_of_rows,
    row_at,
    segment_of_rows,
    table_number,
    told_of_row,
)

DELTA_ROWS = 512
"""Rows that come one by one gather in a segment of so many, which is written anew each time."""
TIER = 8
"""So many segments of one size become one of the next."""
MOST_ROWS = 262_144
"""No merge makes a segment of more rows: a merge of so many takes some hundred megabytes."""
OPEN_SCOPES = 16
"""The segments of so many scopes stay open to be written."""


class Opened(NamedTuple):
    """The index of one scope as a manifest names it: its segments, and of each a flag for each row that lives."""

    manifest: Manifest
    segments: tuple[Segment, ...]
    living: tuple[Flags, ...]

    def parts(self) -> list[Part]:
        """Return the segments with what of each is shown."""
        return [
            Part(segment, shown_of(segment, alive)) for segment, alive in zip(self.segments, self.living, strict=True)
        ]

    def rows(self, table: TableName | None = None) -> Iterator[LivingRow]:
        """Yield the rows that live, of one table or of all."""
        wanted = None if table is None else table_number(table)
        for segment, alive in zip(self.segments, self.living, strict=True):
            chosen = alive & (segment.tables != GONE) if wanted is None else alive & (segment.tables == wanted)
            for place in np.flatnonzero(chosen).tolist():
                yield row_at(segment, place)

    def counts(self) -> Counter[str]:
        """Return how many `memories` and `turns` are shown, and how many are `hidden`."""
        counts: Counter[str] = Counter()
        for segment, alive in zip(self.segments, self.living, strict=True):
            shown = shown_of(segment, alive)
            counts["hidden"] += int(alive[: segment.size].sum()) - int(shown.sum())
            for table in FOUND:
                counts[table] += int((segment.tables[: segment.size][shown] == table_number(table)).sum())
        return counts

    def hidden(self, most: int) -> list[str]:
        """Return the ids of some texts that are hidden."""
        ids: list[str] = []
        for segment, alive in zip(self.segments, self.living, strict=True):
            places = np.flatnonzero(alive[: segment.size] & (segment.flags & HIDDEN != 0))[: most - len(ids)]
            ids += [row_at(segment, row).id for row in places.tolist()]
        return ids

    def called(self, id: str) -> list[tuple[int, int]]:
        """Return (segment, row) of the texts that live and can be called by an id."""
        pairs = zip(self.segments, self.living, strict=True)
        return [(n, row) for n, (part, alive) in enumerate(pairs) for row in part.called(id).tolist() if alive[row]]

    def saying(self, said: int) -> list[tuple[int, int]]:
        """Return (segment, row) of the memories that live and whose text has this number."""
        found = []
        for n, (segment, alive) in enumerate(zip(self.segments, self.living, strict=True)):
            same = (segment.said == np.uint64(said)) & alive[: segment.size] & (segment.flags & TURN == 0)
            found += [(n, row) for row in np.flatnonzero(same).tolist()]
        return found

    def row(self, table: TableName, id: str) -> LivingRow | None:
        """Return the row of a table under an id."""
        key = key_of(table, id)
        for segment, alive in zip(self.segments, self.living, strict=True):
            for place in segment.rows_of(key).tolist():
                if alive[place] and segment.tables[place] != GONE:
                    found: LivingRow = row_at(segment, place)
                    return found
        return None


NOTHING = Opened(Manifest(format=FORMAT, scope="", number=0, usual=usual_language([]), segments=[], made=""), (), ())
"""The index of a scope of which nothing was written."""


def scope_folder(folder: Path, scope: str) -> Path:
    """Return where the index of a scope lies: a scope's name may hold what no file's name may."""
    return folder / f"{number_of(scope):016x}"


def indexed_scopes(folder: Path) -> list[str]:
    """Return the scopes that have an index in a partition's folder, sorted."""
    folders = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    manifests = map(read_manifest, folders)
    return sorted(manifest.scope for manifest in manifests if manifest is not None)


def open_index(folder: Path, before: Opened | None = None) -> Opened | None:
    """Return the index of a scope in its folder, None where there is none; segments of `before` are not opened again.

    Raises what is wrong with an index that is damaged.
    """
    while True:
        manifest = read_manifest(folder)
        if manifest is None or (before is not None and manifest == before.manifest):
            return before if manifest is not None else None
        try:
            return _opened(folder, manifest, before)
        except FileNotFoundError:
            if read_manifest(folder) == manifest:  # No writer has been here meanwhile.
                raise


def _opened(folder: Path, manifest: Manifest, before: Opened | None) -> Opened:
    if manifest.format != FORMAT:
        raise ValueError(f"The index has the format {manifest.format} and not {FORMAT}.")
    known: dict[Named, Segment] = {}
    if before is not None and before.manifest.made == manifest.made:
        known = dict(zip(before.manifest.segments, before.segments, strict=True))
    segments = [known.get(named) or read_segment(folder / named.name, named.bytes) for named in manifest.segments]
    sizes = [named.rows for named in manifest.segments]
    flags = np.ones(sum(sizes), np.bool_)
    if manifest.living:
        packed = (folder / manifest.living).read_bytes()
        if zlib.crc32(packed) != manifest.living_crc:
            raise ValueError(f"{manifest.living} is not as it was written.")
        flags = np.unpackbits(np.frombuffer(packed, np.uint8), count=sum(sizes)).astype(np.bool_)
    ends = np.cumsum(sizes)
    return Opened(manifest, tuple(segments), tuple(np.split(flags, ends[:-1]) if sizes else ()))


class SearchIndex:
    """Writes the indexes of one partition's scopes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._scopes: OrderedDict[str, Opened | None] = OrderedDict()
        self.numbers: dict[str, int] = {}
        """The number of the manifest of each scope that was written."""

    def write(self, rows: Sequence[Guarded]) -> None:
        """Write rows; one that is not newer than what stands under its key changes nothing."""
        for scope, its in _by_scope(enumerate(rows)).items():
            opened = self._open(scope)
            made = _Making(opened)
            made.add([guarded for _, guarded in its])
            if made.changed or opened is None:
                self._finish(scope, made, opened.manifest.number if opened is not None else 0)

    def replace(self, rows: Sequence[Guarded], numbers: Mapping[str, int]) -> None:
        """Let rows be all that their scopes have, whatever stands there; `numbers` are those of the last manifests."""
        for scope, its in _by_scope(enumerate(rows)).items():
            made = _Making(None)
            made.add([guarded for _, guarded in its])
            self._finish(scope, made, max(numbers.get(scope, 0), self.numbers.get(scope, 0)))

    def _finish(self, scope: str, made: _Making, last: int) -> None:
        folder = scope_folder(self._folder, scope)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._scopes[scope] = made.written(folder, scope, last + 1)
        self.numbers[scope] = last + 1

    def known(self, rows: Sequence[Guarded]) -> list[bool]:
        """Return of each row whether one may stand under its key; of tables that are not indexed all may."""
        known = [True] * len(rows)
        for scope, its in _by_scope(enumerate(rows)).items():
            opened = self._open(scope) or NOTHING
            keys = np.array([key_of(guarded.table, guarded.row.id) for _, guarded in its], "<u8")
            held = np.zeros(len(its), np.bool_)
            for segment in opened.segments:
                held |= is_one_of(keys, segment.keys)
            for (n, _), is_held in zip(its, held.tolist(), strict=True):
                known[n] = is_held
        return known

    def _open(self, scope: str) -> Opened | None:
        opened = open_index(scope_folder(self._folder, scope), self._scopes.pop(scope, None))
        self._scopes[scope] = opened
        while len(self._scopes) > OPEN_SCOPES:
            self._scopes.popitem(last=False)
        return opened

    def discard(self) -> None:
        """Delete all of it."""
        from shutil import rmtree

        self._scopes.clear()
        self.numbers.clear()
        rmtree(self._folder, ignore_errors=True)


class _Making:
    """The index of a scope while rows are added to it: segments, old and new, and which of their rows live."""

    def __init__(self, opened: Opened | None) -> None:
        self._segments = list(opened.segments) if opened is not None else []
        self._living = [alive.copy() for alive in opened.living] if opened is not None else []
        self._names = list(opened.manifest.segments) if opened is not None else []
        self._usual = opened.manifest.usual if opened is not None else usual_language([])
        self._made = opened.manifest.made if opened is not None else str(uuid_utils.uuid7())
        self.changed = False

    def add(self, rows: Sequence[Guarded]) -> None:
        """Take in what of some rows is newer than what is there."""
        newest: dict[int, Guarded] = {}
        for guarded in rows:
            key = key_of(guarded.table, guarded.row.id)
            known = newest.get(key)
            if known is None or _guard(known) < _guard(guarded):
                newest[key] = guarded
        for key in self._replaced(newest):
            del newest[key]
        if not newest:
            return
        self.changed = True
        told = {key: told_of_row(guarded.row) for key, guarded in newest.items()}
        self._settle_language(newest, told)
        self._append(segment_of_rows(list(newest.values()), [told[key] for key in newest], self._usual))
        self._merge()

    def _replaced(self, newest: dict[int, Guarded]) -> list[int]:
        """Let what the new rows replace live no more; return the keys of those that are not newer."""
        older: list[int] = []
        keys = np.array(sorted(newest), "<u8")
        for segment, alive in zip(self._segments, self._living, strict=True):
            starts = np.searchsorted(segment.keys, keys, "left")
            ends = np.searchsorted(segment.keys, keys, "right")
            for n in np.flatnonzero(starts < ends).tolist():
                key = int(keys[n])
                for row in segment.by_key[int(starts[n]) : int(ends[n])].tolist():
                    if not alive[row]:
                        continue
                    if _guard(newest[key]) > (int(segment.generations[row]), int(segment.offsets[row])):
                        alive[row] = False
                    else:
                        older.append(key)
        return older

    def _settle_language(self, newest: dict[int, Guarded], told: dict[int, int]) -> None:
        """Find out in which language most texts are; those that are read otherwise now are taken in again."""
        counts = counted_languages(
            [Part(part, shown_of(part, alive)) for part, alive in zip(self._segments, self._living, strict=True)],
            len(TOLD_LANGUAGES),
        )
        new = languages_of_rows((guarded.row for guarded in newest.values()), told.values())
        usual = usual_language(map(add, counts, new))
        if usual == self._usual:
            return
        self._usual = usual
        for segment, alive in zip(self._segments, self._living, strict=True):
            read = np.array([language_read(its, usual) for its in segment.told.tolist()], np.uint8)
            keys = segment.row_keys()
            for row in np.flatnonzero(alive[: segment.size] & (read != segment.read)).tolist():
                key, table = int(keys[row]), TABLE_NAMES[int(segment.tables[row])]
                guard = int(segment.generations[row]), int(segment.offsets[row])
                newest[key] = Guarded(table, row_at(segment, row), *guard)
                told[key] = int(segment.told[row])
                alive[row] = False

    def _append(self, segment: Segment) -> None:
        self._segments.append(segment)
        self._living.append(np.ones(len(segment.tables), np.bool_))
        self._names.append(_UNWRITTEN)

    def _merge(self) -> None:
        """Bring small segments together, and those of which most rows are dead."""
        while len(self._segments) > 1 and self._alive(-1) + self._alive(-2) <= DELTA_ROWS:
            self._join([len(self._segments) - 2, len(self._segments) - 1])
        for place in range(len(self._segments)):
            if 2 * self._alive(place) < len(self._living[place]):
                self._join([place])
        while True:
            tiers: dict[int, list[int]] = {}
            for place in range(len(self._segments)):
                tiers.setdefault(_tier(self._alive(place)), []).append(place)
            due = [
                places[:TIER]
                for places in tiers.values()
                if len(places) >= TIER and sum(map(self._alive, places[:TIER])) <= MOST_ROWS
            ]
            if not due:
                return
            self._join(due[0])

    def _alive(self, place: int) -> int:
        return int(self._living[place].sum())

    def _join(self, places: Sequence[int]) -> None:
        """Let one segment stand for several."""
        made = merged([self._segments[place] for place in places], [self._living[place] for place in places])
        first, *rest = places
        self._segments[first], self._names[first] = made, _UNWRITTEN
        self._living[first] = np.ones(len(made.tables), np.bool_)
        for place in reversed(rest):
            del self._segments[place], self._living[place], self._names[place]

    def written(self, folder: Path, scope: str, number: int) -> Opened:
        """Write what is new, name it in a manifest, and delete the files that no manifest names any more."""
        for place, named in enumerate(self._names):
            if named is _UNWRITTEN:
                name = f"{number}-{place}"
                size = write_segment(folder / name, self._segments[place])
                self._names[place] = Named(name, len(self._living[place]), size)
                self._segments[place] = read_segment(folder / name, size)
        living, packed = "", b""
        if not all(alive.all() for alive in self._living):
            living = f"{number}-living"
            packed = np.packbits(np.concatenate(self._living)).tobytes()
            write_whole(folder / living, packed)
        manifest = Manifest(
            format=FORMAT,
            scope=scope,
            number=number,
            usual=self._usual,
            segments=self._names,
            made=self._made,
            living=living,
            living_crc=zlib.crc32(packed),
        )
        write_manifest(folder, manifest)
        known = {MANIFEST, living, *(segment.name for segment in manifest.segments)}
        for path in folder.iterdir():
            if path.name not in known:
                path.unlink(missing_ok=True)
        return Opened(manifest, tuple(self._segments), tuple(self._living))


_UNWRITTEN = Named("", 0, 0)


def _by_scope(rows: Iterable[tuple[int, Guarded]]) -> dict[str, list[tuple[int, Guarded]]]:
    """Return the rows of tables that the index has by their scopes, each with its number."""
    by_scope: dict[str, list[tuple[int, Guarded]]] = {}
    for n, guarded in rows:
        if guarded.table in (*FOUND, *KEPT):
            by_scope.setdefault(guarded.row.scope, []).append((n, guarded))
    return by_scope


def _guard(guarded: Guarded) -> tuple[int, int]:
    return guarded.generation, guarded.offset


def _tier(rows: int) -> int:
    """Return the tier of a segment: 0 up to 512 rows, and one more for each eightfold."""
    tier = 0
    while rows > DELTA_ROWS * TIER**tier:
        tier += 1
    return tier
