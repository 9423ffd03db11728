"""The worker that captures statements: log -> turns -> statements by rule -> `captured`, at least once.

Ids of appended events derive from the turns, so that two workers, or a killed and restarted worker, add
nothing twice. A statement refers to its turn, is erased with the turn, and has the turn's actor.
`state/text/statements.py` decides which sentences are statements; `correct.py` handles corrections.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memtape.flows.workers.correct import may_correct, resolved
from memtape.flows.workers.turns import (
    PAGE_SLOTS,
    append_new,
    hidden_from,
    is_turn,
    statement_event,
    text_of,
    turns_among,
)
from memtape.flows.workers.worker import OffsetStore, OnNote, Worker
from memtape.schemas.codec import event_of
from memtape.schemas.events import Event
from memtape.schemas.log import Log
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.text.polarity import corrections_in
from memtape.state.text.statements import statements

_NAME = "statements"


class Extraction(Worker):
    """Captures the statements of the turns on a log. `is_wanted` says whether that is wanted at all."""

    def __init__(
        self,
        log: Log,
        marks: OffsetStore,
        now_us: Callable[[], int],
        is_wanted: Callable[[], bool],
        on_note: OnNote,
    ) -> None:
        super().__init__(log, on_note)
        self._marks = marks
        self._now_us = now_us
        self._is_wanted = is_wanted
        self._offsets: list[int] | None = None

    def catch_up(self) -> None:
        """Read the new turns of the log, and append their statements; `done` counts statements."""
        if not self._is_wanted():
            return
        offsets = self._offsets or self._marks.read(_NAME) or [0] * self.log.partitions
        self._offsets = offsets
        ends = self.log.ends()
        if offsets == ends:
            return
        for number, end in enumerate(ends):
            hidden = hidden_from(self.log, number, offsets[number]) if offsets[number] < end else {}
            while offsets[number] < end and not self.stopping.is_set():
                slots = self.log.read(number, offsets[number], PAGE_SLOTS, types=("captured",))
                events = [(slot.offset, event) for slot in slots if (event := event_of(slot.payload)) is not None]
                self._append(number, turns_among(self.log, number, events, hidden, may_correct))
                offsets[number] = slots[-1].offset + 1 if len(slots) == PAGE_SLOTS else end
        self._marks.write(_NAME, offsets)

    def failed(self, error: Exception) -> str:
        """See `Worker.failed`."""
        return f"What turns state could not be captured: {error} It is tried again."

    def _append(self, number: int, said: Sequence[Event]) -> None:
        """Append statements and corrections of a partition's turns, and corrections of people's captures."""
        now = self._now_us()
        erasures = erasures_of(self.log.erased(number)) if said else Erasures()
        made: list[Event] = []
        for one in said:
            wrong, right = corrections_in(text_of(one)) if may_correct(one) else (), list[Event]()
            if wrong:
                self._add(made)  # A correction may apply to the text of an earlier correction.
                made, right = [], resolved(self.log, number, one, erasures, now)
            made += _statements_of(one, wrong[0] if right else None, now) if is_turn(one) else []
            made += right
        self._add(made)

    def _add(self, made: Sequence[Event]) -> None:
        new = append_new(self.log, made)
        self.done += len(new)
        self.changed = self.changed or bool(new)


def _statements_of(turn: Event, corrected: str | None, now: int) -> list[Event]:
    """Return captures of a turn's statements, without the sentence in whose place a corrected text is captured."""
    text = text_of(turn)
    taken = enumerate(statements(text, turn.at, of_agent=turn.actor.origin == "agent"))
    return [
        statement_event(turn, place, it, now)
        for place, it in taken
        if corrected is None or corrected not in text[it.start : it.end + 1]
    ]
