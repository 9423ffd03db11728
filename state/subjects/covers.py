"""Covers: which memories stand for which others, by `decided` events, until the cover ends.

A cover hides nothing by itself: the memories below it live, fold and are confirmed as before, and readers are
shown the covering memory. A cover ends for good once one of its memories changes or is hidden, once a memory
told as past is captured again, or once a person sets one of them apart. Then they stand by themselves, as
before the decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from memtape.schemas.events import MAKING, Captured, Decided, Event, Input, Pinned, Unfolded
from memtape.schemas.rows import Change, Context
from memtape.state.subjects.captures import TRUST, HasCaptures
from memtape.state.subjects.memories import (
    HasMemories,
    Memory,
    ids_of,
    is_as_seen,
    memories_of,
    memory_of,
    row_of_unit,
)


class Cover(msgspec.Struct, frozen=True):
    """An operation in force, or waiting for its text. `seen` are the seqs of its inputs and survivor."""

    op: Literal["add", "replace", "remove"]
    by: str
    ids: tuple[str, ...]
    seen: dict[str, int]
    cluster: tuple[str, ...]

    @property
    def kept(self) -> tuple[str, ...]:
        """The inputs repeated by the cover as valid; a new capture of one does not end the cover."""
        return {"add": self.ids, "replace": self.ids[:1], "remove": (self.by,)}[self.op]


class Covers(msgspec.Struct, dict=True, array_like=True):
    """The covers of a scope by number, in the order in which they came into force.

    `awaited` has by the id of each awaited text its cover and all inputs of the decision. `apart` are the ids
    of inputs set apart by a person, of which no cover is made again. `made_of` has by covering memory all
    inputs that it ever covered, so that an action on it includes them, even after the cover ended. `made_of`
    has no cycle, and at most one entry for each input of a decision.
    """

    holding: dict[int, Cover] = {}
    awaited: dict[str, tuple[Cover, tuple[Input, ...]]] = {}
    apart: dict[str, None] = {}
    made_of: dict[str, tuple[str, ...]] = {}
    count: int = 0

    def __post_init__(self) -> None:
        self._numbers_of: dict[str, list[int]] = {}
        for number, cover in self.holding.items():
            self._know(number, cover)

    def of_text(self, id: str) -> Cover | None:
        """Return the cover in force by a consolidation's text, None for none."""
        found = (self.holding[number] for number in self._numbers_of.get(id, ()))
        return next((cover for cover in found if cover.by == id and cover.op != "remove"), None)

    def over(self, of: HasCaptures, memory: Memory) -> Cover | None:
        """Return the cover of a memory, None if it stands by itself."""
        if not self.holding:
            return None
        ids = ids_of(of, memory.members)
        covers = self.touching(ids).values()
        return next((it for it in covers if it.op != "add" and not frozenset(ids).isdisjoint(it.ids)), None)

    def below(self, of: HasCaptures, memory: Memory) -> Iterator[str]:
        """Yield the inputs that a memory covers, or once covered, directly."""
        for id in ids_of(of, memory.members) if self.made_of else ():
            yield from self.made_of.get(id, ())

    def parts(self, of: HasMemories, memory: Memory) -> list[Memory]:
        """Return a memory and, recursively, all that it covers or once covered; each memory once.

        The walk also ends at a cycle closed by merged memories.
        """
        parts: dict[int, Memory] = {}
        waiting = [memory]
        while waiting:
            part = waiting.pop()
            if part.birth not in parts:
                parts[part.birth] = part
                waiting += reversed(memories_of(of, self.below(of, part)))
        return list(parts.values())

    def touching(self, ids: Iterable[str]) -> dict[int, Cover]:
        """Return the covers that name any of these captured ids."""
        return {number: self.holding[number] for id in ids for number in self._numbers_of.get(id, ())}

    def hold(self, of: HasMemories, cover: Cover) -> None:
        """Let a cover hold from now on; it counts, and no earlier cover of its survivor below its inputs."""
        self.holding[self.count] = cover
        self._know(self.count, cover)
        self.count += 1
        if cover.op == "add":
            return
        own = frozenset(_members(of, cover.by))
        for part in [part for memory in memories_of(of, cover.ids) for part in self.parts(of, memory)]:
            for id in ids_of(of, part.joins):
                if not own.isdisjoint(self.made_of.get(id, ())):
                    self.made_of[id] = tuple(input for input in self.made_of[id] if input not in own)
        self.made_of[cover.by] = tuple(dict.fromkeys((*self.made_of.get(cover.by, ()), *cover.ids)))

    def _know(self, number: int, cover: Cover) -> None:
        for id in dict.fromkeys((cover.by, *cover.seen)):
            self._numbers_of.setdefault(id, []).append(number)

    def end(self, number: int) -> None:
        """Let a cover hold no more."""
        cover = self.holding.pop(number)
        for id in dict.fromkeys((cover.by, *cover.seen)):
            self._numbers_of[id].remove(number)


def evolve(state: Covers, event: Event, context: Context[HasMemories]) -> list[Change]:
    """Apply a decision and its texts, end invalid covers, and return the changed rows."""
    of, touched = context.of, list[Cover]()
    if not (state.holding or state.awaited or isinstance(event.body, Decided)):
        return []
    match event.body:
        case Decided(operations=operations) as decided if any(it.op != "outdate" for it in operations):
            _decide(state, decided, context, touched)
        case Captured() if event.id in state.awaited:
            cover, inputs = state.awaited.pop(event.id)
            text = of.captures.by_seq[context.seq]  # A turn or a page stands for nothing.
            unchanged = all(_is_as_seen(state, of, input) for input in inputs if input.id in cover.seen)
            _hold_or_drop(state, cover, context, touched, text.made and not text.hidden and unchanged)
        case Unfolded(ids=ids):
            for number, cover in state.touching(ids).items():
                state.apart.update(dict.fromkeys(cover.seen))
                _end(state, number, cover, context, touched)
        case Pinned(ids=ids, on=True):
            pinned = [member for id in ids for member in _members(of, id)]
            for number, cover in state.touching(pinned).items():
                if cover.by not in pinned and cover.op != "add":
                    _end(state, number, cover, context, touched)
    looked = [id for name in context.touched for id in _members(of, name)] if state.holding else []
    looked += [cover.by for cover in touched]
    while looked:  # In turn the covers end above the text of each ended cover.
        ended = [it for it in state.touching(looked).items() if not _holds(of, state, it[1])]
        looked = [cover.by for _, cover in ended]
        for number, cover in ended:
            _end(state, number, cover, context, touched)
    named = memories_of(of, dict.fromkeys(id for cover in touched for id in (*cover.ids, cover.by)))
    units = dict.fromkeys(memory.birth for memory in named)
    return [row_of_unit(context.scope, of, unit) for unit in units]


def is_shown(of: HasMemories, covers: Covers, memory: Memory) -> bool:
    """Return whether a living memory is shown: it has no cover, and is no text of an ended decision."""
    return covers.over(of, memory) is None and not has_ended(of, covers, memory)


def has_ended(of: HasCaptures, covers: Covers, memory: Memory) -> bool:
    """Return whether a memory is a consolidation's text without a cover: not yet decided, or ended."""
    return memory.made and covers.of_text(of.captures.by_seq[memory.birth].id) is None


def _decide(state: Covers, decided: Decided, context: Context[HasMemories], touched: list[Cover]) -> None:
    """Put a decision in force, or let it wait for its texts; drop all of it if an input has changed."""
    of, seen = context.of, {input.id: input.seq for input in decided.inputs}
    cluster = tuple(seen)
    texts = [operation.by for operation in decided.operations if operation.op in MAKING]
    unknown = all(of.captures.get(id) is None and id not in state.awaited for id in texts)
    if not unknown or not all(_is_as_seen(state, of, input) for input in decided.inputs):
        context.dropped.append(cluster)
        return
    for operation in decided.operations:
        # Both sides of a conflict stand as they did; `conflicts` asks of them.
        if operation.op == "conflict" or operation.op == "outdate":
            continue
        own = (*operation.ids, operation.by) if operation.op == "remove" else operation.ids
        cover = Cover(operation.op, operation.by, operation.ids, {id: seen[id] for id in own}, cluster)
        if operation.op == "remove":
            # The inputs are unchanged, save by the operations before.
            as_seen = all(_is_as_seen(state, of, Input(id=id, seq=seq)) for id, seq in cover.seen.items())
            may = as_seen and all(_may_remove(of, memory_of(of, cover.by), id) for id in cover.ids)
            _hold_or_drop(state, cover, context, touched, may)
        else:
            state.awaited[operation.by] = cover, decided.inputs


def _hold_or_drop(
    state: Covers, cover: Cover, context: Context[HasMemories], touched: list[Cover], holds: bool
) -> None:  # fmt: skip
    if holds:
        state.hold(context.of, cover)
        touched.append(cover)
    else:
        context.dropped.append(cover.cluster)


def _end(
    state: Covers, number: int, cover: Cover, context: Context[HasMemories], touched: list[Cover]
) -> None:  # fmt: skip
    state.end(number)
    touched.append(cover)
    context.dropped.append(cover.cluster)


def _is_as_seen(state: Covers, of: HasMemories, input: Input) -> bool:
    memory = memory_of(of, input.id)
    return memory is not None and is_as_seen(of, input) and is_shown(of, state, memory)


def _may_remove(of: HasMemories, survivor: Memory | None, id: str) -> bool:
    """Return whether a survivor is another memory than an input, by an author trusted no less."""
    removed, by_seq = memory_of(of, id), of.captures.by_seq
    if survivor is None or removed is None or survivor is removed:
        return False
    kept, gone = (TRUST[by_seq[it.canonical].actor.origin] for it in (survivor, removed))
    return kept >= gone


def _holds(of: HasMemories, covers: Covers, cover: Cover) -> bool:
    """Return whether a cover goes on: its text is shown, kept inputs say the same, the rest is unchanged."""
    text = of.captures.get(cover.by)
    if text is None or (text.hidden and cover.op != "remove"):
        return False
    by_seq = of.captures.by_seq
    for id, seq in cover.seen.items():
        memory = memory_of(of, id)
        if memory is None or not memory.lives or has_ended(of, covers, memory):
            return False
        says_the_same = id in cover.kept and by_seq[memory.canonical].normal == by_seq[seq].normal
        if memory.canonical != seq and not says_the_same:
            return False
    return True


def _members(of: HasMemories, name: str) -> list[str]:
    return [id for memory in memories_of(of, (name,)) for id in ids_of(of, memory.joins)]
