"""The consumer group of a topic, by which machines share out its partitions. No record is read through it.

Membership is dynamic, so that a member's `close` hands its partitions over in a second; a killed or frozen
member loses them after `SESSION_S`. A woken member is told late that it owns nothing any more, and a group's
generation fences nobody: claims do (`sinks.home.claims`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from memtape.sinks.logs.kafka import CLIENT, KafkaLog
from memtape.sinks.logs.kafka_topic import explained

if TYPE_CHECKING:
    from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition

SESSION_S, HEARTBEAT_S = 10.0, 1.0


class ConsumerGroup:
    """This process's membership in the group of a name. For one thread, which calls `owned` all the time.

    Raises `MemtapeError` as the log does.
    """

    def __init__(self, log: KafkaLog, name: str) -> None:
        self._log, self._name, self._topic = log, name, log.topic.name_of()
        self._consumer = _consumer_of(log, name)

    def owned(self, wait_s: float) -> list[int]:
        """Wait, and return the partitions that this member owns now."""
        if self._topic != self._log.topic.name_of():  # Something was erased: the log has another generation.
            self.close()
            self._topic, self._consumer = self._log.topic.name_of(), _consumer_of(self._log, self._name)
        with explained(self._log.target):
            self._consumer.poll(int(wait_s * 1_000))
            places = self._consumer.assignment()
        return sorted(place.partition for place in places if place.topic == self._topic)

    def member(self) -> tuple[int, str]:
        """Return the generation of the group and the id of this member."""
        found = self._consumer.group_metadata()
        return found.generation_id, found.member_id

    def close(self) -> None:
        """Leave the group: its other members take over within a second."""
        self._consumer.close()


def _consumer_of(log: KafkaLog, name: str) -> KafkaConsumer:
    from kafka import KafkaConsumer
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor

    with explained(log.target):
        consumer = KafkaConsumer(
            **log.target.options(),
            **CLIENT,
            group_id=name,
            partition_assignment_strategy=[CooperativeStickyAssignor],
            session_timeout_ms=int(SESSION_S * 1_000),
            heartbeat_interval_ms=int(HEARTBEAT_S * 1_000),
            enable_auto_commit=False,
            auto_offset_reset="latest",
        )
        consumer.subscribe([log.topic.name_of()], listener=_pausing(consumer))
    return consumer


def _pausing(consumer: KafkaConsumer) -> ConsumerRebalanceListener:
    """Return a listener by which nothing is fetched; it runs on the loop that sends heartbeats."""
    from kafka import ConsumerRebalanceListener

    class Pausing(ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
            consumer.pause(*assigned)

        def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
            """The caller of `owned` sees what is left."""

    return Pausing()
