"""The views as of another position than the written ones': the past, and the end of the log.

A position is a vector of offsets; a partition that is not named counts up to its end. As of a time T means,
in each partition, the events before its first event with `sent` after T. Views of the past are replayed and
cached. A process that adds and searches by turns folds the pending events over the written views in memory:
it finds the rows that a projector will write, and writes none itself.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from memtape.flows.projection import basis_of, open_projection, watermark_of
from memtape.schemas.codec import canonical
from memtape.schemas.errors import MemtapeError, OffsetOutOfRange
from memtape.schemas.log import Log, trail_of
from memtape.schemas.rows import Basis, Guarded, ScopeHeld, Watermark, made_from
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import parse_time
from memtape.sinks.home.builds import Build
from memtape.sinks.home.folders import Home
from memtape.sinks.search_index import NOTHING, OpenIndex, with_rows
from memtape.sinks.snapshots import Snapshots
from memtape.sinks.tables import WATERMARK, RowT, Shard
from memtape.state.views.diff import Changes, changes_since, joined, seen_of
from memtape.state.views.indexed import TABLE_OF, RowAddress, Take, table_number
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.states import rows_at, state_at

KEPT_VIEWS = 32
KEPT_S = 600
"""A view is kept at least this long after its last use, since a reader may still have it open."""

MOST_SLOTS = 2_000
FIRST_ADDRESS = 1 << 31
"""Rows in memory have addresses from here on: no table has so many."""

Positions = dict[int, int]

_VECTOR = re.compile(r"\d+/\d+(,\d+/\d+)*\Z")


def parse_position(text: str, log: Log, now_us: int) -> Positions:
    """Parse `3/120,7/45` (partition/offset), ISO 8601, or an age such as 3d.

    Returns the next offset of every partition. Raises `OffsetOutOfRange` for a position beyond the log.
    """
    if _VECTOR.match(text) is None:
        time_us = parse_time(text, now_us)
        return {number: log.offset_after(number, time_us) for number in range(log.partitions)}
    return dict(enumerate(log.ends())) | offsets_of(text, log)


def offsets_of(text: str, log: Log) -> Positions:
    """Parse `3/120,7/45` (partition/offset). Raises `MemtapeError`, `OffsetOutOfRange` beyond the log."""
    if _VECTOR.match(text) is None:
        raise MemtapeError(f"{text} is no position.", "Write partition/offset, as 3/120.")
    ends, found = dict(enumerate(log.ends())), dict[int, int]()
    for pair in text.split(","):
        partition, offset = map(int, pair.split("/"))
        if partition not in ends or offset > ends[partition]:
            end = ends.get(partition)
            said = f"ends at {end}" if end is not None else "does not exist"
            told = f"There is no position {partition}/{offset}: partition {partition} {said}."
            raise OffsetOutOfRange(told)
        found[partition] = offset
    return found


def time_asked(text: str, now_us: int) -> int | None:
    """Return the time that a text names for `parse_position`, at most now; None for a vector of offsets."""
    return None if _VECTOR.match(text) else min(now_us, parse_time(text, now_us))


class PastViews:
    """The views of a home at past positions, made at the first use and cached.

    The name of a folder is a digest of all inputs of its rows, so a folder is right for any reader. It is
    made under a lock, the watermark last; without one it is made again.
    """

    def __init__(self, home: Home, log: Log, positions: Positions, time: int | None = None) -> None:
        self.time = time
        """The time that was named, in microseconds; None where a position was."""
        self._home, self._log, self._positions = home, log, positions
        self._given: dict[Path, None] = {}

    def shard(self, partition: int) -> Shard:
        """Return the tables of a partition as they were."""
        offset = self._positions[partition]
        if not offset:
            return Shard(self._home.path / "no-views", partition)
        while True:
            basis, trail = basis_of(self._log, partition), trail_of(self._log, partition, offset)
            digest = blake2b(canonical([*basis, trail]), digest_size=8).hexdigest()
            shard = Shard(self._home.as_of / f"p{partition:02}-{offset:012}-{digest}", partition)
            if not _is_whole(shard):
                with self._home.as_of_lock():
                    if not _is_whole(shard):  # Another process may have made it meanwhile.
                        self._make(shard, offset, basis, trail)
                    self._forget_old()
                shard = Shard(shard.path, partition)
            if basis_of(self._log, partition) == basis:
                break
            _remove(shard.path)  # Something was erased just now, perhaps not in here.
        with suppress(FileNotFoundError):
            os.utime(shard.path)  # It must not make a file of a folder that an erasure takes away.
            self._given[shard.path] = None
        return shard

    def discard(self) -> None:
        """Discard the builds given out by this object; another reader of one makes it anew."""
        with self._home.as_of_lock():
            for folder in self._given:
                _remove(folder)
        self._given.clear()

    def _make(self, shard: Shard, offset: int, basis: Basis, trail: str) -> None:
        _remove(shard.path)
        state = state_at(self._log, self._home.current(), shard.partition, offset)
        try:
            for rows in rows_at(state, offset):
                shard.write(rows)
            shard.write_watermark(watermark_of(state, trail))
        except Exception:
            _remove(shard.path)
            if basis_of(self._log, shard.partition) == basis:
                raise  # Else an erasure has taken away what was being made.

    def _forget_old(self) -> None:
        """Remove the views without a recent use, except some."""
        with suppress(FileNotFoundError):  # An erasure takes some away meanwhile.
            views = sorted((path.stat().st_mtime, path) for path in self._home.as_of.iterdir())
            for used, path in views[:-KEPT_VIEWS]:
                if used < time.time() - KEPT_S:
                    _remove(path)


def _is_whole(shard: Shard) -> bool:
    with suppress(Exception):  # A damaged cache is made again.
        return shard.exists() and shard.watermark() is not None
    return False


def _remove(folder: Path) -> None:
    """Delete a folder, its watermark first: a half-deleted folder is none."""
    (folder / WATERMARK).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


class Diff(Changes, frozen=True, kw_only=True):
    """The changes between two positions."""

    before: Positions
    after: Positions


def diff(home: Home, log: Log, first: str, second: str, scope: str | None) -> Diff:
    """Return the changes between two positions or times, in one scope or in all scopes."""
    now = now_us()
    before, after = (parse_position(text, log, now) for text in (first, second))
    if wrong := [number for number, offset in before.items() if after[number] < offset]:
        told = f"The second position is before the first in partition {wrong[0]}."
        raise MemtapeError(told, "Give the earlier one first.")
    build = home.current()
    own = range(log.partitions) if scope is None else (partition_of(scope, log.partitions),)
    numbers = [number for number in own if before[number] != after[number]]

    def changes_in(number: int) -> Changes:
        state = state_at(log, build, number, before[number])
        seen = {name: seen_of(its) for name, its in state.scopes.items() if scope in (None, name)}
        return changes_since(seen, state_at(log, build, number, after[number]), scope)

    changes = joined(map(changes_in, numbers))
    return made_from(Diff, changes, before=before, after=after)


class AheadShard(Shard):
    """The views of one partition up to the end of the log: those written, and rows in memory over them.

    Raises `ValueError` where the written views are to be made anew.
    """

    def __init__(self, build: Build, log: Log, partition: int) -> None:
        super().__init__(build.shard(partition), partition)
        mark, erased = super().watermark(), log.erased(partition)
        self._log, self._basis = log, basis_of(log, partition, erased)
        if mark is None or self._basis.unlike(mark.basis):
            raise ValueError("The views are to be made anew.")
        snapshots = Snapshots(build, partition, self._basis)
        if not snapshots.nearest(mark.offset):  # A writer replaces a snapshot after a newer watermark.
            mark = super().watermark() or mark
        self._start, self._mark_ahead = mark.offset, mark
        place = log, partition, mark.offset, mark.offset
        self._projection = open_projection(*place, snapshots, self._basis, erased)
        self._projection.has_pages = False
        self._rows: dict[str, list[Guarded]] = {}
        """By scope the rows that may not be written yet, in the order of the log."""
        self._laid: dict[str, tuple[OpenIndex | None, dict[RowAddress, Any], int, OpenIndex | None]] = {}
        """By scope the written index, the rows laid over it, how many of `_rows` they are, and the result."""

    def advance(self) -> bool:
        """Fold the log to its end; return False where the written views are no basis for that any more."""
        written, state = super().watermark(), self._projection.state
        if written is None or written.offset < self._start:
            return False
        if self._basis != basis_of(self._log, self.partition):
            return False
        while slots := self._log.read(self.partition, state.offset, MOST_SLOTS):
            delta = self._projection.advance(slots)
            if delta is None or state.met_erased:
                return False
            for guarded in delta.rows:
                self._rows.setdefault(guarded.row.scope, []).append(guarded)
            self._mark_ahead = delta.watermark
        return True

    @property
    def unwritten(self) -> int:
        """How many events were folded that the written views do not have; 0 without such views."""
        written = super().watermark()
        return 0 if written is None else max(0, self._mark_ahead.offset - written.offset)

    def watermark(self) -> Watermark | None:
        """Return the watermark of all rows, those in memory too."""
        written = super().watermark() or self._mark_ahead
        return max(written, self._mark_ahead, key=lambda mark: mark.offset)

    def index(self, scope: str, before: OpenIndex | None = None) -> OpenIndex | None:
        """Return the search index of a scope with the rows in memory; see `Shard.index`."""
        mark, written = super().watermark(), super().index(scope)
        base, held, count, laid = self._laid.get(scope, (NOTHING, {}, 0, None))
        if base is not written:  # It is opened for the first time, or rows have been written.
            held, count, laid = {}, 0, written
            since = 0 if mark is None else mark.offset
            self._rows[scope] = [its for its in self._rows.get(scope, ()) if its.offset >= since]
        added = list[tuple[Guarded, int]]()
        for guarded in self._rows[scope][count:]:
            address = FIRST_ADDRESS + len(held)
            guard = guarded.generation, guarded.offset
            held[RowAddress(table_number(guarded.table), address, *guard)] = guarded.row
            added.append((guarded, address))
        if added:
            laid = with_rows(laid, scope, added, partial(_taken, held, self._tables.take))
        self._laid[scope] = written, held, len(self._rows[scope]), laid
        return laid

    def indexes(self) -> dict[str, OpenIndex]:
        """Return the search index of every scope with one; see `Shard.indexes`."""
        found = {name: self.index(name) for name in self._rows}
        return super().indexes() | {name: laid for name, laid in found.items() if laid is not None}

    def held(self) -> dict[str, ScopeHeld]:
        """Return the counts of each scope with content; see `Shard.held`."""
        found = {name: self.index(name) for name in self._rows}
        return super().held() | {name: laid.held() for name, laid in found.items() if laid is not None}

    def rows(self, row_type: type[RowT], scope: str | None = None) -> list[RowT]:
        """Return the rows of a table; see `Shard.rows`."""
        found = {row.key: row for row in super().rows(row_type, scope)}
        for name in self._rows if scope is None else (scope,):
            for its in self._rows.get(name, ()):
                if its.table == TABLE_OF[row_type]:
                    found.pop(its.row.key, None)
                    if isinstance(its.row, row_type):
                        found[its.row.key] = its.row
        return sorted(found.values(), key=lambda row: row.key)


def _taken(held: Mapping[RowAddress, Any], take: Take, addresses: Sequence[RowAddress]) -> list[Any]:
    """Return the rows at some addresses, those in memory and others."""
    others = iter(take([its for its in addresses if its not in held]))
    return [held[its] if its in held else next(others) for its in addresses]
