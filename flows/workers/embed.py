"""The embed worker: log -> texts without a vector -> batches -> `embedded` events, at least once.

Ids of appended events derive from the texts, so that two workers, or a killed and restarted worker, add
nothing twice. The worker's position is a cache beside the views: without it the worker reads the log again.
The caller passes the embedder and the time.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from typing import NamedTuple

from memtape.flows.embed.embedder import Embedder, Embedding, EmbeddingFailure
from memtape.flows.workers.turns import captures_among
from memtape.flows.workers.worker import OffsetStore
from memtape.schemas.codec import body_of_capture, event_of
from memtape.schemas.embedding import dimensions_of
from memtape.schemas.errors import EmbedderUnavailable
from memtape.schemas.events import (
    MAX_ATTEMPTS,
    Embedded,
    Event,
    embedded_id,
    make_embedded,
)
from memtape.schemas.log import Log, Slot, events_between
from memtape.schemas.scopes import partition_of
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.subjects.captures import whole_text
from memtape.state.vectors.recorded import quantised

MOST_WAITING = 50_000
"""About 20 MB of waiting texts, of each partition an equal share; it is read on when fewer wait."""
PAGE_SLOTS = 1_000
_DONE = MAX_ATTEMPTS + 1

Ref = tuple[str, str]  # Scope and id of the event that carried a text.


class _Waiting(NamedTuple):
    """A text that waits: the place and time of its event, its failed tries, and how often it was put off.

    A text that stops the embedder is put off, and does not hold up the rest.
    """

    number: int
    offset: int
    sent: int
    attempts: int = 0
    delays: int = 0


class EmbedQueue:
    """The texts of a log that wait for their vectors by the embedder of a key. Not for several threads."""

    def __init__(self, log: Log, key: str, marks: OffsetStore) -> None:
        self.key = key
        self.tried = 0  # How many vectors and failures it has recorded.
        self._log = log
        self._marks = marks
        self.again = False  # Whether the given-up texts are tried once more.
        self._begin(marks.read(key) or [0] * log.partitions)

    def _begin(self, offsets: list[int]) -> None:
        """Read the partitions of the log from these offsets on."""
        self._offsets = offsets
        self._erasures = [Erasures() for _ in offsets]
        self._waiting: dict[Ref, _Waiting] = {}

    @property
    def waiting(self) -> int:
        """The number of texts that wait for a vector."""
        return len(self._waiting)

    def try_again(self) -> None:
        """Queue every given-up text once more; the log is read again from its beginning."""
        self.again = True
        self._begin([0] * self._log.partitions)

    def look(self) -> None:
        """Read the new events, as far as not too many texts of a partition wait."""
        most = max(1, MOST_WAITING // self._log.partitions)
        for number, end in enumerate(self._log.ends()):
            while self._offsets[number] < end and self._count(number) < most:
                self._read(number, end)
        self._mark()
        self.again = self.again and bool(self.waiting)

    def _count(self, number: int) -> int:
        return sum(held.number == number for held in self._waiting.values())

    def embed(self, embedder: Embedder, texts: int, now_us: int) -> None:
        """Record the vectors or failures of at most `texts` texts, the newest first.

        Raises `EmbedderUnavailable`; texts without a result then keep waiting.
        """
        last = {ref: (held.delays, -held.sent, -held.offset) for ref, held in self._waiting.items()}
        batch = nsmallest(texts, last, key=last.__getitem__)
        for number in dict.fromkeys(self._waiting[ref].number for ref in batch):
            self._drop_erased(number)
        self._note_tries(batch)
        told = self._texts([ref for ref in batch if ref in self._waiting])
        batch = [ref for ref in batch if ref in told]
        if not batch:
            return
        made: list[Embedding] = []
        try:
            for embedding in embedder.embed_each([told[ref] for ref in batch]):
                made.append(embedding)
        except EmbedderUnavailable:
            ref = batch[min(len(made), len(batch) - 1)]
            self._waiting[ref] = self._waiting[ref]._replace(delays=self._waiting[ref].delays + 1)
            raise
        finally:  # Vectors from before an outage were paid for, and the next try might not get as far.
            self._record(batch[: len(made)], made, now_us)

    def _note_tries(self, refs: Iterable[Ref]) -> None:
        """Note the tries with waiting texts that are on the log; a text waits no more after the last."""
        ids: dict[str, dict[str, tuple[Ref, int]]] = {}
        for ref in refs:
            for failed in range(MAX_ATTEMPTS + 1) if ref in self._waiting else ():
                # A vector ends all tries.
                ids.setdefault(ref[0], {})[embedded_id(*ref, self.key, failed)] = ref, failed or _DONE
        for scope, tries in ids.items():
            for made in self._log.known(scope, list(tries)):
                ref, tried = tries[made]
                if (held := self._waiting.get(ref)) is not None:
                    self._waiting[ref] = held._replace(attempts=max(held.attempts, tried))
                    if self._waiting[ref].attempts >= (_DONE if self.again else MAX_ATTEMPTS):
                        del self._waiting[ref]

    def _texts(self, batch: list[Ref]) -> dict[Ref, str]:
        """Return the texts of a batch from the log, which a few reads find: most stand side by side.

        A text that was erased waits no more.
        """
        slots: dict[tuple[int, int], Slot] = {}
        told: dict[Ref, str] = {}
        for ref in sorted(batch, key=lambda ref: self._waiting[ref]):
            number, offset, *_ = self._waiting[ref]
            if (number, offset) not in slots:
                slots |= {(number, slot.offset): slot for slot in self._log.read(number, offset, len(batch))}
            if (body := body_of_capture(slots[number, offset].payload)) is None:
                del self._waiting[ref]
            else:
                told[ref] = whole_text(body)
        return told

    def _drop_erased(self, number: int) -> None:
        """Drop waiting texts that are erased, or derive from an erased event."""
        erasures = erasures_of(self._log.erased(number))
        if erasures.count == self._erasures[number].count:
            return
        for _, event in events_between(self._log, number, 0, self._offsets[number]):
            if erasures.covers(event) and partition_of(event.scope or "", self._log.partitions) == number:
                self._waiting.pop((event.scope or "", event.id), None)
        self._erasures[number] = erasures

    def _record(self, batch: list[Ref], made: list[Embedding], now_us: int) -> None:
        if not made:
            return
        events = list[Event]()
        for ref, embedding in zip(batch, made, strict=True):
            reason = embedding.reason[:1_000] if isinstance(embedding, EmbeddingFailure) else None
            vector = None if isinstance(embedding, EmbeddingFailure) else quantised(embedding)
            tries = self._waiting[ref].attempts + 1
            if vector is None and tries > MAX_ATTEMPTS:  # The log knows it.
                continue
            body = Embedded(
                attempt=tries,
                dimensions=dimensions_of(self.key),
                embedder=self.key,
                reason=reason,
                vector=vector,
            )
            events.append(make_embedded(*ref, body, now_us))
        self._log.append(events)
        self.tried += len(events)
        for ref, embedding in zip(batch, made, strict=True):
            held = self._waiting.pop(ref)
            if isinstance(embedding, EmbeddingFailure) and held.attempts + 1 < MAX_ATTEMPTS:
                self._waiting[ref] = held._replace(attempts=held.attempts + 1)
        self._mark()

    def _read(self, number: int, end: int) -> None:
        self._drop_erased(number)
        slots = self._log.read(number, self._offsets[number], PAGE_SLOTS, types=("captured",))
        events = [(slot.offset, event) for slot in slots if (event := event_of(slot.payload)) is not None]
        texts = captures_among(self._log, number, events, self._erasures[number], lambda event: True)
        found = {(it.scope or "", it.id): _Waiting(number, offset, it.sent) for offset, it in texts}
        self._waiting |= found
        self._note_tries(found)
        self._offsets[number] = slots[-1].offset + 1 if len(slots) == PAGE_SLOTS else end

    def _mark(self) -> None:
        marks = list(self._offsets)
        for held in self._waiting.values():
            marks[held.number] = min(marks[held.number], held.offset)
        self._marks.write(self.key, marks)
