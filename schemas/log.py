"""The log's interface: what every log must offer, whatever it is kept on.

The implementations are in `sinks` (embedded, in memory) and pass one contract suite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from memtape.schemas.codec import decode
from memtape.schemas.errors import InvalidEvent, OffsetOutOfRange
from memtape.schemas.events import Event
from memtape.schemas.scopes import partition_of


class Position(msgspec.Struct, frozen=True, order=True):
    """Where an event stands: offsets count from 0 in each partition, without gaps."""

    partition: int
    offset: int


class Slot(msgspec.Struct, frozen=True):
    """One place of the log and the bytes in it, which nothing has decoded or believed yet."""

    partition: int
    offset: int
    payload: bytes


class Log(Protocol):
    """An append-only log of events in a fixed number of partitions, durable when `append` returns.

    Several processes and threads may append and read at once. The log does not remove duplicates
    and does not judge: readers do both.
    """

    log_id: str
    partitions: int

    @property
    def place(self) -> str:
        """Where it is, for people and for who opens it again: a path, or a URL without a secret."""
        ...

    def append(self, events: Sequence[Event]) -> list[Position]:
        """Append all of `events` or none, and return their positions, in order.

        An event with a scope goes to the scope's partition. Before a partition's first event of an
        hour (by `sent`) the hour's tick is appended. A tick goes to the partition that it names and a
        `configured` to every one, whose position in partition 0 is returned. Raises `InvalidEvent`.
        """
        ...

    def append_raw(self, partition: int, payloads: Sequence[bytes]) -> list[Position]:
        """Append bytes as they are, unread and without ticks, for copies of logs and for tests."""
        ...

    def read(
        self, partition: int, offset: int, limit: int, *, scope: str | None = None, types: Sequence[str] = ()
    ) -> list[Slot]:
        """Return at most `limit` slots from `offset` on, in order; none at the end.

        With `scope` or `types` only the slots of events of that scope and of those types. Raises
        `OffsetOutOfRange` for an offset below 0 or beyond the end, `DamagedLog` for a damaged slot.
        """
        ...

    def erased(self, partition: int) -> list[Slot]:
        """Return the slots of all `erased` events of a partition, which readers must know before they read the rest.

        It is quick: a log keeps an index of them, or remembers those that it has met.
        """
        ...

    def known(self, scope: str, ids: Sequence[str]) -> set[str]:
        """Return which of `ids` an event of a scope has already, erased or not.

        For importers, so that taking in again adds nothing; who appends at the same time may still add one, which then
        counts once.
        """
        ...

    def matching(
        self, beginning: str, scopes: Sequence[str], types: Sequence[str], limit: int
    ) -> list[tuple[str, str]]:
        """Return at most `limit` (scope, id) of events of these types whose id begins so, each once, in the ids' order.

        No `scopes` are all scopes, and no `types` all types; events without a scope are left out. It is for who has an
        id of a person: a log without an index of ids reads the partitions of the scopes from their beginning.
        """
        ...

    def blank(self, slots: Mapping[int, Sequence[int]]) -> None:
        """Take the bodies out of slots (offsets by partition) for good; what else of an event is in them stays.

        What cannot be read becomes `null`, a dead letter of nothing. It returns when the bytes are gone from what
        the log is kept on, and raises `StillHeld` where another process keeps them from going: call it again then.
        """
        ...

    def offset_after(self, partition: int, sent: int) -> int:
        """Return the offset of the first event whose `sent` is after a time, the end where there is none."""
        ...

    def ends(self) -> list[int]:
        """Return the next offset of each partition."""
        ...

    def check(self) -> None:
        """Raise `DamagedLog` where what the log is kept on is damaged in a way that reading could pass over.

        It reads everything once, a second or two for a million events, and is for who is about to trust it all.
        """
        ...

    def close(self) -> None:
        """Release what the log holds open. Closing twice is allowed."""
        ...


PAGE_SLOTS = 5_000


def read_matching(
    log: Log, beginning: str, scopes: Sequence[str], types: Sequence[str], limit: int
) -> list[tuple[str, str]]:
    """Return what `Log.matching` does, of a log that has no index of ids."""
    found: dict[tuple[str, str], None] = {}
    ends = log.ends()
    for partition in {partition_of(scope, log.partitions): None for scope in scopes} or range(log.partitions):
        for slot in slots_between(log, partition, 0, ends[partition]):
            try:
                event = decode(slot.payload)
            except InvalidEvent:
                continue
            if (
                event.id.startswith(beginning)
                and event.scope is not None
                and (not scopes or event.scope in scopes)
                and (not types or event.type in types)
            ):
                found[event.id, event.scope] = None
    return [(scope, id) for id, scope in sorted(found)[:limit]]


def slots_between(log: Log, partition: int, start: int, end: int) -> Iterator[Slot]:
    """Yield the slots of a partition from `start` to before `end`, a page at a time; all of them must be there."""
    while start < end:
        slots = log.read(partition, start, min(PAGE_SLOTS, end - start))
        if not slots:
            raise OffsetOutOfRange(f"Partition {partition} has no offset {start}, which was to be read up to {end}.")
        yield from slots
        start = slots[-1].offset + 1
