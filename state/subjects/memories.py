"""Memories: sets of captures, the name of each, and the choice of its canonical text.

A memory is a set of captures, known inside by the seq of its first (`birth`), which never changes, and
outside by its name: its earliest living capture. Folding changes membership and nothing else.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import msgspec

from memtape.schemas.embedding import FLOOR
from memtape.schemas.events import Captured, Embedded, Event, Input, Unfolded
from memtape.schemas.rows import Change, Context
from memtape.state.fold.candidates import NEW, WAITING, Candidates, How, Match
from memtape.state.subjects import recalls as recalls_state
from memtape.state.subjects.captures import FAMILIES, REPLACING, Capture, HasCaptures
from memtape.state.subjects.embeddings import HasEmbeddings
from memtape.state.subjects.recalls import Recalls
from memtape.state.vectors.recorded import SIMILARITY_ONE


class Join(msgspec.Struct, frozen=True, gc=False):
    """A capture's tie to a memory: how the capture was judged, and how similar, in ten-thousandths."""

    seq: int
    how: How
    similarity: int


class Memory(msgspec.Struct):
    """One memory. `name` and `canonical` are seqs derived from living captures, canonical -1 without any."""

    birth: int
    members: list[Join]
    echoes: list[Join]
    name: int = -1
    canonical: int = -1

    @property
    def joins(self) -> tuple[Join, ...]:
        """The ties of all captures that resolve to the memory, members then echoes."""
        return (*self.members, *self.echoes)

    @property
    def made(self) -> bool:
        """Return whether a consolidation made the text."""
        return self.members[0].how == "decided"

    @property
    def lives(self) -> bool:
        """Return whether any of its members is visible."""
        return self.canonical >= 0


Seqs = tuple[int, ...]
Split = tuple[Seqs, ...]  # The captures of a split memory, by seq, in the groups of the split.


class Memories(msgspec.Struct, dict=True, array_like=True):
    """The memories of a scope in the order of their births.

    `moved` are the births of new, removed or changed ones, until `leading` reads them. `waiting` are memories
    by themselves until their first vector, each with the seqs shown to its session at its capture. `splits`
    are those by people, in the order of the log: captures of two groups never fold together again. `_index`
    has by folding family the living memories for comparisons, under one embedder; it follows from the rest.
    """

    by_birth: dict[int, Memory] = {}
    waiting: dict[int, Seqs] = {}
    splits: list[Split] = []

    def __post_init__(self) -> None:
        self.birth_of: dict[int, int] = {}
        self.births_of_normal: dict[tuple[str, bytes], list[int]] = {}
        self.moved: dict[int, None] = {}
        self._index: dict[str, Candidates] | None = None
        self._embedder = ""

    def of(self, seq: int) -> Memory | None:
        """Return the memory of a capture, None for a turn."""
        birth = self.birth_of.get(seq)
        return None if birth is None else self.by_birth[birth]

    def at(self, births: Iterable[int]) -> list[Memory]:
        """Return the memories of births; a birth without a memory is left out."""
        return [memory for birth in births if (memory := self.by_birth.get(birth)) is not None]

    def living(self) -> Iterator[Memory]:
        """Yield the memories with a visible capture, in the order of their births."""
        return (memory for memory in self.by_birth.values() if memory.lives)


class HasMemories(HasEmbeddings, Protocol):
    """A scope seen through its memories and the subjects before."""

    recalls: Recalls
    memories: Memories


def memory_of(of: HasMemories, id: str) -> Memory | None:
    """Return the memory that a captured id resolves to, None for none."""
    capture = of.captures.get(id)
    return None if capture is None else of.memories.of(capture.seq)


def memories_of(of: HasMemories, ids: Iterable[str]) -> list[Memory]:
    """Return the memories that captured ids resolve to, in their order."""
    return [memory for id in ids if (memory := memory_of(of, id)) is not None]


def is_as_seen(of: HasMemories, input: Input) -> bool:
    """Return whether a decision's input still has the canonical text that the decision saw."""
    memory = memory_of(of, input.id)
    return memory is not None and memory.canonical == input.seq


def unit_of(of: HasMemories, capture: Capture) -> int:
    """Return the unit of a capture: the seq of a turn, or the birth of a memory."""
    return of.memories.birth_of.get(capture.seq, capture.seq)


def row_of_unit(scope: str, of: HasMemories, unit: int) -> Change:
    """Return the row of a unit."""
    memory = of.memories.by_birth.get(unit)
    named = of.captures.by_seq[unit if memory is None else memory.name]
    return Change("turns" if memory is None else "memories", scope, named.id)


def captures_of(of: HasCaptures, joins: Iterable[Join]) -> list[Capture]:
    """Return the captures of ties."""
    return [of.captures.by_seq[join.seq] for join in joins]


def ids_of(of: HasCaptures, joins: Iterable[Join]) -> list[str]:
    """Return the captured ids of ties."""
    return [of.captures.by_seq[join.seq].id for join in joins]


def shown_of(of: HasCaptures, joins: Iterable[Join]) -> list[Capture]:
    """Return the visible captures of ties; all of them if none is visible."""
    captures = captures_of(of, joins)
    return [capture for capture in captures if not capture.hidden] or captures


def evolve(state: Memories, event: Event, context: Context[HasMemories]) -> list[Change]:
    """Fold a capture, judge memories waiting for a vector, split unfolded ones, and apply hiding and showing.

    Returns the changed memory rows, those of given-up names included.
    """
    of, body = context.of, event.body
    if isinstance(body, Captured) and body.kind != "turn":
        capture = of.captures.by_seq[context.seq]
        shown = recalls_state.shown(of.recalls, capture, context.settings)
        _place(state, capture, _judge(state, capture, context, ()), shown, context)
    for memory in map(state.of, (seq for seq in context.flipped if seq != context.seq)):
        if memory is not None:  # Its captures were hidden or shown.
            _refresh(state, memory, context)
    if isinstance(body, Unfolded):
        _unfold(state, body.ids, context)
    is_decisive = isinstance(body, Embedded) and body.embedder == context.settings.embedder
    if is_decisive and context.embedded is not None:
        _compare(state, of.captures.by_seq[context.embedded], context)
    return [Change("memories", context.scope, name) for name in context.touched]


def _compare(state: Memories, capture: Capture, context: Context[HasMemories]) -> None:
    """Record a capture's first vector by the embedder in force, and judge the memory waiting for it."""
    of, memory = context.of, state.of(capture.seq)
    vector = of.embeddings.of_text(context.settings.embedder, capture)
    if memory is None or vector is None:
        return
    _indexed(state, context)
    for birth in state.births_of_normal.get((capture.family or "", capture.normal), ()):
        _offer(state, state.by_birth[birth], of)
    shown = state.waiting.pop(memory.birth, None)
    if shown is None:
        return
    barred = _set_apart(state, (join.seq for join in memory.joins))
    match = _judge_alike(state, capture, vector, context, barred)
    if match.how != "similar":
        _offer(state, memory, of)
        return
    # It merges with the memory of equal content; the earlier birth stays.
    other = state.by_birth[match.birth]
    early, late = (memory, other) if memory.birth < other.birth else (other, memory)
    echo = late is memory and (late.members[0].how == "echo" or _has_any(other, shown))
    founder = Join(late.birth, "echo" if echo else match.how, match.similarity)
    joined = [founder if join.seq == late.birth else join for join in late.members]
    context.touched.append(of.captures.by_seq[late.name].id)
    del state.by_birth[late.birth]
    context.gone.append(late.birth)
    state.moved[late.birth] = None
    _forget_texts(state, late, of)
    _indexed(state, context)[of.captures.by_seq[late.birth].family or ""].drop(late.birth)
    echoes = [*late.echoes, *(join for join in joined if join.how == "echo")]
    joined = [join for join in joined if join.how != "echo"]
    for member in captures_of(of, joined):
        _know(state, early, member)
    for join in echoes:
        state.birth_of[join.seq] = early.birth
    early.members = sorted((*early.members, *joined), key=lambda join: join.seq)
    early.echoes = sorted((*early.echoes, *echoes), key=lambda join: join.seq)
    _refresh(state, early, context)


def take_up(state: Memories, of: HasMemories, embedder: str) -> None:
    """Switch comparisons to an embedder. Folded memories stay; a text with a vector no longer waits."""
    state._index = None
    for birth in list(state.waiting):
        if of.embeddings.of_text(embedder, of.captures.by_seq[birth]) is not None:
            del state.waiting[birth]  # Nothing more will come for it, so it goes on standing by itself.


def _unfold(state: Memories, ids: Iterable[str], context: Context[HasMemories]) -> None:
    """Make each of these captures a memory of its own; the rest of their memories stays together.

    Echoes stay with the first capture.
    """
    named = dict.fromkeys(capture.seq for capture in context.of.captures.found(ids))
    births = dict.fromkeys(state.birth_of[seq] for seq in named if seq in state.birth_of)
    for birth in births:
        state.waiting.pop(birth, None)
        memory = state.by_birth[birth]
        rest = [join for join in memory.members if join.seq not in named]
        alone = [[join] for join in memory.members if join.seq in named]
        groups = sorted((group for group in (rest, *alone) if group), key=lambda group: group[0].seq)
        if len(groups) <= 1:
            _offer(state, memory, context.of)  # It may have waited until now.
            continue
        state.splits.append(tuple(tuple(join.seq for join in group) for group in groups))
        _forget_texts(state, memory, context.of)
        memory.members, parts = groups[0], [memory]  # The first group, which holds the birth, is the memory.
        for group in groups[1:]:
            made = Memory(group[0].seq, [Join(it.seq, "unfolded", 0) for it in group], [], name=group[0].seq)
            state.by_birth[made.birth] = made
            parts.append(made)
        for part in parts:
            for member in captures_of(context.of, part.members):
                _know(state, part, member)
            _refresh(state, part, context)


def refold(state: Memories, context: Context[HasMemories]) -> list[Change]:
    """Judge all captures again, as if said under the settings in force; return the rows that differ.

    Captures set apart never fold together again. An echo stays an echo in its new memory, and a
    consolidation's text stands alone. A hidden text is compared only with its own text, as always.
    """
    of, before, waited = context.of, _standing(state, context.of), state.waiting
    echoes = {it.seq: None for memory in state.by_birth.values() for it in memory.joins if it.how == "echo"}
    births = dict.fromkeys(state.by_birth)
    moved = state.moved | births
    state.by_birth, state.waiting = {}, {}
    state.__post_init__()
    state.moved |= moved
    for capture in [of.captures.by_seq[seq] for seq in of.captures.ordinals]:
        barred = _set_apart(state, (capture.seq,))
        match = _judge(state, capture, context, barred)
        vector = of.embeddings.of_text(context.settings.embedder, capture)
        if match == WAITING and vector is not None:
            match = _judge_alike(state, capture, vector, context, barred)
        shown, echoed = waited.get(capture.seq, ()), capture.seq in echoes
        _place(state, capture, match, shown, context, echoed)
    after = _standing(state, of)
    context.gone = [birth for birth in births if birth not in state.by_birth]
    context.touched = [name for name in before | after if before.get(name) != after.get(name)]
    return [Change("memories", context.scope, name) for name in context.touched]


def _standing(state: Memories, of: HasMemories) -> dict[str, tuple[Any, ...]]:
    """Return by memory name the inputs of the memory's row: members, echoes and canonical text."""
    captures, memories = of.captures.by_seq, state.by_birth.values()
    return {captures[it.name].id: (tuple(it.members), tuple(it.echoes), it.canonical) for it in memories}


def rebuild(state: Memories, of: HasMemories) -> None:
    """Make the parts that follow from the memories and their captures."""
    state.moved = dict.fromkeys(state.by_birth)
    for memory in state.by_birth.values():
        for member in captures_of(of, memory.members):
            _know(state, memory, member)
        for join in memory.echoes:
            state.birth_of[join.seq] = memory.birth


def _place(
    state: Memories, it: Capture, match: Match, shown: Seqs, context: Context[HasMemories],
    echoed: bool = False,
) -> None:  # fmt: skip
    of = context.of
    if match.how in ("same", "similar"):
        memory = state.by_birth[match.birth]
        if echoed or _has_any(memory, shown):
            memory.echoes.append(Join(it.seq, "echo", match.similarity))
            state.birth_of[it.seq] = memory.birth
            context.touched.append(of.captures.by_seq[memory.name].id)
            return
        memory.members.append(Join(it.seq, match.how, match.similarity))
    else:
        # An echo stays an echo, even without a memory to fold with.
        how: How = "decided" if it.made else "echo" if echoed else "new"
        founder = Join(it.seq, how, match.similarity)
        memory = state.by_birth[it.seq] = Memory(it.seq, [founder], [])
        if match.how == "waiting":
            state.waiting[it.seq] = shown
    _know(state, memory, it)
    if it.hidden or not memory.lives:
        _refresh(state, memory, context)
    else:  # The usual case of a memory that lives and grows, whose other members need no second look.
        memory.canonical = max(memory.canonical, it.seq, key=lambda seq: of.captures.by_seq[seq].rank)
        _note(state, memory, context)


def _has_any(memory: Memory, seqs: Seqs) -> bool:
    return bool(seqs) and any(join.seq in seqs for join in memory.joins)


def _judge(state: Memories, capture: Capture, context: Context[HasMemories], barred: Seqs) -> Match:
    """Return the match of a text by its words; `barred` are the births of memories that it may not join.

    A consolidation's text is compared with none, so that it can end like any memory.
    """
    family, settings = capture.family, context.settings
    if family is None or capture.made or settings.fold_cosine_hundredths < 0:
        return NEW
    same = state.births_of_normal.get((family, capture.normal), ())
    named = {state.by_birth[birth].name: birth for birth in same if birth not in barred}
    if named:
        return Match("same", named[min(named)], SIMILARITY_ONE)
    if family in REPLACING:
        return NEW
    return WAITING if settings.embedder != FLOOR else _judge_alike(state, capture, b"", context, barred)


def _judge_alike(
    state: Memories, capture: Capture, vector: bytes, context: Context[HasMemories], barred: Seqs
) -> Match:
    """Return the match of a text in other words, by its vector under the embedder in force."""
    if context.settings.fold_cosine_hundredths < 0:
        return NEW
    compared = _indexed(state, context)[capture.family or ""]
    for birth in barred:
        compared.drop(birth)
    match = compared.judge(context.of.captures.body(capture).text, vector, context.settings.fold_cosine())
    for birth in barred:
        _offer(state, state.by_birth[birth], context.of)
    return match


def _set_apart(state: Memories, seqs: Iterable[int]) -> Seqs:
    """Return the births of memories with captures from which any of these was set apart."""
    own = dict.fromkeys(seqs)
    splits = ((split, group) for split in state.splits for group in split if any(seq in own for seq in group))
    others = (seq for split, group in splits for other in split if other is not group for seq in other)
    return tuple(dict.fromkeys(state.birth_of[seq] for seq in others if seq in state.birth_of))


def _indexed(state: Memories, context: Context[HasMemories]) -> dict[str, Candidates]:
    """Return the index under the embedder in force, made when first needed."""
    if state._index is None:
        state._embedder = context.settings.embedder
        state._index = {family: Candidates() for family in FAMILIES.values() if family not in REPLACING}
        for memory in state.living():
            _offer(state, memory, context.of)
    return state._index


def _know(state: Memories, memory: Memory, member: Capture) -> None:
    state.birth_of[member.seq] = memory.birth
    if member.family and not memory.made:
        births = state.births_of_normal.setdefault((member.family, member.normal), [])
        if memory.birth not in births:
            insort(births, memory.birth)


def _forget_texts(state: Memories, memory: Memory, of: HasMemories) -> None:
    """Let no text lead to a memory any longer."""
    for member in captures_of(of, memory.members):
        births = state.births_of_normal.get((member.family or "", member.normal), [])
        if memory.birth in births:
            births.remove(memory.birth)


def _refresh(state: Memories, memory: Memory, context: Context[HasMemories]) -> None:
    """Choose name and canonical text from the living captures, and record the changed rows."""
    by_seq = context.of.captures.by_seq
    if memory.name >= 0:
        context.touched.append(by_seq[memory.name].id)
    shown = shown_of(context.of, memory.members)
    memory.name = shown[0].seq
    memory.canonical = -1 if shown[0].hidden else max(shown, key=lambda capture: capture.rank).seq
    _note(state, memory, context)


def _note(state: Memories, memory: Memory, context: Context[HasMemories]) -> None:
    """Record a changed memory for its row, its order, and comparisons."""
    context.touched.append(context.of.captures.by_seq[memory.name].id)
    state.moved[memory.birth] = None
    _offer(state, memory, context.of)


def _offer(state: Memories, memory: Memory, of: HasMemories) -> None:
    """Add a memory's compared data to the index; nothing while it waits, or without a living capture."""
    compared = (state._index or {}).get(of.captures.by_seq[memory.birth].family or "")
    if compared is None or memory.made:
        return
    spoken = of.captures.by_seq[memory.canonical] if memory.lives else None
    vector = None if spoken is None else of.embeddings.of_text(state._embedder, spoken)
    may_fold = state._embedder == FLOOR or (vector is not None and memory.birth not in state.waiting)
    if spoken is not None and may_fold:
        compared.put(memory.birth, of.captures.body(spoken).text, memory.name, vector or b"")
    else:
        compared.drop(memory.birth)
