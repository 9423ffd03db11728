"""The view *log*: events as they come, unreadable slots, and errors of hooks and servers.

A line describes an event without its text; the text is one click away.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

from memtape.schemas.codec import event_of
from memtape.schemas.events import EVENT_TYPES
from memtape.schemas.log import Slot, backwards
from memtape.schemas.scopes import partition_of
from memtape.schemas.visible import many
from memtape.tools.agents.errors import latest_errors
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery

AT_ONCE = 100
MOST_ERRORS = 20
MOST_OFFSET = 10**9


class LogLine(NamedTuple):
    """An event of the log; `id` is the id of the memory or page made by it, if it can be opened."""

    partition: int
    offset: int
    type: str
    at: int | None
    actor: str
    origin: str
    session: str
    id: str
    told: str


def log(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the latest events of a scope, or those from an offset on, the latest first."""
    partition = partition_of(asked.scope, client.log.partitions)
    end, types = client.log.ends()[partition], _types(asked)
    if asked.text("after"):
        lines = lines_from(client, asked, asked.number("after", 0, 0, MOST_OFFSET))[::-1]
    else:
        latest = islice(backwards(client.log, partition, asked.scope, types), AT_ONCE)
        lines = [_line(slot) for slot in latest]
    status = client.status()
    return {
        "lines": lines,
        "next": lines[0].offset + 1 if lines and asked.text("after") else end,
        "end": end,
        "partition": partition,
        "types": tuple(EVENT_TYPES),
        "chosen": asked.many("type"),
        "dead": status.latest_dead_letters,
        "dead_all": status.dead_letters,
        "errors": errors_of(client),
        "at_once": AT_ONCE,
    }


def lines_from(client: Client, asked: PageQuery, offset: int) -> list[LogLine]:
    """Return events of the scope that is asked for from an offset on, at most `AT_ONCE`, in the order of the log."""
    partition = partition_of(asked.scope, client.log.partitions)
    slots = client.log.read(partition, offset, AT_ONCE, scope=asked.scope, types=_types(asked))
    return [_line(slot) for slot in slots]


def errors_of(client: Client) -> list[str]:
    """Return the latest errors of hooks and servers, the latest first."""
    return latest_errors(client.home.path, MOST_ERRORS)[::-1]


def _types(asked: PageQuery) -> tuple[str, ...]:
    """Return the chosen types, by default all readable ones."""
    return tuple(type for type in asked.many("type") if type in EVENT_TYPES) or tuple(EVENT_TYPES)


def _line(slot: Slot) -> LogLine:
    event = event_of(slot.payload)
    if event is None:
        return LogLine(slot.partition, slot.offset, "unreadable", None, "", "", "", "", "a dead letter")
    id = event.id if event.type == "captured" else ""
    said = (event.type, event.sent, event.actor.name, event.actor.origin, event.session or "", id)
    return LogLine(slot.partition, slot.offset, *said, _told(event.body))


def _told(body: object) -> str:
    """Return a few words about an event without any text: its kind, its number of ids."""
    parts = [str(getattr(body, "kind", ""))]
    ids = getattr(body, "ids", getattr(body, "results", None))
    if ids is not None:
        parts.append(many(len(ids), "id"))
    return " ".join(filter(None, parts))
