"""The views of the page: each function reads from the client and returns the variables of its template.

How a view becomes HTML is in `drawing`.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Kind
from memtape.schemas.ids import root_id
from memtape.schemas.log import backwards
from memtape.schemas.rows import MemoryRow, TurnRow
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US, HOUR_US, format_time, parse_time
from memtape.schemas.visible import visible_json
from memtape.state.tree.walking import drawn
from memtape.state.views.context import Section
from memtape.state.views.diff import Changed
from memtape.state.views.tail import PENDING_TYPES
from memtape.tools.agents.hosts import CONTEXT_TOKENS
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery
from memtape.tools.query.as_of import Diff, time_asked
from memtape.tools.query.context import HEADINGS
from memtape.tools.query.looking import MOST, ArchivedText, pages_of, times_of
from memtape.tools.query.results import Result
from memtape.tools.query.status import next_steps
from memtape.tools.query.telling import tokenizer, told_trace
from memtape.tools.table import VERBS
from memtape.tools.verb import document, encoded, fields_of

AT_ONCE, MOST_AT_ONCE = 50, 200
"""The memories on a page of the list."""
LISTING = ("kinds", "tags", "actors", "standings", "since", "until", "sort", "after")


def memories(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return a page of the list of memories, as `memtape search` without words gives it."""
    verb, limit = VERBS["search -"], asked.number("limit", AT_ONCE, 1, MOST_AT_ONCE)
    fields = {field.name: field for field in fields_of(verb.asks)}
    narrowed = [fields[name] for name in LISTING if name not in ("sort", "after")]
    found = verb.answer(
        client, asked.ask(verb, [fields[name] for name in LISTING], limit=limit, as_of=asked.at or None)
    )
    return {
        "document": document(verb, found),
        "found": found,
        "fields": fields,
        "limit": limit,
        "is_narrowed": any(asked.text(field.one) for field in narrowed),
        "kinds": get_args(Kind),
        "is_first": not found.after and asked.text("sort", "latest") == "latest",
    }


LATEST, STALE, TOLD_LINES, SHORT_TOKENS = 8, 5, 6, 400
"""What Home shows: the latest texts, old ones to check, and the lines and tokens of the next start."""


def home(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return what the next start is told, what waits for a person, and what was learned last."""
    at = asked.at or None
    context = client.context(SHORT_TOKENS, as_of=at)
    return {
        "told": context.items[:TOLD_LINES],
        "more": max(0, len(context.items) - TOLD_LINES),
        "conflicts": client.conflicts().pending,
        "proposals": sum(answer == "waits" for _, answer in client.proposals()),
        "stale": client.stale(STALE),
        "list": client.recent(LATEST, as_of=at),
        "life": client.read(lambda views, scope: views.life(scope)),
    }


def system(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the operating figures of the home: the state of its views, its embedder, and its disk."""
    status = client.status(as_of=asked.at or None)
    held = sum(at.end > 0 for at in status.positions.values())
    return {"status": status, "steps": next_steps(status), "empty": len(status.positions) - held}


BELOW = 5
"""So many results are told that were not good enough for the answer."""
NARROWED = ("kinds", "origins", "archived", "deep")


def search(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the answer to a question as agents get it; nothing is put on the log."""
    query, limit = asked.text("q"), asked.number("limit", 10, 1, 200)
    verb = VERBS["search"]
    fields = [field for field in fields_of(verb.asks) if field.name in NARROWED]
    shown = {"query": query, "limit": limit, "fields": fields, "answer": None}
    shown["is_narrowed"] = any(asked.text(field.one) for field in fields)
    if not query:
        return shown
    known = {"query": query, "limit": limit + BELOW, "tags": asked.many("tag"), "as_of": asked.at or None}
    answer = verb.answer(client, asked.ask(verb, fields, **known, quiet=True, explain=True))
    results, below = answer.results[:limit], answer.results[limit:]
    shown |= {"answer": answer, "results": results, "below": below, "steps": told_trace(answer.trace)}
    return shown | {"document": document(verb, answer)}


LEAST_TOKENS, MOST_TOKENS = 100, 8_000
"""The budget of a start on the page."""


def start(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the context of the next start in a budget and form. Nothing is put on the log."""
    budget, verb = asked.number("budget", CONTEXT_TOKENS, LEAST_TOKENS, MOST_TOKENS), VERBS["context"]
    (form,) = (field for field in fields_of(verb.asks) if field.name == "form")
    about = asked.ask(verb, [form], budget_tokens=budget, as_of=asked.at or None)
    context, count = verb.answer(client, about), tokenizer().count
    parts = list[tuple[str, int, int, int]]()
    for section in get_args(Section):
        items = [item for item in context.items if item.section == section]
        if items or section in context.omitted:
            tokens = sum(count(item.text) for item in items)
            parts.append((HEADINGS[section], len(items), context.omitted.get(section, 0), tokens))
    rest = max(context.tokens - sum(tokens for *_, tokens in parts), 0)
    return {
        "context": context,
        "budget": budget,
        "least": LEAST_TOKENS,
        "most": MOST_TOKENS,
        "usual": CONTEXT_TOKENS,
        "form": form,
        "parts_of": [*parts, ("Frame, headings, who and when", 0, 0, rest)],
    }


RECALLS_AT_ONCE = 25


def recalls(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the latest recalls of a scope, narrowed to a way, a session and words of the question."""
    limit, verb = asked.number("limit", RECALLS_AT_ONCE, 1, 500), VERBS["agents given"]
    fields = {field.name: field for field in fields_of(verb.asks)}
    fields = {name: fields[name] for name in ("by", "words", "session", "since")}
    found = verb.answer(client, asked.ask(verb, fields.values(), limit=limit + 1, searches=True))
    return {
        "recalls": found[:limit],
        "limit": limit,
        "fields": fields,
        "is_narrowed": any(map(asked.text, fields)),
        "more": len(found) > limit,
    }


MOST_EVENTS = 200


def memory(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return all that is known of an id. Raises `NotFound`."""
    id = asked.text("id")
    if not id:
        raise MemtapeError("No memory is named.", "Follow a link of another view, or add ?id=…")
    opened = client.show(id, as_of=asked.at or None)
    row, explained = opened.memory or opened.turn, client.why(id)
    shown = explained.events[-MOST_EVENTS:]
    return {
        "opened": opened,
        "row": row,
        "explained": explained,
        "events": [(it, visible_json(encoded(it.event, indent=True)).decode()) for it in shown],
        "left_out": max(0, len(explained.events) - MOST_EVENTS),
        "edges": () if row is None else client.edges(id, as_of=asked.at or None).edges,
    }


STOPS = 200
"""So many positions of the slider, spread evenly over the events of the scope's partition."""
AROUND = 30
MARKS = 12


MOST_DAYS = 62
"""The most bars of the axis; beyond these, a bar is a month."""
HOURS = 24


def timeline(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the counts by day, the texts of a day or around a time, and the changes until another time."""
    now, stops = now_us(), stops_of(client, asked.scope)
    times = client.read(times_of, asked.at or None)
    at = now
    if asked.at:  # A position has the time of the last text before it.
        at = min(now, time_asked(asked.at, now) or (times[-1] if times else now))
    other, diff, day = asked.text("other"), None, asked.text("day")
    if asked.is_on("diff"):
        until = parse_time(other, now) if other else now
        diff = client.diff(format_time(min(at, until)), format_time(max(at, until)))
    limit = asked.number("limit", AROUND, 2, 200)
    return {
        "stops": [format_time(stop) for stop in stops],
        "stop": min(bisect_left(stops, at), max(len(stops) - 1, 0)),
        "marks": months_of(stops),
        "day": day,
        "days": days_of(times),
        "hours": hours_of(times, day) if day else (),
        "around": said_on(client, day, limit) if day else client.timeline(format_time(at), limit),
        "then": client.read(lambda views, scope: views.held(scope), asked.at) if asked.at else None,
        "other": other,
        "changes": () if diff is None else changes_by_kind(diff),
        "turns": 0 if diff is None else diff.turns,
        "diff": diff,
    }


def said_on(client: Client, day: str, limit: int) -> Sequence[Result]:
    """Return the texts of a day, of any kind, in order. Raises `MemtapeError` for no day."""
    start = parse_time(day, now_us())
    since, until = format_time(start), format_time(start + (31 if len(day) == 7 else 1) * DAY_US)
    return client.recent(limit, get_args(Kind), since=since, until=until, sort="oldest").results


def days_of(times: Sequence[int]) -> list[tuple[str, int]]:
    """Return each day from the first time on with its count; of more than `MOST_DAYS`, each month."""
    if not times:
        return []
    first, last = times[0] // DAY_US, times[-1] // DAY_US
    if last - first < MOST_DAYS:
        days = [format_time(day * DAY_US)[:10] for day in range(first, last + 1)]
        counts = Counter(at // DAY_US - first for at in times)
        return [(day, counts[place]) for place, day in enumerate(days)]
    return list(Counter(format_time(at)[:7] for at in times).items())[-MOST_DAYS:]


def hours_of(times: Sequence[int], day: str) -> list[tuple[str, int]]:
    """Return each hour of a day with its count; none of a month. Raises `MemtapeError` for no day."""
    if len(day) == 7:
        return []
    start = parse_time(day, now_us())
    own = times[bisect_left(times, start) : bisect_left(times, start + DAY_US)]
    counts = Counter((at - start) // HOUR_US for at in own)
    return [(f"{hour:02}:00", counts[hour]) for hour in range(HOURS)]


CHANGED = {
    "added": "added", "folded": "said again", "revised": "revised", "forgotten": "forgotten",
    "restored": "restored",
}  # fmt: skip
"""The kinds of change in words."""


def changes_by_kind(diff: Diff) -> list[tuple[str, list[Changed]]]:
    """Return the changes by their kind in words, each with its memories, those without any left out."""
    lists = ((told, getattr(diff, name)) for name, told in CHANGED.items())
    return [(told, changed) for told, changed in lists if changed]


def stops_of(client: Client, scope: str) -> list[int]:
    """Return at most `STOPS` times, in microseconds, at which a scope's log has moved on, in order."""
    partition = partition_of(scope, client.log.partitions)
    end = client.log.ends()[partition]
    places = dict.fromkeys(end * place // STOPS for place in range(STOPS)) if end else {}
    slots = (client.log.read(partition, place, 1, scope=scope) for place in places)
    offsets = {slot.offset: slot for found in slots for slot in found}
    events = (event_of(slot.payload) for slot in offsets.values())
    return sorted(dict.fromkeys(event.sent + 1 for event in events if event is not None))


def months_of(stops: list[int]) -> list[tuple[str, int]]:
    """Return at which stop each day or, of more than `MARKS`, each month begins, as marks of the slider."""
    for chars in (10, 7, 4):
        first: dict[str, int] = {}
        for place, stop in enumerate(stops):
            first.setdefault(format_time(stop)[:chars], place)
        if len(first) <= MARKS:
            break
    return list(first.items())[-MARKS:]


MOST_DEPTH, MOST_BELOW = 12, 500


def tree(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the tree from its root down, and the pages without a parent."""
    rows = {row.id: row for row in client.read(pages_of, asked.at or None)}
    top = root_id(asked.scope)
    return {"drawn": drawn(asked.scope, rows, top, MOST_DEPTH, MOST_BELOW), "rows": rows}


SHOWN = 100
LOOKED_AT = 5_000
"""So many of a list are looked through for words."""


def waiting(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return waiting conflicts, rules and edges, and archived, hidden and pinned texts with some words."""
    words, limit = asked.text("words"), asked.number("limit", SHOWN, 1, 1_000)
    lists = {name: listed(client, name, words) for name in LISTS}
    return {
        "conflicts": client.conflicts(settled=asked.is_on("settled")).conflicts,
        "settled": asked.is_on("settled"),
        "proposals": client.proposals(),
        "promoted": client.edges().edges,
        "lists": [(name, title, lists[name][:limit], len(lists[name])) for name, title in LISTS.items()],
        "purged": client.archived(1).purged,
        "words": words,
        "limit": limit,
    }


LISTS = {"unarchive": "Archived", "restore": "Forgotten or withdrawn", "unpin": "Pinned"}
"""The listed things, by the action on them."""


def listed(client: Client, action: str, words: str) -> Sequence[MemoryRow | TurnRow | ArchivedText | Result]:
    """Return the entries of an action's list with these words, in any case; none without a list."""
    rows: Sequence[MemoryRow | TurnRow | ArchivedText | Result] = ()
    if action == "unarchive":
        rows = client.archived(LOOKED_AT).archived
    elif action == "restore":
        rows = client.hidden(LOOKED_AT)
    elif action == "unpin":
        rows = client.recent(MOST, kinds=get_args(Kind), standings=("pinned",)).results
    return [row for row in rows if words.casefold() in row.text.casefold()]


def live_of(client: Client, since: int = sys.maxsize) -> dict[str, int]:
    """Return where the log and the views of the scope are, and how many texts came from an offset on.

    `end` is the offset behind the latest event that changes an answer. `made` is that of the views.
    """
    log, scope = client.log, client.scope
    number = partition_of(scope, log.partitions)
    last = next(iter(backwards(log, number, scope, PENDING_TYPES)), None)
    end = 0 if last is None else last.offset + 1
    texts = log.read(number, since, MOST_NEW, scope=scope, types=("captured",)) if since < end else []
    return {"end": end, "made": client.reader.watermark(number).offset, "texts": len(texts)}


MOST_NEW = 1_000
"""So many new texts are counted."""
