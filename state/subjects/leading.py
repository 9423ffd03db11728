"""The order of memories: in `MEMORY.md` by use, on the standing pages and in a start by worth.

The order follows from other subjects, so that no snapshot holds it. It is built at the first question, after
a start and after a restore alike, and then follows each change: a question costs the changes, and never the
scope.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from typing import NamedTuple

from sortedcontainers import SortedDict

from memtape.state.subjects.aging import is_pinned
from memtape.state.subjects.lifecycle import HasLifecycle
from memtape.state.subjects.memories import Memory
from memtape.state.subjects.weights import importance, worth
from memtape.state.text.named import key_of_name

Key = tuple[bool, bool, int, int, int, int, int]


class WorthInputs(NamedTuple):
    """The inputs of a memory's worth at any time: of two in one group the later is worth no less.

    `group` is whether it is by models alone, whether it is not pinned, and its importance in thousandths,
    negative.
    """

    group: tuple[bool, bool, int]
    last_at: int
    birth: int


class _ByWorth:
    """Memories in the order of their worth, at any time: in groups whose order no time changes."""

    def __init__(self) -> None:
        self._groups: dict[tuple[bool, bool, int], SortedDict[tuple[int, int], WorthInputs]] = {}

    def put(self, its: WorthInputs) -> None:
        self._groups.setdefault(its.group, SortedDict())[-its.last_at, -its.birth] = its

    def remove(self, its: WorthInputs) -> None:
        group = self._groups[its.group]
        del group[-its.last_at, -its.birth]
        if not group:
            del self._groups[its.group]

    def births(self) -> Iterator[int]:
        """Yield the births by falling worth, counted from each memory's last capture."""
        firsts = (group.peekitem(0)[1].last_at for group in self._groups.values())
        now = max(firsts, default=0)

        def order(its: WorthInputs) -> tuple[bool, bool, int, int, int]:
            is_model, is_unpinned, negative = its.group
            return is_model, is_unpinned, -worth(-negative, its.last_at, now), -its.last_at, -its.birth

        return (its.birth for its in merge(*(group.values() for group in self._groups.values()), key=order))


class Leading:
    """The births of a scope's living facts and insights, by use, by worth, and by worth for each author."""

    def __init__(self) -> None:
        self._births: SortedDict[Key, int] = SortedDict()
        self._key_of: dict[int, tuple[Key, WorthInputs, str]] = {}
        self._by_worth = _ByWorth()
        self._of_person: dict[str, _ByWorth] = {}

    def births(self, of: HasLifecycle) -> Iterator[int]:
        """Yield the births of the living facts and insights, the first of all first."""
        self._keep_up(of)
        return iter(self._births.values())

    def worthiest(self, of: HasLifecycle, person: str | None = None) -> Iterator[int]:
        """Yield the same births by worth, of all memories or of a person's, by `key_of_name`."""
        self._keep_up(of)
        order = self._by_worth if person is None else self._of_person.get(person)
        return iter(()) if order is None else order.births()

    def _keep_up(self, of: HasLifecycle) -> None:
        """Place the memories changed since the last call, also removed ones; after a restore all of them."""
        used = (of.memories.of(seq) for seq in of.usage.moved)
        pinned = (of.memories.of(capture.seq) for id in of.pins.moved if (capture := of.captures.get(id)))
        moved = of.memories.moved | {memory.birth: None for memory in (*used, *pinned) if memory is not None}
        of.memories.moved, of.usage.moved, of.pins.moved = {}, {}, {}
        for birth in moved:
            self._place(birth, of)

    def _place(self, birth: int, of: HasLifecycle) -> None:
        before = self._key_of.pop(birth, None)
        if before is not None:
            key, its, person = before
            del self._births[key]
            self._by_worth.remove(its)
            self._of_person[person].remove(its)
        memory = of.memories.by_birth.get(birth)
        if memory is not None and memory.canonical >= 0 and of.captures.by_seq[birth].family == "fact":
            person = key_of_name(of.captures.by_seq[memory.canonical].actor.name)
            self._key_of[birth] = key, its, person = key_of(memory, of), worth_of(memory, of), person
            self._births[key] = birth
            self._by_worth.put(its)
            self._of_person.setdefault(person, _ByWorth()).put(its)


def worth_of(memory: Memory, of: HasLifecycle) -> WorthInputs:
    """Return the inputs of a living memory's worth."""
    members = [of.captures.by_seq[join.seq] for join in memory.members]
    shown = [member for member in members if not member.hidden] or members
    given = (of.captures.body(member).importance_given for member in shown)
    important = importance(max((it for it in given if it is not None), default=None), len(shown) - 1)
    is_model = of.captures.by_seq[memory.canonical].actor.origin == "model"
    return WorthInputs(
        (is_model, not is_pinned(of, memory.birth), -important), max(member.at for member in shown), memory.birth
    )


def key_of(memory: Memory, of: HasLifecycle) -> Key:
    """Return the sort key of a living memory, least first: memories by models alone come last.

    Pinned ones come first, then by most uses, most recalls in powers of two (of its most recalled capture),
    most members, latest text, and latest birth.
    """
    spoken = of.captures.by_seq[memory.canonical]
    uses = [use for join in memory.joins if (use := of.usage.own.get(join.seq)) is not None]
    return (
        spoken.actor.origin == "model",
        not is_pinned(of, memory.birth),
        -sum(use.used for use in uses),
        -max((use.recalled.bit_length() for use in uses), default=0),
        -len(memory.members),
        -spoken.at,
        -memory.birth,
    )
