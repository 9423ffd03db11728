"""The state of a partition at any offset, from a build's nearest snapshot and the log; the rows of a state.

The waiting caller gets the progress (`tell_progress`). Questions about the past leave snapshots on
the way.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from memtape.flows.projection import basis_of, fold_until, restored
from memtape.schemas.log import Log, trail_of
from memtape.schemas.metrics import FOLDING, tell_progress
from memtape.schemas.rows import TABLES, Basis, Guarded
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.builds import Build
from memtape.sinks.home.folders import Home
from memtape.sinks.snapshots import Snapshots
from memtape.state.core.partition import Partition, snapshot
from memtape.state.core.scope import Scope
from memtape.state.views.rows import all_changes, guarded_rows

ROWS_AT_ONCE = 10_000
PARTS, LEAST_STEP = 8, 1_024
"""The most snapshots of a log for past views, and the least distance between two.

To fold 1,000 events takes half a second.
"""


def state_at(log: Log, build: Build, partition: int, offset: int) -> Partition:
    """Return the state of a partition before `offset`, without events erased by now."""
    while True:
        erased = log.erased(partition)
        basis = basis_of(log, partition, erased)
        stores = [Snapshots(build, partition, basis, past=past) for past in (True, False)]
        store = max(stores, key=lambda store: store.nearest(offset))
        state = restored(log, partition, offset, store, basis, erased)
        _go_on(log, build, state, offset, basis)
        if not state.stale:  # Something may have been erased just now.
            return state


def partition_now(home: Home, log: Log, name: str) -> Partition:
    """Return the state of a scope's partition at the end of the log."""
    number = partition_of(name, log.partitions)
    return state_at(log, home.current(), number, log.ends()[number])


def scope_now(home: Home, log: Log, name: str) -> Scope | None:
    """Return the state of a scope at the end of the log, None of one of which the log has nothing."""
    return partition_now(home, log, name).scopes.get(name)


class KeptStates:
    """The states of partitions at the end of a log, kept in memory and folded on from question to question.

    For a process that decides often: a state of many memories takes seconds to restore from its snapshot. The
    caller owns `log`. Threads may share it.
    """

    def __init__(self, home: Home, log: Log) -> None:
        self._home, self._log = home, log
        self._lock = threading.Lock()
        self._kept: dict[int, tuple[Path, Basis, Partition]] = {}

    def scope_now(self, name: str) -> Scope | None:
        """Return the state of a scope at the end of the log; nobody changes it."""
        number, build = partition_of(name, self._log.partitions), self._home.current()
        with self._lock:
            end, erased = self._log.ends()[number], self._log.erased(number)
            path, basis, state = self._kept.get(number, (None, None, None))
            is_same = path == build.path and basis == basis_of(self._log, number, erased)
            if state is None or not is_same or state.offset > end:
                state = state_at(self._log, build, number, end)
            else:
                fold_until(state, self._log, end)
            if state.stale:  # Something was erased just now.
                state = state_at(self._log, build, number, end)
            self._kept[number] = build.path, basis_of(self._log, number, self._log.erased(number)), state
            return state.scopes.get(name)


def _go_on(log: Log, build: Build, state: Partition, offset: int, basis: Basis) -> None:
    """Fold a state on to an offset, and leave snapshots on the way where that is not the end of the log."""
    start, end, before = state.offset, log.ends()[state.number], 0

    def on_fold(done: int, _: int) -> None:
        tell_progress(FOLDING, before + done, offset - start)

    step = LEAST_STEP
    while end // step > PARTS:
        step *= 2
    store = Snapshots(build, state.number, basis, past=True)
    rungs = range((start // step + 1) * step, offset + 1, step) if offset < end else ()
    for stop in dict.fromkeys((*rungs, offset)):
        before = state.offset - start
        fold_until(state, log, stop, on_fold)
        if stop in rungs and not state.stale:
            store.write(stop, trail_of(log, state.number, stop), snapshot(state))
            store.thin_out(step)


def rows_at(state: Partition, offset: int) -> Iterator[list[Guarded]]:
    """Yield every row in a state before `offset`, some at once."""
    every = (change for scope in state.scopes.values() for change in all_changes(scope))
    changes = [change for change in every if change.table in TABLES]
    for start in range(0, len(changes), ROWS_AT_ONCE):
        yield guarded_rows(state, dict.fromkeys(changes[start : start + ROWS_AT_ONCE], offset - 1))
