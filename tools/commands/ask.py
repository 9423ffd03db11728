"""The commands that ask: search, show, log, tail, diff, and the words for the parts of a score."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
import msgspec

from memtape.schemas.codec import decode, event_of
from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import EVENT_TYPES, Captured, Event
from memtape.schemas.lanes import LANES
from memtape.schemas.log import Log, Slot, backwards
from memtape.schemas.places import place_in
from memtape.schemas.rows import SummaryRow
from memtape.schemas.scopes import check_scope, partition_of
from memtape.schemas.times import format_time, parse_time
from memtape.schemas.visible import many, one_line, visible
from memtape.tools.ask.asking import search_options
from memtape.tools.ask.recorded_vectors import EMBEDDERS
from memtape.tools.ask.telling import confirmed, other_wordings, said_of, told_trace, when_of
from memtape.tools.capture.project import told_scope
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
from memtape.tools.commands.projects import say_where_it_was

if TYPE_CHECKING:
    from memtape.tools.ask.inspection import Behind, Opened, Whole
    from memtape.tools.ask.results import Answer, QuestionReading, Result

SOURCE_CHARS = 200
type_option = click.option(
    "--type", "types", multiple=True, type=click.Choice(tuple(EVENT_TYPES)), help="Only this type; may be repeated."
)


@click.command()
@click.argument("query", required=False)
@with_arguments("search", but="query")
@click.option("--quiet", "--no-capture", "quiet", is_flag=True, help="Do not put this search on the log.")
@click.option("--explain", is_flag=True, help="Say why each result stands where it stands.")
@click.option(
    "--without", multiple=True, type=click.Choice(LANES), help="Leave this lane out; may be repeated, for comparing."
)
@as_of_option
@with_client
def search(client: Client, query: str | None, limit: int, explain: bool, **asked: Any) -> Output:
    """Find memories and turns of this project, and of global, by words; without words list the latest memories.

    \b
    Example:
      memtape search "staging database port" --kind fact
      memtape search --kind turn --limit 5
      memtape search "staging database port" --from-origin user --from-origin operator
      memtape search "staging database port" --explain
      memtape search "staging database port" --valid-at 2026-03-01
      memtape search "staging database port" --archived
      memtape search "which databases do we run" --deep --explain
      memtape search "staging database port" --not-kind turn --tier short
      memtape search "staging database port" --quota turns=3,documents=2
    """
    if query is None:
        others = [name for name in asked if name != "kinds"]
        check_given(*others, message="Give words to search for; without words only --kind and --limit are taken.")
        yield from latest("results", client.recent(limit, kinds=asked["kinds"]))
        return
    with EMBEDDERS.for_one_answer():
        answer = client.search(query, limit, **search_options(now_us(), asked | {"explain": explain}))
    yield _as_json(answer, explain=explain, deep=asked["deep"])
    yield from _results(answer, explain=explain)
    if not (answer.results or answer.after or answer.aside):
        yield _nothing(client.scope, answer.held, asked["as_of"])
        if asked["origins"] and answer.held:
            yield "What is piped is captured as an agent's, unless --origin says whose it is."
        say_where_it_was(client)
    _print_notes(answer)


def _as_json(answer: Answer, *, explain: bool, deep: bool) -> dict[str, Any]:
    """Return the JSON of a search's answer; `explain` adds the readings, `deep` the steps."""
    return {
        "results": answer.results,
        "watermark": {mark.partition: mark.offset for mark in answer.watermark},
        "lag": answer.lag,
        "lanes": answer.lanes,
        "sources": answer.sources,
        "next": answer.next,
        "recall_id": answer.recall_id,
        "warnings": answer.warnings,
        "aside": answer.aside,
        **({"read": answer.read} if explain else {}),
        **({"trace": answer.trace} if deep else {}),
    }


def _results(answer: Answer, *, explain: bool) -> Iterator[str]:
    """Yield the results of an answer, their sources, and the note about unsearched texts."""
    for number, result in enumerate(answer.results, start=answer.after + 1):
        yield _result(number, result)
        if explain and not result.sums:
            yield from explained(result, answer.read)
    if told := told_sources(answer, whole=explain):
        yield told
    if explain:
        yield from explained_question(answer)
    if answer.aside:
        yield answer.aside if answer.results else f"Nothing found. {answer.aside}"
    elif not answer.results and answer.after:
        yield "Nothing more found."


def _print_notes(answer: Answer) -> None:
    """Print the notes about an answer on stderr: its next page, warnings, and lag."""
    if answer.next is not None:
        say(f"For more, the same with --cursor {answer.next}", err=True)
    for note in (*answer.warnings, *filter(None, [answer.note])):
        say(note, err=True)
    if answer.lag:
        say(f"The views lack {many(answer.lag, 'event')}; what they say is found by words all the same.", err=True)


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


def _nothing(scope: str, held: int, as_of: str | None) -> str:
    if held:
        return "Nothing found. Try fewer or other words; `memtape status` says what there is."
    if as_of is not None:
        return f"{scope} held nothing then. `memtape status` says what there is now."
    elsewhere = "`memtape status` says what other scopes hold, and --scope asks one."
    return f"{told_scope(scope)} holds nothing yet. `memtape capture` and `memtape import` add to it; {elsewhere}"


def _result(number: int, result: Result) -> str:
    about = [result.kind, format_time(result.at)[:10], f"{one_line(result.actor, 40)} ({result.origin})"]
    if result.sums:
        about = ["not what was said"]
    if result.confirmations:
        about.append(f"confirmed {result.confirmations}x")
    if result.again:
        about.append(f"said {result.again + 1} times")
    about += result.marks
    if place := place_in(result.path):
        about.append(one_line(place.told(), 120))
    if result.source:
        about.append(one_line(result.source, 60))
    if result.scope == "global":
        about.append("global")
    if not result.projected:
        about.append("not yet folded")
    passage = one_line(result.passage, 300)
    beside = "".join(f"    {line}\n" for line in other_wordings(result))
    return f"{number:2}. {passage}\n{beside}    {' · '.join(about)} · score {result.score:.2f}\n    {result.id}"


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


PARTS = {
    "words": "BM25 of a text with the turns around it, as a share of the best text's",
    "session": "BM25 of its whole session, as a share of the best session's",
    "cosine": "how near its vector is to the question's",
    "session cosine": "how near the nearest of its session is",
    "speaker": "the question names who says it (half of it for memories, and where nobody or several are named)",
    "prior": "said by whom the question is about: a person, or the assistant where its answers are asked for",
    "hint": "it holds the time, number or place that is asked for",
    "question": "it asks itself",
    "hot": "lately used, against the hottest",
    "fresh": "said within three days",
}
"""The parts of a relevance, and the purpose of each."""
LOOKED = "looked: how the looks of a deep search together have moved it"
YIELDS = "yields: it only asks, or its session has just said it, and stands below what answers the same"


def told_sources(answer: Answer, *, whole: bool) -> str:
    """Return a line with the numbers of found and shown texts of each source; `whole` asks for all sources.

    It is empty where `whole` is not asked for, and no quota has left anything out.
    """
    counts = answer.sources.items()
    cut = any(its.limit is not None and its.found > its.returned == its.limit for _, its in counts)
    if not (whole or cut):
        return ""
    told = [
        f"{its.returned:,} of {its.found:,} {source}" + (f" (quota {its.limit:,})" if its.limit is not None else "")
        for source, its in counts
        if its.found or its.limit is not None
    ]
    return f"sources: {', '.join(told) or 'nothing in any'}"


def explained(result: Result, reads: Sequence[QuestionReading]) -> list[str]:
    """Return the lines about a result: terms, and parts of the score."""
    why = result.why
    assert why is not None
    read = next(read for read in reads if read.scope == result.scope)
    lines = []
    if why.terms or why.around:
        around = f"; around it {_listed(why.around)}" if why.around else ""
        lines.append(f"holds {_listed(why.terms) or 'none of the terms'}{around}")
    scores = "  ".join(f"{lane} {score:.2f}" for lane, score in why.lanes.items())
    lines.append(f"lanes: {scores}")
    if why.parts:
        summed = sum(why.parts.values())
        lines.append(
            "sum: " + " ".join(f"{share:+.3f} {name}" for name, share in why.parts.items()) + f" = {summed:.3f}"
        )
    if why.look > 1:
        lines.append(f"relevance {why.relevance:.3f}: first seen in look {why.look}, and by what that asked")
    elif "edges" in why.lanes:
        lines.append(f"relevance {why.relevance:.3f}: lent by what it was used with, more than its own")
    else:
        scaled = f"({summed:.3f} - {read.least:.3f}) / ({read.most:.3f} - {read.least:.3f})"
        lines.append(f"relevance {why.relevance:.3f} = {scaled.replace('- -', '+ ')} x strength {read.strength:.3f}")
    factors = f"age {why.age:.3f} x use {why.use:.2f} x confidence {why.confidence:.2f}"
    if why.yields < 1:
        factors += f" x yields {why.yields:.3f}"
    if why.looked != 1:
        factors += f" x looked {why.looked:.3f}"
    lines.append(f"score {result.score:.3f} = relevance {why.relevance:.3f} x {factors}")
    return ["    " + line for line in lines]


def explained_question(answer: Answer) -> list[str]:
    """Return the lines about a question: its reading in each scope, its lanes' counts, parts of scores."""
    lines = [
        *told_trace(answer.trace),
        "Lanes: " + ", ".join(f"{lane} {count:,}" for lane, count in answer.lanes.items()),
    ]
    for read in answer.read:
        lines.append(f"{read.scope}: as for {'people' if read.recipe == 'people' else 'a user with an assistant'}")
        weights = (f"{one_line(term, 40)} {weight:.2f}" for term, weight in read.terms.items())
        lines.append(f"  terms with their weights: {', '.join(weights) or 'none'}")
        for what, terms in (
            ("no text has", read.unheld),
            ("passed over, they name who speaks", read.names),
            ("passed over, too common", read.common),
        ):
            if terms:
                lines.append(f"  {what}: {_listed(terms)}")
        lines.append(f"  strength {read.strength:.3f}: the share of the question's weight that the best text holds")
    shown = dict.fromkeys(name for result in answer.results if result.why for name in result.why.parts)
    lines += [f"{name}: {PARTS[name]}" for name in PARTS if name in shown]
    whys = [result.why for result in answer.results if result.why]
    lines += [LOOKED] * any(why.looked != 1 for why in whys)
    return lines + [YIELDS] * any(why.yields < 1 for why in whys)


def _listed(terms: Iterable[str]) -> str:
    return ", ".join(one_line(term, 40) for term in terms)


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
