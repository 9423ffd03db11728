"""Browsing a scope without a question: latest texts, texts around a moment, sessions, edges, and lists.

The memories that agents were given at a start, with a prompt or by a search, are told with their later use. A
memory was used where a `used` event says so, or where the session's next turn of an agent carried it: it then
has a use at the time of a statement in the turn. Nothing is ranked or changed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from heapq import nsmallest
from typing import Any, Literal

import msgspec
import numpy as np

from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import PEOPLE, Event, Kind, Origin, Recalled, Used
from memtape.schemas.lanes import UNASKED, Unasked, shadow_of, tokens_given, unasked_by
from memtape.schemas.log import Log, backwards, events_between
from memtape.schemas.metrics import tell_progress
from memtape.schemas.rows import (
    ArchiveRow,
    LifeMark,
    MemoryRow,
    PageRow,
    TurnRow,
    is_replaced,
    made_from,
)
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.schemas.times import parse_time
from memtape.state.core.erasures import erasures_of
from memtape.state.index.entries import ORIGINS, TURN
from memtape.state.index.parts import EVERY_TEXT, Ints, joined
from memtape.state.index.segments import NO_SESSION
from memtape.state.index.sorted_values import is_one_of
from memtape.state.subjects.edges import Tie, candidates
from memtape.state.subjects.usage import ANSWERING, TURN_US
from memtape.state.subjects.weights import HOT_WINDOW_US, ONE, other_row_id
from memtape.state.text.instructions import same_instruction
from memtape.state.text.questions import is_goodbye, is_nod
from memtape.state.text.reading import read
from memtape.state.views.last_session import left_of
from memtape.tools.query.found import Order, ScopeTexts, orders_among, ties_of
from memtape.tools.query.plan import is_whole
from memtape.tools.query.results import Result, is_row_stale, judged, result_of
from memtape.tools.query.retrieval import Retriever, captures_of

MOST = 1_000
REQUESTS, AGENTS_AMONG = 5, 20
"""The numbers of first turns searched: people's for the first request, agents' for the names of agents."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session: its agents, the times of its first and last turn, its number of turns, its first request.

    `asked` is the first line of the request, or empty. `left` is the session's end, by rules.
    """

    id: str
    scope: str
    agents: tuple[str, ...]
    since: int
    until: int
    turns: int
    asked: str
    left: tuple[str, ...]


def timeline_of(retriever: Retriever, scope: str, around: str, limit: int, now_us: int) -> list[Result]:
    """Return at most `limit` texts of a scope around an id or a time, in order.

    Raises `NotFound` for an id that is not shown in the scope.
    """
    check_limit(limit)
    found, view = retriever.found(scope)
    places = np.array(found.places(), np.int64)
    ordered = _by_time(found, places)
    if is_whole(around):
        place = found.texts.called(around)
        if place is None:
            raise NotFound(f"{scope} shows nothing with the id {around}.", "`memtape search` shows ids.")
        middle = int(np.flatnonzero(ordered == found.texts.head(place))[0])
    else:
        middle = int(np.searchsorted(np.sort(found.texts.column("at", places)), parse_time(around, now_us)))
    first = max(0, min(middle - limit // 2, len(ordered) - limit))
    return _told(found, ordered[first : first + limit], retriever.now([view]))


def times_of(retriever: Retriever, scope: str) -> list[int]:
    """Return the times of all that a scope shows, in microseconds, in order."""
    found = retriever.found(scope)[0]
    places = np.array(found.places(), np.int64)
    times: list[int] = np.sort(found.texts.column("at", places)).tolist()
    return times


def sessions_of(retriever: Retriever, scope: str, limit: int) -> list[Session]:
    """Return the sessions of a scope, the last active first."""
    check_limit(limit)
    found = retriever.found(scope)[0]
    ordered = _turns(found)
    numbers = found.texts.sessions.number[ordered]
    # Of each session the place of its last turn, the latest of these first.
    last = {int(number): n for n, number in enumerate(numbers.tolist())}
    latest = sorted(last, key=lambda number: -last[number])[:limit]
    return [_session(found, scope, ordered[numbers == number]) for number in latest]


def check_limit(limit: int, most: int = MOST) -> None:
    """Raise `MemtapeError` for an invalid limit."""
    if not 1 <= limit <= most:
        raise MemtapeError(f"A limit of {limit} is not between 1 and {most:,}.", "Give another.")


def _turns(found: ScopeTexts) -> Ints:
    """Return the places of the turns of sessions that are shown, in the order in which they were said."""
    segments = [part.segment for part in found.texts.parts]
    alone = joined([(each.session_keys == NO_SESSION)[each.sessions] for each in segments], np.bool_)
    return _by_time(found, np.flatnonzero(found.texts.shown & (found.texts.flags & TURN != 0) & ~alone))


def _by_time(found: ScopeTexts, places: Ints) -> Ints:
    """Return places, given in ascending order, ordered by the time of their texts."""
    ordered: Ints = places[np.argsort(found.texts.column("at", places), kind="stable")]
    return ordered


def _told(found: ScopeTexts, places: Ints, now: int) -> list[Result]:
    found.fetch(places.tolist())
    return [judged(found.result(place), found.row(place), now) for place in places.tolist()]


def _session(found: ScopeTexts, scope: str, ordered: Ints) -> Session:
    origins = [ORIGINS[number] for number in found.texts.whole("origins")[ordered].tolist()]
    people = [int(place) for place, origin in zip(ordered, origins, strict=True) if origin in PEOPLE]
    answers = [int(place) for place, origin in zip(ordered, origins, strict=True) if origin == "agent"]
    found.fetch([*answers[:AGENTS_AMONG], *people[:REQUESTS], int(ordered[0]), *found.ends_of(ordered)])
    agents = dict.fromkeys(found.result(place).actor for place in answers[:AGENTS_AMONG])
    first, last = found.row(int(ordered[0])), found.row(int(ordered[-1]))
    said = map(found.text, people[:REQUESTS])
    readings = (read(it) for it in said if it.strip())
    requests = (first_line(it.text) for it in readings if not is_goodbye(it) and not is_nod(it))
    ends = [found.result(place) for place in found.ends_of(ordered)]
    left = tuple(line.text for line in left_of(ends))
    return Session(
        id=first.session or "", scope=scope, agents=tuple(agents), since=first.at, until=last.at,
        turns=len(ordered), asked=next(requests, ""), left=left,
    )  # fmt: skip


def stale_of(retriever: Retriever, scope: str, limit: int) -> list[MemoryRow]:
    """Return the stale memories of a scope and of `global`, the most used first, then the oldest."""
    read = [retriever.found(name) for name in scopes_read(scope)]
    now = retriever.now([view for _, view in read])
    listed = [
        row for found, _ in read for row in found.once_rows.of("stale", now, partial(_stale, found, now))
    ]
    listed.sort(key=lambda row: (-row.uses, max(row.last_at, row.used_at or row.last_at), row.id))
    return listed[:limit]


def _stale(found: ScopeTexts, now: int) -> list[MemoryRow]:
    rows = (row for row in found.known() if isinstance(row, MemoryRow))
    return [row for row in rows if row.into is None and is_row_stale(row, now)]


def hidden_of(retriever: Retriever, scope: str, limit: int) -> list[MemoryRow | TurnRow]:
    """Return the forgotten and withdrawn units of a scope that can be restored, at most `limit`, by id."""
    rows: list[MemoryRow | TurnRow] = []
    for name in scopes_read(scope):
        opened = retriever.opened(name)
        for id in opened.hidden(limit - len(rows)):
            row = opened.row(MemoryRow, id) or opened.row(TurnRow, id)
            rows += [] if row is None else [row]
    return rows


def pages_of(retriever: Retriever, scope: str) -> list[PageRow]:
    """Return the rows of a scope's pages, by slug."""
    return sorted(retriever.opened(scope).rows(PageRow), key=lambda row: (row.slug, row.id))


def orders_of(retriever: Retriever, scope: str) -> list[Order]:
    """Return the orders of people in a scope and in `global`, the latest first, each once."""
    first: dict[tuple[str, str], Order] = {}
    for name in scopes_read(scope):
        for order in orders_among(retriever.found(name)[0]):
            known = first.get((name, same_instruction(read(order.text))))
            ids = order.ids if known is None else tuple(dict.fromkeys((*known.ids, *order.ids)))
            first[name, same_instruction(read(order.text))] = msgspec.structs.replace(known or order, ids=ids)
    return sorted(first.values(), key=lambda order: (-order.at, order.ids))


By = Unasked | Literal["search"]
"""The occasion on which an agent got memories: an unasked one, or a search."""
EVERY_WAY: tuple[By, ...] = (*UNASKED, "search")
Since = Literal["shown", "replaced", "archived", "forgotten", "erased"]
"""How a memory that was given stands now; `forgotten` is all that is hidden."""


class GivenMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that an agent was given. `line` is the first of its text, None where that is erased.

    `actor` and `origin` are its author's, None where the text is erased. `used` is None where that is no
    longer known: times of use are kept for 18 days.
    """

    id: str
    scope: str
    line: str | None
    actor: str | None = None
    origin: Origin | None = None
    used: bool | None
    now: Since


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """The memories that a session was given at one time. `id` is the id of the recall.

    `by` is the occasion: a start, a prompt or a search; for a search `query` has its words. `actor` is the
    host's name, or the author of the search. `tokens` is the length of the unasked text, None where it was
    not counted.
    """

    id: str
    at: int
    by: By
    query: str
    scope: str
    actor: str
    origin: Origin
    session: str | None
    tokens: int | None
    memories: tuple[GivenMemory, ...]


TextsOf = Mapping[str, ScopeTexts]
"""The texts of each scope that is read; a project's own come first."""
IsWanted = Callable[[By, Event, Recalled], bool]


def given_of(retriever: Retriever, scope: str, limit: int, since: int | None, fits: IsWanted) -> list[Given]:
    """Return the wanted memories given to agents in a scope since a time, the latest first."""
    log, partition = retriever.log, partition_of(scope, retriever.log.partitions)
    of = {name: retriever.found(name, EVERY_TEXT)[0] for name in scopes_read(scope)}
    erasures, recalls, first = erasures_of(log.erased(partition)), list[tuple[By, Event]](), 0
    for slot in backwards(log, partition, scope, ("recalled",)):
        event = event_of(slot.payload)
        if event is None or not isinstance(event.body, Recalled) or erasures.covers(event):
            continue
        if len(recalls) >= limit or (since is not None and event.at < since):
            break
        by: By = unasked_by(event.body.lanes) or "search"
        if shadow_of(event.body.lanes) is None and fits(by, event, event.body):
            recalls.append((by, event))
            first = slot.offset
    end = log.ends()[partition] if recalls else 0
    told = [event for _, event in events_between(log, partition, first, end, scope, ("used",))]
    return [_given(log, of, by, event, told) for by, event in recalls]


def _given(log: Log, of: TextsOf, by: By, event: Event, told: Sequence[Event]) -> Given:
    """Return the texts of a recall. Of the later uses `told`, one without a recall counts by session."""
    body = event.body
    assert isinstance(body, Recalled)
    answered = answers_of(next(iter(of.values())), event.session, event.at)
    used = dict[str, None]()
    for one in told:
        own = event.session is not None and one.session == event.session and one.at >= event.at
        if isinstance(one.body, Used) and (one.body.recall == event.id or (one.body.recall is None and own)):
            used |= dict.fromkeys(one.body.ids)
    memories = tuple(_memory(log, of, id, event.at, answered, id in used) for id in body.results)
    given = {"actor": event.actor.name, "tokens": tokens_given(body.lanes), "memories": memories}
    return made_from(Given, event, event.actor, body, by=by, **given)


def _memory(log: Log, of: TextsOf, id: str, at: int, answered: list[int], told: bool) -> GivenMemory:
    """Return how a memory that was given stands, and whether its use was told or an answer carried it."""
    said, now, scope = _standing(log, of, id)
    here, found = next(iter(of.items()))
    use = found.uses().get(id if scope == here else other_row_id(id))
    used: bool | None = told
    if not told and use is not None and answered and use.last_at >= at:
        is_forgotten = len(use.times) < use.used and use.last_at - at > HOT_WINDOW_US
        used = True if any(time in use.times for time in answered) else None if is_forgotten else False
    own: dict[str, Any] = {"id": id, "scope": scope, "used": used, "now": now}
    if said is None:
        return GivenMemory(line=None, **own)
    return made_from(GivenMemory, said, line=first_line(said.text), **own)


def _standing(log: Log, of: TextsOf, id: str) -> tuple[Result | None, Since, str]:
    """Return the text of a memory (None if erased), its state and its scope; the log has a hidden one's."""
    for name, found in of.items():
        if (place := found.texts.called(id)) is not None:
            row, it = found.row(place), found.result(place)
            replaced = isinstance(row, MemoryRow) and is_replaced(row)
            now: Since = "replaced" if replaced else "shown" if it.archived_at is None else "archived"
            return it, now, name
    for name in of:
        if (event := captures_of(log, name, [id]).get(id)) is not None:
            return result_of(event), "forgotten", name
    return None, "erased", next(iter(of))


def answers_of(found: ScopeTexts, session: str | None, at: int) -> list[int]:
    """Return the times of a session's answers from a time on, until the next turn of a person."""
    number = None if session is None else found.texts.sessions.number_of(session)
    if number is None:
        return []
    turns: Ints = np.flatnonzero((found.texts.flags & TURN != 0) & (found.texts.sessions.number == number))
    origins, times = found.texts.whole("origins")[turns], found.texts.column("at", turns)
    is_answer = is_one_of(origins, np.array([ORIGINS.index(origin) for origin in ANSWERING]))
    answers = times[is_answer & (times >= at) & (times < at + TURN_US)]
    asked = times[is_one_of(origins, np.array([ORIGINS.index(origin) for origin in PEOPLE]))]
    ends = asked[asked > answers.min()] if len(answers) else asked
    return sorted(map(int, answers[answers < ends.min()] if len(ends) else answers))


def first_line(text: str) -> str:
    """Return the first non-blank line of a text, stripped; empty for a blank text."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


class EdgeEnd(msgspec.Struct, frozen=True, kw_only=True):
    """A memory or turn at an end of an edge."""

    id: str
    kind: Kind
    text: str


class UseEdge(msgspec.Struct, frozen=True, kw_only=True):
    """An edge: `weight` at `EdgeList.now`, 1.0 for one joint use just now; `windows` used both.

    `learned` says how much more often than by chance 90 days of windows held both, from 0.2 to 1, over
    `learned_windows` with both; 0 if not learned.
    """

    source: EdgeEnd
    target: EdgeEnd
    weight: float
    windows: int
    learned: float
    learned_windows: int


class EdgeList(msgspec.Struct, frozen=True, kw_only=True):
    """Edges of a scope, the strongest first, at ranking's now; `lag` is how many events the views lack."""

    scope: str
    now: int
    lag: int
    edges: tuple[UseEdge, ...]


def edges_of(retriever: Retriever, scope: str, id: str | None = None) -> EdgeList:
    """Return the edges of the memory or turn of an id, without one those of a scope worth to be curated.

    Raises `NotFound`.
    """
    if id is not None:
        named = retriever.find(scope, id)
        scope, id = named.scope or scope, named.id
    found, view = retriever.found(scope, EVERY_TEXT)
    now = retriever.now([view])
    ties: Sequence[Tie] = found.once_rows.of("edges", now, lambda: ties_of(found, now))
    if id is None:
        ties = candidates(ties, now)
    else:
        ties = [tie if tie.source == id else tie._replace(source=tie.target, target=tie.source)
                for tie in ties if id in (tie.source, tie.target)]  # fmt: skip

    def end(id: str) -> EdgeEnd:
        place = found.texts.called(id)
        assert place is not None
        return made_from(EdgeEnd, found.result(place))

    def edge(tie: Tie) -> UseEdge:
        ends, learned = {"source": end(tie.source), "target": end(tie.target)}, tie.learned
        weights = {"weight": round(tie.weight / ONE, 6), "learned": round(learned.weight / ONE, 6)}
        return made_from(UseEdge, tie, **ends, **weights, learned_windows=learned.windows)

    return EdgeList(scope=scope, now=now, lag=view.lag, edges=tuple(map(edge, ties)))


MOST_ARCHIVED = 10_000


class ArchivedText(msgspec.Struct, frozen=True, kw_only=True):
    """An archived memory or turn, by the id of its first capture. Times are in microseconds.

    `text` is the text of its memory, or of its first capture if `purged`; empty if no text is left, and then
    `actor` and `origin` are None. `hidden` says that the memory or turn was also forgotten or withdrawn.
    """

    id: str
    scope: str
    kind: Kind
    at: int
    archived_at: int
    why: str
    purged: bool
    text: str
    actor: str | None = None
    origin: Origin | None = None
    hidden: bool


class ArchiveList(msgspec.Struct, frozen=True, kw_only=True):
    """The archived texts of a scope and of `global`, by reason, each list the latest first, up to a limit.

    `counts` has their number by reason; of all these, `purged` rows have left the views. `projects` are the
    home's dormant and finished projects, by scope. `lag` is the number of events that the views lack.
    """

    scope: str
    archived: tuple[ArchivedText, ...]
    counts: dict[str, int]
    purged: int
    projects: dict[str, LifeMark]
    lag: int


def archived_of(retriever: Retriever, scope: str, limit: int, *, purged: bool = False) -> ArchiveList:
    """Return the archived texts of a scope and of `global`; with `purged` also those that left the views."""
    log = retriever.log
    check_limit(limit, MOST_ARCHIVED)
    rows, marks = list[ArchiveRow](), dict[str, LifeMark]()
    for number in range(log.partitions):
        marks |= retriever.watermark(number).lives
    partitions = {name: partition_of(name, log.partitions) for name in scopes_read(scope)}
    for name, number in partitions.items():
        rows += retriever.shard(number).rows(ArchiveRow, name)
    listed = [row for row in rows if row.purged is purged]
    latest = nsmallest(limit, listed, key=lambda row: (row.why != "asked", -row.archived_at, row.id))
    opened = {name: retriever.opened(name) for name in partitions}
    purged_ids = {name: [row.id for row in latest if row.purged and row.scope == name] for name in partitions}
    gone = {name: captures_of(log, name, ids) for name, ids in purged_ids.items()}
    texts = []
    for row in latest:
        shown = next(iter(opened[row.scope].rows_called(row.id)), None)
        event = gone[row.scope].get(row.id)
        said = shown or (None if event is None else result_of(event))
        told: dict[str, Any] = {"hidden": shown is not None and shown.hidden}
        if said is None:
            texts.append(made_from(ArchivedText, row, text="", **told))
        else:
            texts.append(made_from(ArchivedText, row, said, **told))
        tell_progress("reading", len(texts), len(latest))
    tails = (retriever.tail(name, retriever.watermark(number).offset) for name, number in partitions.items())
    counts = dict(sorted(Counter(row.why for row in listed).items()))
    return ArchiveList(
        scope=scope, archived=tuple(texts), counts=counts, purged=sum(row.purged for row in rows),
        projects={name: mark for name, mark in sorted(marks.items()) if mark.state != "active"},
        lag=sum(len(list(tail)) for tail in tails),
    )  # fmt: skip
