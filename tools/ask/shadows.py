"""Shadow retrievers: a worker asks them the searches of the log. `comparing` tells what they have answered.

The settings of a log name the shadows and their share of searches. A shadow answers after the search has been
answered, from the texts that the search could find, and changes no result. Its results are `recalled` events.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

import msgspec

from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import SYSTEM, Event, Mark, Recalled, make_event
from memtape.schemas.ids import derived_id
from memtape.schemas.lanes import SHADOW, ShadowLanes, shadow_lanes
from memtape.schemas.log import Log, Slot, forwards
from memtape.schemas.retrievers import Recipe, recipe_of
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.schemas.settings import Settings
from memtape.schemas.times import US_PER_S
from memtape.sinks.home.folders import Home
from memtape.sinks.home.marks import OffsetMarks
from memtape.sinks.logs.configuring import settings_on
from memtape.state.core.erasures import erasures_of
from memtape.state.views.filters import NO_FILTERS
from memtape.state.views.tail import PENDING_TYPES
from memtape.tools.ask.as_of import PastViews, Positions
from memtape.tools.ask.comparing import asks_of, is_search
from memtape.tools.ask.ordering import SearchQuery
from memtape.tools.ask.recorded_vectors import RecordedVectors
from memtape.tools.ask.retrieval import Retriever
from memtape.tools.capture.writing import now_us

NAME = "shadows"
AGAIN_US = 60 * US_PER_S
"""Interval between rounds: a search waits for none, and a round makes texts ready anew."""
MOVING = (*PENDING_TYPES, "embedded")
"""Events after which a search may find otherwise."""


class Shadows(Worker):
    """Asks the shadows of a log the searches since the settings last changed; `done` counts answers and failures."""

    def __init__(self, home: Home, log: Log, on_note: OnNote) -> None:
        super().__init__(log, on_note)
        self._home = home
        self._marks = OffsetMarks(home.shadows_path, log)
        self._ends: list[int] = []
        self._asked_us: int | None = None
        self._present: dict[str, Retriever] = {}
        """The retrievers over the current texts, by embedder; in a round they stay ready."""

    def catch_up(self) -> None:
        """Append the shadows' answers to the sampled searches since the last round."""
        ends, now = self.log.ends(), now_us()
        if ends == self._ends or (self._asked_us is not None and 0 <= now - self._asked_us < AGAIN_US):
            return
        settings, self._ends = settings_on(self.log), ends
        if not settings.shadows():
            return
        offsets = self._marks.read(NAME) or [0] * self.log.partitions
        try:
            for number, end in enumerate(ends):
                changed = self.log.read(number, 0, end, types=("configured",))[-1].offset
                offsets[number] = self._catch_up_in(max(offsets[number], changed), end, number, settings)
        finally:
            self._present.clear()
            self._marks.write(NAME, offsets)

    def failed(self, error: Exception) -> str:
        """See `Worker.failed`."""
        return f"The shadow retrievers could not be asked: {error} It is tried again; searches answer as ever."

    def _catch_up_in(self, start: int, end: int, number: int, settings: Settings) -> int:
        """Answer the sampled searches of a partition from an offset on; return up to which offset all are answered.

        A repetition of a search has the query of its original, and is not asked.
        """
        erasures = erasures_of(self.log.erased(number))
        for slot in forwards(self.log, number, start, types=("recalled",)):
            event = event_of(slot.payload)
            if event is None or event.scope is None or not is_search(event) or not is_chosen(event.id, settings):
                continue
            if partition_of(event.scope, self.log.partitions) != number or erasures.covers(event):
                continue
            ids = {shadow_id(event, name): name for name in settings.shadows()}
            known = self.log.known(event.scope, [event.id, *ids])
            for name in (name for id, name in ids.items() if id not in known and known.get(event.id) == slot.offset):
                if self.stopping.is_set():
                    return slot.offset
                self._asked_us = now_us()
                self.log.append([self._answer(slot, event, name)])
                self.done += 1
                self.changed = True
        return max(start, end)

    def _answer(self, slot: Slot, event: Event, name: str) -> Event:
        try:
            told, results, marks = self._results(slot, event, name)
        except Exception as error:  # A retriever of whatever kind can fail in whatever way.
            self.note(f"The shadow {name} failed: {error}")
            told, results, marks = ShadowLanes(name, failed=True), (), ()
        return shadow_event(event, told, results, marks, now_us())

    def _results(self, slot: Slot, event: Event, name: str) -> tuple[ShadowLanes, tuple[str, ...], tuple[Mark, ...]]:
        """Return a retriever's results for a search, as of its place on the log and at its time.

        Where nothing that a search reads has come since, the current views are asked, else the views of then.
        Raises the retriever's errors.
        """
        recipe, body, scope = recipe_of(name), event.body, event.scope
        assert isinstance(body, Recalled) and scope is not None
        numbers = dict.fromkeys(partition_of(read, self.log.partitions) for read in scopes_read(scope))
        positions = {number: self.log.offset_after(number, event.sent) for number in numbers}
        positions |= {slot.partition: slot.offset}
        with self._views(recipe, scope, positions) as views:
            views.prepare(scope)
            start = time.perf_counter_ns()
            about = SearchQuery(body.query, body.filters, session=event.session, limit=body.limit, now=body.now)
            results = tuple(asks_of(views, scope, [name], body.filters)[name](about))
            took_us = (time.perf_counter_ns() - start) // 1_000
        if recipe.embedder and views.dense is not None and views.dense.note:
            raise MemtapeError(views.dense.note)
        marks = tuple(Mark(offset=offset, partition=number) for number, offset in positions.items())
        return ShadowLanes(name, took_us), results, marks

    @contextmanager
    def _views(self, recipe: Recipe, scope: str, positions: Positions) -> Iterator[Retriever]:
        dense = RecordedVectors(self._home, recipe.embedder)
        if not self._has_moved(scope, positions):
            yield self._present.setdefault(recipe.embedder, Retriever(self._home, self.log, dense=dense))
            return
        past = PastViews(self._home, self.log, positions)
        try:
            yield Retriever(self._home, self.log, past, dense=dense)
        finally:
            past.discard()  # Hardly anybody asks of the same position, and there are many.

    def _has_moved(self, scope: str, positions: Positions) -> bool:
        numbers = {name: partition_of(name, self.log.partitions) for name in scopes_read(scope)}
        return any(self.log.read(number, positions[number], 1, scope=name, types=MOVING)
                   for name, number in numbers.items())  # fmt: skip


def is_chosen(recall_id: str, settings: Settings) -> bool:
    """Return whether a search is in the shadows' share, by its id; a larger share contains a smaller."""
    number = int.from_bytes(blake2b(recall_id.encode(), digest_size=8).digest(), "big")
    return number % 100 < settings.shadow_percent


def shadow_id(asked: Event, name: str) -> str:
    """Return the id of a shadow's answer to a search: the first answer on the log counts."""
    return derived_id("recalled", asked.scope, SHADOW, f"{asked.id}:{name}")


def shadow_event(asked: Event, told: ShadowLanes, results: tuple[str, ...], marks: tuple[Mark, ...], now: int) -> Event:
    """Return the `recalled` event of a shadow's results; it refers to the search and is erased with it.

    Query, filters and session stand on the search event only: no session was shown these results, and the log
    keeps the query once.
    """
    assert isinstance(asked.body, Recalled)
    changed = {"filters": NO_FILTERS, "lanes": shadow_lanes(told), "query": "", "results": results, "watermark": marks}
    body = msgspec.structs.replace(asked.body, **changed)
    return make_event("recalled", shadow_id(asked, told.retriever), body, asked.scope, SYSTEM, (asked.id,), now)
