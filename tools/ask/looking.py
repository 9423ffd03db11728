"""Browsing a scope without a question: latest texts, texts around a moment, sessions, and lists for people.

Nothing is ranked or changed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import PEOPLE, Kind, Pinned
from memtape.schemas.log import backwards
from memtape.schemas.rows import MemoryRow, PageRow, TurnRow
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.schemas.times import parse_time
from memtape.state.index.entries import KINDS, ORIGINS, TURN
from memtape.state.index.parts import Ints, joined
from memtape.state.index.segments import NO_SESSION
from memtape.state.index.sorted_values import is_one_of
from memtape.state.text.asking import is_goodbye, is_nod
from memtape.state.text.instructions import same_instruction
from memtape.state.views.last_session import left_of
from memtape.tools.ask.found import ScopeTexts
from memtape.tools.ask.given import first_line
from memtape.tools.ask.naming import is_whole
from memtape.tools.ask.results import Result
from memtape.tools.ask.retrieval import Retriever
from memtape.tools.ask.standing import Order, is_row_stale, judged, orders_among

MOST = 1_000
REQUESTS, AGENTS_AMONG = 5, 20
"""The numbers of first turns searched: people's for the first request, agents' for the names of agents."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session: its agents, the times of its first and last turn, its number of turns, its first request.

    `asked` is the first line of the request, empty without a request. `left` is the rule-based end of the
    session.
    """

    id: str
    scope: str
    agents: tuple[str, ...]
    since: int
    until: int
    turns: int
    asked: str
    left: tuple[str, ...]


def recent_of(retriever: Retriever, scope: str, limit: int, kinds: Sequence[Kind]) -> list[Result]:
    """Return the latest texts of a scope, the latest first: of these kinds, by default all but turns."""
    check_limit(limit)
    found, view = retriever.found(scope)
    places = np.array(found.places(), np.int64)
    wanted = [KINDS.index(kind) for kind in kinds or [kind for kind in KINDS if kind != "turn"]]
    places = places[is_one_of(found.texts.column("kinds", places), np.array(wanted))]
    return _told(found, _by_time(found, places)[: -limit - 1 : -1], retriever.now([view]))


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


def session_of(retriever: Retriever, scope: str, session: str) -> list[Result]:
    """Return the turns of a session in their order. Raises `NotFound` where the scope shows none."""
    found, view = retriever.found(scope)
    number = found.texts.sessions.number_of(session)
    ordered = _turns(found)
    own = ordered[found.texts.sessions.number[ordered] == number] if number is not None else ordered[:0]
    if not len(own):
        raise NotFound(f"{scope} has no session {session[:60]}.", "`memtape log --sessions` shows their ids.")
    return _told(found, own, retriever.now([view]))


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
    return [judged(found.result(place), found.row(place), now) for place in places.tolist()]


def _session(found: ScopeTexts, scope: str, ordered: Ints) -> Session:
    origins = [ORIGINS[number] for number in found.texts.whole("origins")[ordered].tolist()]
    people = [int(place) for place, origin in zip(ordered, origins, strict=True) if origin in PEOPLE]
    answers = [int(place) for place, origin in zip(ordered, origins, strict=True) if origin == "agent"]
    agents = dict.fromkeys(found.result(place).actor for place in answers[:AGENTS_AMONG])
    first, last = found.row(int(ordered[0])), found.row(int(ordered[-1]))
    return Session(
        id=first.session or "",
        scope=scope,
        agents=tuple(agents),
        since=first.at,
        until=last.at,
        turns=len(ordered),
        asked=next(_requests(found, people), ""),
        left=tuple(line.text for line in left_of([found.result(place) for place in found.ends_of(ordered)])),
    )


def _requests(found: ScopeTexts, people: Sequence[int]) -> Iterator[str]:
    """Yield the first lines of a session's first requests by people."""
    for place in people[:REQUESTS]:
        text = found.text(place)
        if text.strip() and not is_goodbye(text) and not is_nod(text):
            yield first_line(text)


def stale_of(retriever: Retriever, scope: str, limit: int) -> list[MemoryRow]:
    """Return the stale memories of a scope and of `global`, the most used first, then the oldest."""
    read = [retriever.found(name) for name in scopes_read(scope)]
    now = retriever.now([view for _, view in read])
    rows = (row for found, _ in read for row in found.known() if isinstance(row, MemoryRow))
    listed = [row for row in rows if row.into is None and is_row_stale(row, now)]
    listed.sort(key=lambda row: (-row.uses, max(row.last_at, row.used_at or row.last_at), row.id))
    return listed[:limit]


def pinned_of(retriever: Retriever, scope: str) -> list[MemoryRow | TurnRow]:
    """Return the visible pinned units of a scope and `global`, latest first; the log names candidates."""
    log = retriever.log
    rows: dict[str, MemoryRow | TurnRow] = {}
    for name in scopes_read(scope):
        opened = retriever.opened(name)
        slots = backwards(log, partition_of(name, log.partitions), name, ("pinned",))
        events = (event_of(slot.payload) for slot in slots)
        ids = dict.fromkeys(id for it in events if it is not None and isinstance(it.body, Pinned) for id in it.body.ids)
        found = (row for id in ids for row in opened.rows_called(id))
        rows |= {
            row.id: row for row in found if isinstance(row, (MemoryRow, TurnRow)) and row.pinned and not row.hidden
        }
    return sorted(rows.values(), key=lambda row: (-row.at, row.id))


def hidden_of(retriever: Retriever, scope: str, limit: int) -> list[MemoryRow | TurnRow]:
    """Return the forgotten and withdrawn units of a scope that can be restored, at most `limit`, by id."""
    rows: list[MemoryRow | TurnRow] = []
    for name in scopes_read(scope):
        opened = retriever.opened(name)
        for id in opened.hidden(limit - len(rows)):
            row = opened.row("memories", id) or opened.row("turns", id)
            rows += [row] if isinstance(row, (MemoryRow, TurnRow)) else []
    return rows


def pages_of(retriever: Retriever, scope: str) -> list[PageRow]:
    """Return the rows of a scope's pages, by slug."""
    rows = (row for row in retriever.opened(scope).rows("pages") if isinstance(row, PageRow))
    return sorted(rows, key=lambda row: (row.slug, row.id))


def orders_of(retriever: Retriever, scope: str) -> list[Order]:
    """Return the orders of people in a scope and in `global`, the latest first, each once."""
    first: dict[tuple[str, str], Order] = {}
    for name in scopes_read(scope):
        for order in orders_among(retriever.found(name)[0]):
            known = first.get((name, same_instruction(order.text)))
            ids = order.ids if known is None else tuple(dict.fromkeys((*known.ids, *order.ids)))
            first[name, same_instruction(order.text)] = msgspec.structs.replace(known or order, ids=ids)
    return sorted(first.values(), key=lambda order: (-order.at, order.ids))
