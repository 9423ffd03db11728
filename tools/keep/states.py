"""The state of a partition at any offset, from the nearest snapshot of a build and the log; and the rows of a state.

Whoever waits is told how far it is (`tools/keep/waiting.py`). Whoever asks for the past leaves snapshots on the way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from memtape.flows.projection import basis_of, fold_until, open_projection
from memtape.schemas.errors import NotFound
from memtape.schemas.log import Log, trail_of
from memtape.schemas.rows import TABLES, Basis, Guarded
from memtape.sinks.home.folders import Build
from memtape.sinks.snapshots import PastSnapshots, Snapshots
from memtape.state.core.partition import Partition, packed
from memtape.state.views.rows import all_changes, guarded_rows
from memtape.tools.keep.waiting import who_waits

ROWS_AT_ONCE = 10_000
PARTS, LEAST_STEP = 8, 1_024
"""A log has at most so many snapshots for those who ask for its past, and none is nearer to another.

To fold 1,000 events takes half a second.
"""


def state_at(log: Log, build: Build, partition: int, offset: int) -> Partition:
    """Return the state of a partition before `offset`, without what has been erased by now."""
    while True:
        erased = log.erased(partition)
        basis = basis_of(log, partition, erased)
        stores = PastSnapshots(build, partition, basis), Snapshots(build, partition, basis)
        nearest = max(stores, key=lambda store: store.nearest(offset))
        start = nearest.nearest(offset)
        state = open_projection(log, partition, start, start, nearest, basis, erased).state
        _go_on(log, build, state, offset, basis)
        if not state.stale:  # Something may have been erased just now.
            return state


def state_later(log: Log, build: Build, state: Partition, offset: int) -> Partition:
    """Return the state of the same partition before a later `offset`: the state itself gone on with, or another.

    It is another where a snapshot is nearer, or where something has been erased meanwhile.
    """
    basis = basis_of(log, state.number)
    stores = PastSnapshots(build, state.number, basis), Snapshots(build, state.number, basis)
    is_nearer = any(store.nearest(offset) > state.offset for store in stores)
    if basis.erased != state.erasures.count or is_nearer:
        return state_at(log, build, state.number, offset)
    try:
        _go_on(log, build, state, offset, basis)
    except NotFound:  # Another process has erased what is still to be folded.
        return state_at(log, build, state.number, offset)
    return state_at(log, build, state.number, offset) if state.stale else state


def _go_on(log: Log, build: Build, state: Partition, offset: int, basis: Basis) -> None:
    """Fold a state on to an offset, and leave snapshots on the way where that is not the end of the log."""
    start, told, end = state.offset, who_waits(), log.ends()[state.number]

    def on_fold(done: int, _: int) -> None:
        told(before - start + done, offset - start)

    step = LEAST_STEP
    while end // step > PARTS:
        step *= 2
    store = PastSnapshots(build, state.number, basis)
    for rung in range((start // step + 1) * step, offset + 1, step) if offset < end else ():
        before = state.offset
        fold_until(state, log, rung, on_fold)
        if not state.stale:
            store.write(rung, trail_of(log, state.number, rung), packed(state))
            store.thin_out(step)
    before = state.offset
    fold_until(state, log, offset, on_fold)


def rows_at(state: Partition, offset: int, tables: Collection[str] = tuple(TABLES)) -> Iterator[list[Guarded]]:
    """Yield every row of these tables as a state before `offset` has it, some at once."""
    changes = [change for scope in state.scopes.values() for change in all_changes(scope) if change.table in tables]
    for start in range(0, len(changes), ROWS_AT_ONCE):
        yield guarded_rows(state, dict.fromkeys(changes[start : start + ROWS_AT_ONCE], offset - 1))
