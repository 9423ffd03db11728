"""The embed worker: log -> texts without a vector -> batches -> `embedded` events, at least once.

Ids of appended events derive from the texts, so that two workers, or a killed and restarted worker, add
nothing twice. The worker's position is a cache beside the views: without it the worker reads the log again.
The caller passes the embedder and the time.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple, Protocol

from memtape.flows.embed.embedder import Embedder, Embedding, EmbeddingFailure
from memtape.flows.workers.worker import OffsetStore
from memtape.schemas.codec import body_of_capture, event_of
from memtape.schemas.embedding import dimensions_of
from memtape.schemas.errors import EmbedderUnavailable
from memtape.schemas.events import (
    MAX_ATTEMPTS,
    Captured,
    Embedded,
    Event,
    embedded_id,
    make_embedded,
    may_write,
)
from memtape.schemas.log import Log, Slot, events_between, known_among
from memtape.schemas.scopes import partition_of
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.subjects.captures import whole_text
from memtape.state.vectors.recorded import quantised

MOST_WAITING = 50_000
"""About 20 MB of waiting texts, of each partition an equal share; it is read on when fewer wait."""
PAGE_SLOTS = 1_000
_DONE = MAX_ATTEMPTS + 1


class EmbeddingMarkStore(OffsetStore, Protocol):
    """The store, by embedder, of the offsets below which no text waits, and of refusals.

    `tried_again` stores the time of the last retry of given-up texts, `given_up` the first ever given up.
    """

    def given_up(self, embedder: str, now_s: int) -> None: ...

    def tried_again(self, embedder: str, now_s: int) -> None: ...


Ref = tuple[str, str]
"""Scope and id of the event that carried a text."""


class _Waiting(NamedTuple):
    """A text that waits: the offset and the time of its event, and the number of failed tries."""

    offset: int
    sent: int
    attempts: int


class EmbedQueue:
    """The texts of a log that wait for their vectors by the embedder of a key. Not for several threads."""

    def __init__(self, log: Log, key: str, marks: EmbeddingMarkStore) -> None:
        self.key = key
        self.tried = 0
        """How many vectors and failures it has recorded."""
        self._log = log
        self._marks = marks
        self._again_s: int | None = None
        self._put_off: dict[Ref, int] = {}
        self._begin(marks.read(key) or [0] * log.partitions)

    def _begin(self, offsets: list[int]) -> None:
        """Read the partitions of the log from these offsets on."""
        self._offsets, self._ends = offsets, list(offsets)
        self._erasures = [Erasures() for _ in offsets]
        self._waiting: list[dict[Ref, _Waiting]] = [{} for _ in offsets]

    @property
    def waiting(self) -> int:
        """The number of texts that wait for a vector."""
        return sum(map(len, self._waiting))

    @property
    def again(self) -> bool:
        """Return whether the worker is retrying given-up texts."""
        return self._again_s is not None

    def try_again(self, now_s: int) -> None:
        """Queue every given-up text once more; the log is read again from its beginning."""
        self._again_s = now_s
        self._begin([0] * self._log.partitions)

    def look(self) -> None:
        """Read the new events, as far as not too many texts of a partition wait."""
        self._ends = self._log.ends()
        most = max(1, MOST_WAITING // len(self._ends))
        for number, end in enumerate(self._ends):
            while self._offsets[number] < end and len(self._waiting[number]) < most:
                self._read(number, end)
        self._mark()
        if self._again_s is not None and not self.waiting:
            self._marks.tried_again(self.key, self._again_s)
            self._again_s = None

    def embed(self, embedder: Embedder, texts: int, now_us: int) -> None:
        """Record the vectors or failures of at most `texts` texts, the newest first.

        Raises `EmbedderUnavailable`; texts without a result then keep waiting.
        """
        batch = [
            (number, ref, waiting)
            for number, held in enumerate(self._waiting)
            for ref, waiting in islice(reversed(held.items()), texts)
        ]
        batch = sorted(batch, key=lambda item: (self._put_off.get(item[1], 0), -item[2].sent))[:texts]
        for number in dict.fromkeys(number for number, _, _ in batch):
            self._drop_erased(number)
        self._note_unread(batch)
        held = [(number, ref, self._waiting[number].get(ref)) for number, ref, _ in batch]
        batch = [(number, ref, waiting) for number, ref, waiting in held if waiting is not None]
        told = self._texts(batch)
        for number, ref, _ in batch:
            if ref not in told:  # It was erased.
                self._waiting[number].pop(ref, None)
        batch = [item for item in batch if item[1] in told]
        if not batch:
            return
        made: list[Embedding] = []
        try:
            for embedding in embedder.embed_each([told[ref] for _, ref, _ in batch]):
                made.append(embedding)
        except EmbedderUnavailable:  # A text that stops the embedder does not hold up the rest.
            number, ref, waiting = batch[min(len(made), len(batch) - 1)]
            self._put_off[ref] = self._put_off.get(ref, 0) + 1
            self._waiting[number].pop(ref)
            self._waiting[number] = {ref: waiting, **self._waiting[number]}
            raise
        finally:  # Vectors from before an outage were paid for, and the next try might not get as far.
            self._record(batch[: len(made)], made, now_us)

    def _note_unread(self, batch: list[tuple[int, Ref, _Waiting]]) -> None:
        """Note the tries with texts that are on the log behind the place where reading has stopped."""
        ids: dict[str, dict[str, tuple[int, Ref, int]]] = {}
        for number, (scope, id), _ in batch:
            for failed in range(MAX_ATTEMPTS + 1) if self._offsets[number] < self._ends[number] else ():
                made = embedded_id(scope, id, self.key, failed)
                ids.setdefault(scope, {})[made] = number, (scope, id), failed or _DONE
        for scope, tries in ids.items():
            for made in self._log.known(scope, list(tries)):
                self._note(*tries[made])

    def _note(self, number: int, ref: Ref, tries: int) -> None:
        """Note how many tries with a waiting text are on the log; it waits no more after the last."""
        held = self._waiting[number]
        if ref in held:
            held[ref] = held[ref]._replace(attempts=max(held[ref].attempts, tries))
            if held[ref].attempts >= (_DONE if self.again else MAX_ATTEMPTS):
                del held[ref]

    def _texts(self, batch: list[tuple[int, Ref, _Waiting]]) -> dict[Ref, str]:
        """Return the texts of a batch from the log, which a few reads find: most stand side by side."""
        slots: dict[tuple[int, int], Slot] = {}
        told: dict[Ref, str] = {}
        for number, ref, waiting in sorted(batch, key=lambda item: (item[0], item[2].offset)):
            if (number, waiting.offset) not in slots:
                read = self._log.read(number, waiting.offset, len(batch))
                slots |= {(number, slot.offset): slot for slot in read}
            body = body_of_capture(slots[number, waiting.offset].payload)
            if body is not None:  # Else it was erased just now.
                told[ref] = whole_text(body)
        return told

    def _drop_erased(self, number: int) -> None:
        """Drop waiting texts that are erased, or derive from an erased event."""
        erasures = erasures_of(self._log.erased(number))
        if erasures.count == self._erasures[number].count:
            return
        for _, event in events_between(self._log, number, 0, self._offsets[number]):
            if erasures.covers(event):
                self._waiting[number].pop((event.scope or "", event.id), None)
        self._erasures[number] = erasures

    def _record(self, batch: list[tuple[int, Ref, _Waiting]], made: list[Embedding], now_us: int) -> None:
        if not made:
            return
        events = []
        for (_, (scope, id), waiting), embedding in zip(batch, made, strict=True):
            failed = isinstance(embedding, EmbeddingFailure)
            if failed and waiting.attempts >= MAX_ATTEMPTS:  # The log knows it.
                continue
            body = Embedded(
                attempt=waiting.attempts + 1,
                dimensions=dimensions_of(self.key),
                embedder=self.key,
                reason=embedding.reason[:1_000] if isinstance(embedding, EmbeddingFailure) else None,
                vector=None if isinstance(embedding, EmbeddingFailure) else quantised(embedding),
            )
            events.append(make_embedded(scope, id, body, now_us))
            if failed and waiting.attempts + 1 == MAX_ATTEMPTS:
                self._marks.given_up(self.key, now_us // 1_000_000)
        self._log.append(events)
        self.tried += len(events)
        for (number, ref, waiting), embedding in zip(batch, made, strict=True):
            if isinstance(embedding, EmbeddingFailure) and waiting.attempts + 1 < MAX_ATTEMPTS:
                self._waiting[number][ref] = waiting._replace(attempts=waiting.attempts + 1)
            else:
                del self._waiting[number][ref]
                self._put_off.pop(ref, None)
        self._mark()

    def _read(self, number: int, end: int) -> None:
        self._drop_erased(number)
        held, erasures = self._waiting[number], self._erasures[number]
        slots = self._log.read(number, self._offsets[number], PAGE_SLOTS, types=("captured", "embedded"))
        events = [(slot.offset, event) for slot in slots if (event := event_of(slot.payload)) is not None]
        first = known_among(self._log, (event for _, event in events if isinstance(event.body, Captured)))
        for offset, event in events:
            ref = (event.scope or "", event.id)
            if erasures.covers(event):
                continue
            if isinstance(event.body, Captured):
                here = partition_of(ref[0], self._log.partitions) == number
                if here and may_write(event) and first.get(ref) == offset:
                    held[ref] = _Waiting(offset, event.sent, 0)
            elif event.refs:
                self._note(number, (event.scope or "", event.refs[0]), self._tries(event))
        self._offsets[number] = slots[-1].offset + 1 if len(slots) == PAGE_SLOTS else end

    def _tries(self, event: Event) -> int:
        """Return how many tries with a text an `embedded` event records: all of them with the vector."""
        body = event.body
        if not isinstance(body, Embedded) or body.embedder != self.key:
            return 0
        return _DONE if body.vector is not None else body.attempt

    def _mark(self) -> None:
        waiting = ((wait.offset for wait in held.values()) for held in self._waiting)
        marks = [min(offsets, default=end) for offsets, end in zip(waiting, self._offsets, strict=True)]
        self._marks.write(self.key, marks)
