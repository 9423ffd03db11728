"""The oracle: a whole log folded in plain Python. Every flow and every view is tested against it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from memtape.schemas.log import Slot
from memtape.schemas.rows import DeadLetter
from memtape.state.core.digests import root, state_leaves
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold


class Replay(NamedTuple):
    """The state of every partition read."""

    partitions: dict[int, Partition]

    @property
    def dead_letters(self) -> list[DeadLetter]:
        """The dead letters, those of each partition in order."""
        return [it for partition in self.partitions.values() for it in partition.counters.latest_dead_letters]

    @property
    def state_hash(self) -> str:
        """The root over the logical state alone; that of a home also covers its views."""
        return root(state_leaves(self.partitions[number] for number in sorted(self.partitions)))


def replay(slots: Iterable[Slot]) -> Replay:
    """Return the state of these slots, each partition's in order; partitions may interleave."""
    slots = list(slots)
    erased = slots if any(b'"erased"' in slot.payload for slot in slots) else ()
    replayed = Replay({})
    for slot in slots:
        number = slot.partition
        if number not in replayed.partitions:
            erasures = erasures_of(it for it in erased if it.partition == number)
            replayed.partitions[number] = Partition(number, erasures)
        fold(replayed.partitions[number], (slot,))
    return replayed
