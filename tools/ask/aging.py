"""How a scope and each of its texts have aged, by the state folded up to the end of the log. Nothing is appended.

The rules are in `state`; changing their settings is in `tools/keep/lifecycle_settings.py`.
"""

from __future__ import annotations

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log
from memtape.schemas.rows import LifeMark
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.schemas.times import HOUR_US, format_time
from memtape.sinks.home.folders import Home
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.subjects.lifecycle import unit_of
from memtape.state.views.ages import Age, Pass, UnitCounts, age_of, next_pass, standing
from memtape.tools.ask.naming import Ids, nowhere
from memtape.tools.keep.states import state_at


class Aging(msgspec.Struct, frozen=True, kw_only=True):
    """The aging of a scope: its own state, the numbers of its texts by tier, and the latest tick.

    `ticked_at` is the clock of its partition, in microseconds, 0 before its first event. `pass_` has the
    changes of the next pass, None unless asked for. `on` says whether passes happen at all.
    """

    scope: str
    mark: LifeMark
    on: bool
    ticked_at: int
    standing: UnitCounts
    pass_: Pass | None = msgspec.field(name="pass", default=None)


def aging_of(home: Home, log: Log, name: str, now: int, *, dry_run: bool, at: int | None) -> Aging:
    """Return the aging of a scope, and for a dry run the changes of the next pass, or of a pass at a time.

    Raises `MemtapeError` for a time that the clock has passed already.
    """
    state = _folded(home, log, name)
    scope, clock = state.scopes.get(name) or Scope(name), state.clock or 0
    if at is not None and at // HOUR_US * HOUR_US <= clock:
        raise MemtapeError(
            f"The clock of {name} stands at {format_time(clock)}, and only goes on.", "Give a later hour, or none."
        )
    hour = (now if at is None else at) // HOUR_US * HOUR_US
    return Aging(
        scope=name,
        mark=scope.lifecycle.mark(),
        on=state.settings.lifecycle,
        ticked_at=clock,
        standing=standing(scope),
        pass_=next_pass(scope, state.settings, max(hour, clock // HOUR_US * HOUR_US + HOUR_US)) if dry_run else None,
    )


def age_of_id(home: Home, log: Log, ids: Ids, id: str, now: int) -> Age:
    """Return how the memory or turn of an id has aged, purged or not. Raises `NotFound`."""

    def of(name: str, id: str) -> Age:
        for read in scopes_read(name):
            if not log.known(read, [id]):
                continue
            state = _folded(home, log, read)
            scope = state.scopes.get(read)
            capture = None if scope is None else scope.captures.get(id)
            if scope is not None and capture is not None:
                return age_of(scope, unit_of(scope, capture), state.settings, max(now, state.clock or 0))
        raise nowhere(name, id)

    return ids.within(id, of)


def _folded(home: Home, log: Log, name: str) -> Partition:
    number = partition_of(name, log.partitions)
    return state_at(log, home.current(), number, log.ends()[number])
