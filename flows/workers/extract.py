"""The worker that captures statements: log -> turns -> statements by rule -> `captured`, at least once.

Ids of appended events derive from the turns, so that two workers, or a killed and restarted worker, add
nothing twice. A statement refers to its turn, is erased with the turn, and has the turn's actor.
`state/text/statements.py` decides which sentences are statements; `correct.py` handles corrections.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from memtape.flows.workers.correct import CorrectionEvents, may_correct, resolved
from memtape.flows.workers.turns import PAGE_SLOTS, append_new, hidden_from, statement_event, turns_among
from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.codec import event_of
from memtape.schemas.events import Captured, Event
from memtape.schemas.log import Log
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.text.polarity import corrections_in
from memtape.state.text.statements import statements

_NAME = "statements"


class ExtractMarkStore(Protocol):
    """The store, by name, of the offsets below which every turn was read."""

    def read(self, name: str) -> list[int] | None: ...

    def write(self, name: str, offsets: list[int]) -> None: ...


class Extraction(Worker):
    """Captures the statements of the turns on a log. `is_wanted` says whether that is wanted at all."""

    def __init__(
        self,
        log: Log,
        marks: ExtractMarkStore,
        now_us: Callable[[], int],
        is_wanted: Callable[[], bool],
        on_note: OnNote,
    ) -> None:
        super().__init__(on_note)
        self._log = log
        self._marks = marks
        self._now_us = now_us
        self._is_wanted = is_wanted
        self._offsets: list[int] | None = None

    def catch_up(self) -> None:
        """Read the new turns of the log, and append their statements; `done` counts statements."""
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
                self._append(number, turns_among(self._log, number, events, hidden, may_correct))
                offsets[number] = slots[-1].offset + 1 if len(slots) == PAGE_SLOTS else end
        self._marks.write(_NAME, offsets)

    def failed(self, error: Exception) -> str:
        """See `Worker.failed`."""
        return f"What turns state could not be captured: {error} It is tried again."

    def _append(self, number: int, said: Sequence[Event]) -> None:
        """Append statements and corrections of a partition's turns, and corrections of people's captures."""
        now = self._now_us()
        erasures = erasures_of(self._log.erased(number)) if said else Erasures()
        memo: dict[str, CorrectionEvents | None] = {}
        made = [event for one in said for event in self._made_of(number, one, erasures, now, memo)]
        new = append_new(self._log, made)
        self.done += len(new)
        self.changed = self.changed or bool(new)

    def _made_of(
        self, number: int, said: Event, erasures: Erasures, now: int, memo: dict[str, CorrectionEvents | None]
    ) -> list[Event]:
        """Return captures of one event's statements; a correction is captured as the whole corrected text."""
        assert isinstance(said.body, Captured)
        right = None
        if may_correct(said) and corrections_in(said.body.text):
            right = resolved(self._log, number, said, erasures, now, memo)
        if said.body.kind != "turn":
            return [] if right is None else list(right.events)
        text = said.body.text
        taken = enumerate(statements(text, said.at, of_agent=said.actor.origin == "agent"))
        kept = [
            statement_event(said, place, it, now)
            for place, it in taken
            if right is None or right.sentence not in text[it.start : it.end + 1]
        ]
        return kept if right is None else [*kept, *right.events]
