"""The clock: appends the hour to every partition, for the hours in which nothing is said there.

The time is handed in by whoever runs it. Rebuilding views never wakes it.
"""

from __future__ import annotations

from collections.abc import Callable

from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.events import make_tick
from memtape.schemas.log import Log
from memtape.schemas.times import HOUR_US


class Clock(Worker):
    """Ticks each partition once an hour. Two clocks write the same events, which readers count once."""

    def __init__(self, log: Log, now_us: Callable[[], int], on_note: OnNote) -> None:
        super().__init__(on_note)
        self._log = log
        self._now_us = now_us
        self._hour = -1

    def catch_up(self) -> None:
        """Append a tick to every partition if a new hour has begun since the last call."""
        now = self._now_us()
        hour = now // HOUR_US
        if hour > self._hour:
            self._log.append([make_tick(number, now) for number in range(self._log.partitions)])
            self._hour, self.changed = hour, True
            self.done += self._log.partitions

    def failed(self, error: Exception) -> str:
        """See `Worker.failed`."""
        return f"The hour could not be put on the log: {error}. It is tried again."
