"""The state of a partition at any offset: from the nearest snapshot of the build that is served, and the log."""

from __future__ import annotations

from memtape.flows.projection import basis_of, open_projection
from memtape.schemas.log import Log
from memtape.sinks.home.folders import Build
from memtape.sinks.snapshots import Snapshots
from memtape.state.core.partition import Partition


def state_at(log: Log, build: Build, partition: int, offset: int) -> Partition:
    """Return the state of a partition before `offset`, without what has been erased by now."""
    while True:
        erased = log.erased(partition)
        basis = basis_of(log, partition, erased)
        snapshots = Snapshots(build, partition, basis)
        state = open_projection(log, partition, offset, offset, snapshots, basis, erased).state
        if not state.stale:  # Something may have been erased just now.
            return state
