"""Blanking slots on Kafka: close the topic, copy it slot by slot into its next generation, open the copy.

Blanked bodies are null in the copy, all other bytes are equal, at the same offsets. After a crash at any
point the next call continues: a half-filled generation is filled further, and a generation behind the open
one is deleted. No process reads an incomplete generation or writes to a closed one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from memtape.schemas.codec import blanked, encode
from memtape.schemas.errors import MemtapeError, StillHeld
from memtape.schemas.events import make_tick
from memtape.schemas.log import PAGE_SLOTS, Log, Slot, slots_between
from memtape.sinks.logs.kafka_topic import CLOSED, FOR_EVER, KafkaTopic
from memtape.sinks.logs.kafka_url import KafkaTarget

STALLED_S = 10.0
"""Time (s) without growth after which another process's copy is continued here."""
POLL_S = 0.2

Offsets = Mapping[int, Sequence[int]]


class TopicLog(Log, Protocol):
    """The part of `kafka.KafkaLog` used here."""

    @property
    def topic(self) -> KafkaTopic: ...

    @property
    def target(self) -> KafkaTarget: ...

    def next_generation(self) -> AbstractContextManager[TopicLog]: ...

    def follow(self) -> bool: ...

    def refused(self, payloads: Mapping[int, bytes]) -> set[int]: ...


def rewrite(log: TopicLog, slots: Offsets) -> None:
    """Blank slots of a topic; return after the generation with their bodies is deleted."""
    topic = log.topic
    while pending := _with_bodies(log, slots):
        if _another_is_copying(log):
            continue
        topic.set(CLOSED)
        _await_silence(log)
        topic.create_next(log.partitions, {"replication": str(topic.replication())})
        with log.next_generation() as copy:
            begun = copy.ends()
            _fill(log, copy, pending)
            _verify(log, copy, pending, begun)
        topic.set(FOR_EVER, topic.generation + 1)
        log.follow()
    for generation in topic.generations():
        if generation < topic.generation:
            topic.delete(generation)


def _with_bodies(log: TopicLog, slots: Offsets) -> dict[int, frozenset[int]]:
    """Return by partition the offsets of slots whose payload still differs from the blanked payload."""
    found = {}
    for partition, offsets in slots.items():
        wanted = [slot for offset in offsets for slot in log.read(partition, offset, 1)]
        found[partition] = frozenset(slot.offset for slot in wanted if blanked(slot.payload) != slot.payload)
    return {partition: offsets for partition, offsets in found.items() if offsets}


def _another_is_copying(log: TopicLog) -> bool:
    """Wait for another process's copy while it grows; return whether the copy was opened."""
    if log.topic.generation + 1 not in log.topic.generations():
        return False
    seen, since = None, time.monotonic()
    while time.monotonic() < since + STALLED_S:
        if log.follow():
            return True
        with log.next_generation() as copy:
            ends = copy.ends()
        if seen is not None and ends != seen:
            since = time.monotonic()
        seen = ends
        time.sleep(POLL_S)
    return False


def _await_silence(log: TopicLog) -> None:
    """Return when every partition has refused an event: settings reach the brokers one by one, within moments.

    The probe is a tick of the hour, since a repeated tick changes nothing.
    """
    time.sleep(POLL_S)
    open_ones = set(range(log.partitions))
    deadline = time.monotonic() + STALLED_S
    while open_ones := open_ones - log.refused({number: _tick(number) for number in sorted(open_ones)}):
        if time.monotonic() > deadline:
            raise StillHeld(
                f"The {log.target.place} still takes events, though it was closed.", "Give the same command again."
            )
        time.sleep(POLL_S)


def _tick(partition: int) -> bytes:
    return encode(make_tick(partition, time.time_ns() // 1_000))


def _fill(log: TopicLog, copy: TopicLog, slots: Mapping[int, frozenset[int]]) -> None:
    for partition, (start, end) in enumerate(zip(copy.ends(), log.ends(), strict=True)):
        while start < end:
            page = log.read(partition, start, min(PAGE_SLOTS, end - start))
            positions = copy.append_raw(partition, [_as_copied(slot, slots) for slot in page])
            if [position.offset for position in positions] != [slot.offset for slot in page]:
                raise StillHeld("Another process fills the same copy.", "Give the same command again.")
            start = page[-1].offset + 1


def _verify(log: TopicLog, copy: TopicLog, slots: Mapping[int, frozenset[int]], begun: Sequence[int]) -> None:
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
