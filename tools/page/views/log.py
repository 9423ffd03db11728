"""The view *log*: events as they come, what could not be read, and what hooks and servers met.

A line says what an event is, and nothing of a text: that is one click away.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from memtape.schemas.codec import event_of
from memtape.schemas.events import EVENT_TYPES
from memtape.schemas.scopes import partition_of
from memtape.tools.agents.errors import latest_errors
from memtape.tools.client import Client
from memtape.tools.page.asked import Asked

AT_ONCE = 100
MOST_ERRORS = 20


class LogLine(NamedTuple):
    """One event of the log; `id` is that of what it made, where that can be opened."""

    partition: int
    offset: int
    type: str
    at: int
    actor: str
    origin: str
    scope: str
    session: str
    id: str
    told: str


def log(client: Client, asked: Asked) -> dict[str, Any]:
    """Return the latest events of a scope, or from an offset on."""
    partition = partition_of(asked.scope, client.log.partitions)
    end = client.log.ends()[partition]
    types = tuple(type for type in asked.many("type") if type in EVENT_TYPES)
    after = asked.number("after", max(end - AT_ONCE, 0), 0, 10**9)
    lines = lines_from(client, asked.scope, partition, after, types)
    status = client.status()
    return {
        "lines": lines[::-1],
        "next": lines[-1].offset + 1 if lines else end,
        "end": end,
        "after": after,
        "partition": partition,
        "types": tuple(EVENT_TYPES),
        "chosen": types,
        "dead": status.latest_dead_letters,
        "dead_all": status.dead_letters,
        "errors": latest_errors(client.home.path, MOST_ERRORS),
        "at_once": AT_ONCE,
    }


def lines_from(client: Client, scope: str, partition: int, after: int, types: tuple[str, ...]) -> list[LogLine]:
    """Return events of a scope from an offset on, at most `AT_ONCE`, in the order of the log."""
    slots = client.log.read(partition, after, AT_ONCE, scope=scope, types=types or tuple(EVENT_TYPES))
    return [line for slot in slots if (line := _line(slot.partition, slot.offset, slot.payload)) is not None]


def _line(partition: int, offset: int, payload: bytes) -> LogLine | None:
    event = event_of(payload)
    if event is None:
        return None
    return LogLine(
        partition=partition,
        offset=offset,
        type=event.type,
        at=event.sent,
        actor=event.actor.name,
        origin=event.actor.origin,
        scope=event.scope or "",
        session=event.session or "",
        id=event.id if event.type == "captured" else "",
        told=_told(event.body),
    )


def _told(body: object) -> str:
    """Return what an event is about in a few words that hold no text: how many ids, which kind."""
    parts = [str(getattr(body, "kind", ""))]
    ids = getattr(body, "ids", getattr(body, "results", None))
    if ids is not None:
        parts.append(f"{len(ids)} ids")
    return " ".join(filter(None, parts))
