"""What a reader finds of rows and of the events behind them, by a search index in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from memtape.schemas.events import Captured, Event
from memtape.schemas.rows import TABLES, GoneRow, Guarded, MemoryRow, Row, TableName, TurnRow
from memtape.sinks.search_index import _IndexBuilder
from memtape.state.views.indexed import RowAddress
from memtape.tools.query.found import found_of

NAMES: dict[type[Row], TableName] = {row_type: name for name, row_type in TABLES.items()}


def laid_over(rows: Iterable[Row], events: Sequence[Event], cut: int) -> list[MemoryRow | TurnRow | Event]:
    """Return the rows, and captures from `cut` on, that are shown once the events from there lie over them.

    Repetitions are left out of the tail, as `Retriever.tail` does.
    """
    firsts = {event.id: place for place, event in reversed(list(enumerate(events)))}
    tail = [event for place, event in enumerate(events) if place >= cut and firsts[event.id] == place]
    by_scope: dict[str, list[Row]] = {event.scope: [] for event in tail if event.scope is not None}
    for row in rows:
        if not isinstance(row, GoneRow):
            by_scope.setdefault(row.scope, []).append(row)
    shown: list[MemoryRow | TurnRow | Event] = []
    for scope, its in by_scope.items():
        making = _IndexBuilder(None, partial(taken, its))
        making.add([(Guarded(NAMES[type(row)], row, 1, place), place) for place, row in enumerate(its)])
        own = [event for event in tail if event.scope == scope]
        found = found_of(making.opened(), own, lambda offset: _text(events[offset]))
        shown += map(found.row, found.places())
    return shown


def taken(rows: Sequence[Row], addresses: Sequence[RowAddress]) -> list[Row]:
    return [rows[its.address] for its in addresses]


def _text(event: Event) -> str | None:
    return event.body.text if isinstance(event.body, Captured) else None
