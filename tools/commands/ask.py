"""The commands that ask: search, show, log, tail, diff, and the words for the parts of a score."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click
import msgspec

from memtape.schemas.codec import decode, event_of
from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import EVENT_TYPES, Captured, Event
from memtape.schemas.log import Log, Slot, backwards
from memtape.schemas.places import place_in
from memtape.schemas.rows import SummaryRow
from memtape.schemas.scopes import check_scope, partition_of
from memtape.schemas.times import format_time, parse_time
from memtape.schemas.visible import many, one_line, visible
from memtape.tools.ask.telling import confirmed, said_of, when_of
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.commands.looking import edge_list, latest, sessions
from memtape.tools.commands.options import (
    Output,
    as_of_option,
    check_given,
    is_json,
    latest_ids,
    printed_json,
    say,
    with_arguments,
    with_client,
    with_home,
)

if TYPE_CHECKING:
    from memtape.tools.ask.inspection import Behind, Opened, Whole

SOURCE_CHARS = 200
type_option = click.option(
    "--type", "types", multiple=True, type=click.Choice(tuple(EVENT_TYPES)), help="Only this type; may be repeated."
)


@click.command()
@click.argument("id", metavar="[ID|TIME]", required=False, shell_complete=latest_ids)
@click.option("--whole", is_flag=True, help="Read back the document of which it is a part, byte for byte.")
@click.option("--why", is_flag=True, help="Every event behind it, what hid or restored it, and how it has aged.")
@click.option("--edges", is_flag=True, help="What was used together with it; without an ID the strongest of the scope.")
@click.option("--around", is_flag=True, help="What was said around it, or around a time given as ID, in order.")
@with_arguments("timeline", "limit")
@as_of_option
@with_client
def show(client: Client, id: str | None, limit: int, as_of: str | None, **views: bool) -> Output:
    """Open one memory or turn whole, by the id of any of its captures, or a summary with its sources.

    With --whole a document is read back from all its parts, as captured, without its secrets. A terminal shows it
    escaped; a file or a pipe gets its bytes. With --why its history is told, with --around what was said before and
    after it, or around a TIME. With --edges each line has two weights. Two texts used within 30 minutes
    of one session gain 1, which halves every three days: the first weight. The second is learned, from 0.2 to 1: how
    much more often than by chance they were used together within 90 days, three times at least. Then comes the
    number of joint uses.

    \b
    Example:
      memtape show 019ab0c4-9a3c-7000-8000-0123456789ab
      memtape show 019ab0c4 --why
      memtape show 019ab0c4 --whole > guide.md
      memtape show 2026-11-20T14:00:00Z --around --limit 20
      memtape show --edges
    """
    asked = [name for name, is_asked in views.items() if is_asked]
    if "around" not in asked:
        check_given("limit", message="--limit goes with --around.")
    if len(asked) > 1:
        raise click.UsageError("Give one of --whole, --why, --edges and --around.")
    if "edges" in asked:
        return edge_list(client, id, as_of)
    if id is None:
        raise click.UsageError("Give an id; --edges alone goes without one.")
    if as_of is not None and asked and "whole" not in asked:
        raise click.UsageError("--as-of shows a text, its document or its edges as of then.")
    if "around" in asked:
        return latest("timeline", client.timeline(id, limit))
    if "why" in asked:
        return _explained(client, id)
    return _whole(client.whole(id, as_of=as_of)) if "whole" in asked else _shown(client.show(id, as_of=as_of))


def _shown(opened: Opened) -> Output:
    yield opened
    yield from _opened(opened)


def _whole(document: Whole) -> Output:
    """Yield a document as JSON; write its text for people, its bytes into a file or a pipe."""
    yield document
    if sys.stdout.isatty():
        yield document.text
    else:
        sys.stdout.buffer.write(document.text.encode())
        sys.stdout.buffer.flush()


def _explained(client: Client, id: str) -> Output:
    from memtape.tools.commands.archiving import age_lines, why_of

    explanation, age = why_of(client, id)
    yield {**msgspec.structs.asdict(explanation), "age": age}
    yield f"Memory {explanation.id} in {explanation.scope}"
    yield from map(_behind, explanation.events)
    if age is None or not age.purged:  # What has left the views has no row that tells more.
        yield from _hidden(client.show(id))
    yield from () if age is None else age_lines(age)


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
        return f"{place}  {_event(decode(slot.payload), texts=texts)}"
    except InvalidEvent as error:
        return f"{place}  unreadable: {error.reason}"


def _event(event: Event, *, texts: bool = True) -> str:
    kind = f" {event.body.kind}" if isinstance(event.body, Captured) else ""
    who = f"{one_line(event.actor.name, 40)} ({event.actor.origin})"
    blank, said = " (erased)" if event.body is None else "", said_of(event) if texts else ""
    return f"{when_of(event)}  {event.type}{kind}{blank}  {event.id}  {who}  {said}".rstrip()


def _opened(opened: Opened) -> list[str]:
    if opened.captured is not None:
        event = opened.captured
        assert isinstance(event.body, Captured)
        waits = ("Not yet folded: `memtape run --once` projects it.",)
        return [visible(event.body.text), "", _event(event), *(opened.marks or waits)]
    if opened.summary is not None:
        return _summary(opened, opened.summary)
    row = opened.memory or opened.turn
    assert row is not None
    lines = [visible(row.text), "", f"{row.kind} {row.id} in {row.scope}"]
    lines.append(f"said by {one_line(row.actor)} ({row.origin}) at {format_time(row.at)}")
    if row.session:
        lines.append(f"session {one_line(row.session)}")
    if row.tags:
        lines.append("tags " + ", ".join(map(one_line, row.tags)))
    if row.source:
        lines.append(f"source {one_line(row.source)}")
    if place := place_in(row.path):
        span = f"characters {place.start + 1:,} to {place.end:,}"
        lines.append(f"{one_line(place.told())}, {span}; the whole: memtape show {row.id} --whole")
    elif row.path:
        lines.append(f"path {one_line(row.path)}")
    lines += opened.marks
    if opened.memory is not None:
        memory = opened.memory
        lines.append(confirmed(memory.confirmations, memory.last_at))
        importance = f"importance {memory.importance_confirmed / 1_000:.2f} by confirmations"
        lines.append(f"{memory.status}, {memory.category}, {memory.polarity}, {importance}")
        lines.append(f"captures {', '.join(memory.ids)}")
        lines += [f"also said: {one_line(wording.text)} ({wording.id})" for wording in memory.wordings]
        if memory.made_of:
            lines.append(f"made of {', '.join(memory.made_of)}")
    if opened.last_used_at is not None:
        lines.append(f"used {many(opened.used, 'time')}, last {format_time(opened.last_used_at)[:10]}")
    return [*lines, *_hidden(opened)]


def _hidden(opened: Opened) -> list[str]:
    """Return why something is hidden, and how it is shown again."""
    row = opened.memory or opened.turn
    if row is None or not opened.hidden:
        return []
    again = f"memtape restore {row.id} --scope {row.scope}"
    return [f"Hidden: {opened.why_hidden()}. To show it again: {again}"]


def _summary(opened: Opened, row: SummaryRow) -> list[str]:
    lines = [visible(row.text), "", *opened.marks, f"{row.kind} {row.id} in {row.scope}"]
    if row.keywords:
        lines.append("keywords " + ", ".join(map(one_line, row.keywords)))
    lines.append(f"Summed up by rule, from {format_time(row.first_at)} to {format_time(row.last_at)}. In full:")
    for source in opened.sources:
        marks = f" ({', '.join(source.marks)})" if source.marks else ""
        text = "erased" if source.text is None else one_line(source.text, SOURCE_CHARS)
        lines.append(f"  {format_time(source.at)}  {source.id}  {text}{marks}")
    return lines


def _behind(behind: Behind) -> str:
    similarity = f" {behind.similarity:.2f}" if behind.similarity else ""
    taken = f"  taken from {', '.join(behind.event.refs)}" if behind.event.refs else ""
    return f"{behind.partition}/{behind.offset}  {behind.part}: {behind.how}{similarity}  {_event(behind.event)}{taken}"


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
