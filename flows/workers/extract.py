"""The worker that captures what turns state: log -> turns -> statements by rule -> `captured` events, at least once.

What it appends has ids that follow from the turns, so that two workers, or one that was killed, add nothing twice. A
statement refers to its turn, so that it is erased with it, and is said by whoever said the turn. What counts as a
statement is in `state/text/statements.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from memtape.flows.workers.turns import PAGE_SLOTS, append_new, hidden_from, turns_among
from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.codec import event_of
from memtape.schemas.events import EVENT_TYPES, STATED_TAG, Captured, Event
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log
from memtape.state.text.statements import IMPORTANCE, Statement, statements

_NAME = "statements"


class Marks(Protocol):
    """Where it is kept, by name, below which offset of each partition every turn was read."""

    def read(self, name: str) -> list[int] | None: ...

    def write(self, name: str, offsets: list[int]) -> None: ...


class Extraction(Worker):
    """Captures the statements of the turns on a log. `is_wanted` says whether that is wanted at all."""

    def __init__(
        self, log: Log, marks: Marks, now_us: Callable[[], int], is_wanted: Callable[[], bool], on_note: OnNote
    ) -> None:
        super().__init__(on_note)
        self._log = log
        self._marks = marks
        self._now_us = now_us
        self._is_wanted = is_wanted
        self._offsets: list[int] | None = None

    def catch_up(self) -> None:
        """Read the turns that came onto the log, and append what they state; `done` counts statements."""
        if not self._is_wanted():
            return
        offsets = self._offsets or self._marks.read(_NAME) or [0] * self._log.partitions
        self._offsets = offsets
        ends = self._log.ends()
        if offsets == ends:
            return
        for number, end in enumerate(ends):
            hidden = hidden_from(self._log, number, offsets[number]) if offsets[number] < end else {}
            while offsets[number] < end and not self.stopping.is_set():
                slots = self._log.read(number, offsets[number], PAGE_SLOTS, types=("captured",))
                events = [(slot.offset, event) for slot in slots if (event := event_of(slot.payload)) is not None]
                self._append(turns_among(self._log, number, events, hidden))
                offsets[number] = slots[-1].offset + 1 if len(slots) == PAGE_SLOTS else end
        self._marks.write(_NAME, offsets)

    def failed(self, error: Exception) -> str:
        """See `Worker.failed`."""
        return f"What turns state could not be captured: {error} It is tried again."

    def _append(self, turns: Sequence[Event]) -> None:
        now = self._now_us()
        made = [
            statement_event(turn, place, statement, now)
            for turn in turns
            if isinstance(turn.body, Captured)
            for place, statement in enumerate(
                statements(turn.body.text, turn.at, of_agent=turn.actor.origin == "agent")
            )
        ]
        new = append_new(self._log, made)
        self.done += len(new)
        self.changed = self.changed or bool(new)


def statement_event(turn: Event, place: int, statement: Statement, now_us: int) -> Event:
    """Return the capture of a statement, the `place`-th of its turn: said by who said the turn, when it was said."""
    assert isinstance(turn.body, Captured)
    body = Captured(
        branch=turn.body.branch,
        importance_given=IMPORTANCE[statement.label],
        kind="fact",
        media=(),
        part=None,
        path=turn.body.path,
        source=turn.body.source,
        tags=(STATED_TAG, statement.label),
        text=statement.text,
    )
    return Event(
        actor=turn.actor,
        at=turn.at,
        body=body,
        id=statement_id(turn.scope, turn.id, place),
        refs=(turn.id,),
        scope=turn.scope,
        sent=max(now_us, turn.sent),  # No clock that is behind the turn's makes a statement that cannot stand.
        session=turn.session,
        type="captured",
        v=EVENT_TYPES["captured"].version,
    )


def statement_id(scope: str | None, turn: str, place: int) -> str:
    """Return the id of the `place`-th statement of a turn, the same whoever takes it."""
    return derived_id("captured", scope, "memtape", f"stated:{turn}:{place}")
