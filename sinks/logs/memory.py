"""A log in this process's memory, lost with the process.

Used in tests of this project and of its users, and by a process that stores nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

import uuid_utils

from memtape.schemas.codec import blanked, decode
from memtape.schemas.errors import OffsetOutOfRange
from memtape.schemas.events import Event, make_configured
from memtape.schemas.log import Log, Position, Slot, matches
from memtape.schemas.settings import Settings
from memtape.sinks.logs.admission import admit

_of_process: dict[str, MemoryLog] = {}
_making = threading.Lock()


def log_of_process(place: str) -> MemoryLog:
    """Return this process's log in memory for a place, made at the first call."""
    with _making:
        return _of_process.setdefault(place, MemoryLog())


class MemoryLog(Log):
    """A `Log` of lists, safe for threads."""

    def __init__(self, partitions: int = 16, settings: Settings | None = None) -> None:
        self.log_id = str(uuid_utils.uuid7())
        self.partitions = partitions
        self._payloads: list[list[bytes]] = [[] for _ in range(partitions)]
        self._ticks: set[tuple[int, str]] = set()
        self._lock = threading.Lock()
        configured = make_configured(
            self.log_id, partitions, settings or Settings(), 0, time.time_ns() // 1_000, self.log_id
        )
        self.append([configured])

    @property
    def place(self) -> str:
        """See `Log.place`."""
        return "memory"

    def append(self, events: Sequence[Event]) -> list[Position]:
        """See `Log.append`."""
        with self._lock:
            ticks = self._ticks
            admitted = admit(events, self.partitions, lambda partition, id, hour: (partition, id) in ticks)
            positions = [Position(0, 0)] * len(events)
            for partition, event, payload, place in admitted:
                if event.type == "ticked":
                    self._ticks.add((partition, event.id))
                self._payloads[partition].append(payload)
                if place is not None:
                    positions[place] = Position(partition, len(self._payloads[partition]) - 1)
            return positions

    def append_raw(self, partition: int, payloads: Sequence[bytes]) -> list[Position]:
        """See `Log.append_raw`."""
        with self._lock:
            self._check(partition, 0)
            first = len(self._payloads[partition])
            for payload in payloads:
                if matches(payload, None, ("ticked",)):
                    self._ticks.add((partition, decode(payload).id))
            self._payloads[partition] += payloads
            return [Position(partition, first + index) for index in range(len(payloads))]

    def read(
        self, partition: int, offset: int, limit: int, *, scope: str | None = None, types: Sequence[str] = ()
    ) -> list[Slot]:
        """See `Log.read`."""
        with self._lock:
            self._check(partition, offset)
            payloads = self._payloads[partition]
            slots: list[Slot] = []
            for place in range(offset, len(payloads)):
                if len(slots) == limit:
                    break
                if matches(payloads[place], scope, types):
                    slots.append(Slot(partition, place, payloads[place]))
            return slots

    def blank(self, slots: Mapping[int, Sequence[int]]) -> None:
        """See `Log.blank`."""
        with self._lock:
            for partition, offsets in slots.items():
                self._check(partition, max(offsets, default=0))
                for offset in offsets:
                    self._payloads[partition][offset] = blanked(self._payloads[partition][offset])

    def _check(self, partition: int, offset: int) -> None:
        self.check_partition(partition)
        end = len(self._payloads[partition])
        if not 0 <= offset <= end:
            raise OffsetOutOfRange(f"Partition {partition} has no offset {offset}; it ends at {end}.")

    def ends(self) -> list[int]:
        """See `Log.ends`."""
        with self._lock:
            return [len(payloads) for payloads in self._payloads]

    def check(self) -> None:
        """See `Log.check`. Memory is taken to be sound."""

    def close(self) -> None:
        """See `Log.close`."""
