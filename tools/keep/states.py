"""The state of a partition at any offset, from the nearest snapshot of a build and the log; and the rows of a state.

Whoever waits is told how far it is (`tools/keep/waiting.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from memtape.flows.projection import basis_of, fold_until, open_projection
from memtape.schemas.errors import NotFound
from memtape.schemas.log import Log
from memtape.schemas.rows import TABLES, Guarded
from memtape.sinks.home.folders import Build
from memtape.sinks.snapshots import Snapshots
from memtape.state.core.partition import Partition
from memtape.state.views.rows import all_changes, guarded_rows
from memtape.tools.keep.waiting import who_waits

ROWS_AT_ONCE = 10_000


def state_at(log: Log, build: Build, partition: int, offset: int) -> Partition:
    """Return the state of a partition before `offset`, without what has been erased by now."""
    while True:
        erased = log.erased(partition)
        basis = basis_of(log, partition, erased)
        snapshots = Snapshots(build, partition, basis)
        state = open_projection(log, partition, offset, offset, snapshots, basis, erased, who_waits()).state
        if not state.stale:  # Something may have been erased just now.
            return state


def state_later(log: Log, build: Build, state: Partition, offset: int) -> Partition:
    """Return the state of the same partition before a later `offset`: the state itself gone on with, or another.

    It is another where a snapshot is nearer, or where something has been erased meanwhile.
    """
    basis = basis_of(log, state.number)
    nearest = Snapshots(build, state.number, basis).nearest(offset)
    if basis.erased != state.erasures.count or nearest > state.offset:
        return state_at(log, build, state.number, offset)
    try:
        fold_until(state, log, offset, who_waits())
    except NotFound:  # Another process has erased what is still to be folded.
        return state_at(log, build, state.number, offset)
    return state_at(log, build, state.number, offset) if state.stale else state


def rows_at(state: Partition, offset: int, tables: Collection[str] = tuple(TABLES)) -> Iterator[list[Guarded]]:
    """Yield every row of these tables as a state before `offset` has it, some at once."""
    changes = [change for scope in state.scopes.values() for change in all_changes(scope) if change.table in tables]
    for start in range(0, len(changes), ROWS_AT_ONCE):
        yield guarded_rows(state, dict.fromkeys(changes[start : start + ROWS_AT_ONCE], offset - 1))
