"""The views of the page: each function reads from the client and returns the variables of its template.

How a view becomes HTML is in `drawing`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, get_args

from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError
from memtape.schemas.ids import root_id
from memtape.schemas.rows import MemoryRow, TurnRow
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import format_time, parse_time
from memtape.schemas.visible import visible_json
from memtape.state.tree.walking import drawn
from memtape.state.views.context import Section
from memtape.tools.agents.hosts import CONTEXT_TOKENS
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery
from memtape.tools.query.context import HEADINGS
from memtape.tools.query.looking import ArchivedText, pages_of, pinned_of
from memtape.tools.query.status import next_steps
from memtape.tools.query.telling import tokenizer, told_trace
from memtape.tools.table import VERBS
from memtape.tools.verb import encoded, fields_of

LATEST = 8


def now(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the state of the home and of one scope."""
    status = client.status(as_of=asked.at or None)
    held = sum(at.end > 0 for at in status.positions.values())
    return {
        "status": status,
        "steps": next_steps(status),
        "empty": len(status.positions) - held,
        "here": status.scopes.get(asked.scope),
        "life": status.lives.get(asked.scope),
        "conflicts": client.conflicts().pending,
        "proposals": sum(answer == "waits" for _, answer in client.proposals()),
        "stale": client.stale(LATEST),
        "recent": client.recent(LATEST).results,
    }


BELOW = 5
"""So many results are told that were not good enough for the answer."""


NARROWED = ("kinds", "origins", "tiers", "without", "archived", "deep")


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
    return shown | {"answer": answer, "results": results, "below": below, "steps": told_trace(answer.trace)}


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


def timeline(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the texts around a time, the counts then, and the changes until now or another time."""
    now, stops = now_us(), stops_of(client, asked.scope)
    at = min(now, parse_time(asked.at, now)) if asked.at else now
    other, diff = asked.text("other"), None
    if asked.is_on("diff"):
        until = parse_time(other, now) if other else now
        diff = client.diff(format_time(min(at, until)), format_time(max(at, until)))
    return {
        "stops": [format_time(stop) for stop in stops],
        "stop": min(bisect_left(stops, at), max(len(stops) - 1, 0)),
        "marks": months_of(stops),
        "around": client.timeline(format_time(at), asked.number("limit", AROUND, 2, 200)),
        "then": client.read(lambda views, scope: views.held(scope), asked.at) if asked.at else None,
        "other": other,
        "diff": diff,
    }


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


def listed(client: Client, action: str, words: str) -> Sequence[MemoryRow | TurnRow | ArchivedText]:
    """Return the entries of an action's list with these words, in any case; none without a list."""
    rows: Sequence[MemoryRow | TurnRow | ArchivedText] = ()
    if action == "unarchive":
        rows = client.archived(LOOKED_AT).archived
    elif action == "restore":
        rows = client.hidden(LOOKED_AT)
    elif action == "unpin":
        rows = client.read(pinned_of)
    return [row for row in rows if words.casefold() in row.text.casefold()]
