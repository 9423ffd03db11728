"""The log: print events, follow new ones, and compare the state at two positions."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from memtape.schemas.codec import decode, event_of
from memtape.schemas.errors import InvalidEvent, InvalidUse
from memtape.schemas.events import EVENT_TYPES, Captured, Event
from memtape.schemas.log import Log, Slot, backwards
from memtape.schemas.scopes import check_scope, partition_of
from memtape.schemas.times import format_time, parse_time
from memtape.schemas.visible import many, one_line
from memtape.tools import query
from memtape.tools.capture.writing import now_us
from memtape.tools.doors.terminal import is_json, printed_json, say
from memtape.tools.verb import Verb, people, said
from memtape.tools.verbs.lines import event_line

if TYPE_CHECKING:
    from memtape.tools.query.as_of import Diff
    from memtape.tools.world import World

Types = Annotated[tuple[str, ...], said("Only this type.", option="--type", choices=tuple(EVENT_TYPES))]
POLL_S = 0.2
PAGE_SLOTS = 500
Number = Annotated[int, Meta(ge=0)]


class LogSlot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A slot of the log: its event, or why it cannot be read."""

    partition: int
    offset: int
    event: Event | None
    unreadable: str = ""


def read_log(
    world: World,
    partition: Annotated[Number | None, people("Read this partition, all scopes of it.")] = None,
    offset: Annotated[
        Number | None, said("Read from this offset on; needs --partition or a scope.", option="--from")
    ] = None,
    limit: Annotated[int, Meta(description="The most events.", ge=1, le=100_000)] = 20,
    types: Types = (),
    follow: Annotated[bool, said("Wait for more and print it as it comes, until interrupted.")] = False,
) -> list[LogSlot]:
    """Print events of the log as they stand: the last ones, or from an offset on.

    memtape log --limit 5
    memtape log --sessions
    memtape log --partition 3 --from 0 --json
    """
    if follow and is_json():
        raise InvalidUse("--follow has no end, so it cannot give one JSON document.")
    of_scope = world.scope if partition is None else None
    number = partition_of(world.scope, world.log.partitions) if partition is None else partition
    if number >= world.log.partitions:
        raise InvalidUse(f"The log has partitions 0 to {world.log.partitions - 1}.")
    if offset is None:
        slots = list(islice(backwards(world.log, number, of_scope, types), limit))[::-1]
    else:
        slots = world.log.read(number, offset, limit, scope=of_scope, types=types)
    return [_decoded(slot) for slot in slots]


def _decoded(slot: Slot) -> LogSlot:
    try:
        return LogSlot(partition=slot.partition, offset=slot.offset, event=decode(slot.payload))
    except InvalidEvent as error:
        return LogSlot(partition=slot.partition, offset=slot.offset, event=None, unreadable=error.reason)


def diff(
    world: World,
    before: str,
    after: str,
    every: Annotated[bool, people("Every scope, not just this project.", option="--all")] = False,
) -> Diff:
    """Show what changed between two positions or times: memories added, folded, revised, forgotten, restored.

        memtape admin diff 3d 1h

    A position is partition:offset pairs, as 3:120,7:45; a time is ISO 8601 or an age.
    """
    return query.as_of.diff(world.home, world.log, before, after, None if every else world.scope)


def tail(
    world: World,
    since: Annotated[str | None, said("Begin there: ISO 8601, or an age as 3d; by default now.")] = None,
    scope: Annotated[str | None, said("Only this scope, by default all of the home.")] = None,
    types: Types = (),
    texts: Annotated[bool, said("Print what was said too.")] = False,
) -> None:
    """Follow the log of the whole home: a line for each event as it comes, until interrupted.

        memtape admin tail --type captured --type recalled
        memtape admin tail --since 1h --json

    No line has a captured text, unless --texts asks for it. With --json each line is one document. Ticks are
    shown where --type asks for them.
    """
    ends = world.log.ends()
    if since is not None:
        ends = [world.log.offset_after(number, parse_time(since, now_us())) for number in range(len(ends))]
    numbers = range(len(ends)) if scope is None else (partition_of(check_scope(scope), len(ends)),)
    with suppress(KeyboardInterrupt):
        for slot in followed(world.log, {number: ends[number] for number in numbers}, scope, types):
            event = event_of(slot.payload)
            if not types and event is not None and event.type == "ticked":
                continue
            if not printed_json(_event_json(slot, event, texts=texts), indent=False):
                about = "" if event is None else f"{one_line(event.scope or 'every scope', 80)}  "
                say(f"{about}{_slot(_decoded(slot), texts=texts)}")
                sys.stdout.flush()


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


def _log_lines(world: World, asked: Any, found: list[LogSlot]) -> Iterator[str]:
    yield from map(_slot, found)
    number = partition_of(world.scope, world.log.partitions) if asked.partition is None else asked.partition
    end = found[-1].offset + 1 if found else world.log.ends()[number]
    of_scope = world.scope if asked.partition is None else None
    for slot in followed(world.log, {number: end}, of_scope, asked.types) if asked.follow else ():
        yield _slot(_decoded(slot))
        sys.stdout.flush()


def _slot(slot: LogSlot, *, texts: bool = True) -> str:
    said = f"unreadable: {slot.unreadable}" if slot.event is None else event_line(slot.event, texts=texts)
    return f"{slot.partition}/{slot.offset}  {said}"


def _diff_lines(world: World, asked: Any, changes: Diff) -> Iterator[str]:
    for what in ("added", "folded", "revised", "forgotten", "restored"):
        for changed in getattr(changes, what):
            more = f" (+{len(changed.captures)})" if changed.captures else ""
            yield f"{what:<10} {changed.id}  {changed.kind}{more}  {one_line(changed.text, 120)}"
    yield f"{many(changes.turns, 'turn')} came."


def _event_json(slot: Slot, event: Event | None, *, texts: bool) -> dict[str, object]:
    place: dict[str, object] = {"partition": slot.partition, "offset": slot.offset}
    if event is None:
        return place | {"type": None}
    if texts:
        return place | {"type": event.type, "event": event}
    kind = event.body.kind if isinstance(event.body, Captured) else None
    place |= {"type": event.type, "at": format_time(event.at), "sent": format_time(event.sent)}
    place |= {"scope": event.scope, "id": event.id, "kind": kind}
    return place | {"origin": event.actor.origin, "erased": not event.body}


VERBS = (
    Verb("log", read_log, lines=_log_lines, listed="events"),
    Verb("admin tail", tail, answers=LogSlot, at="home"),
    Verb("admin diff", diff, lines=_diff_lines),
)
