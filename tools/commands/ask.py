"""The commands that ask: search, show, log, tail, diff, and the words for the parts of a score."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click

from memtape.schemas.codec import decode, event_of
from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import EVENT_TYPES, Captured, Event
from memtape.schemas.log import Log, Slot, backwards
from memtape.schemas.scopes import check_scope, partition_of
from memtape.schemas.times import format_time, parse_time
from memtape.schemas.visible import many, one_line
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.commands.looking import sessions
from memtape.tools.commands.options import (
    Output,
    is_json,
    printed_json,
    say,
    with_client,
    with_home,
)
from memtape.tools.verbs.lines import event_line

if TYPE_CHECKING:
    pass

SOURCE_CHARS = 200
type_option = click.option(
    "--type", "types", multiple=True, type=click.Choice(tuple(EVENT_TYPES)), help="Only this type; may be repeated."
)


@click.command()
@click.option("--partition", type=click.IntRange(0), help="Read this partition, all scopes of it.")
@click.option(
    "--from", "offset", type=click.IntRange(0), help="Read from this offset on; needs --partition or a scope."
)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 100_000), help="The most events.")
@type_option
@click.option("--follow", is_flag=True, help="Wait for more and print it as it comes, until interrupted.")
@click.option(
    "--sessions", "of_sessions", is_flag=True, help="Instead list the latest sessions: when, who, what is left."
)
@with_client
def log(
    client: Client,
    partition: int | None,
    offset: int | None,
    limit: int,
    types: tuple[str, ...],
    follow: bool,
    of_sessions: bool,
) -> Output:
    """Print events of the log as they stand: the last ones, or from an offset on.

    \b
    Example:
      memtape log --limit 5
      memtape log --sessions
      memtape log --partition 3 --from 0 --json
    """
    if of_sessions:
        if partition is not None or offset is not None or types or follow:
            raise click.UsageError("With --sessions only --limit is given.")
        yield from sessions(client, limit)
        return
    if follow and is_json():
        raise click.UsageError("--follow has no end, so it cannot give one JSON document.")
    of_scope = client.scope if partition is None else None
    number = partition_of(client.scope, client.log.partitions) if partition is None else partition
    if number >= client.log.partitions:
        raise click.UsageError(f"The log has partitions 0 to {client.log.partitions - 1}.")
    if offset is None:
        slots = list(islice(backwards(client.log, number, of_scope, types), limit))[::-1]
    else:
        slots = client.log.read(number, offset, limit, scope=of_scope, types=types)
    yield {"events": [_slot_json(slot) for slot in slots]}
    yield from map(_slot, slots)
    end = slots[-1].offset + 1 if slots else client.log.ends()[number]
    for slot in followed(client.log, {number: end}, of_scope, types) if follow else ():
        yield _slot(slot)
        sys.stdout.flush()


@click.command("diff")
@click.argument("before")
@click.argument("after")
@click.option("--all", "all_scopes", is_flag=True, help="Every scope, not just this project.")
@with_client
def diff_command(client: Client, before: str, after: str, all_scopes: bool) -> Output:
    """Show what changed between two positions or times: memories added, folded, revised, forgotten, restored.

    A position is partition:offset pairs, as 3:120,7:45; a time is ISO 8601 or an age.

    \b
    Example:
      memtape admin diff 3d 1h
    """
    changes = client.diff(before, after, scope=None if all_scopes else client.scope)
    yield changes
    for what in ("added", "folded", "revised", "forgotten", "restored"):
        for changed in getattr(changes, what):
            more = f" (+{len(changed.captures)})" if changed.captures else ""
            yield f"{what:<10} {changed.id}  {changed.kind}{more}  {one_line(changed.text, 120)}"
    yield f"{many(changes.turns, 'turn')} came."


def _slot_json(slot: Slot) -> dict[str, object]:
    try:
        return {"partition": slot.partition, "offset": slot.offset, "event": decode(slot.payload)}
    except InvalidEvent as error:
        return {"partition": slot.partition, "offset": slot.offset, "event": None, "unreadable": error.reason}


def _slot(slot: Slot, *, texts: bool = True) -> str:
    place = f"{slot.partition}/{slot.offset}"
    try:
        return f"{place}  {event_line(decode(slot.payload), texts=texts)}"
    except InvalidEvent as error:
        return f"{place}  unreadable: {error.reason}"


POLL_S = 0.2
PAGE_SLOTS = 500


@click.command()
@click.option("--since", help="Begin there: ISO 8601, or an age as 3d; by default now.")
@click.option("--scope", help="Only this scope, by default all of the home.")
@type_option
@click.option("--texts", is_flag=True, help="Print what was said too.")
@with_home
def tail(client: Client, since: str | None, scope: str | None, types: tuple[str, ...], texts: bool) -> None:
    """Follow the log of the whole home: a line for each event as it comes, until interrupted.

    No line has a captured text, unless --texts asks for it. With --json each line is one document. Ticks are
    shown where --type asks for them.

    \b
    Example:
      memtape admin tail --type captured --type recalled
      memtape admin tail --since 1h --json
    """
    ends = client.log.ends()
    if since is not None:
        ends = [client.log.offset_after(number, parse_time(since, now_us())) for number in range(len(ends))]
    numbers = range(len(ends)) if scope is None else (partition_of(check_scope(scope), len(ends)),)
    try:
        for slot in followed(client.log, {number: ends[number] for number in numbers}, scope, types):
            event = event_of(slot.payload)
            if not types and event is not None and event.type == "ticked":
                continue
            if not printed_json(_event_json(slot, event, texts=texts), indent=False):
                about = "" if event is None else f"{one_line(event.scope or 'every scope', 80)}  "
                say(f"{about}{_slot(slot, texts=texts)}")
                sys.stdout.flush()
    except KeyboardInterrupt:
        return


def followed(log: Log, offsets: dict[int, int], scope: str | None, types: tuple[str, ...]) -> Iterator[Slot]:
    """Yield the slots of a log from the offsets of some partitions on, without end.

    Slots of a partition are in its order; slots found by one look are in the order of the partitions.
    """
    while True:
        came = False
        for number, offset in offsets.items():
            for slot in log.read(number, offset, PAGE_SLOTS, scope=scope, types=types):
                yield slot
                offsets[number], came = slot.offset + 1, True
        if not came:
            time.sleep(POLL_S)


def _event_json(slot: Slot, event: Event | None, *, texts: bool) -> dict[str, object]:
    place: dict[str, object] = {"partition": slot.partition, "offset": slot.offset}
    if event is None:
        return place | {"type": None}
    if texts:
        return place | {"type": event.type, "event": event}
    kind = event.body.kind if isinstance(event.body, Captured) else None
    told = {"type": event.type, "at": format_time(event.at), "sent": format_time(event.sent), "scope": event.scope}
    return place | told | {"id": event.id, "kind": kind, "origin": event.actor.origin, "erased": not event.body}
