"""The workers that put on the log what passes without an event: the hour, and commits in repositories.

Texts age by the hour, and a project with commits is not dormant, even if no agent captures anything there.
The caller passes the time and asks the repositories. Rebuilding views appends nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memtape.flows.workers.worker import Worker
from memtape.schemas.codec import event_of
from memtape.schemas.events import SYSTEM, Configured, Event, ScopeChanged, Ticked, make_event, make_tick
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Slot, backwards, slots_between
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US, HOUR_US

EMPTY_WAIT_US = 30 * DAY_US
"""Age of a partition without a scope at its first tick."""
MOST_AWAY_HOURS = 3_653 * 24
"""Ten years: a machine whose time is further ahead of a partition has a wrong clock."""


class _Hour(NamedTuple):
    """An hour on a partition; `accepted` counts however far it is ahead of the hour before."""

    offset: int
    hour: int
    accepted: bool


@dataclass(eq=False)
class Clock(Worker):
    """Ticks each partition with scopes, once an hour.

    A second clock in the same hour appends nothing. Two clocks at the same time append equal ticks, which
    readers count once. A partition without a scope gets its first tick after `EMPTY_WAIT_US`.

    A partition ignores an hour far ahead of its clock (`tick_jump_days`), as from a writer with a wrong
    clock. After a long time without events, the tick of this worker is `accepted`, up to `MOST_AWAY_HOURS`.
    """

    failure = "The hour could not be put on the log"

    now_us: Callable[[], int]
    hour: int = -1
    """The last hour that is on the log."""

    def due(self) -> Iterator[list[Event]]:
        """Yield the ticks of this hour of all partitions that lack them."""
        now = self.now_us()
        if now // HOUR_US > self.hour:
            made = (self._tick_lacking(number, now) for number in range(self.log.partitions))
            yield [tick for tick in made if tick is not None]
            self.hour = now // HOUR_US

    def _tick_lacking(self, number: int, now: int) -> Event | None:
        """Return the tick of the hour of `now` where a partition lacks it, and needs it."""
        first = event_of(self.log.read(number, 0, 1)[0].payload)
        start = 0 if first is None else first.sent
        last = next(_hours(backwards(self.log, number, types=("ticked",))), None)
        if last is None and now - start < EMPTY_WAIT_US:
            return None  # The partition has no scope: a tick stands before the first event of a scope.
        slot = next(backwards(self.log, number, types=("configured",)), None)
        event = None if slot is None else event_of(slot.payload)
        body = None if event is None else event.body
        settings = body.settings if isinstance(body, Configured) else Settings()
        most = 24 * settings.tick_jump_days  # Hours further ahead are not accepted.
        clock = start // HOUR_US
        if last is not None:
            clock, jump = last.hour, self._last_jump(number, _Hour(0, clock, True), last, most)
            if jump is not None:  # All was ignored after it, unless an hour near or accepted came.
                before, offset = jump
                end = self.log.ends()[number]
                later = _hours(slots_between(self.log, number, offset, end, types=("ticked",)))
                if not any(it.accepted or it.hour - before.hour <= most for it in later):
                    clock = before.hour
        ahead = now // HOUR_US - clock
        return make_tick(number, now, accepted=most < ahead <= MOST_AWAY_HOURS) if ahead > 0 else None

    def _last_jump(self, number: int, low: _Hour, high: _Hour, most: int) -> tuple[_Hour, int] | None:
        """Return the last hour between two that the next is too far ahead of, and the next one's offset.

        Only where hours lie far apart their middle is read, so that a long log is not read whole.
        """
        if high.hour - low.hour <= most:
            return None
        end = high.offset
        while end - low.offset > 1:
            middle = (low.offset + end) // 2
            found = next(_hours(self.log.read(number, middle, 1, types=("ticked",))), high)
            if found.offset < high.offset:
                return self._last_jump(number, found, high, most) or self._last_jump(number, low, found, most)
            end = middle
        return low, high.offset


def _hours(slots: Iterable[Slot]) -> Iterator[_Hour]:
    for slot in slots:
        event = event_of(slot.payload)
        if event is not None and isinstance(event.body, Ticked):
            yield _Hour(slot.offset, event.body.hour, event.body.accepted)


class CommitMarkStore(Protocol):
    """The store of the times (us) at which repositories were asked last, by scope."""

    def read(self) -> dict[str, int]: ...

    def write(self, marks: dict[str, int]) -> None: ...


@dataclass(eq=False)
class Commits(Worker):
    """Asks each repository of a scope once a day for its last commit: that makes one `scope_changed`.

    An event's id derives from the day of the commit, since a project becomes dormant by days. So two workers,
    or a killed and restarted worker, add nothing twice.
    `folders` gives a folder of each that may be asked, and `last_commit` a time.
    """

    poll_s = 3_600.0
    failure = "Repositories could not be asked for their last commits"

    marks: CommitMarkStore
    folders: Callable[[], Mapping[str, str]]
    last_commit: Callable[[str], int | None]
    now_us: Callable[[], int]

    def due(self) -> Iterator[list[Event]]:
        """Ask each repository not asked for a day, and yield the event of its last commit."""
        now, folders = self.now_us(), self.folders()
        marks = self.marks.read() if folders else {}
        for scope, folder in folders.items():
            # A scope in which nothing was ever said is no project yet.
            number = partition_of(scope, self.log.partitions)
            if now - DAY_US < marks.get(scope, 0) <= now or not self.log.read(number, 0, 1, scope=scope):
                continue
            at, events = self.last_commit(folder), list[Event]()
            if at is not None and at <= now:
                body = ScopeChanged(git_at=at, name=None, state=None)
                id = derived_id("scope_changed", scope, None, f"git:{at // DAY_US}")
                events = [make_event("scope_changed", id, body, scope, SYSTEM, (), now)]
            yield events
            marks[scope] = now
            self.marks.write({name: mark for name, mark in marks.items() if name in folders})
