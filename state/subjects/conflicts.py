"""Conflicts: pairs of memories with different values of one thing; people are asked which one holds.

A pair is asked about once ever, and only if both sides were affirmed since both are known, if the less
trusted side would win, if a model says that both cannot hold (`decided`), or if two wishes of one person are
opposed. An answer (`settled`) is a statement about both sides; `validity` applies it. Nothing here hides,
ranks or replaces a memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TypeAlias

import msgspec

from memtape.schemas.events import OF_MEMORIES, PEOPLE, Captured, Decided, Event, Linked, Settled, Used
from memtape.schemas.ids import derived_id
from memtape.schemas.rows import Change, ConflictStatus, ConflictWhy, Context, Severity
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.memories import Memory, captures_of, ids_of, memories_of, memory_of
from memtape.state.subjects.validity import HasValidity, holds, is_told, predecessors, successor, ties_of
from memtape.state.text.instructions import heard_in
from memtape.state.text.opposites import oppose, standing_of
from memtape.state.text.reading import read

Pair: TypeAlias = tuple[Memory, Memory]
Evidence = tuple[tuple[str, ...], tuple[str, ...]]
MOST_ABOUT_ONE = 8  # Statements on one topic compared with a later one: the latest.
MAX_EVIDENCE = 10  # Events stored as evidence for a side: the first ones.


class ConflictState(msgspec.Struct):
    """A question to people: which of two captured ids `ids`, the earlier said first, holds.

    `evidence` has for each side the events that affirmed it before the question was raised, at `raised_at`,
    or a model's decision. `kept` is the kept one of `ids`. `settled_at` is the time of the answer, or of the
    question's expiry.
    """

    id: str
    ids: tuple[str, str]
    why: ConflictWhy
    severity: Severity
    evidence: Evidence
    raised_at: int
    status: ConflictStatus = "pending"
    kept: str | None = None
    settled_at: int | None = None
    note: str | None = None


class Conflicts(msgspec.Struct, dict=True, array_like=True):
    """The conflicts of a scope by id in the order in which they were raised.

    `uses` has by the seq of a capture of a memory with a rival the last event that used the capture: seq, id.
    `about` has by the digest of a topic (`opposites`) the seqs of people's latest statements about it.
    `naming` follows from the rest: it has by captured id its conflicts.
    """

    by_id: dict[str, ConflictState] = {}
    uses: dict[int, tuple[int, str]] = {}
    about: dict[bytes, list[int]] = {}

    def __post_init__(self) -> None:
        self.naming: dict[str, list[str]] = {}
        for conflict in self.by_id.values():
            self.put(conflict)

    @property
    def pending(self) -> list[ConflictState]:
        """The conflicts that wait for an answer, in the order in which they were raised."""
        return [conflict for conflict in self.by_id.values() if conflict.status == "pending"]

    def of_memory(self, of: HasValidity, memory: Memory) -> list[ConflictState]:
        """Return the conflicts with a memory as a side."""
        if not self.naming:
            return []
        ids = (id for own in ids_of(of, memory.joins) for id in self.naming.get(own, ()))
        return [self.by_id[id] for id in dict.fromkeys(ids)]

    def put(self, conflict: ConflictState) -> None:
        """Store a conflict, and let its sides lead to it."""
        self.by_id[conflict.id] = conflict
        for id in conflict.ids:
            self.naming.setdefault(id, []).append(conflict.id)


def evolve(state: Conflicts, event: Event, context: Context[HasValidity]) -> list[Change]:
    """Record affirmations, apply an answer, and raise and end conflicts; return the changed rows."""
    of, memories, body = context.of, context.of.memories, event.body
    told: tuple[str | None, ...] = body.ids if isinstance(body, Settled) else ()
    if isinstance(body, Linked) and body.relation in OF_MEMORIES:
        told = (body.id, body.to)
    if isinstance(body, Decided):
        told = tuple(id for it in body.operations if it.op == "outdate" for id in (it.by, *it.ids))
    said = list(_said_to_conflict(event, context))
    wished = list(_opposed_wishes(state, event, context))
    if not (context.touched or context.used or told or context.gone or said):
        return []
    named = memories_of(of, (*context.touched, *filter(None, told)))
    touched = dict.fromkeys((*context.gone, *(memory.birth for memory in named)))
    used = _note_uses(state, event, context)
    changed = dict[str, None]()
    if isinstance(body, Settled):
        _settle(state, event, body, context, changed)
    for conflict in state.pending if told else _to_look_at(state, of, touched):
        one, other = (memory_of(of, id) for id in conflict.ids)
        if one is None or other is None or one is other or _has_lost_side(of, one, other):
            conflict.status, conflict.settled_at = "expired", context.at
            changed[conflict.id] = None
    for memory in memories.at(dict.fromkeys((*touched, *used))):
        for pair in (_by_time(of, (memory, rival)) for rival in _rivals(of, memory)):
            if _may_be_asked(state, of, pair) and (found := _judge(state, pair, context)) is not None:
                changed[_raise(state, pair, *found, context)] = None
    for why, pair, evidence in (*(("model", pair, (event.id,)) for pair in said), *wished):
        if _may_be_asked(state, of, pair):
            changed[_raise(state, pair, why, (evidence, (event.id,)), context)] = None
    return [Change("conflicts", context.scope, id) for id in changed]


# --- The sides of a conflict ---


def _rivals(of: HasValidity, memory: Memory) -> list[Memory]:
    """Return the memories with another value of the same thing, by a tie of validity."""
    return of.memories.at(dict.fromkeys(ties_of(of.validity, memory.birth)))


def _note_uses(state: Conflicts, event: Event, context: Context[HasValidity]) -> list[int]:
    """Record an event's uses of memories with a rival, and return their births.

    An answer that carries both sides of a pair compares them, and affirms neither. A `used` event that names
    both affirms both.
    """
    of = context.of
    found = {seq: memory for seq in context.used if (memory := of.memories.of(seq)) is not None}
    births = {memory.birth: None for memory in found.values()}
    noted = dict[int, None]()
    for seq, memory in found.items():
        rivals = _rivals(of, memory)
        if rivals and (isinstance(event.body, Used) or not any(other.birth in births for other in rivals)):
            state.uses[seq] = context.seq, event.id
            noted[memory.birth] = None
    return list(noted)


def _affirmed(state: Conflicts, of: HasValidity, memory: Memory, after: int) -> tuple[str, ...]:
    """Return the ids of the events that affirmed a memory after a seq: living members and uses."""
    members = captures_of(of, (join for join in memory.members if join.seq > after))
    found = {capture.seq: capture.id for capture in members if not capture.hidden}
    uses = (use for join in memory.joins if (use := state.uses.get(join.seq)) is not None)
    found |= {seq: id for seq, id in uses if seq > after}
    return tuple(id for _, id in sorted(found.items()))[:MAX_EVIDENCE]


# --- Raising and ending ---


def _judge(
    state: Conflicts, pair: Pair, context: Context[HasValidity]
) -> tuple[ConflictWhy, Evidence] | None:  # fmt: skip
    """Return why people are asked about a pair now, and the evidence of its sides; None for no reason."""
    of, (one, other) = context.of, pair
    since = max(one.birth, other.birth)
    evidence = _affirmed(state, of, one, since), _affirmed(state, of, other, since)
    if all(evidence):
        return "both_affirmed", evidence
    for first, weaker in (pair, pair[::-1]):  # The later and less trusted side would win without trust.
        if of.validity.newer.get(first.birth, {}).get(weaker.birth) == "contradicted":
            own = _affirmed(state, of, weaker, weaker.birth)
            if own or of.captures.by_seq[weaker.canonical].actor.origin in PEOPLE:
                return "weaker", (own, evidence[1]) if weaker is one else (evidence[0], own)
            return None
    return None


def _may_be_asked(state: Conflicts, of: HasValidity, pair: Pair) -> bool:
    """Return whether both sides live, none was replaced or stated to hold, and no question named both."""
    one, other = pair
    if is_told(of, one, other) or is_told(of, other, one) or next(_about(state, of, pair), None):
        return False
    return not _has_lost_side(of, one, other)


def _by_time(of: HasValidity, pair: Pair) -> Pair:
    one, other = sorted(pair, key=lambda memory: (of.captures.by_seq[memory.name].at, memory.name))
    return one, other


def _said_to_conflict(event: Event, context: Context[HasValidity]) -> Iterator[Pair]:
    """Yield the pairs that a decision declares incompatible, unless the decision was dropped.

    A pair with a replaced side is left out, since the valid side is known; so is a consolidation's text,
    which repeats its memories.
    """
    of, body = context.of, event.body
    if not isinstance(body, Decided) or tuple(input.id for input in body.inputs) in context.dropped:
        return
    for operation in body.operations:
        one = memory_of(of, operation.by) if operation.op == "conflict" else None
        for other in (memory_of(of, id) for id in operation.ids):
            if one is None or other is None or one is other or one.made or other.made:
                continue
            if holds(of, one) and holds(of, other):
                yield _by_time(of, (one, other))


def _opposed_wishes(
    state: Conflicts, event: Event, context: Context[HasValidity]
) -> Iterator[tuple[ConflictWhy, Pair, tuple[str, ...]]]:
    """Record a person's statement on a topic; yield conflicts with the person's earlier opposed wishes."""
    of, body = context.of, event.body
    if not isinstance(body, Captured) or body.kind != "fact" or event.actor.origin not in PEOPLE:
        return
    own, standing = of.memories.of(context.seq), standing_of(read(body.text))
    if own is None or standing is None:
        return
    key = blake2b("\n".join(standing.topic).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    earlier = state.about.get(key, [])
    state.about[key] = [*earlier, context.seq][-MOST_ABOUT_ONE:]
    for seq in earlier:
        said, other = of.captures.by_seq[seq], of.memories.of(seq)
        if other is None or other is own or said.hidden or said.actor != event.actor:
            continue
        text = of.captures.body(said).text
        both_hold = holds(of, own) and holds(of, other)
        both = read(text), read(body.text)
        if both_hold and oppose(*both) and any(heard_in(it).instructs for it in both):
            yield "opposed", _by_time(of, (other, own)), (said.id,)


def _raise(
    state: Conflicts, pair: Pair, why: ConflictWhy, evidence: Evidence, context: Context[HasValidity]
) -> str:  # fmt: skip
    """Raise the conflict of a pair, and return its id."""
    of, (one, other) = context.of, pair
    ids = of.captures.by_seq[one.name].id, of.captures.by_seq[other.name].id
    conflict = ConflictState(
        id=derived_id("conflict", context.scope, None, "~".join(sorted(ids))),
        ids=ids,
        why=why,
        severity=severity(of.captures.by_seq[one.canonical], of.captures.by_seq[other.canonical]),
        evidence=evidence,
        raised_at=context.at,
    )
    state.put(conflict)
    return conflict.id


def severity(one: Capture, other: Capture) -> Severity:
    """Return the severity of a conflict of two texts.

    High if an operator said one of them, or if two people disagree. Medium if a user said one of them.
    """
    people = [said.actor for said in (one, other) if said.actor.origin in PEOPLE]
    if len(dict.fromkeys(people)) > 1 or any(actor.origin == "operator" for actor in people):
        return "high"
    return "medium" if people else "low"


def _to_look_at(state: Conflicts, of: HasValidity, touched: Iterable[int]) -> list[ConflictState]:
    """Return pending conflicts that may be over: of touched memories, and of memories replaced by them."""
    pending = state.pending
    if not pending:
        return []
    memories = of.memories.at(touched)
    memories += [before for memory in list(memories) for before in predecessors(of, memory)]
    ids = dict.fromkeys(conflict.id for memory in memories for conflict in state.of_memory(of, memory))
    return [conflict for conflict in pending if conflict.id in ids]


def _has_lost_side(of: HasValidity, one: Memory, other: Memory) -> bool:
    """Return whether a side is hidden, or was replaced otherwise than by a rule and its rival."""
    for memory, rival in ((one, other), (other, one)):
        after = successor(of, memory)
        if not memory.lives or (after is not None and (after is not rival or is_told(of, memory, rival))):
            return True
    return False


def _settle(
    state: Conflicts, event: Event, settled: Settled, context: Context[HasValidity], changed: dict[str, None]
) -> None:
    """Apply a person's choice of a side to every conflict of the two memories; agents' have no effect."""
    if event.actor.origin not in PEOPLE:
        context.counters.ignored += 1
        return
    of = context.of
    one, other = (memory_of(of, id) for id in settled.ids)
    if one is None or other is None or one is other:
        return
    kept = [memory_of(of, id) for id in dict.fromkeys(settled.keep)]
    for conflict in _about(state, of, (one, other)):
        conflict.status, conflict.settled_at, conflict.kept = "dismissed", context.at, None
        if len(kept) == 1:
            conflict.status = "accepted"
            conflict.kept = next(id for id in conflict.ids if memory_of(of, id) is kept[0])
        if not kept:
            conflict.status, conflict.settled_at = "pending", None
        conflict.note = settled.note
        changed[conflict.id] = None


def _about(state: Conflicts, of: HasValidity, pair: Pair) -> Iterator[ConflictState]:
    """Yield the conflicts between two memories, whichever of their captures named them."""
    for conflict in state.of_memory(of, pair[0]):
        sides = [memory_of(of, id) for id in conflict.ids]
        if any(side is pair[1] for side in sides) and any(side is pair[0] for side in sides):
            yield conflict
