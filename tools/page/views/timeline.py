"""The view *timeline*: the time slider, the texts around a time, and the changes between two times."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from memtape.schemas.codec import event_of
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import format_time, parse_time
from memtape.tools.ask.as_of import Diff, parse_position, time_asked
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery

STOPS = 200
"""So many positions of the slider, spread evenly over the events of the scope's partition."""
AROUND = 30
MARKS = 12


def timeline(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the texts around a time, the counts then, and the changes until now or another time."""
    now, stops = now_us(), stops_of(client, asked.scope)
    at = time_of(client, asked.scope, asked.at, now)
    other = asked.text("other")
    return {
        "stops": [format_time(stop) for stop in stops],
        "stop": min(bisect_left(stops, at), max(len(stops) - 1, 0)),
        "marks": months_of(stops),
        "around": client.timeline(format_time(at), asked.number("limit", AROUND, 2, 200)),
        "then": client.held(as_of=asked.as_of) if asked.as_of else None,
        "other": other,
        "diff": _diff(client, asked, at, other, now) if asked.is_on("diff") else None,
    }


def time_of(client: Client, scope: str, at: str, now: int) -> int:
    """Return the time that an `as of` means, be it empty, a time, an age or a position. Raises `MemtapeError`."""
    if not at:
        return now
    if (time := time_asked(at, now)) is not None:
        return time
    partition = partition_of(scope, client.log.partitions)
    last = parse_position(at, client.log, now)[partition] - 1
    slots = client.log.read(partition, last, 1) if last >= 0 else []
    return next((event.sent for slot in slots if (event := event_of(slot.payload)) is not None), now)


def _diff(client: Client, asked: PageQuery, at: int, other: str, now: int) -> Diff:
    """Return the changes between the page's time and another, by default now, the earlier first."""
    until = parse_time(other, now) if other else now
    return client.diff(format_time(min(at, until)), format_time(max(at, until)), scope=asked.scope)


def stops_of(client: Client, scope: str) -> list[int]:
    """Return times, in microseconds, at which a scope's log has moved on, the earliest first, at most `STOPS`."""
    partition = partition_of(scope, client.log.partitions)
    end = client.log.ends()[partition]
    places = dict.fromkeys(end * place // STOPS for place in range(STOPS)) if end else {}
    slots = (client.log.read(partition, place, 1, scope=scope) for place in places)
    offsets = {slot.offset: slot for found in slots for slot in found}
    events = (event_of(slot.payload) for slot in offsets.values())
    return sorted(dict.fromkeys(event.sent + 1 for event in events if event is not None))


def months_of(stops: list[int]) -> list[tuple[str, int]]:
    """Return at which stop each day or, of more than `MARKS`, each month begins, as marks of the slider."""
    for chars in (10, 7, 4):
        first: dict[str, int] = {}
        for place, stop in enumerate(stops):
            first.setdefault(format_time(stop)[:chars], place)
        if len(first) <= MARKS:
            break
    return list(first.items())[-MARKS:]
