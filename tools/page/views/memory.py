"""The view of one memory: its wordings and history, every event behind it, its uses, its edges, and its raw lines."""

from __future__ import annotations

from typing import Any

import msgspec
import orjson

from memtape.schemas.errors import MemtapeError
from memtape.schemas.visible import visible_json
from memtape.tools.ask.inspection import Behind
from memtape.tools.client import Client
from memtape.tools.page.asked import Asked

MOST_EVENTS = 200


def memory(client: Client, asked: Asked) -> dict[str, Any]:
    """Return all that is known of an id. Raises `NotFound`."""
    id = asked.text("id")
    if not id:
        raise MemtapeError("No memory is named.", "Follow a link of another view, or add ?id=…")
    opened, explained = client.show(id, as_of=asked.as_of), client.why(id)
    edges = client.edges(id, as_of=asked.as_of).edges if opened.memory or opened.turn else ()
    row = opened.memory or opened.turn
    return {
        "opened": opened,
        "row": row,
        "explained": explained,
        "events": [(behind, raw_of(behind)) for behind in explained.events[-MOST_EVENTS:]],
        "left_out": max(0, len(explained.events) - MOST_EVENTS),
        "edges": edges,
        "age": client.age(id) if row is not None and not row.hidden and asked.as_of is None else None,
    }


def raw_of(behind: Behind) -> str:
    """Return an event as JSON of several lines, in which nothing acts or hides."""
    plain = msgspec.to_builtins(behind.event, builtin_types=(bytes,))
    return visible_json(
        orjson.dumps(plain, option=orjson.OPT_INDENT_2, default=lambda data: f"{len(data)} bytes")
    ).decode()
