"""Show one memory, turn or summary: the whole text, history, edges, and the talk around a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import Captured
from memtape.schemas.places import place_in
from memtape.schemas.scopes import scopes_read
from memtape.schemas.times import format_day, format_time, parse_time
from memtape.schemas.visible import many, one_line, visible
from memtape.tools import query
from memtape.tools.capture.injected import wrap
from memtape.tools.capture.writing import now_us
from memtape.tools.doors import markdown
from memtape.tools.doors.terminal import say
from memtape.tools.query.plan import nowhere
from memtape.tools.query.telling import WORDING_CHARS, confirmed, said_of, when_of
from memtape.tools.verb import Asks, AsOf, Id, Limit, Offer, Verb, said
from memtape.tools.verbs.lines import TOLD_PLACES, event_line, latest, told_share, told_stays

if TYPE_CHECKING:
    from memtape.schemas.rows import SummaryRow
    from memtape.state.views.ages import Age
    from memtape.tools.query.inspection import Behind, Explained, Opened, SummarySource, Whole
    from memtape.tools.query.looking import EdgeList
    from memtape.tools.query.results import Result
    from memtape.tools.world import World

SOURCE_CHARS = 200
DETAILS_BYTES = 3_000
REASONS_BYTES = 9_000
MAX_REASONS = MAX_WORDINGS = 20


class OpenAsks(Asks, frozen=True):
    id: Id
    # What is cut says how to go on.
    from_char: Annotated[
        int,
        Meta(description="Where to go on in a long text.", ge=0, extra={"rare": True}),
    ] = 0


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

        memtape show 019ab0c4 --whole > guide.md

    Raises `NotFound`, and `MemtapeError` with the parts that are erased, forgotten or missing.
    """
    return world.read_of(id, query.inspection.whole_document, as_of)


def why(world: World, id: Id) -> Explained:
    """Every event behind it, what hid or restored it, and how it has aged.

        memtape show 019ab0c4 --why

    Returns no event of a purged memory, and no age of what is no memory or turn, as a summary. Raises
    `NotFound`.
    """
    try:
        age = age_of(world, id)
    except NotFound:
        return world.read_of(id, query.inspection.explained)
    try:
        return msgspec.structs.replace(world.read_of(id, query.inspection.explained), age=age)
    except NotFound:
        if not age.purged:
            raise
        return query.inspection.Explained(id=age.id, scope=age.scope, events=(), age=age)


def age_of(world: World, id: str) -> Age:
    """Return how a memory or turn has aged, also one that has left the views. Raises `NotFound`."""
    from memtape.state.subjects.memories import unit_of
    from memtape.state.views import ages
    from memtape.tools.keep.states import partition_now

    def of(name: str, id: str) -> Age:
        for read in (it for it in scopes_read(name) if world.log.known(it, [id])):
            state = partition_now(world.home, world.log, read)
            scope = state.scopes.get(read)
            capture = None if scope is None else scope.captures.get(id)
            if scope is not None and capture is not None:
                now = max(now_us(), state.clock or 0)
                return ages.age_of(scope, unit_of(scope, capture), state.settings, now)
        raise nowhere(name, id)

    return world.ids.within(id, of)


def edges(
    world: World,
    id: Annotated[Id | None, said("The id; without one the strongest of the scope.", argument=True)] = None,
    as_of: AsOf = None,
) -> EdgeList:
    """What was used together with it; without an ID the strongest of the scope.

        memtape show --edges

    Returns without an id the edges proposed as curated ones; nothing writes these automatically. Raises
    `NotFound`.
    """
    edges_of = query.looking.edges_of
    if id is None:
        return world.read(lambda views, scope: edges_of(views, scope, proposed=True), as_of)
    return world.read_of(id, edges_of, as_of)


def timeline(
    world: World,
    around: Annotated[str, said("An id, a time as ISO 8601, or an age as 3d.", 64, metavar="TIME")],
    limit: Limit = 10,
) -> list[Result]:
    """What was said around it, or around a time given as ID, in order.

        memtape show 2026-11-20T14:00:00Z --around --limit 20

    Raises `NotFound`.
    """
    now, timeline_of = now_us(), query.looking.timeline_of
    if _is_time(around, now):
        return world.read(lambda views, scope: timeline_of(views, scope, around, limit, now))
    return world.read_of(around, lambda views, scope, id: timeline_of(views, scope, id, limit, now))


def _is_time(around: str, now_us: int) -> bool:
    """Whether a moment is named by a time, and not by an id."""
    try:
        parse_time(around, now_us)
    except MemtapeError:
        return False
    return True


def _whole_lines(world: World, asked: Any, document: Whole) -> Iterator[str]:
    """Yield a text to a terminal; write its bytes into a file or a pipe."""
    if sys.stdout.isatty():
        yield document.text
    else:
        sys.stdout.buffer.write(document.text.encode())
        sys.stdout.buffer.flush()


def _why_lines(world: World, asked: Any, explained: Explained) -> Iterator[str]:
    age = explained.age
    yield f"Memory {explained.id} in {explained.scope}"
    yield from map(_behind, explained.events)
    if age is None or not age.purged:  # What has left the views has no row that tells more.
        yield from _hidden(show(world, asked.id))
    yield from () if age is None else _age_lines(age)


def _opened(opened: Opened) -> list[str]:
    if opened.captured is not None:
        event = opened.captured
        assert isinstance(event.body, Captured)
        waits = ("Not yet folded: `memtape run --once` projects it.",)
        return [visible(event.body.text), "", event_line(event), *(opened.marks or waits)]
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
    span = f"from {format_time(row.first_at)} to {format_time(row.last_at)}"
    lines.append(f"Summed up by rule, {span}. In full:")
    for source in opened.sources:
        marks = f" ({', '.join(source.marks)})" if source.marks else ""
        text = "erased" if source.text is None else one_line(source.text, SOURCE_CHARS)
        lines.append(f"  {format_time(source.at)}  {source.id}  {text}{marks}")
    return lines


def _behind(behind: Behind) -> str:
    similarity = f" {behind.similarity:.2f}" if behind.similarity else ""
    taken = f"  taken from {', '.join(behind.event.refs)}" if behind.event.refs else ""
    place = f"{behind.partition}/{behind.offset}"
    return f"{place}  {behind.part}: {behind.how}{similarity}  {event_line(behind.event)}{taken}"


PARTS = {
    "recency": "falls from 0.350 on the day when it was last said or used to 0 after 180 days",
    "access": "how often it was used or confirmed; nine times have all of 0.300",
    "importance": "what somebody gave, or words such as deadline, risk and decision; at most 0.250",
    "media": "0.070 with an image or the like, else 0.025",
    "pinned": "0.300 where it is pinned",
}
"""The parts of retention, and a sentence for each."""


def _age_lines(age: Age) -> Iterator[str]:
    """Yield how one memory or turn has aged, a line each."""
    if age.purged:
        yield "It has left the views, and the log keeps it."
    if age.archived_at is not None:
        back = f"memtape archive --undo {age.id} --scope {age.scope}"
        yield f"archived on {format_day(age.archived_at)} ({age.archived_why}); to bring it back: {back}"
    if age.finished_at is not None:
        back = f"memtape project finish --undo --scope {age.scope}"
        yield f"archived with its project on {format_day(age.finished_at)}; to go on: {back}"
    if age.total is None:
        yield f"tier {age.tier}; it does not move, since it is {told_stays(age.stays)}"
        return
    limit = "" if age.limit is None else f"; it may move on at {told_share(age.limit)} or less"
    yield f"tier {age.tier}, retention {told_share(age.total)}{limit}"
    for part, share in age.retention.items():
        yield f"  {part:<10}  {told_share(share)}  {PARTS[part]}"
    if age.moves_to is not None and age.moves_at is not None:
        place = TOLD_PLACES[age.moves_to]
        due = age.moves_at <= age.now
        yield (
            f"moves {place} with others of its day or week, since it is due"
            if due
            else (f"moves {place} on {format_day(age.moves_at)} at the earliest, if nobody uses or says it")
        )
    elif age.stays is not None:
        yield f"stays there: {told_stays(age.stays)}"
    for told in age.summaries:
        span = "day" if told.level == 1 else "week"
        yield f"summed up in {told.id}, of the {span} of {format_day(told.since)}"


def _edge_lines(world: World, asked: Any, found: EdgeList) -> Iterator[str]:
    id = asked.id
    for edge in found.edges:
        if id is None:
            yield f"        {edge.source.id}  {edge.source.kind}  {one_line(edge.source.text, 120)}"
        learned = f"{edge.learned:5.3f}" if edge.learned else "    -"
        windows = max(edge.windows, edge.learned_windows)
        target = f"{edge.target.id}  {edge.target.kind}  {one_line(edge.target.text, 120)}"
        yield f"{edge.weight:6.3f}  {learned}  {windows:3}  {target}"
    if not found.edges:
        yield "Nothing is strong enough." if id is None else "Nothing was used together with it."
    if found.lag:
        say(f"The views lack {many(found.lag, 'event')}, and what they link.", err=True)


def _tell_memory(world: World, asked: OpenAsks, found: Opened) -> str:
    explained, start = world.read_of(asked.id, query.inspection.explained), asked.from_char
    if found.summary is not None:
        return _tell_summary(found.summary, found)
    row = found.memory or found.turn
    if row is not None:
        whole, kind, id, scope = row.text, row.kind, row.id, row.scope
        about = markdown.about(kind, row.at, row.actor, row.origin, row.source, row.path)
    else:
        event = found.captured
        assert event is not None and isinstance(event.body, Captured) and event.scope is not None
        whole, kind, id, scope = event.body.text, event.body.kind, event.id, event.scope
        who, body = event.actor, event.body
        about = markdown.about(kind, event.at, who.name, who.origin, body.source, body.path)
    part = markdown.part_of(whole, start)
    lines = [f"`{id}` in {scope} · {about}", markdown.quoted(part)]
    if details := _details(found):
        lines.append(markdown.fitted("\n".join(details), DETAILS_BYTES))
    reasons = "\n".join(_tell_behind(behind) for behind in explained.events[-MAX_REASONS:])
    lines.append("Why it is there:\n" + markdown.fitted(reasons, REASONS_BYTES))
    if len(explained.events) > MAX_REASONS:
        lines.append(f"(Left out: {many(len(explained.events) - MAX_REASONS, 'earlier event')}.)")
    rest = len(whole) - start - len(part)
    follow = many(rest, "character follows", "characters follow")
    tail = [f"{follow}: get_memory with from_char={start + len(part)}."] if rest > 0 else []
    return "\n\n".join([markdown.DATA_NOT_ORDERS, wrap("\n\n".join(lines)), *tail])


def _details(found: Opened) -> list[str]:
    """Return what else is known of a memory or turn, a line each."""
    memory, row, details = found.memory, found.memory or found.turn, list[str]()
    if memory is not None:
        details.append(confirmed(memory.confirmations, memory.last_at))
        said = memory.wordings[:MAX_WORDINGS]
        details += [f"also said: {one_line(its.text, WORDING_CHARS)} (`{its.id}`)" for its in said]
        if len(memory.wordings) > MAX_WORDINGS:
            details.append(f"(Left out: {many(len(memory.wordings) - MAX_WORDINGS, 'other wording')}.)")
    details += [one_line(mark, 200) for mark in found.marks]
    if row is not None and row.tags:
        details.append("tags: " + ", ".join(one_line(tag, 60) for tag in row.tags[:20]))
    made = memory.provenance if memory is not None else (row,) if row is not None else ()
    if sessions := list(dict.fromkeys(each.session for each in made if each.session)):
        details.append("sessions: " + ", ".join(one_line(session, 200) for session in sessions[:20]))
    if found.hidden:
        details.append(f"{found.why_hidden()}. It is hidden until restore_memory")
    return details


def _tell_summary(row: SummaryRow, found: Opened) -> str:
    """Return a summary with its sources, as many as fit."""
    lines = [
        f"`{row.id}` in {row.scope} · {', '.join(found.marks)}",
        markdown.quoted(markdown.part_of(row.text, 0)),
    ]
    if row.keywords:
        lines.append("keywords: " + ", ".join(markdown.name_of(word, 60) for word in row.keywords))
    pieces = markdown.fitting([*lines, "It sums up:", *map(_source, found.sources)])
    left = len(lines) + 1 + len(found.sources) - len(pieces)
    more = [f"({many(left, 'more text')}.)"] if left else []
    return "\n\n".join([markdown.DATA_NOT_ORDERS, wrap("\n\n".join([*pieces, *more]))])


def _source(source: SummarySource) -> str:
    marks = f" · {', '.join(source.marks)}" if source.marks else ""
    text = "erased" if source.text is None else markdown.quoted(one_line(source.text, WORDING_CHARS))
    return f"`{source.id}` · {format_time(source.at)}{marks}\n{text}"


def _tell_behind(behind: Behind) -> str:
    event = behind.event
    who = f"{markdown.name_of(event.actor.name, 60)} ({event.actor.origin})"
    how = f"{behind.part}, {behind.how}"
    return f"- {when_of(event)} · {how} · `{event.id}` · {who} · {said_of(event)}".rstrip(" ·")


VERBS = (
    Verb(
        "show",
        show,
        lines=lambda world, asked, opened: _opened(opened),
        tool=Offer("Open one memory or turn whole, and see why it is there.", _tell_memory, asks=OpenAsks),
    ),
    Verb("show --whole", whole, lines=_whole_lines),
    Verb("show --why", why, lines=_why_lines),
    Verb("show --edges", edges, lines=_edge_lines),
    Verb(
        "show --around",
        timeline,
        lines=lambda world, asked, found: latest(found),
        listed="timeline",
        tool=Offer(
            "What was said and remembered around a memory or a time, in order.",
            lambda world, asked, found: markdown.listed(found, world.scope, "in the order of time"),
            common=False,
        ),
    ),
)
