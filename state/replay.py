"""The oracle: the whole of a log folded in plain Python, which every flow and every view is tested against."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.schemas.log import Slot
from recollect.schemas.rows import DeadLetter
from recollect.state.digests import root, state_leaves
from recollect.state.partition import Partition, fold


class Replay:
    """The state of every partition that was read, and the dead letters in the order they were met."""

    def __init__(self) -> None:
        self.partitions: dict[int, Partition] = {}
        self.dead_letters: list[DeadLetter] = []

    def feed(self, slots: Iterable[Slot]) -> None:
        """Fold more slots, each partition's in order; the partitions may interleave in any way."""
        for slot in slots:
            partition = self.partitions.get(slot.partition)
            if partition is None:
                partition = self.partitions[slot.partition] = Partition(slot.partition)
            self.dead_letters += fold(partition, (slot,)).dead_letters

    @property
    def state_hash(self) -> str:
        """The root over the logical state alone; that of a home also covers its views."""
        return root(state_leaves(self.partitions[number] for number in sorted(self.partitions)))


def replay(slots: Iterable[Slot]) -> Replay:
    """Return the state that these slots mean."""
    replayed = Replay()
    replayed.feed(slots)
    return replayed
