"""The views of the page: each function reads from the client and returns the variables of its template.

How a view becomes HTML is in `drawing`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from itertools import islice
from math import cos, pi, sin, sqrt
from typing import Any, NamedTuple, get_args

import orjson

from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import EVENT_TYPES, Event, Kind, Origin, Tier
from memtape.schemas.ids import root_id
from memtape.schemas.lanes import LANES
from memtape.schemas.log import Slot, backwards
from memtape.schemas.rows import MemoryRow, PageRow, TurnRow
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US, format_day, format_time, parse_time
from memtape.schemas.visible import visible_json
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.state.subjects.weights import ONE, decayed
from memtape.state.views.context import Section
from memtape.tools.agents.connecting import is_connected
from memtape.tools.agents.errors import latest_errors
from memtape.tools.agents.hosts import ACTIONS, CONTEXT_TOKENS, begins_at_prompt, note_of
from memtape.tools.agents.mcp.server import INSTRUCTIONS
from memtape.tools.agents.plugins import HOSTS, instructions
from memtape.tools.agents.turn import form_of, given_in
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.doors.mcp import call, every_tool, schema_of
from memtape.tools.page.asked import PageQuery
from memtape.tools.query.as_of import Diff, parse_position, time_asked
from memtape.tools.query.context import FORMS, HEADINGS, FormName, ProjectContext
from memtape.tools.query.inspection import explained as events_behind
from memtape.tools.query.looking import EVERY_WAY, ArchivedText, By, UseEdge, edges_of, pages_of, pinned_of
from memtape.tools.query.status import next_steps
from memtape.tools.query.telling import tokenizer, told_trace
from memtape.tools.verb import encoded

LATEST = 8


def now(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the state of the home and of one scope."""
    status = client.status(as_of=asked.as_of)
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
        "recent": client.recent(LATEST, kinds=()),
    }


BELOW = 5
"""So many results are told that were not good enough for the answer."""


def search(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the answer to a question as agents get it; nothing is put on the log."""
    query, limit = asked.text("q"), asked.number("limit", 10, 1, 200)
    shown: dict[str, Any] = {
        "query": query,
        "limit": limit,
        "kinds": get_args(Kind),
        "origins": get_args(Origin),
        "tiers": get_args(Tier),
        "lanes": LANES,
        "answer": None,
    }
    if not query:
        return shown
    answer = client.search(
        query,
        min(limit + BELOW, 1_000),
        kinds=_chosen(asked, "kind", get_args(Kind)),
        origins=_chosen(asked, "origin", get_args(Origin)),
        tiers=_chosen(asked, "tier", get_args(Tier)),
        tags=asked.many("tag"),
        quiet=True,
        as_of=asked.as_of,
        without=_chosen(asked, "without", LANES),
        explain=True,
        archived=asked.is_on("archived"),
        deep=asked.is_on("deep"),
    )
    results, below = answer.results[:limit], answer.results[limit:]
    return shown | {"answer": answer, "results": results, "below": below, "steps": told_trace(answer.trace)}


def _chosen(asked: PageQuery, name: str, known: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value for value in asked.many(name) if value in known)


RECALLS_AT_ONCE = 25


def recalls(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the latest recalls of a scope, narrowed to a way, a session and words of the question."""
    limit = asked.number("limit", RECALLS_AT_ONCE, 1, 500)
    by: By | None = next((way for way in EVERY_WAY if way == asked.text("by")), None)
    session, words = asked.text("session"), asked.text("words")
    since = asked.text("since") or None
    found = client.given(limit + 1, session=session or None, since=since, searches=True, by=by, words=words)
    return {
        "recalls": found[:limit],
        "limit": limit,
        "ways": EVERY_WAY,
        "by": by or "",
        "session": session,
        "words": words,
        "is_narrowed": bool(by or session or words or since),
        "more": len(found) > limit,
    }


MOST_EVENTS = 200
USE_DAYS = 18
"""Times of use are kept one by one for this many days before the last."""
BAR = 50


def memory(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return all that is known of an id. Raises `NotFound`."""
    id = asked.text("id")
    if not id:
        raise MemtapeError("No memory is named.", "Follow a link of another view, or add ?id=…")
    opened = client.show(id, as_of=asked.as_of)
    row, ages = opened.memory or opened.turn, asked.is_on("age") and not asked.at
    explained = client.why(id) if ages else client.read_of(id, events_behind)  # An age folds the log.
    shown = explained.events[-MOST_EVENTS:]
    return {
        "opened": opened,
        "row": row,
        "explained": explained,
        "events": [(it, visible_json(encoded(it.event, indent=True)).decode()) for it in shown],
        "left_out": max(0, len(explained.events) - MOST_EVENTS),
        "edges": () if row is None else client.edges(id, as_of=asked.as_of).edges,
        "uses": days_of(opened.use_times),
        "age": explained.age,
    }


def days_of(times: Sequence[int]) -> list[tuple[str, int, int]]:
    """Return the days up to the last of some times, each with its number and the height of its bar."""
    if not times:
        return []
    last = max(times) // DAY_US
    counts = Counter(time // DAY_US for time in times)
    most = max(counts.values())
    days = range(last - USE_DAYS + 1, last + 1)
    return [(format_day(day * DAY_US), counts[day], BAR * counts[day] // most) for day in days]


STOPS = 200
"""So many positions of the slider, spread evenly over the events of the scope's partition."""
AROUND = 30
MARKS = 12


def timeline(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the texts around a time, the counts then, and the changes until now or another time."""
    now, stops = now_us(), stops_of(client, asked.scope)
    at = time_of(client, asked.scope, asked.at, now)
    other = asked.text("other")
    return {
        "stops": [format_time(stop) for stop in stops],
        "stop": min(bisect_left(stops, at), max(len(stops) - 1, 0)),
        "marks": months_of(stops),
        "around": client.timeline(format_time(at), asked.number("limit", AROUND, 2, 200)),
        "then": client.read(lambda views, scope: views.held(scope), asked.as_of) if asked.as_of else None,
        "other": other,
        "diff": _diff(client, asked, at, other, now) if asked.is_on("diff") else None,
    }


def time_of(client: Client, scope: str, at: str, now: int) -> int:
    """Return the time of an `as of`, be it empty, a time, an age or a position. Raises `MemtapeError`."""
    if not at:
        return now
    if (time := time_asked(at, now)) is not None:
        return time
    partition = partition_of(scope, client.log.partitions)
    last = parse_position(at, client.log, now)[partition] - 1
    slots = client.log.read(partition, last, 1) if last >= 0 else []
    return next((event.sent for slot in slots if (event := event_of(slot.payload)) is not None), now)


def _diff(client: Client, asked: PageQuery, at: int, other: str, now: int) -> Diff:
    """Return the changes between the page's time and another, by default now, the earlier first."""
    until = parse_time(other, now) if other else now
    return client.diff(format_time(min(at, until)), format_time(max(at, until)))


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


MOST_EDGES = 400
RADIUS, EDGE = 420.0, 30.0
"""The disc in which memories stand, and the margin around it, in pixels."""


def graph(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the heaviest edges of a scope and where their ends stand."""
    least = asked.number("least", 0, 0, 10_000) / 100
    listed = client.read(edges_of, asked.as_of)
    edges = [edge for edge in listed.edges if edge.weight >= least]
    edges = sorted(edges, key=lambda edge: (-edge.weight, edge.source.id, edge.target.id))[:MOST_EDGES]
    nodes = _placed(edges)
    return {
        "all": len(listed.edges),
        "edges": edges,
        "lines": [(edge, nodes[edge.source.id], nodes[edge.target.id]) for edge in edges],
        "nodes": list(nodes.values()),
        "side": 2 * (RADIUS + EDGE),
        "least": int(least * 100),
        "week": decayed(ONE, 7 * DAY_US) / ONE,
        "heaviest": max((edge.weight for edge in edges), default=1.0),
    }


def _placed(edges: list[UseEdge]) -> dict[str, dict[str, Any]]:
    """Return the ends of edges with their weights in all, each where the digest of its id puts it."""
    ends = {end.id: end for edge in edges for end in (edge.source, edge.target)}
    nodes = {}
    for id, end in ends.items():
        digest = blake2b(id.encode(), digest_size=8).digest()
        around, away = (int.from_bytes(half, "big") / 2**32 for half in (digest[:4], digest[4:]))
        turn, far = 2 * pi * around, RADIUS * sqrt(away)
        weight = sum(edge.weight for edge in edges if id in (edge.source.id, edge.target.id))
        place = {"x": far * cos(turn), "y": far * sin(turn), "weight": weight}
        nodes[id] = {"id": id, "kind": end.kind, "text": end.text, **place}
    return nodes


MOST_LINES = 2_000
MOST_DEPTH = 12


def tree(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the tree from its root down, and the pages without a parent."""
    rows = {row.id: row for row in client.read(pages_of, asked.as_of)}
    root = rows.get(root_id(asked.scope))
    lines = [] if root is None else _below(root, rows)
    drawn = {row.id for _, row, _ in lines}
    written = [row for row in rows.values() if row.version is not None]
    loose = [row for row in written if row is not root and row.id not in drawn]
    return {
        "lines": lines[:MOST_LINES],
        "more": max(len(lines) - MOST_LINES, 0),
        "loose": loose[:MOST_LINES],
        "pages": len(written),
        "titles": {row.id: row.title for row in rows.values()},
    }


def _below(root: PageRow, rows: dict[str, PageRow]) -> list[tuple[int, PageRow, bool]]:
    """Return the pages below a page in drawing order: depth, row, and whether the page was drawn before.

    The children of a page are drawn once.
    """
    lines, seen = list[tuple[int, PageRow, bool]](), {root.id}
    waiting = [(0, id) for id in reversed(root.children)]
    while waiting:
        depth, id = waiting.pop()
        row = rows.get(id)
        if row is None:
            continue
        lines.append((depth, row, id in seen))
        if id not in seen and depth < MOST_DEPTH:
            waiting += [(depth + 1, child) for child in reversed(row.children)]
        seen.add(id)
    return lines


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


AT_ONCE = 100
MOST_ERRORS = 20
MOST_OFFSET = 10**9
LogLine = tuple[Slot, Event | None]
"""A slot, and its event if it can be read."""


def log(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the latest events of a scope, or those from an offset on, the latest first."""
    partition = partition_of(asked.scope, client.log.partitions)
    end, types = client.log.ends()[partition], _types(asked)
    if asked.text("after"):
        lines = lines_from(client, asked, asked.number("after", 0, 0, MOST_OFFSET))[::-1]
    else:
        latest = islice(backwards(client.log, partition, asked.scope, types), AT_ONCE)
        lines = [(slot, event_of(slot.payload)) for slot in latest]
    status = client.status()
    return {
        "lines": lines,
        "next": lines[0][0].offset + 1 if lines and asked.text("after") else end,
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
    """Return events of the scope from an offset on, at most `AT_ONCE`, in the order of the log."""
    partition = partition_of(asked.scope, client.log.partitions)
    slots = client.log.read(partition, offset, AT_ONCE, scope=asked.scope, types=_types(asked))
    return [(slot, event_of(slot.payload)) for slot in slots]


def errors_of(client: Client) -> list[str]:
    """Return the latest errors of hooks and servers, the latest first."""
    return latest_errors(client.home.path, MOST_ERRORS)[::-1]


def _types(asked: PageQuery) -> tuple[str, ...]:
    """Return the chosen types, by default all readable ones."""
    return tuple(type for type in asked.many("type") if type in EVENT_TYPES) or tuple(EVENT_TYPES)


HOOKLESS = "Any other host"


class HostText(NamedTuple):
    """A text given to a host: its title, its length in tokens of the host's model, and the whole text.

    Of a context: the host's name, whether the host is connected here, and when its agent is given the text.
    """

    title: str
    tokens: int
    text: str
    host: str = ""
    is_connected: bool = False
    when: str = ""


def to_hosts(client: Client, context: ProjectContext, budget: int | None) -> list[HostText]:
    """Return the texts of each connectable host, connected hosts first, and of any other host last.

    `budget` is the caller's number of tokens, by default the tool's own.
    """
    note = note_of(len(context.ids), context.tokens) if local_settings(client.home).shown else ""
    told = [_to_host(client.home, name, context.text, note) for name in HOSTS]
    told.sort(key=lambda given: not given.is_connected)
    asked = call(client, "get_context", {} if budget is None else {"budget_tokens": budget})
    tokens = tokenizer().count(asked)
    return [*told, HostText("get_context", tokens, asked, HOOKLESS, when="when its agent asks")]


def beside(home: Home) -> list[HostText]:
    """Return the text given besides to hosts with Memtape's server: the server's instructions, its tools.

    Of a tool the name, the description and the schema of its arguments count, which hosts put before their
    models.
    """
    count = tokenizer().count
    every = local_settings(home).every_tool
    tools = [
        {"name": name, "description": tool.offer.description, "inputSchema": schema_of(tool, rare=every)}
        for name, tool in every_tool().items()
        if every or tool.offer.common
    ]
    listed = "\n".join(orjson.dumps(tool).decode() for tool in tools)
    block = instructions()
    return [
        HostText("Instructions of the server", count(INSTRUCTIONS), INSTRUCTIONS),
        HostText(f"{len(tools)} tools", count(listed), listed),
        HostText("The block for AGENTS.md, where somebody has put it there", count(block), block),
    ]


def _to_host(home: Home, name: str, text: str, note: str) -> HostText:
    """Return how a host is told a context at its start, or with the first prompt."""
    at_prompt = begins_at_prompt(name)
    wanted = "prompt" if at_prompt else "start"
    event = next(event for event, action in ACTIONS[name].items() if action == wanted)
    printed = form_of(name, event, text, note).decode()
    tokens = tokenizer().count(given_in(text)) if printed else 0
    when = f"{'with the first prompt' if at_prompt else 'when a session starts'} ({event})"
    return HostText("What its hook prints", tokens, printed, HOSTS[name].name, is_connected(home, name), when)


LEAST_TOKENS, MOST_TOKENS = 100, 8_000


def start(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the context of the next start in a budget and form. Nothing is put on the log."""
    budget = asked.number("budget", CONTEXT_TOKENS, LEAST_TOKENS, MOST_TOKENS)
    form: FormName = next((form for form in FORMS if form == asked.text("form")), "prompt")
    context = client.context(budget, form, as_of=asked.as_of)
    tells_hosts = form == "prompt" and not asked.at
    return {
        "context": context,
        "budget": budget,
        "least": LEAST_TOKENS,
        "most": MOST_TOKENS,
        "usual": CONTEXT_TOKENS,
        "form": form,
        "forms": FORMS,
        "hosts": to_hosts(client, context, budget if asked.text("budget") else None) if tells_hosts else [],
        "beside": beside(client.home),
        "parts_of": parts_of(context),
    }


def parts_of(context: ProjectContext) -> list[tuple[str, int, int, int]]:
    """Return the sections of a context: heading, number of lines, omitted lines, tokens."""
    count = tokenizer().count
    parts = list[tuple[str, int, int, int]]()
    for section in get_args(Section):
        items = [item for item in context.items if item.section == section]
        omitted = context.omitted.get(section, 0)
        if items or omitted:
            tokens = sum(count(item.text) for item in items)
            parts.append((HEADINGS[section], len(items), omitted, tokens))
    told = sum(tokens for *_, tokens in parts)
    parts.append(("Frame, headings, who and when", 0, 0, max(context.tokens - told, 0)))
    return parts
