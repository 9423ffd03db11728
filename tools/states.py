"""The state of a partition at any offset: from the nearest snapshot of the build that is served, and the log."""

from __future__ import annotations

from recollect.flows.projection import open_projection
from recollect.schemas.log import Log
from recollect.sinks.home import Build
from recollect.sinks.snapshots import Snapshots
from recollect.state.digests import rules_version
from recollect.state.partition import Partition


def state_at(log: Log, build: Build, partition: int, offset: int) -> Partition:
    """Return the state of a partition before `offset`."""
    snapshots = Snapshots(build.state, partition, log.log_id, rules_version())
    return open_projection(log, partition, offset, offset, snapshots).state
