"""The head of a log: what it held at a time, kept elsewhere, so that a log that was tampered with is told.

A log alone cannot tell that its last events are gone, or that another log stands in its place. A head has two
digests of each slot and no text. An erasure since takes the body of a slot and leaves the rest as it was.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal, NamedTuple

import msgspec

from memtape.schemas.codec import blanked, event_of
from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log, slots_between
from memtape.schemas.metrics import tell_progress
from memtape.state.core.erasures import erasures_of

DIGEST_BYTES = 8


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The slots of a log by partition from the first offset on: the digests of each, one after another.

    The first digest of a slot is of its bytes, the second of its bytes without the body.
    """

    log_id: str
    slots: tuple[bytes, ...]

    @property
    def events(self) -> int:
        """The number of slots."""
        return sum(map(len, self.slots)) // (2 * DIGEST_BYTES)


class Tampering(NamedTuple):
    """A slot, named as partition/offset, that is not what the head says."""

    place: str
    what: Literal["lost", "changed", "moved"]


class HeadVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a log holds all events of a head as they were; how many were erased and appended since."""

    ok: bool
    events: int
    erased: int
    appended: int
    differences: tuple[Tampering, ...]


def head_of(log: Log) -> Head:
    """Return the head of a log. Raises `MemtapeError` for a log whose first events are gone."""
    log.check()
    slots, done, ends = list[bytes](), 0, log.ends()
    for number, end in enumerate(ends):
        digests = bytearray()
        for slot in slots_between(log, number, 0, end):
            if slot.offset * 2 * DIGEST_BYTES != len(digests):
                told = f"Partition {number} has no offset {slot.offset - 1}: a part of the log is gone."
                raise MemtapeError(told)
            digests += _digest(slot.payload) + _digest(blanked(slot.payload))
            done += 1
            tell_progress("reading the log", done, sum(ends))
        slots.append(bytes(digests))
    return Head(log_id=log.log_id, slots=tuple(slots))


def check_head(log: Log, head: Head) -> HeadVerdict:
    """Hold a log against a head. Raises `MemtapeError` for the head of another log."""
    if (log.log_id, log.partitions) != (head.log_id, len(head.slots)):
        raise MemtapeError("The head is of another log.", "Name the file that was saved from this one.")
    found, erased, done, ends = list[Tampering](), 0, 0, log.ends()
    for number, digests in enumerate(head.slots):
        size = 2 * DIGEST_BYTES
        kept = [digests[place : place + size] for place in range(0, len(digests), size)]
        known, erasures = {each[:DIGEST_BYTES] for each in kept}, erasures_of(log.erased(number))
        left = dict(enumerate(kept))
        for slot in slots_between(log, number, 0, min(len(kept), ends[number])):
            whole, blank = (left[slot.offset][:DIGEST_BYTES], left.pop(slot.offset)[DIGEST_BYTES:])
            now, event = _digest(slot.payload), event_of(slot.payload)
            is_erased = event is None or (erasures.covers(event) and event.body is None)
            if now != whole and not (is_erased and now == blank):
                found.append(Tampering(f"{number}/{slot.offset}", "moved" if now in known else "changed"))
            erased += is_erased and now != whole
            done += 1
            tell_progress("reading the log", done, sum(ends))
        found += [Tampering(f"{number}/{offset}", "lost") for offset in left]
    appended = sum(max(0, end - len(kept) // size) for end, kept in zip(ends, head.slots, strict=True))
    return HeadVerdict(
        ok=not found, events=head.events, erased=erased, appended=appended, differences=tuple(found)
    )  # fmt: skip


def _digest(payload: bytes) -> bytes:
    return blake2b(payload, digest_size=DIGEST_BYTES).digest()
