"""Memories given to agents at a start, with a prompt or by a search, and their later use, from the log.

A memory was used where a `used` event says so, or where the session's next turn of an agent carried it: it
then has a use at the time of a statement in the turn. Nothing is ranked or changed here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from memtape.schemas.codec import event_of
from memtape.schemas.events import PEOPLE, Captured, Event, Origin, Recalled, Used
from memtape.schemas.lanes import UNASKED, Unasked, shadow_of, tokens_given, unasked_by
from memtape.schemas.log import Log, backwards, forwards
from memtape.schemas.rows import MemoryRow, UseRow
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.index.entries import ORIGINS, TURN
from memtape.state.index.parts import EVERY_TEXT, Ints
from memtape.state.index.sorted_values import is_one_of
from memtape.state.subjects.usage import ANSWERING, TURN_US
from memtape.state.subjects.weights import HOT_WINDOW_US, other_row_id
from memtape.tools.ask.aged import capture_at
from memtape.tools.ask.found import ScopeTexts
from memtape.tools.ask.retrieval import Retriever

By = Unasked | Literal["search"]
"""The occasion on which an agent got memories: an unasked one, or a search."""
EVERY_WAY: tuple[By, ...] = (*UNASKED, "search")
Since = Literal["shown", "replaced", "archived", "forgotten", "erased"]
"""How a memory that was given stands now; `forgotten` is all that is hidden."""


class GivenMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that an agent was given. `line` is the first of its text, None where that is erased.

    `used` is None where that is no longer known: times of use are kept for 18 days.
    """

    id: str
    scope: str
    line: str | None
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


class _Of(NamedTuple):
    """A scope's texts, uses by row, and erasures, read once."""

    name: str
    found: ScopeTexts
    uses: Mapping[str, UseRow]
    erasures: Erasures


def given_of(
    retriever: Retriever, scope: str, limit: int, session: str | None, since: int | None, by: Collection[By], words: str
) -> list[Given]:
    """Return the memories given to agents in a scope, the latest first, on some occasions.

    They are of one session or any, since a time or ever, and with questions that have the casefolded `words`.
    """

    def is_wanted(event: Event) -> bool:
        body = event.body
        assert isinstance(body, Recalled)
        is_of = session in (None, event.session) and shadow_of(body.lanes) is None
        return is_of and _by(body) in by and words in body.query.casefold()

    log = retriever.log
    of = [_read(retriever, log, name) for name in scopes_read(scope)]
    wanted = (it for it in _recalls(log, of[0], since) if is_wanted(it[1]))
    recalls = list(islice(wanted, limit))
    first, partition = min((offset for offset, _ in recalls), default=0), partition_of(scope, log.partitions)
    slots = forwards(log, partition, first, scope, ("used",)) if recalls else ()
    told = [event for slot in slots if (event := event_of(slot.payload)) is not None]
    return [_given(log, of, event, told) for _, event in recalls]


def _read(retriever: Retriever, log: Log, name: str) -> _Of:
    found = retriever.found(name, EVERY_TEXT)[0]

    def make() -> dict[str, UseRow]:
        return {row.id: row for row in found.opened.rows("uses") if isinstance(row, UseRow)}

    uses = found.once_rows.of("uses", None, make)
    return _Of(name, found, uses, erasures_of(log.erased(partition_of(name, log.partitions))))


def _recalls(log: Log, of: _Of, since: int | None) -> Iterator[tuple[int, Event]]:
    """Yield the recalls of a scope since a time with their offsets, the latest first."""
    for slot in backwards(log, partition_of(of.name, log.partitions), of.name, ("recalled",)):
        event = event_of(slot.payload)
        if event is None or not isinstance(event.body, Recalled) or of.erasures.covers(event):
            continue
        if since is not None and event.at < since:
            return
        yield slot.offset, event


def _given(log: Log, of: Sequence[_Of], event: Event, told: Sequence[Event]) -> Given:
    body = event.body
    assert isinstance(body, Recalled)
    answered = answers_of(of[0].found, event.session, event.at)
    used = {
        id
        for one in told
        if isinstance(one.body, Used) and (one.body.recall == event.id or _is_after(one, event))
        for id in one.body.ids
    }
    return Given(
        id=event.id,
        at=event.at,
        by=_by(body),
        query=body.query,
        scope=of[0].name,
        actor=event.actor.name,
        origin=event.actor.origin,
        session=event.session,
        tokens=tokens_given(body.lanes),
        memories=tuple(_memory(log, of, id, event.at, answered, id in used) for id in body.results),
    )


def _by(body: Recalled) -> By:
    return unasked_by(body.lanes) or "search"


def _is_after(used: Event, given: Event) -> bool:
    """Whether a use that names no recall was said in a session after it was given something."""
    assert isinstance(used.body, Used)
    own = used.session is not None and used.session == given.session
    return used.body.recall is None and own and used.at >= given.at


def _memory(log: Log, of: Sequence[_Of], id: str, at: int, answered: list[int], told: bool) -> GivenMemory:
    text, now, scope = _shown(of, id) or _hidden(log, of, id)
    use = of[0].uses.get(id if scope == of[0].name else other_row_id(id))
    used = True if told else _is_used(use, at, answered)
    return GivenMemory(id=id, scope=scope, line=None if text is None else first_line(text), used=used, now=now)


def _shown(of: Sequence[_Of], id: str) -> tuple[str | None, Since, str] | None:
    """Return the text of a shown memory, its state and its scope; None for a hidden id."""
    for one in of:
        if (place := one.found.texts.called(id)) is not None:
            row = one.found.row(place)
            replaced = isinstance(row, MemoryRow) and (row.replaced or row.valid_to is not None)
            it = one.found.result(place)
            now: Since = "replaced" if replaced else "shown" if it.archived_at is None else "archived"
            return it.text, now, one.name
    return None


def _hidden(log: Log, of: Sequence[_Of], id: str) -> tuple[str | None, Since, str]:
    """Return the text of a hidden memory (None if erased), its state and its scope."""
    for one in of:
        offset = log.known(one.name, [id]).get(id)
        if offset is None or id in one.erasures.named.get(one.name, {}):
            continue
        event = capture_at(log, partition_of(one.name, log.partitions), offset, one.erasures)
        if event is not None and isinstance(event.body, Captured):
            return event.body.text, "forgotten", one.name
    return None, "erased", of[0].name


def _is_used(use: UseRow | None, at: int, answered: list[int]) -> bool | None:
    """Whether an answer at one of these times carried a memory; None once its times of use are unknown."""
    if use is None or not answered or use.last_at < at:
        return False
    if any(time in use.times for time in answered):
        return True
    return None if len(use.times) < use.used and use.last_at - at > HOT_WINDOW_US else False


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
