"""The order of memories: in `MEMORY.md` by use, on the standing pages and in a start by worth.

The order follows from other subjects, so that no snapshot holds it. It is built at the first question, after
a start and after a restore alike, and then follows each change: a question costs the changes, and never the
scope.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge

from sortedcontainers import SortedDict

from memtape.state.subjects.lifecycle import HasLifecycle, is_pinned, uses_of
from memtape.state.subjects.memories import Memory, shown_of
from memtape.state.subjects.weights import importance, worth

Key = tuple[bool, bool, int, int, int, int, int]
Group = tuple[bool, bool, int]
"""Memories whose order by worth no time changes, the later first.

They are alike by models alone or not, pinned or not, and of one importance, in thousandths and negative.
"""


class Leading:
    """The births of a scope's living facts and insights, by use and by worth."""

    def __init__(self) -> None:
        self._by_use: SortedDict[Key, int] = SortedDict()
        self._by_worth: dict[Group, SortedDict[tuple[int, int], int]] = {}
        self._places: dict[int, tuple[Key, Group, tuple[int, int]]] = {}

    def births(self, of: HasLifecycle) -> Iterator[int]:
        """Yield the births of the living facts and insights, the first of all first."""
        self._keep_up(of)
        return iter(self._by_use.values())

    def worthiest(self, of: HasLifecycle) -> Iterator[int]:
        """Yield the same births by worth, which is counted from the last capture of all."""
        self._keep_up(of)
        now = max((-its.peekitem(0)[0][0] for its in self._by_worth.values()), default=0)

        def ranked(group: Group) -> Iterator[tuple[bool, bool, int, int, int]]:
            is_model, is_unpinned, negative = group
            for last, birth in self._by_worth[group]:
                yield is_model, is_unpinned, -worth(-negative, -last, now), last, birth

        return (-birth for *_, birth in merge(*map(ranked, self._by_worth)))

    def _keep_up(self, of: HasLifecycle) -> None:
        """Place the memories changed since the last call, also removed ones; after a restore all of them."""
        used = (of.memories.of(seq) for seq in of.usage.moved)
        pinned = (of.memories.of(capture.seq) for capture in of.captures.found(of.pins.moved))
        moved = of.memories.moved | {memory.birth: None for memory in (*used, *pinned) if memory is not None}
        of.memories.moved, of.usage.moved, of.pins.moved = {}, {}, {}
        for birth in moved:
            if (placed := self._places.pop(birth, None)) is not None:
                key, group, place = placed
                del self._by_use[key]
                del self._by_worth[group][place]
                if not self._by_worth[group]:
                    del self._by_worth[group]
            memory = of.memories.by_birth.get(birth)
            if memory is None or not memory.lives or of.captures.by_seq[birth].family != "fact":
                continue
            (group, last_at), key = worth_of(memory, of), key_of(memory, of)
            self._places[birth] = key, group, (-last_at, -birth)
            self._by_use[key] = birth
            self._by_worth.setdefault(group, SortedDict())[-last_at, -birth] = birth


def worth_of(memory: Memory, of: HasLifecycle) -> tuple[Group, int]:
    """Return the inputs of a living memory's worth: its group, and its last capture's time."""
    shown = shown_of(of, memory.members)
    given = (of.captures.body(member).importance_given for member in shown)
    important = importance(max((it for it in given if it is not None), default=None), len(shown) - 1)
    is_model = of.captures.by_seq[memory.canonical].actor.origin == "model"
    return (is_model, not is_pinned(of, memory.birth), -important), max(member.at for member in shown)


def key_of(memory: Memory, of: HasLifecycle) -> Key:
    """Return the sort key of a living memory, least first: memories by models alone come last.

    Pinned ones come first, then by most uses, most recalls in powers of two (of its most recalled capture),
    most members, latest text, and latest birth.
    """
    spoken = of.captures.by_seq[memory.canonical]
    uses = uses_of(of, memory.birth)
    return (
        spoken.actor.origin == "model",
        not is_pinned(of, memory.birth),
        -sum(use.used for use in uses),
        -max((use.recalled.bit_length() for use in uses), default=0),
        -len(memory.members),
        -spoken.at,
        -memory.birth,
    )
