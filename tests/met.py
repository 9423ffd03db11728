"""Which types of events a suite has met, against those that the codec knows."""

from __future__ import annotations

from collections.abc import Iterable

from memtape.schemas.codec import decode
from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import EVENT_TYPES, Embedded, Event
from memtape.schemas.log import Log, Slot, slots_between

FAILED = "embedded, failed"
"""A text that got no vector is told by the same type and is another case."""


def missing(events: Iterable[Event]) -> list[str]:
    """Return what the codec knows and is not among events that have their bodies."""
    met: dict[str, None] = {}
    for event in events:
        if event.body is not None:
            failed = isinstance(event.body, Embedded) and event.body.vector is None
            met[FAILED if failed else event.type] = None
    return [name for name in (*EVENT_TYPES, FAILED) if name not in met]


def events_in(slots: Iterable[Slot]) -> list[Event]:
    """Return the events of slots that can be read."""
    events = []
    for slot in slots:
        try:
            events.append(decode(slot.payload))
        except InvalidEvent:
            continue
    return events


def events_of(log: Log) -> list[Event]:
    """Return the events of a log that can be read."""
    return [event for n, end in enumerate(log.ends()) for event in events_in(slots_between(log, n, 0, end))]
