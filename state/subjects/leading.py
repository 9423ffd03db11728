"""Which memories come first in `MEMORY.md`: those pinned, then those used and recalled most, then confirmed and latest.

All of it follows from other subjects, so that no snapshot holds it. It is made at the first question, after a start and
after a restore alike, and then keeps up with what has moved: a question costs what changed, and never the scope.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from sortedcontainers import SortedDict

from memtape.state.subjects.captures import HasCaptures
from memtape.state.subjects.memories import Memories, Memory
from memtape.state.subjects.pins import Pins
from memtape.state.subjects.usage import Usage

Key = tuple[bool, bool, int, int, int, int, int]


class Others(HasCaptures, Protocol):
    """What is read of the subjects of a scope."""

    memories: Memories
    pins: Pins
    usage: Usage


class Leading:
    """The births of the living facts and insights of a scope, in order."""

    def __init__(self) -> None:
        self._births: SortedDict[Key, int] | None = None
        self._key_of: dict[int, Key] = {}

    def births(self, of: Others) -> Iterator[int]:
        """Yield the births of the living facts and insights, the first of all first."""
        moved = self._moved(of)
        if self._births is None:
            self._births, moved = SortedDict(), dict.fromkeys(of.memories.by_birth)
        for birth in moved:
            self._place(birth, of)
        return iter(self._births.values())

    def _moved(self, of: Others) -> dict[int, None]:
        """Return the births of what has moved since the last question, those that are no more included."""
        used = (of.memories.of(seq) for seq in of.usage.moved)
        pinned = (of.memories.of(capture.seq) for id in of.pins.moved if (capture := of.captures.get(id)))
        moved = of.memories.moved | {memory.birth: None for memory in (*used, *pinned) if memory is not None}
        of.memories.moved, of.usage.moved, of.pins.moved = {}, {}, {}
        return moved

    def _place(self, birth: int, of: Others) -> None:
        assert self._births is not None
        before = self._key_of.pop(birth, None)
        if before is not None:
            del self._births[before]
        memory = of.memories.by_birth.get(birth)
        if memory is not None and memory.canonical >= 0 and of.captures.by_seq[birth].family == "fact":
            self._key_of[birth] = key = key_of(memory, of)
            self._births[key] = birth


def key_of(memory: Memory, of: Others) -> Key:
    """Return by what a living memory is ordered, the least first: what only models say comes last of all.

    Pinned ones come first, then those that were used most, that were recalled most in powers of two (by the most
    recalled of its captures), that have most members, that were said last, and that began last.
    """
    spoken = of.captures.by_seq[memory.canonical]
    uses = [use for join in memory.joins if (use := of.usage.own.get(join.seq)) is not None]
    return (
        spoken.actor.origin == "model",
        not of.pins.has_any(of.captures.by_seq[join.seq].id for join in memory.joins),
        -sum(use.used for use in uses),
        -max((use.recalled.bit_length() for use in uses), default=0),
        -len(memory.members),
        -spoken.at,
        -memory.birth,
    )
