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
from memtape.schemas.codec import event_of
from memtape.schemas.embedding import dimensions_of
from memtape.schemas.errors import EmbedderUnavailable
from memtape.schemas.events import MAX_ATTEMPTS, Captured, Embedded, Event, make_embedded, may_write
from memtape.schemas.log import Log, events_between, known_among
from memtape.schemas.scopes import partition_of
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.subjects.captures import whole_text
from memtape.state.vectors.recorded import quantised

WINDOW_TEXTS = 5_000
"""Texts of a partition held at once, however many wait on the log: the newest."""
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
    event: Event
    offset: int
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
        self._offsets = offsets
        self._erasures = [Erasures() for _ in offsets]
        self._waiting: list[dict[Ref, _Waiting]] = [{} for _ in offsets]
        # Where the first text stands that waits and is not held.
        self._left: list[int | None] = [None] * len(offsets)
        # By text not read yet: the number of its failed tries so far, _DONE if it has a vector.
        self._ahead: list[dict[Ref, int]] = [self._look_ahead(number) for number in range(len(offsets))]

    @property
    def waiting(self) -> int:
        """The number of texts read so far that wait for a vector."""
        return sum(map(len, self._waiting))

    @property
    def again(self) -> bool:
        """Return whether the worker is retrying given-up texts."""
        return self._again_s is not None

    def try_again(self, now_s: int) -> None:
        """Queue every given-up text once more; the log is read again from its beginning."""
        self._again_s = now_s
        self._begin([0] * self._log.partitions)

    def look(self) -> bool:
        """Read the new events, or postponed ones if there are no new ones; return whether all is read."""
        ends = self._log.ends()
        for number, end in enumerate(ends):
            left = self._left[number]
            if left is not None and not self._waiting[number]:
                self._offsets[number], self._left[number] = left, None
                self._ahead[number] = self._look_ahead(number)
            while self._offsets[number] < end:
                self._read(number, end)
        self._mark()
        is_all = all(left is None for left in self._left)
        if self._again_s is not None and is_all and not self.waiting:
            self._marks.tried_again(self.key, self._again_s)
            self._again_s = None
        return is_all

    def embed(self, embedder: Embedder, texts: int, now_us: int) -> None:
        """Record the vectors or failures of at most `texts` texts, the newest first.

        Raises `EmbedderUnavailable`; texts without a result then keep waiting.
        """
        batch = [
            (number, ref, waiting)
            for number, held in enumerate(self._waiting)
            for ref, waiting in islice(reversed(held.items()), texts)
        ]
        batch = sorted(batch, key=lambda item: (self._put_off.get(item[1], 0), -item[2].event.sent))[:texts]
        if not batch:
            return
        for number in dict.fromkeys(number for number, _, _ in batch):
            self._drop_erased(number)
        batch = [item for item in batch if item[1] in self._waiting[item[0]]]
        made: list[Embedding] = []
        try:
            for embedding in embedder.embed_each([_text(waiting.event) for _, _, waiting in batch]):
                made.append(embedding)
        except EmbedderUnavailable:
            self._put_behind(*batch[min(len(made), len(batch) - 1)][:2])
            raise
        finally:  # Vectors from before an outage were paid for, and the next try might not get as far.
            self._record(batch[: len(made)], made, now_us)

    def _drop_erased(self, number: int) -> None:
        """Drop waiting texts that are erased, or derive from an erased event."""
        erasures = erasures_of(self._log.erased(number))
        if erasures.count == self._erasures[number].count:
            return
        for _, event in events_between(self._log, number, 0, self._offsets[number]):
            if erasures.covers(event):
                self._waiting[number].pop((event.scope or "", event.id), None)
        self._erasures[number] = erasures

    def _put_behind(self, number: int, ref: Ref) -> None:
        """Queue a failed text last, so that a text that stops the embedder does not hold up the rest."""
        self._put_off[ref] = self._put_off.get(ref, 0) + 1
        held = self._waiting[number]
        self._waiting[number] = {ref: held.pop(ref), **held}

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

    @property
    def _most(self) -> int:
        return _DONE if self.again else MAX_ATTEMPTS

    def _look_ahead(self, number: int) -> dict[Ref, int]:
        found: dict[Ref, int] = {}
        end = self._log.ends()[number]
        for _, event in events_between(self._log, number, self._offsets[number], end, types=("embedded",)):
            if tries := self._tries(event):
                ref = (event.scope or "", event.refs[0])
                found[ref] = max(tries, found.get(ref, 0))
        return found

    def _read(self, number: int, end: int) -> None:
        self._drop_erased(number)
        held, ahead, erasures = self._waiting[number], self._ahead[number], self._erasures[number]
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
                    attempts = ahead.pop(ref, 0)
                    if attempts < self._most:
                        held[ref] = _Waiting(event, offset, attempts)
            elif event.refs and (ref := (event.scope or "", event.refs[0])) in held:
                held[ref] = held[ref]._replace(attempts=max(held[ref].attempts, self._tries(event)))
                if held[ref].attempts >= self._most:
                    del held[ref]
        self._offsets[number] = slots[-1].offset + 1 if len(slots) == PAGE_SLOTS else end
        while len(held) > WINDOW_TEXTS:
            passed = held.pop(next(iter(held))).offset
            left = self._left[number]
            self._left[number] = passed if left is None else min(left, passed)

    def _tries(self, event: Event) -> int:
        """Return how many tries with a text an `embedded` event records: all of them with the vector."""
        body = event.body
        if not isinstance(body, Embedded) or body.embedder != self.key:
            return 0
        return _DONE if body.vector is not None else body.attempt

    def _mark(self) -> None:
        marks = []
        for end, left, held in zip(self._offsets, self._left, self._waiting, strict=True):
            offsets = [wait.offset for wait in held.values()] + ([] if left is None else [left])
            marks.append(min(offsets, default=end))
        self._marks.write(self.key, marks)


def _text(event: Event) -> str:
    assert isinstance(event.body, Captured)
    return whole_text(event.body)
