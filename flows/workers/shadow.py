"""The worker of shadow retrievers: log -> searches -> `recalled` events of shadows.

The log decides which retrievers answer which search: the settings in force at a search, and its id. A shadow
answers after the search has answered, and changes nothing. The retrievers themselves are elsewhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import msgspec

from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.codec import event_of
from memtape.schemas.events import SYSTEM, Configured, Event, Mark, Recalled, make_event
from memtape.schemas.ids import derived_id
from memtape.schemas.lanes import SHADOW, Failure, ShadowLanes, shadow_lanes, shadow_of, unasked_by
from memtape.schemas.log import PAGE_SLOTS, Log, Slot
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.schemas.times import US_PER_S
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.ranking.shadowing import is_chosen
from memtape.state.views.filters import NO_FILTERS

_NAME = "shadows"
PAGE_SEARCHES = 200
AGAIN_US = 60 * US_PER_S
"""Interval between rounds of shadows, whose answers are appended at once: a search waits for neither."""


class ShadowQuestion(msgspec.Struct, frozen=True):
    """A search of the log, by its offset, for a retriever to answer."""

    partition: int
    offset: int
    retriever: str


class ShadowAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A retriever's results, best first, its duration in microseconds, and the watermarks of its views.

    With a `failure` there are no results, and `reason` says why, for people.
    """

    results: tuple[str, ...] = ()
    took_us: int = 0
    marks: tuple[Mark, ...] = ()
    failure: Failure = ""
    reason: str = ""


class Asker(Protocol):
    """The caller of retrievers, set up at the first question, and again at the first after `close`."""

    def ask(self, question: ShadowQuestion, stopping: threading.Event) -> ShadowAnswer | None:
        """Return a retriever's answer, None if `stopping` was set meanwhile."""

    def close(self) -> None:
        """Release all resources."""


class SearchMarkStore(Protocol):
    """The store, by name, of the offsets below which every search was read."""

    def read(self, name: str) -> list[int] | None: ...

    def write(self, name: str, offsets: list[int]) -> None: ...


class DueSearch(NamedTuple):
    """A search with its offset, and the shadow retrievers due to answer it."""

    offset: int
    event: Event
    names: tuple[str, ...]


class Shadows(Worker):
    """Has the shadows of a log answer; `done` counts answers, failures among them."""

    def __init__(
        self, log: Log, marks: SearchMarkStore, asker: Asker, now_us: Callable[[], int], on_note: OnNote
    ) -> None:
        super().__init__(on_note)
        self._log = log
        self._marks = marks
        self._asker = asker
        self._now_us = now_us
        self._in_force = InForce(log)
        self._offsets: list[int] | None = None
        self._late: dict[str, None] = {}
        self._asked_at: int | None = None

    def catch_up(self) -> None:
        """Read the new searches of the log, and append shadows' answers to the sampled ones."""
        if not self._in_force.now(0).shadows():
            return
        offsets = self._offsets or self._marks.read(_NAME) or [0] * self._log.partitions
        self._offsets = offsets
        ends = self._log.ends()
        now = self._now_us()
        if offsets == ends or (self._asked_at is not None and 0 <= now - self._asked_at < AGAIN_US):
            return
        self._late.clear()
        try:
            for number, end in enumerate(ends):
                self._catch_up_in(number, end, offsets)
        finally:
            self._asker.close()
            self._marks.write(_NAME, offsets)

    def failed(self, error: Exception) -> str:
        """See `Worker.failed`."""
        return f"The shadow retrievers could not be asked: {error} It is tried again; searches answer as ever."

    def _catch_up_in(self, number: int, end: int, offsets: list[int]) -> None:
        while offsets[number] < end and not self.stopping.is_set():
            slots = self._log.read(number, offsets[number], PAGE_SEARCHES, types=("recalled",))
            made: list[Event] = []
            for due in self._due(number, slots):
                self._asked_at = self._now_us()
                made += self._answers(number, due)
            if made:
                self._log.append(made)
                self.done += len(made)
                self.changed = True
            if not self.stopping.is_set():  # Otherwise answered searches are known by their ids.
                offsets[number] = slots[-1].offset + 1 if len(slots) == PAGE_SEARCHES else end

    def _due(self, number: int, slots: list[Slot]) -> Iterator[DueSearch]:
        """Yield the searches among slots that shadows are to answer and have not answered."""
        erasures = erasures_of(self._log.erased(number)) if slots else Erasures()
        living = self._in_force.now(number).shadows()
        for slot in slots:
            event = event_of(slot.payload)
            if event is None or not is_search(event) or erasures.covers(event):
                continue
            assert event.scope is not None
            settings = self._in_force.at(number, slot.offset)
            ids = {shadow_id(event, name): name for name in settings.shadows() if name in living}
            is_here = partition_of(event.scope, self._log.partitions) == number
            if not (ids and is_here and is_chosen(event.id, settings.shadow_percent)):
                continue
            known = self._log.known(event.scope, [event.id, *ids])
            if known.get(event.id) == slot.offset:  # A repetition has the query of its original.
                yield DueSearch(slot.offset, event, tuple(name for id, name in ids.items() if id not in known))

    def _answers(self, number: int, due: DueSearch) -> Iterator[Event]:
        """Yield retrievers' answers to one search, and their failures, until the worker stops."""
        for name in due.names:
            if name in self._late:
                answered: ShadowAnswer | None = ShadowAnswer(failure="skipped")
            else:
                answered = self._asker.ask(ShadowQuestion(number, due.offset, name), self.stopping)
            if answered is None:
                return
            if answered.failure == "late":
                self._late[name] = None
            if answered.reason:
                self.note(f"The shadow {name} failed: {answered.reason}")
            yield shadow_event(due.event, name, answered, self._now_us())


class InForce:
    """The settings in force at the offsets of a log's partitions. Each call reads only new slots."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._read = [0] * log.partitions
        self._found: list[list[tuple[int, Configured]]] = [[] for _ in range(log.partitions)]

    def now(self, number: int) -> Settings:
        """Return the settings in force at the end of a partition."""
        found = self._known(number)
        return found[-1][1].settings if found else Settings()

    def at(self, number: int, offset: int) -> Settings:
        """Return the settings in force before an offset of a partition, which `now` has read up to there."""
        before = [body.settings for at, body in self._found[number] if at < offset]
        return before[-1] if before else Settings()

    def _known(self, number: int) -> list[tuple[int, Configured]]:
        end, found = self._log.ends()[number], self._found[number]
        while self._read[number] < end:
            slots = self._log.read(number, self._read[number], PAGE_SLOTS, types=("configured",))
            for slot in slots:
                body = getattr(event_of(slot.payload), "body", None)
                if isinstance(body, Configured) and (not found or body.revision > found[-1][1].revision):
                    found.append((slot.offset, body))
            self._read[number] = slots[-1].offset + 1 if len(slots) == PAGE_SLOTS else max(end, self._read[number])
        return found


def is_search(event: Event) -> bool:
    """Return whether an event is a search: neither a recall unasked for nor a shadow's recall."""
    body = event.body
    return isinstance(body, Recalled) and unasked_by(body.lanes) is None and shadow_of(body.lanes) is None


def shadow_id(asked: Event, name: str) -> str:
    """Return the id of a shadow's answer to a search: the first answer on the log counts."""
    return derived_id("recalled", asked.scope, SHADOW, f"{asked.id}:{name}")


def shadow_event(asked: Event, name: str, answered: ShadowAnswer, now: int) -> Event:
    """Return the `recalled` event of a shadow's results; it refers to the search and is erased with it.

    Query, filters and session stand on the search event only: no session was shown these results, and the log
    keeps the query once.
    """
    assert isinstance(asked.body, Recalled)
    body = msgspec.structs.replace(
        asked.body,
        filters=NO_FILTERS,
        lanes=shadow_lanes(ShadowLanes(name, answered.took_us, answered.failure)),
        query="",
        results=answered.results,
        watermark=answered.marks,
    )
    return make_event("recalled", shadow_id(asked, name), body, asked.scope, SYSTEM, (asked.id,), now, now)
