"""Show what is stored: a text whole, its history and edges, the talk around a time, the events of the log."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from memtape.schemas.codec import decode
from memtape.schemas.errors import InvalidEvent, InvalidUse, MemtapeError
from memtape.schemas.events import EVENT_TYPES, Captured, Event
from memtape.schemas.ids import short_id
from memtape.schemas.log import Log, Slot, backwards
from memtape.schemas.places import place_in
from memtape.schemas.scopes import check_scope, partition_of
from memtape.schemas.times import format_time, parse_time
from memtape.schemas.visible import many, one_line, visible
from memtape.tools import query
from memtape.tools.capture.writing import now_us
from memtape.tools.doors import markdown
from memtape.tools.doors.terminal import printed_json, say, say_lag
from memtape.tools.query.telling import confirmed, said_of, when_of, with_short_id
from memtape.tools.verb import Asks, AsOf, Id, Limit, Offer, Verb, people, rare, said
from memtape.tools.verbs.searching import latest_lines

if TYPE_CHECKING:
    from memtape.schemas.rows import SummaryRow
    from memtape.tools.query.as_of import Diff
    from memtape.tools.query.inspection import Explained, Opened, Whole
    from memtape.tools.query.looking import EdgeList
    from memtape.tools.query.results import Result
    from memtape.tools.world import World

SOURCE_CHARS = 200
DETAILS_BYTES = 3_000
REASONS_BYTES = 9_000
MAX_REASONS = 20
Types = Annotated[tuple[str, ...], said("Only this type.", option="--type", choices=tuple(EVENT_TYPES))]
POLL_S = 0.2
PAGE_SLOTS = 500


class OpenAsks(Asks, frozen=True):
    id: Id
    # What is cut says how to go on.
    from_char: Annotated[int, Meta(ge=0), rare("Where to go on in a long text.")] = 0


def show(world: World, id: Id, as_of: AsOf = None) -> Opened:
    """Open one memory or turn whole, by the id of any of its captures, or a summary with its sources.

        memtape show 019ab0c4-9a3c-7000-8000-0123456789ab
        memtape show 019ab0c4 --why
        memtape show 019ab0c4 --whole > guide.md
        memtape show 2026-11-20T14:00:00Z --around --limit 20
        memtape show --edges

    With --whole a document is read back from all its parts, as captured, without its secrets. A terminal
    shows it escaped; a file or a pipe gets its bytes. With --why its history is told, with --around what was
    said before and after it, or around a TIME. With --edges each line has two weights. Two texts used within
    30 minutes of one session gain 1, which halves every three days: the first weight. The second is learned,
    from 0.2 to 1: how much more often than by chance they were used together within 90 days, three times at
    least. Then comes the number of joint uses.

    Raises `NotFound`.
    """
    return world.read_of(id, query.inspection.opened, as_of)


def whole(world: World, id: Id, as_of: AsOf = None) -> Whole:
    """Read back the document of which it is a part, byte for byte.

    Raises `NotFound`, and `MemtapeError` with the parts that are erased, forgotten or missing.
    """
    return world.read_of(id, query.inspection.whole_document, as_of)


def why(world: World, id: Id) -> Explained:
    """Every capture, hiding, restoring and decision behind a memory or turn.

    Raises `NotFound`.
    """
    return world.read_of(id, query.inspection.explained)


def edges(
    world: World,
    id: Annotated[Id | None, said("The id; without one the strongest of the scope.", argument=True)] = None,
    as_of: AsOf = None,
) -> EdgeList:
    """What was used together with it; without an ID the strongest of the scope.

    Returns without an id the edges proposed as curated ones; nothing writes these automatically. Raises
    `NotFound`.
    """
    edges_of = query.looking.edges_of
    if id is None:
        return world.read(edges_of, as_of)
    return world.read_of(id, edges_of, as_of)


def timeline(
    world: World,
    around: Annotated[
        str, said("An id, a time as ISO 8601, or an age as 3d.", 64, metavar="TIME", time=True)
    ],
    limit: Limit = 10,
) -> list[Result]:
    """What was said around it, or around a time given as ID, in order.

    Raises `NotFound`.
    """
    now, timeline_of = now_us(), query.looking.timeline_of
    try:
        parse_time(around, now)
    except MemtapeError:
        return world.read_of(around, lambda views, scope, id: timeline_of(views, scope, id, limit, now))
    return world.read(lambda views, scope: timeline_of(views, scope, around, limit, now))


def _whole_lines(world: World, asked: Any, document: Whole) -> Iterator[str]:
    """Yield a text to a terminal; write its bytes into a file or a pipe."""
    if sys.stdout.isatty():
        yield document.text
    else:
        sys.stdout.buffer.write(document.text.encode())
        sys.stdout.buffer.flush()


def _why_lines(world: World, asked: Any, explained: Explained) -> Iterator[str]:
    yield f"Memory {short_id(explained.id)} in {explained.scope}"
    for it in explained.events:
        similarity = f" {it.similarity:.2f}" if it.similarity else ""
        taken = f"  taken from {', '.join(map(short_id, it.event.refs))}" if it.event.refs else ""
        how = f"{it.part}: {it.how}{similarity}"
        yield f"{it.partition}/{it.offset}  {how}  {_event_line(it.event)}{taken}"
    yield from _hidden_lines(show(world, asked.id))


def _opened_lines(world: World, asked: Any, opened: Opened) -> Iterator[str]:
    if opened.captured is not None:
        event = opened.captured
        assert isinstance(event.body, Captured)
        waits = ("Not yet folded: `memtape run --once` projects it.",)
        yield from (visible(event.body.text), "", _event_line(event), *(opened.marks or waits))
        return
    if opened.summary is not None:
        yield from _summary_lines(opened, opened.summary)
        return
    row = opened.memory or opened.turn
    assert row is not None
    yield from (visible(row.text), "", f"{row.kind} {short_id(row.id)} in {row.scope}")
    yield f"said by {one_line(row.actor)} ({row.origin}) at {format_time(row.at)}"
    if row.source:
        yield f"source {one_line(row.source)}"
    if place := place_in(row.path):
        span = f"characters {place.start + 1:,} to {place.end:,}"
        yield f"{one_line(place.told())}, {span}; the whole: memtape show {short_id(row.id)} --whole"
    elif row.path:
        yield f"path {one_line(row.path)}"
    yield from _details(opened)
    yield from _hidden_lines(opened)


def _details(opened: Opened) -> Iterator[str]:
    """Yield what else is known of a memory or turn, a line each."""
    row = opened.memory or opened.turn
    if row is not None and row.session:
        yield f"session {one_line(row.session)}"
    if row is not None and row.tags:
        yield "tags " + ", ".join(map(one_line, row.tags))
    yield from map(one_line, map(with_short_id, opened.marks))
    if (memory := opened.memory) is not None:
        yield confirmed(memory.confirmations, memory.last_at)
        importance = f"importance {memory.importance_confirmed / 1_000:.2f} by confirmations"
        yield f"{memory.status}, {memory.category}, {memory.polarity}, {importance}"
        yield f"captures {', '.join(map(short_id, memory.ids))}"
        yield from (
            f"also said: {one_line(wording.text)} ({short_id(wording.id)})" for wording in memory.wordings
        )
        if memory.made_of:
            yield f"made of {', '.join(map(short_id, memory.made_of))}"
    if opened.last_used_at is not None:
        yield f"used {many(opened.used, 'time')}, last {format_time(opened.last_used_at)[:10]}"


def _hidden_lines(opened: Opened) -> Iterator[str]:
    """Yield why something is hidden, and how it is shown again."""
    row = opened.memory or opened.turn
    if row is not None and opened.hidden:
        again = f"memtape restore {short_id(row.id)} --scope {row.scope}"
        yield f"Hidden: {query.inspection.WHY_HIDDEN}. To show it again: {again}"


def _summary_lines(opened: Opened, row: SummaryRow) -> Iterator[str]:
    yield from (visible(row.text), "", *opened.marks, f"{row.kind} {short_id(row.id)} in {row.scope}")
    if row.keywords:
        yield "keywords " + ", ".join(map(one_line, row.keywords))
    span = f"from {format_time(row.first_at)} to {format_time(row.last_at)}"
    yield f"Summed up by rule, {span}. In full:"
    for source in opened.sources:
        marks = f" ({', '.join(source.marks)})" if source.marks else ""
        text = "erased" if source.text is None else one_line(source.text, SOURCE_CHARS)
        yield f"  {format_time(source.at)}  {short_id(source.id)}  {text}{marks}"


def _edge_lines(world: World, asked: Any, found: EdgeList) -> Iterator[str]:
    id = asked.id
    for edge in found.edges:
        if id is None:
            yield f"        {short_id(edge.source.id)}  {edge.source.kind}  {one_line(edge.source.text, 120)}"
        learned = f"{edge.learned:5.3f}" if edge.learned else "    -"
        windows = max(edge.windows, edge.learned_windows)
        target = f"{short_id(edge.target.id)}  {edge.target.kind}  {one_line(edge.target.text, 120)}"
        yield f"{edge.weight:6.3f}  {learned}  {windows:3}  {target}"
    if not found.edges:
        yield "Nothing is strong enough." if id is None else "Nothing was used together with it."
    say_lag(found.lag, "link")


def _tell_memory(world: World, asked: OpenAsks, found: Opened) -> str:
    """Show a text from a character on, what is known of it and the events behind it, as much as fits."""
    if found.summary is not None:
        lines = list(map(markdown.quoted, _summary_lines(found, found.summary)))
        return markdown.list_pieces("", lines, then="get_memory opens a source by its id", between="\n")
    row = found.memory or found.turn
    if row is not None:
        text, kind, id, scope = row.text, row.kind, row.id, row.scope
        about = markdown.about(kind, row.at, row.actor, row.origin, row.source, row.path)
    else:
        event = found.captured
        assert event is not None and isinstance(event.body, Captured)
        text, kind, id, scope = event.body.text, event.body.kind, event.id, event.scope or ""
        who, body = event.actor, event.body
        about = markdown.about(kind, event.at, who.name, who.origin, body.source, body.path)
    part = markdown.part_of(text, asked.from_char)
    lines = [f"`{id}` in {scope} · {about}", markdown.quoted(part)]
    details = [*_details(found)]
    details += [f"{query.inspection.WHY_HIDDEN}. It is hidden until restore_memory"] * found.hidden
    if details:
        lines.append(markdown.fitted("\n".join(details), DETAILS_BYTES))
    events = world.read_of(asked.id, query.inspection.explained).events
    # No name in them may look like a field of the line above.
    reasons = (f"- {it.part}, {it.how}: {_event_line(it.event)}" for it in events[-MAX_REASONS:])
    told = "\n".join(reasons).replace("·", "-")
    lines.append("Why it is there:\n" + markdown.fitted(told, REASONS_BYTES))
    if len(events) > MAX_REASONS:
        lines.append(f"(Left out: {many(len(events) - MAX_REASONS, 'earlier event')}.)")
    rest = len(text) - asked.from_char - len(part)
    follow = many(rest, "character follows", "characters follow")
    tail = [f"{follow}: get_memory with from_char={asked.from_char + len(part)}."] if rest > 0 else []
    return markdown.list_pieces("", lines, tail)


class LogSlot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A slot of the log: its event, or why it cannot be read."""

    partition: int
    offset: int
    event: Event | None
    unreadable: str = ""


def read_log(
    world: World,
    place: Annotated[
        str | None, said("Read from this place on, all scopes: 3/120, or 3 for its last ones.", argument=True)
    ] = None,
    limit: Annotated[int, Meta(description="The most events.", ge=1, le=100_000)] = 20,
    types: Types = (),
) -> list[LogSlot]:
    """Print events of the log as they stand: the last ones, or from a place on.

        memtape log --limit 5
        memtape log --sessions
        memtape log 3/120 --json

    `memtape admin tail` follows new ones as they come.
    """
    of_scope = world.scope if place is None else None
    world.rights.check_reader(of_scope)
    number, offset = partition_of(world.scope, world.log.partitions), None
    if place is not None:
        parts = re.fullmatch(r"(\d+)(?:/(\d+))?", place)
        if parts is None:
            raise InvalidUse(f"{place!r} is no place on the log, which is as 3/120, or 3 for a partition.")
        number, offset = int(parts[1]), parts[2]
    if number >= world.log.partitions:
        raise InvalidUse(f"The log has partitions 0 to {world.log.partitions - 1}.")
    if offset is None:
        slots = list(islice(backwards(world.log, number, of_scope, types), limit))[::-1]
    else:
        slots = world.log.read(number, int(offset), limit, scope=of_scope, types=types)
    return [_decoded(slot) for slot in slots]


def _decoded(slot: Slot) -> LogSlot:
    try:
        return LogSlot(partition=slot.partition, offset=slot.offset, event=decode(slot.payload))
    except InvalidEvent as error:
        return LogSlot(partition=slot.partition, offset=slot.offset, event=None, unreadable=error.reason)


def diff(
    world: World,
    before: Annotated[str, said("", time=True)],
    after: Annotated[str, said("", time=True)],
    every: Annotated[bool, people("Every scope, not just this project.", option="--all")] = False,
) -> Diff:
    """Show what changed between two positions or times: memories added, folded, revised, forgotten, restored.

        memtape admin diff 3d 1h

    A position is partition/offset pairs, as 3/120,7/45; a time is ISO 8601 or an age.
    """
    world.rights.check_reader(None if every else world.scope)
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

    No line has a captured text, unless --texts asks for it. With --json each line is one document, whose
    events have no body without --texts. Ticks are shown where --type asks for them.
    """
    world.rights.check_reader(scope)
    ends = world.log.ends()
    if since is not None:
        ends = [world.log.offset_after(number, parse_time(since, now_us())) for number in range(len(ends))]
    numbers = range(len(ends)) if scope is None else (partition_of(check_scope(scope), len(ends)),)
    with suppress(KeyboardInterrupt):
        for slot in _followed(world.log, {number: ends[number] for number in numbers}, scope, types):
            found = _decoded(slot)
            event = found.event
            if event is not None and event.type == "ticked" and not types:
                continue
            without = event and msgspec.structs.replace(event, body=None)
            told = found if texts else msgspec.structs.replace(found, event=without)
            if not printed_json(told, indent=False):
                about = "" if event is None else f"{one_line(event.scope or 'every scope', 80)}  "
                say(f"{about}{_slot(found, texts=texts)}")
                sys.stdout.flush()


def _followed(log: Log, offsets: dict[int, int], scope: str | None, types: tuple[str, ...]) -> Iterator[Slot]:
    """Yield the slots of a log from the offsets of some partitions on, in order of each, without end."""
    while True:
        before = dict(offsets)
        for number, offset in before.items():
            for slot in log.read(number, offset, PAGE_SLOTS, scope=scope, types=types):
                yield slot
                offsets[number] = slot.offset + 1
        if offsets == before:
            time.sleep(POLL_S)


def _event_line(event: Event, *, texts: bool = True) -> str:
    """Return an event on one line: time, type, id, speaker, and the beginning of the text."""
    kind = f" {event.body.kind}" if isinstance(event.body, Captured) else ""
    who = f"{one_line(event.actor.name, 40)} ({event.actor.origin})"
    blank, said = " (erased)" if event.body is None else "", said_of(event) if texts else ""
    return f"{when_of(event)}  {event.type}{kind}{blank}  {short_id(event.id)}  {who}  {said}".rstrip()


def _slot(slot: LogSlot, *, texts: bool = True) -> str:
    said = f"unreadable: {slot.unreadable}" if slot.event is None else _event_line(slot.event, texts=texts)
    return f"{slot.partition}/{slot.offset}  {said}"


def _diff_lines(world: World, asked: Any, changes: Diff) -> Iterator[str]:
    for what in ("added", "folded", "revised", "forgotten", "restored"):
        for changed in getattr(changes, what):
            more = f" (+{len(changed.captures)})" if changed.captures else ""
            yield f"{what:<10} {short_id(changed.id)}  {changed.kind}{more}  {one_line(changed.text, 120)}"
    yield f"{many(changes.turns, 'turn')} came."


VERBS = (
    Verb(
        "show",
        show,
        lines=_opened_lines,
        tool=Offer("Open one memory or turn whole, and see why it is there.", _tell_memory, asks=OpenAsks),
    ),
    Verb("show --whole", whole, lines=_whole_lines),
    Verb("show --why", why, lines=_why_lines),
    Verb("show --edges", edges, lines=_edge_lines),
    Verb("show --around", timeline, lines=latest_lines, listed="timeline"),
    Verb("log", read_log, lines=lambda world, asked, found: map(_slot, found), listed="events"),
    Verb("admin tail", tail, answers=LogSlot, at="home"),
    Verb("admin diff", diff, lines=_diff_lines),
)
