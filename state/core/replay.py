"""The oracle: a whole log folded in plain Python. Every flow and every view is tested against it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from memtape.schemas.log import Slot
from memtape.schemas.rows import DeadLetter
from memtape.state.core.digests import root, state_leaves
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold
from memtape.state.subjects.captures import Bodies

MakeBodies = Callable[[int], Bodies]
"""Returns the store of the bodies of a partition's turns."""


class Replay(NamedTuple):
    """The state of every partition read, and the dead letters in order."""

    partitions: dict[int, Partition]
    dead_letters: list[DeadLetter]

    @property
    def state_hash(self) -> str:
        """The root over the logical state alone; that of a home also covers its views."""
        return root(state_leaves(self.partitions[number] for number in sorted(self.partitions)))


def replay(
    slots: Iterable[Slot], erased: Iterable[Slot] | None = None, bodies: MakeBodies = lambda _: Bodies()
) -> Replay:
    """Return the state of these slots, each partition's in order; the partitions may interleave in any way.

    `erased` are the slots of the `erased` events, if the log has an index of them; otherwise they are
    searched for.
    """
    if erased is None:
        slots = list(slots)
        erased = slots if any(b'"erased"' in slot.payload for slot in slots) else ()
    erased = list(erased)
    replayed = Replay({}, [])
    for slot in slots:
        number = slot.partition
        if number not in replayed.partitions:
            erasures = erasures_of(it for it in erased if it.partition == number)
            replayed.partitions[number] = Partition(number, erasures)
            replayed.partitions[number].bodies = bodies(number)
        replayed.dead_letters.extend(fold(replayed.partitions[number], (slot,)).dead_letters)
    return replayed
