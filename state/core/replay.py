"""The oracle: the whole of a log folded in plain Python, which every flow and every view is tested against."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from memtape.schemas.log import Slot
from memtape.schemas.rows import DeadLetter
from memtape.state.core.bodies import Bodies
from memtape.state.core.digests import root, state_leaves
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.core.partition import Partition, fold

MakeBodies = Callable[[int], Bodies]
"""Returns the store of the bodies of a partition's turns."""


class Replay:
    """The state of every partition read, and the dead letters in order.

    `erasures` are those of each partition, which must be known first.
    """

    def __init__(self, erasures: Mapping[int, Erasures], bodies: MakeBodies) -> None:
        self._erasures = erasures
        self._bodies = bodies
        self.partitions: dict[int, Partition] = {}
        self.dead_letters: list[DeadLetter] = []

    def feed(self, slots: Iterable[Slot]) -> None:
        """Fold more slots, each partition's in order; the partitions may interleave in any way."""
        for slot in slots:
            partition = self.partitions.get(slot.partition)
            if partition is None:
                partition = Partition(slot.partition, self._erasures.get(slot.partition) or Erasures())
                partition.bodies = self._bodies(slot.partition)
                self.partitions[slot.partition] = partition
            self.dead_letters += fold(partition, (slot,)).dead_letters

    @property
    def state_hash(self) -> str:
        """The root over the logical state alone; that of a home also covers its views."""
        return root(state_leaves(self.partitions[number] for number in sorted(self.partitions)))


def replay(
    slots: Iterable[Slot], erased: Iterable[Slot] | None = None, bodies: MakeBodies = lambda _: Bodies()
) -> Replay:
    """Return the state of these slots.

    `erased` are the slots of the `erased` events, if the log has an index of them; otherwise they are
    searched for.
    """
    if erased is None:
        slots = list(slots)
        erased = slots if any(b'"erased"' in slot.payload for slot in slots) else ()
    by_partition: dict[int, list[Slot]] = {}
    for slot in erased:
        by_partition.setdefault(slot.partition, []).append(slot)
    replayed = Replay({number: erasures_of(found) for number, found in by_partition.items()}, bodies)
    replayed.feed(slots)
    return replayed
