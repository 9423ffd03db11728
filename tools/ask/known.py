"""The candidates for a start: a scope's rows and its tail's captures, as in `state/views/context.py`.

Nothing is chosen or written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memtape.schemas.events import Captured, Event
from memtape.schemas.rows import MemoryRow, TurnRow, made_from, stale, told_of_value
from memtape.state.text.instructions import Heard
from memtape.state.views.context import Known, known_of
from memtape.tools.ask.found import ScopeTexts
from memtape.tools.ask.results import result_of
from memtape.tools.ask.standing import is_row_stale

_BEHIND = 10**15
"""The order of texts that no view has counted yet."""


def known_in(found: ScopeTexts, now: int) -> list[Known]:
    """Return all candidates for a start from a scope, at a time in microseconds."""
    of_rows = found.once_rows.of("known", now, lambda: list(_told(found.heard(), now)))
    return found.once.of("known", now, lambda: [*of_rows, *known_among((), found.captured, now)])


def known_among(rows: Sequence[MemoryRow | TurnRow], captured: Sequence[Event], now: int) -> Iterator[Known]:
    """Yield rows and captures of a tail as a start knows them; of a memory that another stands for, nothing."""
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
    """Yield context rows, each with the instruction that people gave in it, if known."""
    for row, heard in rows:
        memory = row if isinstance(row, MemoryRow) else None
        if memory is None or memory.into is None:
            yield known_of(row, _notes(memory, now) if memory else (), heard)


def _notes(row: MemoryRow, now: int) -> tuple[str, ...]:
    """Return the notes beside a memory's text: its value, and whether the memory is stale."""
    return (*told_of_value(row), *((stale(row.last_at),) if is_row_stale(row, now) else ()))
