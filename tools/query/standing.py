"""The state of shown texts at a time: staleness and effect, orders of people, and the candidates for a start.

The candidates are as in `state/views/context.py`. Nothing is ranked, chosen or changed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from memtape.schemas.events import PEOPLE, Captured, Event, Origin
from memtape.schemas.rows import ORDER, MemoryRow, TurnRow, made_from, stale, told_of_value
from memtape.state.subjects.captures import FAMILIES
from memtape.state.text.categories import is_stale
from memtape.state.text.instructions import Heard, heard_in
from memtape.state.text.orders import words_named_by
from memtape.state.text.polarity import polarity
from memtape.state.views.context import Known, known_of
from memtape.tools.query.found import ScopeTexts
from memtape.tools.query.results import Result, result_of


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A person's order about memory. `ids` are all captures of the order, which ends when all are forgotten.

    `about` has the order's topic words in lower case: texts with all of them, in any form, are left out of
    unasked context. An order without a topic, as "forget what I said", has none.
    """

    ids: tuple[str, ...]
    scope: str
    text: str
    at: int
    actor: str
    origin: Origin
    about: tuple[str, ...]


def orders_among(found: ScopeTexts) -> Iterator[Order]:
    """Yield the orders in a scope's statements by people, a sentence each."""
    for said in found.ordering():
        if isinstance(said, Event):
            assert isinstance(said.body, Captured)
            text, actor, origin = said.body.text, said.actor.name, said.actor.origin
        else:
            text, actor, origin = said.text, said.actor, said.origin
        for sentence in heard_in(text).orders:
            yield Order(
                ids=(said.id,),
                scope=said.scope or "",
                text=sentence,
                at=said.at,
                actor=actor,
                origin=origin,
                about=words_named_by(sentence),
            )


def is_row_stale(row: MemoryRow, now: int) -> bool:
    """Whether a memory that holds is stale at a time in microseconds."""
    if row.kind not in FAMILIES or row.status == "deprecated" or row.hidden:
        return False
    return is_stale(row.category, max(row.last_at, row.used_at or row.last_at), now)


def judged(result: Result, row: MemoryRow | TurnRow | Event, now: int) -> Result:
    """Return a result with its polarity, its staleness at a time in microseconds, and marks of both.

    A turn of the tail is read for its polarity: that of anyone but people counts as a fact.
    """
    if isinstance(row, MemoryRow):
        if not is_row_stale(row, now):
            return result
        return msgspec.structs.replace(result, stale=True, marks=(*result.marks, stale(row.last_at)))
    of_people, does = result.origin in PEOPLE, result.polarity
    if isinstance(row, Event) and result.kind == "turn":
        does = polarity(result.text) if of_people else "fact"
    marks = (*result.marks, ORDER) if of_people and does == "meta" else result.marks
    return msgspec.structs.replace(result, polarity=does, marks=marks)


_BEHIND = 10**15
"""The order of texts that no view has counted yet."""


def known_in(found: ScopeTexts, now: int) -> list[Known]:
    """Return all candidates for a start from a scope, at a time in microseconds."""
    of_rows = found.once_rows.of("known", now, lambda: list(_told(found.heard(), now)))
    return found.once.of("known", now, lambda: [*of_rows, *known_among((), found.captured, now)])


def known_among(rows: Sequence[MemoryRow | TurnRow], captured: Sequence[Event], now: int) -> Iterator[Known]:
    """Yield rows and captures of a tail as a start knows them, but no memory for which another stands."""
    yield from _told(((row, None) for row in rows), now)
    for place, event in enumerate(captured):
        assert isinstance(event.body, Captured)
        yield made_from(
            Known,
            result_of(event),
            last_at=event.at,
            order=_BEHIND + place,
            importance_given=event.body.importance_given,
            valid_from=event.at,
        )


def _told(rows: Iterable[tuple[MemoryRow | TurnRow, Heard | None]], now: int) -> Iterator[Known]:
    """Yield context rows, each with its instruction by people where known, its value, and its staleness."""
    for row, heard in rows:
        memory = row if isinstance(row, MemoryRow) else None
        if memory is None or memory.into is None:
            notes = () if memory is None else told_of_value(memory)
            if memory is not None and is_row_stale(memory, now):
                notes = (*notes, stale(memory.last_at))
            yield known_of(row, notes, heard)
