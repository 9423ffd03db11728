"""The view *timeline*: the time slider, what was said around a time, and what changed between two times."""

from __future__ import annotations

from typing import Any

from memtape.schemas.codec import event_of
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import format_time, parse_time
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.page.asked import Asked

STOPS = 200
"""So many positions of the slider, spread evenly over the events of the scope's partition."""
AROUND = 30


def timeline(client: Client, asked: Asked) -> dict[str, Any]:
    """Return what was said around a time, how much there was then, and what came until now or another time."""
    now = now_us()
    stops = stops_of(client, asked.scope)
    at = asked.at or format_time(now)
    other = asked.text("other")
    around = client.timeline(at, asked.number("limit", AROUND, 2, 200))
    return {
        "stops": stops,
        "stop": next((place for place, stop in enumerate(stops) if stop >= at), max(len(stops) - 1, 0)),
        "around": around,
        "then": client.status(as_of=asked.as_of).scopes.get(asked.scope) if asked.as_of else None,
        "other": other,
        "diff": _diff(client, asked, at, other, now) if asked.is_on("diff") else None,
    }


def _diff(client: Client, asked: Asked, at: str, other: str, now: int) -> Any:
    """Return what changed between the time of the page and another one, by default now, whichever is earlier first."""
    later = other or format_time(now)
    times = sorted((at, later), key=lambda text: parse_time(text, now))
    return client.diff(*times, scope=asked.scope)


def stops_of(client: Client, scope: str) -> list[str]:
    """Return times at which the log of a scope's partition has moved on, the earliest first, at most `STOPS`."""
    partition = partition_of(scope, client.log.partitions)
    end = client.log.ends()[partition]
    places = dict.fromkeys(end * place // STOPS for place in range(STOPS)) if end else {}
    events = [event_of(slot.payload) for place in places for slot in client.log.read(partition, place, 1)]
    return list(dict.fromkeys(format_time(event.sent + 1) for event in events if event is not None))
