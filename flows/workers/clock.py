"""The clock: appends the hour to partitions, for the hours in which nothing is said there. Texts age by the hour.

The caller hands the time in. Rebuilding views appends no hour.
"""

from __future__ import annotations

from collections.abc import Callable

from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.codec import event_of
from memtape.schemas.events import Ticked, make_tick
from memtape.schemas.log import Log, backwards
from memtape.schemas.times import DAY_US, HOUR_US

EMPTY_WAIT_US = 30 * DAY_US
"""Age of a partition without a scope at its first tick."""


class Clock(Worker):
    """Ticks each partition that has scopes, once an hour.

    A second clock in the same hour appends nothing. Two clocks at the same time append equal ticks, which readers
    count once. A partition without a scope gets its first tick after `EMPTY_WAIT_US`, since a partition refuses a tick
    far ahead of its clock (`tick_jump_days`).
    """

    def __init__(self, log: Log, now_us: Callable[[], int], on_note: OnNote) -> None:
        super().__init__(on_note)
        self._log = log
        self._now_us = now_us
        self._hour = -1

    def catch_up(self) -> None:
        """Append the tick of this hour to every partition that lacks the tick."""
        now = self._now_us()
        hour = now // HOUR_US
        if hour > self._hour:
            ticks = [make_tick(number, now) for number in range(self._log.partitions) if self._lacks(number, now)]
            if ticks:
                self._log.append(ticks)
                self.changed = True
                self.done += len(ticks)
            self._hour = hour

    def failed(self, error: Exception) -> str:
        """See `Worker.failed`."""
        return f"The hour could not be put on the log: {error}. It is tried again."

    def _lacks(self, number: int, now: int) -> bool:
        """Whether a partition lacks the tick of the hour of `now`, and needs the tick."""
        last = next(backwards(self._log, number, types=("ticked",)), None)
        if last is None:  # An append puts a tick before the first event of a scope, so the partition has no scope.
            first = event_of(self._log.read(number, 0, 1)[0].payload)
            return first is None or now - first.sent >= EMPTY_WAIT_US
        tick = event_of(last.payload)
        return tick is None or not isinstance(tick.body, Ticked) or tick.body.hour < now // HOUR_US
