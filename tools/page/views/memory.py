"""The view of one memory: its wordings, history, events, uses, edges and raw lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import orjson

from memtape.schemas.errors import MemtapeError
from memtape.schemas.times import DAY_US, format_day
from memtape.schemas.visible import visible_json
from memtape.tools.ask.inspection import Behind
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery

MOST_EVENTS = 200
USE_DAYS = 18
"""Times of use are kept one by one for this many days before the last."""
BAR = 50


def memory(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return all that is known of an id. Raises `NotFound`."""
    id = asked.text("id")
    if not id:
        raise MemtapeError("No memory is named.", "Follow a link of another view, or add ?id=…")
    opened, explained = client.show(id, as_of=asked.as_of), client.why(id)
    row = opened.memory or opened.turn
    return {
        "opened": opened,
        "row": row,
        "explained": explained,
        "events": [(behind, raw_of(behind)) for behind in explained.events[-MOST_EVENTS:]],
        "left_out": max(0, len(explained.events) - MOST_EVENTS),
        "edges": () if row is None else client.edges(id, as_of=asked.as_of).edges,
        "uses": days_of(opened.use_times),
        "age": client.age(id) if row is not None and asked.is_on("age") and not asked.as_of else None,
    }


def days_of(times: Sequence[int]) -> list[tuple[str, int, int]]:
    """Return the days up to the last of some times, each with its number of times and the height of its bar in pixels.

    Nothing where there is no time.
    """
    if not times:
        return []
    last = max(times) // DAY_US
    counts = Counter(time // DAY_US for time in times)
    most = max(counts.values())
    days = range(last - USE_DAYS + 1, last + 1)
    return [(format_day(day * DAY_US), counts[day], BAR * counts[day] // most) for day in days]


def raw_of(behind: Behind) -> str:
    """Return an event as JSON of several lines, in which nothing acts or hides."""
    plain = msgspec.to_builtins(behind.event, builtin_types=(bytes,))
    return visible_json(
        orjson.dumps(plain, option=orjson.OPT_INDENT_2, default=lambda data: f"{len(data)} bytes")
    ).decode()
