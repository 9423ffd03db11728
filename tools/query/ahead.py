"""The views of a partition with the pending events folded over them, in memory.

A process that adds and searches by turns finds the rows that a projector will write, and writes none itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from memtape.flows.projection import basis_of, open_projection
from memtape.schemas.log import Log
from memtape.schemas.rows import Guarded, ScopeHeld, Watermark
from memtape.sinks.home.builds import Build
from memtape.sinks.search_index import NOTHING, OpenIndex, with_rows
from memtape.sinks.snapshots import Snapshots
from memtape.sinks.tables import RowT, Shard
from memtape.state.views.indexed import TABLE_OF, RowAddress, Take, table_number

MOST_SLOTS = 2_000
FIRST_ADDRESS = 1 << 31
"""Rows in memory have addresses from here on: no table has so many."""


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
