"""The command that follows the events of a home as they come."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import click

from memtape.schemas.codec import event_of
from memtape.schemas.events import EVENT_TYPES, Captured
from memtape.schemas.log import Log, Slot
from memtape.schemas.scopes import check_scope, partition_of
from memtape.schemas.times import format_time, parse_time
from memtape.schemas.visible import one_line
from memtape.tools.ask.telling import said_of
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.commands.options import print_json, say, with_home

POLL_S = 0.2
PAGE_SLOTS = 500


@click.command()
@click.option("--since", help="Begin there: ISO 8601, or an age as 3d; by default now.")
@click.option("--scope", help="Only this scope, by default all of the home.")
@click.option(
    "--type", "types", multiple=True, type=click.Choice(tuple(EVENT_TYPES)), help="Only this type; may be repeated."
)
@click.option("--texts", is_flag=True, help="Print what was said too.")
@with_home
def tail(
    client: Client, since: str | None, scope: str | None, types: tuple[str, ...], texts: bool, as_json: bool
) -> None:
    """Follow the log of the whole home: a line for each event as it comes, until interrupted.

    No line has a captured text, unless --texts asks for it. With --json each line is one document. Ticks are
    shown where --type asks for them.

    \b
    Example:
      memtape tail --type captured --type recalled
      memtape tail --since 1h --json
    """
    after = None if since is None else parse_time(since, now_us())
    if scope is not None:
        check_scope(scope)
    try:
        for slot in followed(client.log, scope, types, after):
            if not types and _type(slot) == "ticked":
                continue
            if as_json:
                print_json(_json(slot, texts=texts), indent=False)
            else:
                say(_line(slot, texts=texts))
                sys.stdout.flush()
    except KeyboardInterrupt:
        return


def followed(log: Log, scope: str | None, types: tuple[str, ...], after_us: int | None) -> Iterator[Slot]:
    """Yield the slots of a log appended after a time, by default from now on, without end.

    Slots of a partition are in its order; slots found by one look are in the order of the partitions.
    """
    numbers = range(log.partitions) if scope is None else (partition_of(scope, log.partitions),)
    ends = log.ends()
    offsets = {number: ends[number] if after_us is None else log.offset_after(number, after_us) for number in numbers}
    while True:
        came = False
        for number, offset in offsets.items():
            for slot in log.read(number, offset, PAGE_SLOTS, scope=scope, types=types):
                yield slot
                offsets[number], came = slot.offset + 1, True
        if not came:
            time.sleep(POLL_S)


def _json(slot: Slot, *, texts: bool) -> dict[str, object]:
    place: dict[str, object] = {"partition": slot.partition, "offset": slot.offset}
    event = event_of(slot.payload)
    if event is None:
        return place | {"type": None}
    if texts:
        return place | {"type": event.type, "event": event}
    told = {"type": event.type, "at": format_time(event.at), "sent": format_time(event.sent), "scope": event.scope}
    return place | told | {"id": event.id, "kind": _kind(slot), "origin": event.actor.origin, "erased": not event.body}


def _type(slot: Slot) -> str | None:
    event = event_of(slot.payload)
    return None if event is None else event.type


def _kind(slot: Slot) -> str | None:
    event = event_of(slot.payload)
    return event.body.kind if event is not None and isinstance(event.body, Captured) else None


def _line(slot: Slot, *, texts: bool) -> str:
    event, place = event_of(slot.payload), f"{slot.partition}/{slot.offset}"
    if event is None:
        return f"{place}  unreadable"
    kind = f" {kind}" if (kind := _kind(slot)) else ""
    blank = " (erased)" if event.body is None else ""
    said = f"  {said_of(event)}" if texts else ""
    scope = one_line(event.scope or "every scope", 80)
    about = f"{event.type}{kind}{blank}  {scope}  {event.id}  {event.actor.origin}"
    return f"{format_time(event.sent)}  {place}  {about}{said}".rstrip()
