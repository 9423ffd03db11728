"""Validity: since when a memory holds, and its replacement. The facts' times decide, not their arrival.

Texts decide replacement (`state/text/replacements.py`), else a judge who read both (`decided`), unless a
person or agent stated it (`linked`). A memory contradicted by a less trusted one is not replaced: `conflicts`
reports it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol

import msgspec

from memtape.schemas.events import OF_MEMORIES, PEOPLE, Decided, Event, Linked, Settled, Unfolded
from memtape.schemas.rows import Change, Context
from memtape.state.subjects.captures import FAMILIES, REPLACING, TRUST, Capture, HasCaptures, entries_with
from memtape.state.subjects.memories import (
    HasMemories,
    Memory,
    ids_of,
    is_as_seen,
    memories_of,
    memory_of,
    row_of_unit,
    shown_of,
)  # fmt: skip
from memtape.state.text.reading import read
from memtape.state.text.replacements import Sharing, replaces

Tie = Literal["replaced", "in part", "contradicted"]
"""The effect of a newer memory with another value on the older memory.

The older is replaced; replaced in part, if it says more; or contradicted, if its author has more trust.
"""
OutdatedPair = tuple[int, int]
"""The seqs of the canonical texts of an older and a newer memory, as the judge saw them."""
COMPARED = 30  # Texts compared with a text at most: those with most shared words, the latest first.


class LastStatement(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The last statement about a memory, by the event `seq`, and its trust.

    `to` is a captured id of the replacement. Only people overrule a statement `settled` by people; a settled
    statement that a memory holds counts against all earlier captures.
    """

    seq: int
    relation: str
    to: str | None
    trust: int
    settled: bool = False


class Validity(msgspec.Struct, dict=True, array_like=True):
    """The ties between memories, by the seqs of their births.

    `newer` has by older memory those with another value of the same thing, and the kind of each tie. `said`
    has the last statement about a captured id. `outdated` has the pairs in force: the canonical texts of
    an older and a newer memory, by seq. The rest follows from these and the memories: `current` is the
    goal and the plan in force; `older` is the inverse of `newer`, and `replacing` of the
    replacements in `said`; `judged` has by memory the canonical text of its last comparison; `naming` has by
    the seq of a text its pairs.
    """

    newer: dict[int, dict[int, Tie]] = {}
    said: dict[str, LastStatement] = {}
    outdated: dict[OutdatedPair, None] = {}

    def __post_init__(self) -> None:
        self.naming: dict[int, dict[OutdatedPair, None]] = {}
        for pair in self.outdated:
            self.put(pair)
        self.current: dict[str, int] = {}
        self.older: dict[int, dict[int, None]] = {}
        self.replacing: dict[str, dict[str, None]] = {}
        self.judged: dict[int, int] = {}
        self._sharing: dict[str, Sharing] | None = None

    def put(self, pair: OutdatedPair) -> None:
        """Store an outdated pair."""
        self.outdated[pair] = None
        for seq in pair:
            self.naming.setdefault(seq, {})[pair] = None

    def end(self, pair: OutdatedPair) -> None:
        """Remove an outdated pair."""
        del self.outdated[pair]
        for seq in pair:
            del self.naming[seq][pair]


class HasValidity(HasMemories, Protocol):
    """A scope with the subjects needed to know whether a memory holds."""

    validity: Validity


def successor(of: HasValidity, memory: Memory) -> Memory | None:
    """Return the first memory that replaced a memory, None for a memory that holds."""
    state = of.validity
    if not (state.newer or state.said):
        return None
    said = _said_of(of, memory)
    if said is not None and said.to is not None:
        return memory_of(of, said.to)
    return _first(of, memory, "replaced", said)


def outdated(of: HasValidity, memory: Memory) -> Memory | None:
    """Return the memory that replaced a part of a valid memory; None for none."""
    if not of.validity.newer:
        return None
    return _first(of, memory, "in part", _said_of(of, memory))


def _first(of: HasValidity, memory: Memory, tie: Tie, said: LastStatement | None) -> Memory | None:
    """Return the first memory with a tie to an older memory and not itself replaced by the older one.

    `said` is the last statement that the older memory holds. It overrules all ties, or, from an answer to a
    conflict, the ties known at the time of the answer.
    """
    if said is not None and not said.settled:
        return None
    ties = of.validity.newer.get(memory.birth, {})
    known = -1 if said is None else said.seq
    others = _living(of, (birth for birth, its in ties.items() if its == tie and birth > known))
    words = ((other, _said_of(of, other)) for other in others)
    found = [it for it, word in words if not (word and word.to and memory_of(of, word.to) is memory)]
    return min(found, key=lambda other: _when(of, other), default=None)


def predecessors(of: HasValidity, memory: Memory) -> list[Memory]:
    """Return the memories that a memory replaced, latest first."""
    state = of.validity
    births = dict.fromkeys(state.older.get(memory.birth, ()))
    for own in ids_of(of, memory.joins) if state.replacing else ():
        births |= dict.fromkeys(it.birth for it in memories_of(of, state.replacing.get(own, ())))
    found = [it for it in _living(of, births) if successor(of, it) is memory]
    return sorted(found, key=lambda it: _when(of, it), reverse=True)


def contradicted(of: HasValidity, memory: Memory) -> Memory | None:
    """Return the latest valid memory with more trust and another value of the same thing."""
    state = of.validity
    older = state.older.get(memory.birth, ())
    found = _living(of, (it for it in older if state.newer[it][memory.birth] == "contradicted"))
    word = _said_of(of, memory) if found else None
    stronger = [] if word is not None and word.to is None else [it for it in found if holds(of, it)]
    return max(stronger, key=lambda it: _when(of, it), default=None)


def _living(of: HasMemories, births: Iterable[int]) -> list[Memory]:
    return [memory for memory in of.memories.at(births) if memory.lives]


def ties_of(state: Validity, birth: int) -> tuple[int, ...]:
    """Return the births of the memories with another value of the same thing."""
    return (*state.newer.get(birth, ()), *state.older.get(birth, ()))


def valid_from(of: HasValidity, memory: Memory) -> int:
    """Return the time from which a memory holds, in microseconds: its first capture after another value.

    A text repeated without another value between has held all the time. For a memory without a living capture
    it is the time of its name.
    """
    by_seq = of.captures.by_seq
    if not memory.lives:
        return by_seq[memory.name].at
    others, spoken = _living(of, ties_of(of.validity, memory.birth)), by_seq[memory.canonical].at
    before = max((at for it in others if (at := by_seq[it.canonical].at) < spoken), default=None)
    said = shown_of(of, memory.members)
    return min((it.at for it in said if before is None or before < it.at <= spoken), default=spoken)


def held(of: HasValidity, memory: Memory) -> list[tuple[int, int]]:
    """Return the earlier periods in which a memory held, half open, earliest first.

    Each begins at a capture of the memory, and ends at a later capture of a memory it replaced since, or was
    replaced by.
    """
    state = of.validity
    if not memory.lives or len(memory.members) < 2:
        return []
    older = [it for it in state.older.get(memory.birth, ()) if state.newer[it][memory.birth] == "replaced"]
    newer = [it for it, tie in state.newer.get(memory.birth, {}).items() if tie == "replaced"]
    both = (memory, *_living(of, (*older, *newer)))
    shown = ((it, said) for it in both for said in shown_of(of, it.members))
    found, since, until = list[tuple[int, int]](), None, valid_from(of, memory)
    for at, is_other in sorted((said.at, it is not memory) for it, said in shown if said.at <= until):
        if since is None and not is_other:
            since = at
        elif since is not None and is_other:
            found += [(since, at)] if since < at else []
            since = None
    return found


def holds(of: HasValidity, memory: Memory) -> bool:
    """Return whether nothing replaced a memory."""
    return successor(of, memory) is None


def is_told(of: HasValidity, memory: Memory, beside: Memory) -> bool:
    """Return whether a stated validity of a memory counts beside another memory."""
    said = _said_of(of, memory)
    return said is not None and not (said.settled and said.to is None and beside.birth > said.seq)


def evolve(state: Validity, event: Event, context: Context[HasValidity]) -> list[Change]:
    """Compare memories with a new text, apply statements about memories, and return the changed rows."""
    of, touched, trust = context.of, dict[int, None](), TRUST[event.actor.origin]
    match event.body:
        case Linked(id=id, relation=relation, to=to, on=on) if relation in OF_MEMORIES:
            before = state.said.get(id)
            if before is None or not before.settled or trust >= TRUST["user"]:
                word = LastStatement(context.seq, relation, to, trust) if on else None
                _put_word(state, id, word, of, touched)
        case Settled() as answer if event.actor.origin in PEOPLE:
            _answer(state, answer, context, touched)
        case Decided(inputs=inputs, reason=None) as decided if inputs:
            _judge(state, decided, context, touched)
        case Unfolded(ids=ids) if state.outdated:
            ended = [it for memory in memories_of(of, ids) for it in _pairs_of(state, memory)]
            for pair in dict.fromkeys(ended):
                _end(state, pair, of, touched)
    births = [memory.birth for memory in memories_of(of, context.touched)]
    _look_again(state, dict.fromkeys((*context.gone, *births)), of, touched)
    for memory in of.memories.at(births) if state.outdated else ():
        for pair in _pairs_of(state, memory):
            _apply(state, pair, of, touched)
    for birth in births if state.said else ():  # The memories named in statements about it are touched too.
        for own in ids_of(of, of.memories.by_birth[birth].joins):
            told = state.said.get(own)
            named = () if told is None or told.to is None else (told.to,)
            for other in memories_of(of, (*named, *state.replacing.get(own, ()))):
                _touch(state, other.birth, touched)
    families = [of.captures.by_seq[birth].family for birth in (*touched, *births)]
    for family in REPLACING:
        if family in families:
            _choose_current(state, family, of, touched)
    found = of.memories.at(touched)
    # Daily logs mark replaced entries.
    seqs = (join.seq for memory in found for join in memory.joins)
    entries = dict.fromkeys(id for seq in seqs for id in entries_with(of, seq))
    changes = [row_of_unit(context.scope, of, memory.birth) for memory in found]
    return changes + [Change("journal", context.scope, id) for id in entries]


def rebuild(state: Validity, of: HasValidity) -> None:
    """Make the parts that follow from the ties, the statements and the memories."""
    for birth, others in state.newer.items():
        for other in others:
            state.older.setdefault(other, {})[birth] = None
    for id, word in state.said.items():
        _say(state, id, word)
    spoken = ((birth, _spoken(of, birth)) for birth in of.memories.by_birth)
    state.judged = {birth: canonical for birth, canonical in spoken if canonical is not None}
    for family in REPLACING:
        _choose_current(state, family, of, {})


# --- Statements about memories ---


def _answer(
    state: Validity, answer: Settled, context: Context[HasValidity], touched: dict[int, None]
) -> None:  # fmt: skip
    """Let kept memories hold, and any other be replaced by a kept one; with none kept, forget the answer."""
    for id in answer.ids:
        word = None
        if answer.keep:
            relation, to = ("holds", None) if id in answer.keep else ("replaced_by", answer.keep[0])
            word = LastStatement(context.seq, relation, to, TRUST["operator"], settled=True)
        elif id not in state.said or not state.said[id].settled:
            continue
        _put_word(state, id, word, context.of, touched)


def _put_word(
    state: Validity, id: str, word: LastStatement | None, of: HasValidity, touched: dict[int, None]
) -> None:  # fmt: skip
    before = state.said.pop(id, None)
    if before is not None and before.to is not None:
        state.replacing[before.to].pop(id)
    if word is not None:
        _say(state, id, word)
    others = (said.to for said in (word, before) if said is not None)
    for memory in memories_of(of, (id, *filter(None, others))):
        _touch(state, memory.birth, touched)


def _say(state: Validity, id: str, word: LastStatement) -> None:
    state.said[id] = word
    if word.to is not None:
        state.replacing.setdefault(word.to, {})[id] = None


def _said_of(of: HasValidity, memory: Memory) -> LastStatement | None:
    """Return the last statement about a memory by an actor with at least the trust of the memory's author.

    A statement that another memory replaced it counts while the other lives and no later statement reverses
    the two.
    """
    known = of.validity.said
    if not known or not memory.lives:
        return None
    found = _words(of, memory)
    if any(word.settled for word in found):
        found = [word for word in found if word.trust >= TRUST["user"]]
    for word in sorted(found, key=lambda word: -word.seq):
        other = None if word.to is None else memory_of(of, word.to)
        if word.to is None:
            return word
        if other is None or other is memory or not other.lives:
            continue
        least = TRUST["user"] if word.settled else 0
        later = (it for it in _words(of, other) if it.seq > word.seq and it.trust >= least)
        if not any(it.to is not None and memory_of(of, it.to) is memory for it in later):
            return word
    return None


def _words(of: HasValidity, memory: Memory) -> list[LastStatement]:
    """Return the last statements about a living memory's captures, by actors with at least its trust."""
    said, least = of.validity.said, _trust(of.captures.by_seq[memory.canonical])
    return [said[id] for id in ids_of(of, memory.joins) if id in said and said[id].trust >= least]


# --- Conclusions from the texts ---


def _look_again(state: Validity, births: Iterable[int], of: HasValidity, touched: dict[int, None]) -> None:
    """Compare memories with a new canonical text; forget the ties of memories without one."""
    spoken = {birth: _spoken(of, birth) for birth in births}
    anew = {birth: canonical for birth, canonical in spoken.items() if canonical != state.judged.get(birth)}
    for birth in spoken:
        _touch(state, birth, touched)
    for birth in anew:
        if state.judged.pop(birth, None) is None:
            continue
        if state._sharing is not None:
            state._sharing[of.captures.by_seq[birth].family or ""].drop(birth)
        _drop_ties(state, birth, ties_of(state, birth))
    compared = {birth: canonical for birth, canonical in anew.items() if canonical is not None}
    state.judged |= compared
    if state._sharing is not None:
        _share(state._sharing, compared, of)
    for birth in compared:
        _compare(state, of.memories.by_birth[birth], of)
        _touch(state, birth, touched)


def _spoken(of: HasMemories, birth: int) -> int | None:
    """Return the canonical text of a comparable memory, None for any other memory.

    A part of a document, and a consolidation's text, are compared with none.
    """
    memory = of.memories.by_birth.get(birth)
    if memory is None or not memory.lives or memory.made or of.captures.by_seq[birth].family is None:
        return None
    return memory.canonical


def _touch(state: Validity, birth: int, touched: dict[int, None]) -> None:
    """Touch a memory, its ties, and the ties of its ties, since their rows depend on each other."""
    near = ties_of(state, birth)
    touched |= dict.fromkeys((birth, *near, *(far for other in near for far in ties_of(state, other))))


def _compare(state: Validity, memory: Memory, of: HasValidity) -> None:
    """Tie a memory to the memories with another value of the same thing."""
    own = of.captures.by_seq[memory.canonical]
    for near in _living(of, _sharing_of(state, own.family or "", of).near(memory.birth, COMPARED)):
        _tie(state, memory, near, of)


def _tie(state: Validity, memory: Memory, near: Memory, of: HasValidity) -> None:
    """Tie two memories where the text of one replaces the text of the other."""
    older, newer = sorted((memory, near), key=lambda it: _when(of, it))
    first, second = (of.captures.by_seq[it.canonical] for it in (older, newer))
    # Two homes may have two keys, under which one secret has two placeholders.
    found = replaces(read(of.captures.body(first).text), read(of.captures.body(second).text))
    if found is not None:
        _put_tie(state, older, newer, "replaced" if found.whole else "in part", of)


def _put_tie(state: Validity, older: Memory, newer: Memory, tie: Tie, of: HasValidity) -> None:
    first, second = (of.captures.by_seq[it.canonical] for it in (older, newer))
    is_weaker = _trust(second) < _trust(first)
    state.newer.setdefault(older.birth, {})[newer.birth] = "contradicted" if is_weaker else tie
    state.older.setdefault(newer.birth, {})[older.birth] = None


def _drop_ties(state: Validity, birth: int, others: Iterable[int]) -> None:
    for other in others:
        for older, newer in ((birth, other), (other, birth)):
            if newer in state.newer.get(older, ()):
                del state.newer[older][newer], state.older[newer][older]
                if not state.newer[older]:
                    del state.newer[older]


# --- Outdated pairs ---


def _judge(
    state: Validity, decided: Decided, context: Context[HasValidity], touched: dict[int, None]
) -> None:
    """Apply a decision that outdates memories, or sets them apart; it ends earlier pairs of theirs."""
    of, seqs = context.of, {input.id: input.seq for input in decided.inputs}
    if any(operation.op != "outdate" for operation in decided.operations):
        return
    if not all(is_as_seen(of, input) for input in decided.inputs):
        context.dropped += [tuple(seqs)] if decided.operations else []
        return
    memories = memories_of(of, seqs)
    births = [memory.birth for memory in memories]
    known = dict.fromkeys(it for memory in memories for it in _pairs_of(state, memory))
    for pair in known:
        if all(of.memories.birth_of.get(seq) in births for seq in pair):
            _end(state, pair, of, touched)
    for operation in decided.operations:
        for pair in ((seqs[id], seqs[operation.by]) for id in operation.ids):
            if _stands(of, pair):
                state.put(pair)
                _apply(state, pair, of, touched)


def _pairs_of(state: Validity, memory: Memory) -> list[OutdatedPair]:
    return [pair for join in memory.joins for pair in state.naming.get(join.seq, ())]


def _stands(of: HasValidity, pair: OutdatedPair) -> bool:
    """Return whether the older text is canonical as it was, and the newer one in the same words."""
    by_seq, memories = of.captures.by_seq, of.memories
    older, newer = memories.of(pair[0]), memories.of(pair[1])
    if older is None or newer is None or older is newer or older.canonical != pair[0]:
        return False
    if _spoken(of, older.birth) is None or _spoken(of, newer.birth) is None:
        return False
    now = by_seq[newer.canonical]
    return by_seq[older.canonical].family == now.family and now.normal == by_seq[pair[1]].normal


def _apply(state: Validity, pair: OutdatedPair, of: HasValidity, touched: dict[int, None]) -> None:
    """Tie the memories of an outdated pair that stands, unless their texts tie them; end any other."""
    if not _stands(of, pair):
        _end(state, pair, of, touched)
        return
    older, newer = (of.memories.by_birth[of.memories.birth_of[seq]] for seq in pair)
    if newer.birth not in ties_of(state, older.birth):
        _put_tie(state, older, newer, "replaced", of)
        _touch(state, older.birth, touched)


def _end(state: Validity, pair: OutdatedPair, of: HasValidity, touched: dict[int, None]) -> None:
    """End an outdated pair; the texts of both memories decide again."""
    state.end(pair)
    one, other = (of.memories.of(seq) for seq in pair)
    if one is None or other is None or one is other:
        return
    _touch(state, one.birth, touched)
    _drop_ties(state, one.birth, (other.birth,))
    if _spoken(of, one.birth) is not None and _spoken(of, other.birth) is not None:
        _tie(state, one, other, of)


def _sharing_of(state: Validity, family: str, of: HasValidity) -> Sharing:
    """Return the texts of a family, taken in when first needed, after a start and a restore alike."""
    if state._sharing is None:
        state._sharing = {family: Sharing() for family in FAMILIES.values()}
        _share(state._sharing, state.judged, of)
    return state._sharing[family]


def _share(sharing: dict[str, Sharing], judged: dict[int, int], of: HasCaptures) -> None:
    for birth, canonical in judged.items():
        said = of.captures.by_seq[canonical]
        sharing[said.family or ""].put(birth, read(of.captures.body(said).text))


def _trust(capture: Capture) -> int:
    return TRUST[capture.actor.origin]


def _when(of: HasCaptures, memory: Memory) -> tuple[int, int]:
    said = of.captures.by_seq[memory.canonical if memory.lives else memory.name]
    return said.at, said.seq


def _choose_current(state: Validity, family: str, of: HasValidity, touched: dict[int, None]) -> None:
    """Set the goal or plan in force: the last that holds and contradicts no memory with more trust.

    One stated to hold comes last, then one stated by a person, then by time and seq.
    """
    births = (birth for birth in state.judged if of.captures.by_seq[birth].family == family)
    last: dict[int, tuple[bool, bool, int, int]] = {}
    for aim in (of.memories.by_birth[birth] for birth in births):
        if aim.lives and holds(of, aim) and contradicted(of, aim) is None:
            word, shown = _said_of(of, aim), shown_of(of, aim.members)
            said = max((it.actor.origin in PEOPLE, it.at, it.seq) for it in shown)
            last[aim.birth] = word is not None and word.to is None, *said
    before, after = state.current.get(family), max(last, key=lambda birth: last[birth], default=None)
    if after is None:
        state.current.pop(family, None)
    else:
        state.current[family] = after
    if before != after:
        touched |= {birth: None for birth in (before, after) if birth is not None}
