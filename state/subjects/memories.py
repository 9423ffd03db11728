"""Memories: sets of captures, the name of each, and the choice of its canonical text.

A memory is a set of captures, known inside by the seq of its first (`birth`), which never changes, and
outside by its name: its earliest living capture. Folding changes membership and nothing else.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import msgspec

from memtape.schemas.embedding import FLOOR
from memtape.schemas.events import Captured, Edited, Embedded, Event, Forgotten, Linked, Restored, Unfolded, Withdrawn
from memtape.schemas.rows import Change
from memtape.schemas.settings import Settings
from memtape.state.core.context import Context
from memtape.state.fold.candidates import NEW, WAITING, Candidates, How, Verdict, judge_same
from memtape.state.subjects import recalls as recalls_state
from memtape.state.subjects.captures import FAMILIES, REPLACING, Capture
from memtape.state.subjects.embeddings import HasEmbeddings
from memtape.state.subjects.recalls import Recalls


class Join(msgspec.Struct, frozen=True, gc=False):
    """A capture's tie to a memory: how it was judged and how similar, in ten-thousandths."""

    seq: int
    how: How
    similarity: int


class Memory(msgspec.Struct):
    """One memory. `name` and `canonical` are seqs derived from living captures; canonical is -1 without any."""

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


Split = tuple[tuple[int, ...], ...]
"""The captures of a split memory, by seq, in the groups of the split."""


class _Index:
    """The index for comparing new texts: the living memories of each folding family, under one embedder.

    It follows from the memories, their captures and the vectors, so that no snapshot holds it; it decides
    nothing.
    """

    def __init__(self, embedder: str) -> None:
        families = [family for family in dict.fromkeys(FAMILIES.values()) if family not in REPLACING]
        self.embedder = embedder
        self.of_family = {family: Candidates() for family in families}


class Memories(msgspec.Struct, dict=True, array_like=True):
    """The memories of a scope in the order of their births.

    `alive` counts the visible ones. `moved` are the births of new, removed or changed ones, until `leading`
    reads them. `gone` are the births that an event removes, because they merge with others. `waiting` are
    memories by themselves until their first vector, each with the seqs shown to its session at its capture.
    `splits` are those by people, in the order of the log: captures of two groups never fold together again.
    """

    by_birth: dict[int, Memory] = {}
    waiting: dict[int, tuple[int, ...]] = {}
    splits: list[Split] = []

    def __post_init__(self) -> None:
        self.birth_of: dict[int, int] = {}
        self.births_of_normal: dict[tuple[str, bytes], list[int]] = {}
        self.gone: list[int] = []
        self.moved: dict[int, None] = {}
        self._alive: dict[int, None] = {}
        self._index: _Index | None = None

    def clear(self) -> None:
        """Remove every capture from its memory, before refolding."""
        self.by_birth, self.waiting = {}, {}
        self.__post_init__()

    @property
    def alive(self) -> int:
        """How many memories have something visible."""
        return len(self._alive)

    def of(self, seq: int) -> Memory | None:
        """Return the memory of a capture, None for a turn."""
        birth = self.birth_of.get(seq)
        return None if birth is None else self.by_birth[birth]

    def name_of(self, birth: int) -> int:
        """Return the seq of a memory's name."""
        return self.by_birth[birth].name

    def living(self) -> Iterator[Memory]:
        """Yield the memories with a visible capture, in the order of their births."""
        return (memory for memory in self.by_birth.values() if memory.canonical >= 0)


class HasMemories(HasEmbeddings, Protocol):
    """A scope seen through its memories and the subjects before."""

    recalls: Recalls
    memories: Memories


def memory_of(of: HasMemories, id: str) -> Memory | None:
    """Return the memory that a captured id resolves to, None for none."""
    capture = of.captures.get(id)
    return None if capture is None else of.memories.of(capture.seq)


def evolve(state: Memories, event: Event, context: Context[HasMemories]) -> list[Change]:
    """Fold a capture, judge memories waiting for a vector, split unfolded ones, and apply hiding and showing.

    Returns the changed memory rows, those of given-up names included.
    """
    of, names = context.of, list[str]()
    match event.body:
        case Captured(kind=kind):
            capture = of.captures.by_seq[context.seq]
            if capture.made:
                _stand_alone(state, capture, of, names)
            elif kind != "turn":
                _join(state, capture, of, context.settings, names)
            _follow(state, (seq for seq in context.flipped if seq != capture.seq), of, names)
        case Forgotten() | Restored() | Withdrawn() | Edited() | Linked():
            _follow(state, context.flipped, of, names)
        case Embedded(embedder=embedder) if context.embedded is not None and embedder == context.settings.embedder:
            _follow(state, context.flipped, of, names)
            _compare(state, of.captures.by_seq[context.embedded], of, context.settings, names)
        case Unfolded(ids=ids):
            _unfold(state, ids, of, names)
        case _:
            pass
    context.touched = names
    context.gone, state.gone = state.gone, []
    return [Change("memories", context.scope, name) for name in names]


def _follow(state: Memories, flipped: Iterable[int], of: HasMemories, changes: list[str]) -> None:
    """Choose names and canonical texts after captures were hidden or shown."""
    for memory in map(state.of, flipped):
        if memory is not None:
            _refresh(state, memory, of, changes)


def _compare(state: Memories, capture: Capture, of: HasMemories, settings: Settings, changes: list[str]) -> None:
    """Record a capture's first vector by the embedder in force, and judge the memory waiting for it."""
    memory = state.of(capture.seq)
    vector = of.embeddings.of_text(settings.embedder, capture)
    if memory is None or vector is None:
        return
    _indexed(state, of, settings.embedder)
    for birth in state.births_of_normal.get((capture.family or "", capture.normal), ()):
        _offer(state, state.by_birth[birth], of)
    shown = state.waiting.pop(memory.birth, None)
    if shown is None:
        return
    barred = _set_apart(state, (join.seq for join in memory.joins))
    verdict = _judge_by_vector(state, capture, vector, of, settings, barred)
    if verdict.how == "similar":
        _absorb(state, memory, state.by_birth[verdict.birth], verdict, shown, of, changes)
        return
    _offer(state, memory, of)


def take_up(state: Memories, of: HasMemories, embedder: str) -> None:
    """Switch comparisons to an embedder. Folded memories stay; a text with a vector no longer waits."""
    state._index = None
    for birth in list(state.waiting):
        if of.embeddings.of_text(embedder, of.captures.by_seq[birth]) is not None:
            del state.waiting[birth]  # Nothing more will come for it, so it goes on standing by itself.


def _unfold(state: Memories, ids: Iterable[str], of: HasMemories, changes: list[str]) -> None:
    """Make each of these captures a memory of its own; the rest of their memories stays together.

    Echoes stay with the first capture.
    """
    named = dict.fromkeys(capture.seq for capture in map(of.captures.get, ids) if capture is not None)
    births = dict.fromkeys(state.birth_of[seq] for seq in named if seq in state.birth_of)
    for birth in births:
        state.waiting.pop(birth, None)
        memory = state.by_birth[birth]
        rest = [join for join in memory.members if join.seq not in named]
        alone = [[join] for join in memory.members if join.seq in named]
        groups = sorted((group for group in (rest, *alone) if group), key=lambda group: group[0].seq)
        if len(groups) > 1:
            state.splits.append(tuple(tuple(join.seq for join in group) for group in groups))
            _split(state, memory, groups, of, changes)
        else:
            _offer(state, memory, of)  # It may have waited until now.


def refold(state: Memories, context: Context[HasMemories]) -> list[Change]:
    """Judge all captures again, as if all had been said under the settings in force; return the rows that differ.

    Captures set apart never fold together again. An echo stays an echo in its new memory, and a
    consolidation's text stands alone. A hidden text is compared only with its own text, as always.
    """
    of, settings, names = context.of, context.settings, list[str]()
    before, waited = _standing(state, of), dict(state.waiting)
    ties = (join for memory in state.by_birth.values() for join in memory.joins)
    echoes = {join.seq: None for join in ties if join.how == "echo"}
    births = dict.fromkeys(state.by_birth)
    moved = state.moved | births
    state.clear()
    state.moved |= moved
    captures = [of.captures.by_seq[seq] for seq in of.captures.ordinals]
    for capture in captures:
        if capture.made:
            _stand_alone(state, capture, of, names)
        else:
            verdict = _judge_anew(state, capture, of, settings)
            shown, echoed = waited.get(capture.seq, ()), capture.seq in echoes
            _place(state, capture, verdict, shown, of, names, echoed=echoed)
    after = _standing(state, of)
    context.gone, state.gone = [birth for birth in births if birth not in state.by_birth], []
    context.touched = [name for name in before | after if before.get(name) != after.get(name)]
    return [Change("memories", context.scope, name) for name in context.touched]


def _judge_anew(state: Memories, capture: Capture, of: HasMemories, settings: Settings) -> Verdict:
    """Judge a capture without a memory, by its vector if the vector exists."""
    barred = _set_apart(state, (capture.seq,))
    verdict = _judge(state, capture, of, settings, barred)
    vector = of.embeddings.of_text(settings.embedder, capture)
    if verdict == WAITING and vector is not None:
        return _judge_by_vector(state, capture, vector, of, settings, barred)
    return verdict


def _standing(state: Memories, of: HasMemories) -> dict[str, tuple[Any, ...]]:
    """Return by memory name the inputs of the memory's row: members, echoes and canonical text."""
    by_seq = of.captures.by_seq
    standing: dict[str, tuple[Any, ...]] = {}
    for memory in state.by_birth.values():
        standing[by_seq[memory.name].id] = tuple(memory.members), tuple(memory.echoes), memory.canonical
    return standing


def rebuild(state: Memories, of: HasMemories) -> None:
    """Make the parts that follow from the memories and their captures."""
    for memory in state.by_birth.values():
        for join in memory.members:
            _know(state, memory, of.captures.by_seq[join.seq])
        for join in memory.echoes:
            state.birth_of[join.seq] = memory.birth
        _rank(state, memory)


def digest(state: Memories, of: HasMemories) -> Iterator[Any]:
    """Yield the content of the state hash: memories with their ties, waiting ones, and splits."""
    by_seq = of.captures.by_seq

    def ties(joins: Iterable[Join]) -> list[tuple[str, str, int]]:
        return [(by_seq[join.seq].id, join.how, join.similarity) for join in joins]

    for memory in state.by_birth.values():
        spoken = by_seq[memory.canonical].id if memory.canonical >= 0 else None
        yield by_seq[memory.name].id, spoken, ties(memory.members), ties(memory.echoes)
    for birth, shown in sorted(state.waiting.items()):
        yield "waiting", by_seq[birth].id, [by_seq[seq].id for seq in shown]
    for split in state.splits:
        yield "apart", [[by_seq[seq].id for seq in group] for group in split]


def _join(state: Memories, capture: Capture, of: HasMemories, settings: Settings, changes: list[str]) -> None:
    verdict = _judge(state, capture, of, settings, ())
    _place(state, capture, verdict, recalls_state.shown(of.recalls, capture, settings), of, changes)


def _place(
    state: Memories,
    capture: Capture,
    verdict: Verdict,
    shown: tuple[int, ...],
    of: HasMemories,
    changes: list[str],
    *,
    echoed: bool = False,
) -> None:
    """Add a capture to the memory of a verdict, or make it a memory of its own."""
    if verdict.how in ("same", "similar"):
        memory = state.by_birth[verdict.birth]
        known = (join.seq for joins in (memory.members, memory.echoes) for join in joins)
        if echoed or not set(shown).isdisjoint(known):
            memory.echoes.append(Join(capture.seq, "echo", verdict.similarity))
            state.birth_of[capture.seq] = memory.birth
            changes.append(of.captures.by_seq[memory.name].id)
            return
        memory.members.append(Join(capture.seq, verdict.how, verdict.similarity))
    else:
        # An echo stays an echo, even without a memory to fold with.
        founder = Join(capture.seq, "echo" if echoed else "new", verdict.similarity)
        memory = Memory(capture.seq, [founder], [])
        state.by_birth[memory.birth] = memory
        if verdict.how == "waiting":
            state.waiting[capture.seq] = shown
    _know(state, memory, capture)
    if capture.hidden or memory.canonical < 0:
        _refresh(state, memory, of, changes)
    else:  # The usual case of a memory that lives and grows, whose other members need no second look.
        memory.canonical = max(memory.canonical, capture.seq, key=lambda seq: of.captures.by_seq[seq].rank)
        changes.append(of.captures.by_seq[memory.name].id)
        _offer(state, memory, of)
        _rank(state, memory)


def _stand_alone(state: Memories, text: Capture, of: HasMemories, changes: list[str]) -> None:
    """Make a consolidation's text a memory compared with none, so that it can end like any memory."""
    memory = Memory(text.seq, [Join(text.seq, "decided", 0)], [])
    state.by_birth[memory.birth] = memory
    _know(state, memory, text)
    _refresh(state, memory, of, changes)


def _judge(state: Memories, capture: Capture, of: HasMemories, settings: Settings, barred: Sequence[int]) -> Verdict:
    """Return the verdict on a text by its words; `barred` are the births of memories that it may not join."""
    family = capture.family
    if family is None or settings.fold_cosine_hundredths < 0:
        return NEW
    same = state.births_of_normal.get((family, capture.normal), ())
    allowed = [birth for birth in same if birth not in barred]
    if allowed:
        return judge_same(allowed, state.name_of)
    if family in REPLACING:
        return NEW
    if settings.embedder != FLOOR:
        return WAITING
    index, text = _indexed(state, of, FLOOR), of.captures.body(capture).text
    return _without(state, barred, of, lambda: index.of_family[family].judge(text))


def _judge_by_vector(
    state: Memories, capture: Capture, vector: bytes, of: HasMemories, settings: Settings, barred: Sequence[int]
) -> Verdict:
    """Return the verdict on a text by its vector under the embedder that decides; `barred` as for `judge`."""
    if settings.fold_cosine_hundredths < 0:
        return NEW
    candidates = _indexed(state, of, settings.embedder).of_family[capture.family or ""]
    text = of.captures.body(capture).text
    return _without(state, barred, of, lambda: candidates.judge(text, vector, settings.fold_cosine()))


def _set_apart(state: Memories, seqs: Iterable[int]) -> list[int]:
    """Return the births of memories with captures from which any of these was set apart."""
    own = dict.fromkeys(seqs)
    splits = ((split, group) for split in state.splits for group in split if any(seq in own for seq in group))
    others = (seq for split, group in splits for other in split if other is not group for seq in other)
    return list(dict.fromkeys(state.birth_of[seq] for seq in others if seq in state.birth_of))


def _without(state: Memories, barred: Sequence[int], of: HasMemories, judge: Callable[[], Verdict]) -> Verdict:
    """Return a verdict without these memories as candidates."""
    for birth in barred:
        _withdraw(state, state.by_birth[birth], of)
    verdict = judge()
    for birth in barred:
        _offer(state, state.by_birth[birth], of)
    return verdict


def _indexed(state: Memories, of: HasMemories, embedder: str) -> _Index:
    """Return the index under the embedder in force. It is made when first needed, after a start and a restore alike."""
    if state._index is None:
        state._index = _Index(embedder)
        for memory in state.living():
            _offer(state, memory, of)
    return state._index


def _absorb(
    state: Memories,
    waited: Memory,
    other: Memory,
    verdict: Verdict,
    shown: tuple[int, ...],
    of: HasMemories,
    changes: list[str],
) -> None:
    """Merge a waiting memory with the memory of equal content; the earlier birth stays."""
    early, late = (waited, other) if waited.birth < other.birth else (other, waited)
    known = (join.seq for joins in (other.members, other.echoes) for join in joins)
    echo = late is waited and (late.members[0].how == "echo" or not set(shown).isdisjoint(known))
    founder = Join(late.birth, "echo" if echo else verdict.how, verdict.similarity)
    joined = [founder if join.seq == late.birth else join for join in late.members]
    changes.append(of.captures.by_seq[late.name].id)
    _remove(state, late, of)
    echoes = [*late.echoes, *(join for join in joined if join.how == "echo")]
    joined = [join for join in joined if join.how != "echo"]
    for join in joined:
        _know(state, early, of.captures.by_seq[join.seq])
    for join in echoes:
        state.birth_of[join.seq] = early.birth
    early.members = sorted((*early.members, *joined), key=lambda join: join.seq)
    early.echoes = sorted((*early.echoes, *echoes), key=lambda join: join.seq)
    _refresh(state, early, of, changes)


def _remove(state: Memories, memory: Memory, of: HasMemories) -> None:
    """Remove a memory from every index by birth."""
    del state.by_birth[memory.birth]
    state.gone.append(memory.birth)
    for join in memory.members:
        member = of.captures.by_seq[join.seq]
        births = state.births_of_normal.get((member.family or "", member.normal), [])
        if memory.birth in births:
            births.remove(memory.birth)
    _withdraw(state, memory, of)
    _unrank(state, memory)


def _split(state: Memories, memory: Memory, groups: list[list[Join]], of: HasMemories, changes: list[str]) -> None:
    """Keep the first group, which holds the birth, as the memory, and make a memory of each further group."""
    for join in memory.members:
        member = of.captures.by_seq[join.seq]
        births = state.births_of_normal.get((member.family or "", member.normal), [])
        if memory.birth in births:
            births.remove(memory.birth)
    memory.members = groups[0]
    made = []
    for group in groups[1:]:
        birth = group[0].seq
        made.append(Memory(birth, [Join(join.seq, "unfolded", 0) for join in group], [], name=birth))
        state.by_birth[birth] = made[-1]
    for part in (memory, *made):
        for join in part.members:
            _know(state, part, of.captures.by_seq[join.seq])
        _refresh(state, part, of, changes)


def _know(state: Memories, memory: Memory, member: Capture) -> None:
    state.birth_of[member.seq] = memory.birth
    if member.family and not memory.made:
        births = state.births_of_normal.setdefault((member.family, member.normal), [])
        if memory.birth not in births:
            insort(births, memory.birth)


def _refresh(state: Memories, memory: Memory, of: HasMemories, changes: list[str]) -> None:
    """Choose name and canonical text from the living captures, and record the changed rows."""
    if memory.name >= 0:
        changes.append(of.captures.by_seq[memory.name].id)
    members = [of.captures.by_seq[join.seq] for join in memory.members]
    living = [capture for capture in members if not capture.hidden]
    memory.name = (living or members)[0].seq
    memory.canonical = max(living, key=lambda capture: capture.rank).seq if living else -1
    changes.append(of.captures.by_seq[memory.name].id)
    _offer(state, memory, of)
    _rank(state, memory)


def _offer(state: Memories, memory: Memory, of: HasMemories) -> None:
    """Add a memory's compared data to the index; nothing while it waits, or without a living capture."""
    index, family = state._index, of.captures.by_seq[memory.birth].family or ""
    if index is None or memory.made:
        return
    spoken = of.captures.by_seq[memory.canonical] if memory.canonical >= 0 else None
    vector = None if spoken is None else of.embeddings.of_text(index.embedder, spoken)
    may_fold = index.embedder == FLOOR or (vector is not None and memory.birth not in state.waiting)
    if spoken is not None and may_fold and family in index.of_family:
        index.of_family[family].put(memory.birth, of.captures.body(spoken).text, memory.name, vector or b"")
    else:
        _withdraw(state, memory, of)


def _withdraw(state: Memories, memory: Memory, of: HasMemories) -> None:
    """Take a memory out of the index."""
    family = of.captures.by_seq[memory.birth].family or ""
    if state._index is not None and family in state._index.of_family:
        state._index.of_family[family].drop(memory.birth)


def _rank(state: Memories, memory: Memory) -> None:
    """Record a changed memory, and update the count of visible ones."""
    _unrank(state, memory)
    if memory.canonical >= 0:
        state._alive[memory.birth] = None


def _unrank(state: Memories, memory: Memory) -> None:
    state.moved[memory.birth] = None
    state._alive.pop(memory.birth, None)
