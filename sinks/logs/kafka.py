"""The log on Kafka: one topic, keyed by scope, read by explicit offsets and without a consumer group.

This file owns the form of a record: the key is the scope (null for settings and time), the value the event's
bytes, and the headers `type` and `v` are for people and other programs; no decision is taken by them. A
record's own timestamp is the time of sending, never the event's `at`: brokers judge and delete by it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import uuid_utils

from memtape.schemas.codec import blanked, decode, encode, event_of
from memtape.schemas.errors import (
    DamagedLog,
    InvalidEvent,
    LogExists,
    MemtapeError,
    OffsetOutOfRange,
    StillHeld,
    UnknownOutcome,
)
from memtape.schemas.events import Configured, Event, Ticked, make_configured, make_tick
from memtape.schemas.log import PAGE_SLOTS, Log, Position, Slot, matches, slots_between
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.sinks.logs.admission import admit
from memtape.sinks.logs.kafka_topic import (
    CLOSED,
    FILLING,
    FOR_EVER,
    MESSAGE_BYTES,
    OPEN_TIMEOUT_S,
    REQUEST_TIMEOUT_S,
    KafkaTarget,
    KafkaTopic,
    explained,
    parse_kafka_url,
)
from memtape.sinks.logs.known_ids import KnownIds

if TYPE_CHECKING:
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition

DEADLINE_S = 60.0
FOLLOW_S = 0.2
STALLED_S = 10.0
"""Time (s) without growth after which another process's copy of the topic is continued here."""
LOOK_AGAIN_S = 1.0  # Time (s) for which the topic's generation is not checked again.
CONFIGURED_WITHIN = 1_000
"""Slots of a partition searched for its first settings: other clients may have appended before."""
MAX_RAW_BYTES = 1_040_000
"""The largest payload that a topic takes uncompressed, with a key and headers."""
BATCH_BYTES = 256 * 1_024
POLL_S, READ_AGAIN_S = 1.0, 0.04
ENDS_S = 2.0
"""The wait (s) for the ends of partitions before the topic's generation is checked."""


def _net_client(**options: Any) -> Any:
    """Return the network client of a consumer or producer, which makes no topic by asking for it.

    kafka-python 3.0.12 drops its option `allow_auto_create_topics`: clients that still knew a deleted
    generation would make it anew.
    """
    from kafka.net.compat import KafkaNetClient

    client = KafkaNetClient(**options)
    client._manager.cluster.config["allow_auto_create_topics"] = False
    return client


CLIENT: dict[str, Any] = {
    "kafka_client": _net_client,
    "bootstrap_timeout_ms": int(OPEN_TIMEOUT_S * 1_000),
    "metrics_enabled": False,
    "reconnect_backoff_max_ms": 1_000,
    "retry_backoff_ms": 10,
}
"""Settings of producer and consumer. The library sleeps `retry_backoff_ms` before it knows a topic, too."""

_Record = tuple[int, bytes, Event | None]  # A partition, and the payload for it with its event.


class _Sending(NamedTuple):
    """Records on their way: a future of each, and the producer that has them."""

    producer: KafkaProducer
    futures: list[Any]
    topic: str


class _Closed(Exception):
    """The generation to which records were sent takes no more; some of them may be on it."""


class KafkaLog(Log):
    """A `Log` on a topic. Safe for threads; each process opens its own.

    The topic is created if missing, with `partitions` (16 by default) and, on three brokers or more, three
    replicas. An append is as durable as its replicas: a single broker loses with its machine all data not yet
    on disk. `deadline_s` is the time for which a call retries while brokers do not answer. With a
    `generation` in the target just that topic is opened, as it is, to be filled. With `copy_of`, another
    log's id, nothing is appended: its slots will be that log's, by `append_raw`, and the copier compares the
    existing ones.

    Raises `LogExists` if the topic has another number of partitions or foreign records, and `MemtapeError`
    for an invalid URL, an unusable broker, or a topic that would not keep every event for ever.
    """

    def __init__(
        self,
        url: str | KafkaTarget,
        partitions: int | None = None,
        settings: Settings | None = None,
        *,
        copy_of: str | None = None,
        deadline_s: float = DEADLINE_S,
        ids: Path | None = None,
    ) -> None:
        self.target = parse_kafka_url(url) if isinstance(url, str) else url
        self.deadline_s, self.user = deadline_s, self.target.user
        self._sending = threading.Lock()
        self._reading = threading.RLock()
        self._ticks: set[tuple[int, int]] = set()
        self._producer: KafkaProducer | None = None
        self._consumer: KafkaConsumer | None = None
        self._next: tuple[TopicPartition, int] | None = None
        self._closed = False
        self.topic = KafkaTopic(self.target, deadline_s)
        try:
            self.partitions = self.topic.open(partitions).partitions
            self._seen = time.monotonic()
            self._known_ends = [0] * self.partitions
            self._ids = [KnownIds(number, ids) for number in range(self.partitions)]
            if copy_of is not None:
                self.log_id = copy_of
            elif self.target.generation is None:
                self._settle(settings or Settings())
        except BaseException:
            self.close()
            raise

    @property
    def place(self) -> str:
        """See `Log.place`."""
        return self.target.url

    def append(self, events: Sequence[Event]) -> list[Position]:
        """See `Log.append`. All of `events` are checked before any is sent, and are on the log at the return.

        Kafka stores records of several partitions one by one, so that a failure can leave some of them: the
        call raises `UnknownOutcome` unless certainly none was stored. Several producers in the same hour can
        append a tick twice; it has one id, and counts once.
        """
        admitted = admit(events, self.partitions, self._ticks)
        offsets = self._store([(entry.partition, entry.payload, entry.event) for entry in admitted])
        positions = [Position(0, 0)] * len(events)
        for entry, offset in zip(admitted, offsets, strict=True):
            if entry.place is not None:
                positions[entry.place] = Position(entry.partition, offset)
        return positions

    def append_raw(self, partition: int, payloads: Sequence[bytes]) -> list[Position]:
        """See `Log.append_raw`. Raises `InvalidEvent` for more than `MAX_RAW_BYTES`, else as `append`."""
        self.check_partition(partition)
        if any(len(payload) > MAX_RAW_BYTES for payload in payloads):
            raise InvalidEvent("oversized", f"A topic takes at most {MAX_RAW_BYTES:,} bytes in one record.")
        offsets = self._store([(partition, bytes(payload), event_of(payload)) for payload in payloads])
        return [Position(partition, offset) for offset in offsets]

    def read(
        self, partition: int, offset: int, limit: int, *, scope: str | None = None, types: Sequence[str] = ()
    ) -> list[Slot]:
        """See `Log.read`. A record with a null value is a slot of no bytes."""
        self.check_partition(partition)
        narrowed = scope is not None or bool(types)
        slots: list[Slot] = []
        with self._reading, explained(self.target):
            self._look_again()
            end = self._known_ends[partition]
            if narrowed or offset + limit > end:
                [end] = self._ends(partition)
            if not 0 <= offset <= end:
                raise OffsetOutOfRange(f"Partition {partition} has no offset {offset}; it ends at {end}.")
            if scope is None and tuple(types) == ("configured",):  # They are few, and every run asks for all.
                settings = self._ids_of(partition).kept.settings
                return [slot for slot in settings if slot.offset >= offset][:limit]
            while offset < end and len(slots) < limit:
                wanted = PAGE_SLOTS if narrowed else min(PAGE_SLOTS, limit - len(slots))
                for slot in self._page(partition, offset, min(wanted, end - offset)):
                    offset = slot.offset + 1
                    if not narrowed or matches(slot.payload, scope, types):
                        slots.append(slot)
                        if len(slots) == limit:
                            break
        return slots

    def erased(self, partition: int) -> list[Slot]:
        """See `Log.erased`."""
        self.check_partition(partition)
        with self._reading:
            return list(self._ids_of(partition).kept.erased)

    def known(self, scope: str, ids: Sequence[str]) -> dict[str, int]:
        """See `Log.known`."""
        with self._reading:
            known = self._ids_of(partition_of(scope, self.partitions))
            return {id: first for id in ids if (first := known.first(scope, id)) is not None}

    def matching(
        self, part: str, scopes: Sequence[str], types: Sequence[str], limit: int
    ) -> list[tuple[str, str]]:
        """See `Log.matching`."""
        found: dict[tuple[str, str], None] = {}
        with self._reading:
            numbers = dict.fromkeys(partition_of(scope, self.partitions) for scope in scopes)
            for partition in numbers or range(self.partitions):
                found |= dict.fromkeys(self._ids_of(partition).matching(part, scopes, types))
        return [(scope, id) for id, scope in sorted(found)[:limit]]

    def blank(self, slots: Mapping[int, Sequence[int]]) -> None:
        """See `Log.blank`. Kafka changes no record: the log goes on in the topic's next generation.

        The topic is closed, copied by slots into its next generation, and deleted once that is open. Blanked
        bodies are null in the copy, all other bytes are equal, at the same offsets. After a crash at any
        point the next call continues: a half-filled generation is filled further, and a generation behind the
        open one is deleted. No process reads an incomplete generation or writes to a closed one.
        """
        topic = self.topic
        while pending := _with_bodies(self, slots):
            if _another_is_copying(self):
                continue
            topic.set(CLOSED)
            _await_silence(self)
            topic.create(topic.generation + 1, self.partitions, topic.description.replication, FILLING)
            with closing(self.next_generation()) as copy:
                begun = copy.ends()
                _fill(self, copy, pending)
                _verify(self, copy, pending, begun)
            topic.set(FOR_EVER, topic.generation + 1)
            topic.follow()
        for generation in topic.generations():
            if generation < topic.generation:
                topic.delete(generation)

    def next_generation(self) -> KafkaLog:
        """Open the generation that is being filled, to fill it or to see its progress."""
        target = msgspec.structs.replace(self.target, generation=self.topic.generation + 1)
        return KafkaLog(target, deadline_s=self.deadline_s)

    def refused(self, payloads: Mapping[int, bytes]) -> set[int]:
        """Return the partitions whose brokers refuse events. A payload that a broker takes stays."""
        from kafka.errors import MessageSizeTooLargeError, UnknownTopicOrPartitionError

        records = [(number, payload, event_of(payload)) for number, payload in payloads.items()]
        with self._sending:
            sending = self._send(records)
        with suppress(_Closed):
            self._offsets(sending)
        answers = zip(payloads, sending.futures, strict=True)
        closed = (MessageSizeTooLargeError, UnknownTopicOrPartitionError)
        return {number for number, future in answers if isinstance(future.exception, closed)}

    def ends(self) -> list[int]:
        """See `Log.ends`."""
        with self._reading, explained(self.target):
            self._look_again()
            return self._ends()

    def version(self) -> object:
        """See `Log.version`. Only reading tells whether something was appended."""
        return time.monotonic() // READ_AGAIN_S

    def check(self) -> None:
        """See `Log.check`: the topic is the same, keeps everything, and begins with the log's settings.

        The records' own checksums are held by every read.
        """
        with self._reading, explained(self.target):
            self._look_again(at_once=True)
            self.topic.check_settings()
            self._check_begins()
            ends = self._ends()
        for partition in range(self.partitions):
            found = self._first_configured(partition, ends[partition])
            if found is None or found[0].log_id != self.log_id:
                raise DamagedLog(
                    f"{self._told(partition)} does not begin with the settings of this log.",
                    "Another client wrote there first; copy what it holds into a new topic.",
                )

    def close(self) -> None:
        """See `Log.close`."""
        with self._sending:
            producer, self._producer, self._closed = self._producer, None, True
        if producer is not None:
            _close_producer(producer, self.deadline_s)
        with self._reading:
            self._drop_consumer()
            self.topic.close()

    # Opening

    def _settle(self, settings: Settings) -> None:
        """Make sure that every partition begins with the settings.

        The first settings in partition 0 decide, since several openers may come at once: only when they have
        been read back are the same bytes appended to the other partitions. A second copy is harmless, as the
        state takes a revision once.
        """
        with explained(self.target):
            self._check_begins()
            ends = self._ends()
        if not ends[0]:
            id, now = str(uuid_utils.uuid7()), time.time_ns() // 1_000
            own = make_configured(id, self.partitions, settings, 0, now, id)
            self._store([(0, encode(own), own)])
            with explained(self.target):
                ends = self._ends()
        found = self._first_configured(0, ends[0])
        if found is None:
            told = f"The {self.target.place} holds {ends[0]} records and no log of Memtape."
            raise LogExists(told, "Name another topic.")
        configured, payload = found
        if configured.partitions != self.partitions:
            raise LogExists(
                f"The log of {self.target.place} was made with {configured.partitions} partitions, and the "
                f"topic now has {self.partitions}.",
                "With added partitions scopes would change theirs; copy the first ones into a new topic.",
            )
        self.log_id = configured.log_id
        self._store([(number, payload, decode(payload)) for number, end in enumerate(ends) if not end])

    def _store(self, records: list[_Record]) -> list[int]:
        """Send records and return their offsets; into the next generation if this one closes meanwhile."""
        deadline = time.monotonic() + self.deadline_s
        while records:
            with self._sending:
                sending = self._send(records)
            with suppress(_Closed):
                return self._offsets(sending)
            while self.topic.name_of() == sending.topic and not self.topic.follow():
                if time.monotonic() > deadline:
                    told = f"The {self.target.place} is closed while something is erased"
                    raise UnknownOutcome(
                        f"{told}; what was sent may be on it.",
                        "`memtape run --once` goes on with the erasure. Then append again with the same ids.",
                    )
                time.sleep(FOLLOW_S)
        return []

    def _first_configured(self, partition: int, end: int) -> tuple[Configured, bytes] | None:
        for offset, count in ((0, 1), (1, CONFIGURED_WITHIN)):  # Nearly always it is the first.
            for slot in self.read(partition, min(offset, end), count):
                event = event_of(slot.payload)
                if event is not None and isinstance(event.body, Configured):
                    return event.body, slot.payload
        return None

    def _look_again(self, at_once: bool = False) -> None:
        """Raise `DamagedLog` if the topic was deleted or recreated: offsets are valid in one topic only."""
        if self._closed:
            raise MemtapeError(f"The log on {self.target.place} is closed.", "Open it again.")
        if not at_once and time.monotonic() < self._seen + LOOK_AGAIN_S:
            return
        self.topic.follow()
        found = self.topic.describe(self.deadline_s)
        if found is None and self.topic.follow():  # Another process finished an erasure meanwhile.
            found = self.topic.description
        if found is None or found.id != self.topic.description.id:
            raise DamagedLog(
                f"The {self.target.place} was deleted{' and made again' if found else ''} since its opening.",
                "Restore it from a copy, or begin a new home for the new topic; nothing has been skipped.",
            )
        if found.partitions != self.partitions:
            raise DamagedLog(
                f"The {self.target.place} had {self.partitions} partitions and now has {found.partitions}.",
                "The number never changes; copy the first ones into a new topic.",
            )
        self._seen = time.monotonic()

    # Sending

    def _send(self, records: Sequence[_Record]) -> _Sending:
        """Pass records to the producer without waiting; the caller holds `_sending`.

        Ticks are remembered at once, so that the next call of this process does not send them again.
        """
        from kafka.errors import KafkaError

        with explained(self.target):
            self._look_again()
            if self._producer is None:
                self._producer = self._make_producer()
            futures: list[Any] = []
            topic = self.topic.name_of()
            for partition, payload, event in records:
                key = event.scope.encode() if event and event.scope else None
                headers = [("type", event.type.encode()), ("v", str(event.v).encode())] if event else []
                try:
                    futures.append(self._producer.send(topic, payload, key, headers, partition))
                except (KafkaError, ValueError) as error:  # The library's word for a partition that has gone.
                    if not futures and isinstance(error, KafkaError):
                        raise
                    raise self._unknown(error) from error
            producer = self._producer
        its = ((number, event.body) for number, _, event in records if event is not None)
        ticks = ((number, body) for number, body in its if isinstance(body, Ticked))
        self._ticks |= {(number, tick.hour) for number, tick in ticks if not tick.accepted}
        return _Sending(producer, futures, topic)

    def _offsets(self, sending: _Sending) -> list[int]:
        """Wait for every acknowledgement and return the offsets, or raise `UnknownOutcome`.

        Where the broker refused every record, that is raised instead: then nothing was stored.
        """
        from kafka import errors

        refusals = (
            errors.MessageSizeTooLargeError,
            errors.RecordListTooLargeError,
            errors.InvalidRecordError,
            errors.InvalidTimestampError,
            errors.AuthorizationError,
        )
        offsets, failures = [], []
        deadline = time.monotonic() + self.deadline_s + REQUEST_TIMEOUT_S
        for future in sending.futures:
            try:
                offsets.append(future.get(timeout=max(0.0, deadline - time.monotonic())).offset)
            except Exception as error:
                failures.append(error)
        if not failures and min(offsets, default=0) >= 0:
            return offsets
        self._retire(sending.producer)
        # Only a broker that answers can have closed the topic, and only it is asked.
        answered = (errors.MessageSizeTooLargeError, errors.UnknownTopicOrPartitionError)
        has_answered = any(isinstance(error, answered) for error in failures)
        if has_answered and (self.topic.name_of() != sending.topic or self.topic.is_closed()):
            raise _Closed
        first = failures[0] if failures else None
        if not offsets and all(isinstance(error, refusals) for error in failures):
            with explained(self.target):
                raise failures[0]
        raise self._unknown(first) from first

    def _unknown(self, error: Exception | None) -> UnknownOutcome:
        why = type(error).__name__ if error is not None else "no offset was told"
        return UnknownOutcome(
            f"The broker of {self.target.place} confirmed no append ({why}): it may or may not be stored.",
            "Append again with the same ids: an id counts once.",
        )

    def _make_producer(self) -> KafkaProducer:
        from kafka import KafkaProducer

        return KafkaProducer(
            **self.target.options(),
            acks="all",
            enable_idempotence=True,
            compression_type="zstd",
            batch_size=BATCH_BYTES,
            max_request_size=MESSAGE_BYTES,
            delivery_timeout_ms=int(self.deadline_s * 1_000),
            request_timeout_ms=int(min(REQUEST_TIMEOUT_S, self.deadline_s) * 1_000),
            max_block_ms=int(self.deadline_s * 1_000),
            **CLIENT,
        )

    def _retire(self, producer: KafkaProducer) -> None:
        """Replace the producer after a failure: its sequence numbers may differ from the broker's.

        Calls of other threads still finish. Ticks sent by the old producer may be missing, so that all are
        forgotten.
        """
        with self._sending:
            self._ticks.clear()
            if producer is not self._producer:
                return  # Another thread's failure has retired it.
            self._producer = None
        threading.Thread(target=_close_producer, args=[producer, self.deadline_s], daemon=True).start()

    # Reading; `_reading` is held

    def _ids_of(self, partition: int) -> KnownIds:
        """Return the ids of a partition, up to its present end."""
        with explained(self.target):
            self._look_again()
            [end] = self._ends(partition)
        known = self._ids[partition]
        known.read_on(self, end)
        return known

    def _page(self, partition: int, offset: int, count: int) -> list[Slot]:
        """Return at least one and at most `count` slots from an existing offset."""
        from kafka.errors import KafkaTimeoutError, OffsetOutOfRangeError

        consumer, [place] = self._consumer_of(), self._places(partition)
        if self._next is None or self._next[0] != place:
            consumer.assign([place])
        if self._next != (place, offset):
            consumer.seek(place, offset)
        deadline = time.monotonic() + self.deadline_s
        try:
            while not (records := consumer.poll(int(POLL_S * 1_000), max_records=count).get(place, [])):
                self._look_again()
                if time.monotonic() > deadline:
                    raise KafkaTimeoutError(f"no record of partition {partition} in {self.deadline_s:.0f} s")
        except OffsetOutOfRangeError:
            self._drop_consumer()
            begin = self._consumer_of().beginning_offsets([place])[place]
            raise OffsetOutOfRange(
                f"{self._told(partition)} has no offset {offset} any more: it begins at {begin}.",
                "Events were deleted; restore the topic from a copy. Nothing has been skipped.",
            ) from None
        except BaseException:
            # The fetched records are in an unknown state: after a damaged batch the next poll never returns.
            self._drop_consumer()
            raise
        slots = [Slot(partition, record.offset, record.value or b"") for record in records]
        if slots[0].offset != offset or slots[-1].offset != offset + len(slots) - 1:
            raise DamagedLog(
                f"{self._told(partition)} has no record at some offset from {offset} on.",
                "It was compacted or written in transactions, as no log can be; copy it into a new topic.",
            )
        self._next = place, offset + len(slots)
        return slots

    def _ends(self, *partitions: int) -> list[int]:
        """Return the ends of partitions, by default all. Raises `DamagedLog` for a log that went back."""
        from kafka.errors import KafkaTimeoutError

        deadline = time.monotonic() + self.deadline_s
        while True:
            places = self._places(*partitions)
            try:
                found = self._consumer_of().end_offsets(places, ENDS_S * 1_000)
            except KafkaTimeoutError:
                if time.monotonic() > deadline:
                    raise
                self._look_again(at_once=True)  # This generation may be gone.
                continue
            ends = [int(found[place]) for place in places]
            back = [n for n, (_, number) in enumerate(places) if ends[n] < self._known_ends[number]]
            if not back:
                break
            self._look_again(at_once=True)
            if places == self._places(*partitions):
                number = places[back[0]].partition
                raise DamagedLog(
                    f"{self._told(number)} ended at offset {self._known_ends[number]} and now ends at "
                    f"{ends[back[0]]}.",
                    "A broker has lost its last events; restore the topic from a replica or a copy.",
                )
        for (_, number), end in zip(places, ends, strict=True):
            self._known_ends[number] = end
        return ends

    def _told(self, partition: int) -> str:
        return f"Partition {partition} of {self.target.place}"

    def _check_begins(self) -> None:
        for (_, partition), begin in self._consumer_of().beginning_offsets(self._places()).items():
            if begin:
                raise DamagedLog(
                    f"{self._told(partition)} begins at offset {begin}: some slots were deleted.",
                    "Restore the topic from a copy; nothing has been skipped.",
                )

    def _places(self, *partitions: int) -> list[TopicPartition]:
        """Return the library's names of partitions, by default of all, in the topic's present generation."""
        from kafka import TopicPartition

        numbers = partitions or range(self.partitions)
        return [TopicPartition(self.topic.name_of(), number) for number in numbers]

    def _consumer_of(self) -> KafkaConsumer:
        """Return the consumer. It is assigned the partition being read alone.

        A paused partition with fetched records is never read again by kafka-python 3.0.12, once another one
        was read to its end.
        """
        from kafka import KafkaConsumer

        if self._consumer is None:
            self._consumer = KafkaConsumer(
                **self.target.options(),
                group_id=None,
                enable_auto_commit=False,
                auto_offset_reset="none",
                check_crcs=True,
                # A fetch at the end would hold up the next partition's: only existing slots are fetched.
                fetch_max_wait_ms=1,
                request_timeout_ms=int(REQUEST_TIMEOUT_S * 1_000),
                **CLIENT,
            )
        return self._consumer

    def _drop_consumer(self) -> None:
        consumer, self._consumer, self._next = self._consumer, None, None
        if consumer is not None:
            consumer.close()


def _close_producer(producer: KafkaProducer, deadline_s: float) -> None:
    from kafka.errors import KafkaError

    with suppress(KafkaError):  # The outcome of records on their way was reported to their senders.
        producer.close(timeout=deadline_s)


# Erasing


def _with_bodies(log: KafkaLog, slots: Mapping[int, Sequence[int]]) -> dict[int, frozenset[int]]:
    """Return by partition the offsets of slots whose payload still differs from the blanked payload."""
    found = {}
    for partition, offsets in slots.items():
        wanted = [slot for offset in offsets for slot in log.read(partition, offset, 1)]
        found[partition] = frozenset(slot.offset for slot in wanted if blanked(slot.payload) != slot.payload)
    return {partition: offsets for partition, offsets in found.items() if offsets}


def _another_is_copying(log: KafkaLog) -> bool:
    """Wait for another process's copy while it grows; return whether the copy was opened."""
    if log.topic.generation + 1 not in log.topic.generations():
        return False
    seen, since = None, time.monotonic()
    while time.monotonic() < since + STALLED_S:
        if log.topic.follow():
            return True
        with closing(log.next_generation()) as copy:
            ends = copy.ends()
        if seen is not None and ends != seen:
            since = time.monotonic()
        seen = ends
        time.sleep(FOLLOW_S)
    return False


def _await_silence(log: KafkaLog) -> None:
    """Return when every partition has refused an event: settings reach the brokers one by one, soon.

    The probe is a tick of the hour, since a repeated tick changes nothing.
    """
    time.sleep(FOLLOW_S)
    open_ones = set(range(log.partitions))
    deadline = time.monotonic() + STALLED_S
    tick = partial(make_tick, sent=time.time_ns() // 1_000)
    while open_ones := open_ones - log.refused({number: encode(tick(number)) for number in open_ones}):
        if time.monotonic() > deadline:
            told = f"The {log.target.place} still takes events, though it was closed."
            raise StillHeld(told, "Give the same command again.")
        time.sleep(FOLLOW_S)


def _fill(log: KafkaLog, copy: KafkaLog, slots: Mapping[int, frozenset[int]]) -> None:
    for partition, (start, end) in enumerate(zip(copy.ends(), log.ends(), strict=True)):
        while start < end:
            page = log.read(partition, start, min(PAGE_SLOTS, end - start))
            positions = copy.append_raw(partition, [_as_copied(slot, slots) for slot in page])
            if [position.offset for position in positions] != [slot.offset for slot in page]:
                raise StillHeld("Another process fills the same copy.", "Give the same command again.")
            start = page[-1].offset + 1


def _verify(log: KafkaLog, copy: KafkaLog, slots: Mapping[int, frozenset[int]], begun: Sequence[int]) -> None:
    """Raise unless the copy has the expected content, to the byte.

    In slots copied before by another process, up to `begun`, a body may be missing if that process knew of
    more erasures, or present if it knew of fewer; the next generation then lacks it. A copy with any other
    difference is deleted.
    """
    for partition, end in enumerate(log.ends()):
        both = (slots_between(it, partition, 0, end) for it in (log, copy))
        same = copy.ends()[partition] == end and all(
            copied.payload == _as_copied(slot, slots)
            or (slot.offset < begun[partition] and copied.payload in (slot.payload, blanked(slot.payload)))
            for slot, copied in zip(*both, strict=True)
        )
        if not same and log.topic.is_filling(log.topic.generation + 1):
            log.topic.delete(log.topic.generation + 1)
            raise MemtapeError(
                f"The copy of {log.target.place} differs from it in partition {partition} and was deleted.",
                "Nothing is lost and the topic is closed; give the same command again.",
            )


def _as_copied(slot: Slot, slots: Mapping[int, frozenset[int]]) -> bytes:
    return blanked(slot.payload) if slot.offset in slots.get(slot.partition, ()) else slot.payload
