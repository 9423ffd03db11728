"""The clock worker: appends the hour to every partition, for the hours in which nothing is said there.

The time is handed in by whoever runs it. Rebuilding views never wakes it.
"""

from __future__ import annotations

from memtape.schemas.events import make_tick
from memtape.schemas.log import Log
from memtape.schemas.times import HOUR_US


class ClockWorker:
    """Ticks each partition once an hour. Two workers write the same events, which readers count once."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._hour = -1

    def tick_if_due(self, now_us: int) -> None:
        """Append a tick to every partition if a new hour has begun since the last call."""
        hour = now_us // HOUR_US
        if hour > self._hour:
            self._log.append([make_tick(number, now_us) for number in range(self._log.partitions)])
            self._hour = hour
