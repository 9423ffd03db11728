"""The log's interface, the same for every storage.

The implementations are in `sinks` (embedded, in memory, on Kafka) and pass one contract suite.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Protocol

import msgspec

from memtape.schemas.codec import blanked, event_of
from memtape.schemas.errors import DamagedLog, OffsetOutOfRange
from memtape.schemas.events import Configured, Event
from memtape.schemas.settings import Settings


class Position(msgspec.Struct, frozen=True, order=True):
    """The position of an event: offsets count from 0 in each partition, without gaps."""

    partition: int
    offset: int


DEFAULT_PARTITIONS = 16
SPOOLED = Position(-1, -1)
"""The position of an event that waits in the spool of a home for a broker."""


class Slot(msgspec.Struct, frozen=True):
    """An offset of the log and its bytes, not yet decoded or checked."""

    partition: int
    offset: int
    payload: bytes


class Log(Protocol):
    """An append-only log of events in a fixed number of partitions, durable when `append` returns.

    Several processes and threads may append and read at once. The log does not remove duplicates and does not
    judge: readers do both.
    """

    log_id: str
    partitions: int
    user: str | None = None
    """The user as whom the broker knows this process; None for a log without users."""

    @property
    def place(self) -> str:
        """The log's address, for people and for opening it again: a path, or a URL without a secret."""

    def append(self, events: Sequence[Event]) -> list[Position]:
        """Append all of `events` or none, and return their positions, in order.

        An event with a scope goes to the scope's partition. Before a partition's first event of an hour (by
        `sent`) the hour's tick is appended. A tick goes to the partition in its body and a `configured` to
        every partition; the position in partition 0 is returned. Raises `InvalidEvent`.
        """

    def append_raw(self, partition: int, payloads: Sequence[bytes]) -> list[Position]:
        """Append bytes as they are, unread and without ticks, for copies of logs and for tests."""

    def read(
        self, partition: int, offset: int, limit: int, *, scope: str | None = None, types: Sequence[str] = ()
    ) -> list[Slot]:
        """Return at most `limit` slots from `offset` on, in order; none at the end.

        With `scope` or `types` only the slots of events of that scope and of those types. Raises
        `OffsetOutOfRange` for an offset below 0 or beyond the end, `DamagedLog` for a damaged slot.
        """

    def erased(self, partition: int) -> list[Slot]:
        """Return the slots of the `erased` events of a partition, which readers need before all other slots.

        An event is left out if an earlier event of its scope has its id.
        """

    def known(self, scope: str, ids: Sequence[str]) -> dict[str, int]:
        """Return the ids already used by events of a scope, erased ones too, each with its first offset.

        Importers use it, so that a second import adds nothing. A concurrent writer may still append an id
        again; only the first event of an id counts.
        """

    def matching(
        self, part: str, scopes: Sequence[str], types: Sequence[str], limit: int
    ) -> list[tuple[str, str]]:
        """Return at most `limit` distinct (scope, id) of events of these types, in order of the ids.

        `part` is a prefix of the id, or its last `SHORT_CHARS` characters. No `scopes` are all scopes, and no
        `types` all types; events without a scope are left out.
        """

    def blank(self, slots: Mapping[int, Sequence[int]]) -> None:
        """Remove the bodies from slots (offsets by partition) for good; the rest of each event stays.

        An undecodable slot becomes `null`, an empty dead letter. The call returns once the bytes are gone
        from the storage, and raises `StillHeld` if another process keeps them: call again then.
        """

    def offset_after(self, partition: int, sent: int) -> int:
        """Return the offset of the first event with `sent` after a time, else the end; `sent` may fall."""
        self.check_partition(partition)
        end = self.ends()[partition]
        found = events_between(self, partition, 0, end)
        return next((slot.offset for slot, event in found if event.sent > sent), end)

    def ends(self) -> list[int]:
        """Return the next offset of each partition."""

    def version(self) -> object:
        """Return a value that differs after every append of any process, and may differ without one."""

    def check(self) -> None:
        """Raise `DamagedLog` for storage damaged in a way that reading could miss.

        The check reads everything once, a second or two for a million events, for callers about to trust all
        of it.
        """

    def check_briefly(self) -> None:
        """Raise `DamagedLog` if a look of some 10 ms for 100,000 events, for every start, finds damage."""
        self.check()

    def check_partition(self, partition: int) -> None:
        """Raise `OffsetOutOfRange` for the number of no partition."""
        if not 0 <= partition < self.partitions:
            raise OffsetOutOfRange(f"The log has no partition {partition}; it has {self.partitions}.")

    def close(self) -> None:
        """Release all resources of the log. Closing twice is allowed."""


PAGE_SLOTS = 5_000
TRAIL_SLOTS = 16
"""Slots before an offset in a trail: ids and times of two histories differ long before."""


def matches(payload: bytes, scope: str | None, types: Sequence[str]) -> bool:
    """Return whether a payload is an event of the scope and of one of the types; always, without either.

    JSON can only say a scope or a type in its own letters or by escapes, so that most payloads need not be
    decoded.
    """
    if scope is None and not types:
        return True
    if b"\\u" not in payload:
        if scope is not None and scope.encode() not in payload:
            return False
        if types and not any(name.encode() in payload for name in types):
            return False
    event = event_of(payload)
    if event is None or (scope is not None and event.scope != scope):
        return False
    return not types or event.type in types


def slots_between(
    log: Log, partition: int, start: int, end: int, scope: str | None = None, types: Sequence[str] = ()
) -> Iterator[Slot]:
    """Yield the slots of a partition from `start` to before `end`, a page at a time.

    All of them must be there, unless a scope or some types are named: then only their slots are yielded.
    """
    narrowed = scope is not None or bool(types)
    while start < end:
        most = PAGE_SLOTS if narrowed else min(PAGE_SLOTS, end - start)
        slots = log.read(partition, start, most, scope=scope, types=types)
        if not slots and not narrowed:
            said = f"Partition {partition} has no offset {start}, which was to be read up to {end}."
            raise OffsetOutOfRange(said)
        yield from (slot for slot in slots if slot.offset < end)
        start = end if narrowed and len(slots) < most else slots[-1].offset + 1


def events_between(
    log: Log, partition: int, start: int, end: int, scope: str | None = None, types: Sequence[str] = ()
) -> Iterator[tuple[Slot, Event]]:
    """Yield the events that can be read among `slots_between`, each with its slot."""
    for slot in slots_between(log, partition, start, end, scope, types):
        if (event := event_of(slot.payload)) is not None:
            yield slot, event


def configured_on(log: Log, partition: int = 0) -> list[Configured]:
    """Return the effective `configured` events of a partition, in order, the current one last."""
    found: list[Configured] = []
    for _, event in events_between(log, partition, 0, sys.maxsize, types=("configured",)):
        body = event.body
        if isinstance(body, Configured) and (not found or body.revision > found[-1].revision):
            found.append(body)
    return found


def settings_on(log: Log) -> Settings:
    """Return the settings in force on a log."""
    return configured_on(log)[-1].settings


def known_among(log: Log, events: Iterable[Event]) -> dict[tuple[str | None, str], int]:
    """Return by (scope, id) the offset of the first event with the id, for events that are on the log."""
    ids: dict[str, list[str]] = {}
    for event in events:
        ids.setdefault(event.scope or "", []).append(event.id)
    return {(scope, id): offset for scope in ids for id, offset in log.known(scope, ids[scope]).items()}


def backwards(
    log: Log, partition: int, scope: str | None = None, types: Sequence[str] = (), before: int | None = None
) -> Iterator[Slot]:
    """Yield the slots of a partition before an offset, the last first, of one scope and some types if named.

    Without `before` from the end on.
    """
    end, window = log.ends()[partition] if before is None else before, 64
    while end > 0:
        start = max(0, end - window)
        # A read goes on to the end of the log, so that each looks further back by far than the one before.
        slots = log.read(partition, start, window, scope=scope, types=types)
        yield from reversed([slot for slot in slots if slot.offset < end])
        end, window = start, 4 * window


def trail_from(slots: Iterable[Slot]) -> str:
    """Return the digest of slots without bodies, in hex: an erasure keeps it, another event does not."""
    hashed = blake2b(digest_size=16)
    for slot in slots:
        hashed.update(_trace_of(slot.payload))
    return hashed.hexdigest()


@lru_cache(maxsize=4 * TRAIL_SLOTS)
def _trace_of(payload: bytes) -> bytes:
    """Return the digest of an event without its body. Each question asks for the same few."""
    return blake2b(blanked(payload), digest_size=16).digest()


def trail_of(log: Log, partition: int, offset: int) -> str:
    """Return the trail of the last slots before an offset. Raises `OffsetOutOfRange` beyond the end."""
    return trail_from(slots_between(log, partition, max(0, offset - TRAIL_SLOTS), offset))


def strayed(log: Log, partition: int, offset: int, known: str) -> str:
    """Return how a log differs from the log whose trail before an offset was `known`; empty if equal.

    A log differs if an older state of the log, or another copy, took its place. If `known` is empty, no trail
    was kept, and only the end is compared.
    """
    try:
        found = trail_of(log, partition, offset)
    except OffsetOutOfRange:
        end = log.ends()[partition]
        if end >= offset:
            raise
        return f"partition {partition} of the log ends at offset {end}, before {offset}"
    except DamagedLog:  # A reader of the slot's content reports it.
        return ""
    if known in ("", found):
        return ""
    return f"partition {partition} of the log holds other events before offset {offset}"
