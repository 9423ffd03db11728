"""The checks before each append to any log: validate events, find their partitions, add the hour's tick.

Private parts of texts are removed, whoever sends them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from memtape.schemas.codec import canonical, encode
from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import Configured, Event, Ticked, make_tick, may_write
from memtape.schemas.private import without_private_parts
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import HOUR_US


class Admitted(NamedTuple):
    """An event with its payload and partition; `place` is its index in the call, None for an added event."""

    partition: int
    event: Event
    payload: bytes
    place: int | None


def admit(events: Sequence[Event], partitions: int, held: Collection[tuple[int, int]] = ()) -> list[Admitted]:
    """Return the events to append for `events`, in order, with the ticks of their hours.

    Ticks of a partition and hour in `held` are left out: the log has them. Raises `InvalidEvent` for the
    first invalid event; then nothing may be appended.
    """
    admitted: list[Admitted] = []
    ticked: dict[tuple[int, int], None] = {}
    for place, event in enumerate(events):
        event, payload = check_admissible(event)
        if isinstance(event.body, Configured):
            admitted += [Admitted(it, event, payload, place if it == 0 else None) for it in range(partitions)]
            continue
        if isinstance(event.body, Ticked):
            if event.body.partition >= partitions:
                told = f"The log has no partition {event.body.partition}."
                raise InvalidEvent("invalid", told, "$.body.partition")
            if not event.body.accepted:
                ticked[event.body.partition, event.body.hour] = None
            admitted.append(Admitted(event.body.partition, event, payload, place))
            continue
        assert event.scope is not None
        partition, hour = partition_of(event.scope, partitions), event.sent // HOUR_US
        if (partition, hour) not in ticked and (partition, hour) not in held:
            ticked[partition, hour] = None
            tick = make_tick(partition, event.sent)
            # Made of a checked event, which is not sent before 1970: a reader accepts every such tick.
            admitted.append(Admitted(partition, tick, canonical(tick), None))
        admitted.append(Admitted(partition, event, payload, place))
    return admitted


def check_admissible(event: Event) -> tuple[Event, bytes]:
    """Return an event as it may be appended, without private parts, and its bytes. Raises `InvalidEvent`."""
    if event.body is None:
        raise InvalidEvent("invalid", "A blank event cannot be appended; it only comes of erasing.", "$.body")
    if not may_write(event):
        raise InvalidEvent("invalid", "Only an operator may write to the scope global.", "$.actor.origin")
    payload = encode(event)
    public = without_private_parts(event, payload)
    return (event, payload) if public is None else (public, encode(public))
