"""The workers that put on the log what passes without an event: the hour, and commits in repositories.

Texts age by the hour, and a project with commits is not dormant, even if no agent captures anything there.
The caller passes the time and asks the repositories. Rebuilding views appends nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memtape.flows.workers.worker import Worker
from memtape.schemas.codec import event_of
from memtape.schemas.events import SYSTEM, Event, ScopeChanged, make_event, make_tick
from memtape.schemas.ids import derived_id
from memtape.schemas.log import backwards
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US, HOUR_US

EMPTY_WAIT_US = 30 * DAY_US  # Age of a partition without a scope at its first tick.
MOST_AWAY_HOURS = 3_653 * 24
"""Ten years: a machine whose time is further ahead of a partition has a wrong clock."""


@dataclass(eq=False)
class Clock(Worker):
    """Ticks each partition with scopes, once an hour.

    A second clock in the same hour appends nothing. Two clocks at the same time append equal ticks, which
    readers count once. A partition without a scope gets its first tick after `EMPTY_WAIT_US`.

    A partition ignores an hour far ahead of its clock (`jump_days`), as from a writer with a wrong clock.
    After a long time without events, the tick of this worker is `accepted`, up to `MOST_AWAY_HOURS`.
    `clocks` returns the clock (us) of each partition, as of the views; None for one without a scope.
    """

    failure = "The hour could not be put on the log"

    clocks: Callable[[], Sequence[int | None]]
    jump_days: Callable[[], int]
    now_us: Callable[[], int]
    hour: int = -1  # The last hour that is on the log.

    def due(self) -> Iterator[list[Event]]:
        """Yield the ticks of this hour of all partitions that lack them."""
        now = self.now_us()
        if now // HOUR_US > self.hour:
            made = (self._tick_lacking(number, clock, now) for number, clock in enumerate(self.clocks()))
            yield [tick for tick in made if tick is not None]
            self.hour = now // HOUR_US

    def _tick_lacking(self, number: int, clock: int | None, now: int) -> Event | None:
        """Return the tick of the hour of `now` where a partition lacks it, and needs it."""
        if clock is None:  # A tick stands before the first event of a scope: these are of this worker alone.
            slot = next(backwards(self.log, number, types=("ticked",)), None)
            event = event_of((slot or self.log.read(number, 0, 1)[0]).payload)
            clock = 0 if event is None else event.sent
            if now - clock < EMPTY_WAIT_US:
                return None
        ahead = now // HOUR_US - clock // HOUR_US
        accepted = 24 * self.jump_days() < ahead <= MOST_AWAY_HOURS
        return make_tick(number, now, accepted=accepted) if ahead > 0 else None


@dataclass(eq=False)
class Commits(Worker):
    """Asks each repository of a scope once a day for its last commit: that makes one `scope_changed`.

    An event's id derives from the day of the commit, since a project becomes dormant by days. So two workers,
    or a killed and restarted worker, add nothing twice.
    `folders` gives a folder of each that may be asked, and `last_commit` a time. `is_due` says of a scope
    whether the repository was not asked for a day.
    """

    poll_s = 3_600.0
    failure = "Repositories could not be asked for their last commits"

    is_due: Callable[[str, int], bool]
    folders: Callable[[], Mapping[str, str]]
    last_commit: Callable[[str], int | None]
    now_us: Callable[[], int]

    def due(self) -> Iterator[list[Event]]:
        """Ask each repository not asked for a day, and yield the event of its last commit."""
        now = self.now_us()
        for scope, folder in self.folders().items():
            # A scope in which nothing was ever said is no project yet.
            number = partition_of(scope, self.log.partitions)
            if not self.log.read(number, 0, 1, scope=scope) or not self.is_due(scope, now):
                continue
            at = self.last_commit(folder)
            if at is not None and at <= now:
                body = ScopeChanged(git_at=at, name=None, state=None)
                id = derived_id("scope_changed", scope, None, f"git:{at // DAY_US}")
                yield [make_event("scope_changed", id, body, scope, SYSTEM, (), now)]
