"""The start of a consolidation pass, and its clusters: new memories since the last pass, with similar ones.

Similarity compares words, so that a pass needs no vectors. Decisions about clusters are made elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memtape.schemas.events import MAX_INPUTS, Kind, Origin
from memtape.schemas.rows import PassMark
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.schemas.visible import many
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import TRUST, Capture
from memtape.state.subjects.covers import is_shown
from memtape.state.subjects.memories import captures_of, ids_of
from memtape.state.subjects.passes import CONSOLIDATED
from memtape.state.text.instructions import heard_in
from memtape.state.text.reading import read
from memtape.state.text.replacements import Sharing, replaces
from memtape.state.text.terms import terms

REST_US = DAY_US  # A pass begins a day after the last one at the earliest.
ENOUGH_NEW, ENOUGH_CONFIRMED = 20, 25
BEHIND_US = 14 * DAY_US  # A pass starts for memories waiting longer, however few.
NEIGHBOURS = 8
LEAST_SHARED, LEAST_DICE = 2, 50
"""Neighbours have two terms in common, and half of all that both have (Dice's coefficient, in hundredths)."""
MOST_NEW = 2_000
"""New memories read by a part of a pass, the earliest first: a part takes some seconds. Later ones are left
out, so that a bulk load is decided as if it had come in such parts. Enough for another part are left.
"""
MOST_COMPARED = 200
"""Candidates compared with a memory at most: those that share the most terms, the latest first."""
MOST_TRIED = 16  # Candidates tried for replacement at most.
MOST_CHARS = 1_000  # Longer texts are not consolidated, since they have more than one subject.


class ClusterText(NamedTuple):
    """A text, its time in microseconds, and the trust of its author."""

    at: int
    text: str
    trust: int


class Candidate(NamedTuple):
    """A memory as a pass reads it: `id` and `seq` of a decision's input, and the canonical `text`.

    `said` are the texts of the memory, and of all memories that it covers, earliest first. `captures` are the
    ids of all its captures.
    """

    id: str
    seq: int
    kind: Kind
    text: str
    at: int
    origin: Origin
    actor: str
    tags: tuple[str, ...]
    importance: int | None
    made: bool
    said: tuple[ClusterText, ...]
    captures: tuple[str, ...]

    @property
    def latest(self) -> ClusterText:
        """The last text said."""
        return self.said[-1]

    @property
    def trust(self) -> int:
        """The highest trust among the memory's authors."""
        return max(said.trust for said in self.said)

    @property
    def rank(self) -> tuple[int, int, int]:
        """The sort key of the representative of a cluster: trust, then time, then order."""
        return TRUST[self.origin], self.at, self.seq


Cluster = tuple[Candidate, ...]


class Plan(NamedTuple):
    """The clusters of a part of a pass, each in the order of its seqs, and the seq up to which it has read.

    The last part has read at most up to the first memory without room.
    """

    due: list[Cluster]
    until: int
    is_last: bool


class Gate(NamedTuple):
    """Whether a pass may begin, and why or why not, as a sentence without its end."""

    is_open: bool
    reason: str


def gate(mark: PassMark, now: int) -> Gate:
    """Return whether a pass begins in a scope at a time in microseconds."""
    waited = now - mark.oldest if mark.oldest else 0
    if waited > BEHIND_US:
        return Gate(True, f"the oldest new memory has waited for {waited // DAY_US} days")
    if not (mark.new or mark.confirmed or mark.queued):
        return Gate(False, "nothing is new")
    rested = now - mark.at
    if mark.at and rested < REST_US:
        return Gate(False, f"the last pass was {max(0, rested) // HOUR_US} h ago, and there is one in 24 h")
    if mark.new >= ENOUGH_NEW:
        return Gate(True, many(mark.new, "new memory", "new memories"))
    if mark.confirmed >= ENOUGH_CONFIRMED:
        return Gate(True, many(mark.confirmed, "confirmation"))
    if mark.queued:
        return Gate(True, f"{many(mark.queued, 'cluster')} to be looked at again")
    new = f"{mark.new} of {ENOUGH_NEW} new memories"
    return Gate(False, f"{new} and {mark.confirmed} of {ENOUGH_CONFIRMED} confirmations are there")


def plan(scope: Scope) -> Plan:
    """Return the clusters of the next part of a scope's pass: new memories, each with similar ones.

    The last part has the queued ones too. A cluster has at least two memories and at most 25, and each memory
    is in one. Without room for all similar memories the latest come first, since they hold the present state,
    and the rest waits for the next pass.
    """
    canonical = (it.canonical for it in scope.memories.living() if not it.made)
    new = sorted(seq for seq in canonical if seq >= scope.passes.until and _is_consolidated(scope, seq))
    is_part = len(new) >= MOST_NEW + ENOUGH_NEW
    end = new[MOST_NEW] if is_part else scope.seq
    again = dict.fromkeys(id for ids in scope.passes.queued for id in ids if not is_part)
    near, left, found = _Near(candidates(scope, end)), list[int](), list[Cluster]()
    for candidate in sorted(near.free.values(), key=lambda candidate: -candidate.seq):
        is_new = candidate.seq >= scope.passes.until and not candidate.made
        if candidate.seq in near.free and (is_new or candidate.id in again):
            # It grows by similarity; those without room are free for no other cluster of the pass.
            members, waiting = [near.take(candidate)], [candidate]
            while waiting:
                for place, other in enumerate(near.of(waiting.pop(0))):
                    if len(members) == MAX_INPUTS:
                        left.append(near.take(other).seq)
                    elif place < NEIGHBOURS:
                        members.append(near.take(other))
                        waiting.append(other)
            if len(members) > 1:
                found.append(tuple(sorted(members, key=lambda candidate: candidate.seq)))
    found.sort(key=lambda cluster: cluster[0].seq)
    left = [] if is_part else [seq for seq in left if seq >= scope.passes.until]
    return Plan(found, min(left, default=end), not is_part)


class _Near:
    """The free candidates by the terms of their last texts."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self.free = {candidate.seq: candidate for candidate in candidates}
        self._sharing = Sharing()
        self._terms = {seq: frozenset(terms(candidate.latest.text)) for seq, candidate in self.free.items()}
        for seq, candidate in self.free.items():
            self._sharing.put(seq, read(candidate.latest.text))

    def take(self, candidate: Candidate) -> Candidate:
        """Take a candidate out of the free ones."""
        self._sharing.drop(candidate.seq)
        return self.free.pop(candidate.seq)

    def of(self, candidate: Candidate) -> list[Candidate]:
        """Return the nearest free candidates, made ones and the latest first, then those of another value."""
        own, alike, others = self._terms[candidate.seq], list[tuple[int, bool, int]](), list[Candidate]()
        for seq in self._sharing.near_terms(sorted(own), MOST_COMPARED):
            shared, there = len(own & self._terms[seq]), self._terms[seq]
            dice = 200 * shared // (len(own) + len(there))
            if shared >= min(LEAST_SHARED, len(own)) and dice >= LEAST_DICE:
                alike.append((-dice, not self.free[seq].made, -seq))
            elif len(others) < MOST_TRIED:
                others.append(self.free[seq])
        found = [self.free[-seq] for *_, seq in sorted(alike)]
        return found + [other for other in others if may_replace(other, candidate)]


def may_replace(a: Candidate, b: Candidate) -> bool:
    """Return whether the later of two candidates replaces the earlier, and covers all of its subject."""
    older, newer = sorted((a, b), key=lambda it: (it.latest.at, it.seq))
    found = replaces(read(older.latest.text), read(newer.latest.text))
    return found is not None and found.whole


def _is_consolidated(scope: Scope, seq: int) -> bool:
    return scope.captures.by_seq[seq].family == CONSOLIDATED


def candidates(scope: Scope, end: int) -> Iterator[Candidate]:
    """Yield the memories before a seq to consolidate, and texts of earlier passes.

    Orders of people, and what is pinned, set apart or covered, are left out.
    """
    by_seq = scope.captures.by_seq
    for memory in scope.memories.living():
        spoken = by_seq[memory.canonical]
        is_read = _is_consolidated(scope, spoken.seq) and (memory.made or spoken.seq < end)
        if not is_read or not is_shown(scope, scope.covers, memory):
            continue
        ids, body = ids_of(scope, memory.joins), scope.captures.body(spoken)
        apart = scope.pins.has_any(ids) or any(id in scope.covers.apart for id in ids)
        if apart or len(body.text) > MOST_CHARS or heard_in(read(body.text)).standing:
            continue
        parts = scope.covers.parts(scope, memory)
        captures = (it for part in parts for it in captures_of(scope, part.members))
        said = (_text_of(scope, it) for it in captures if not it.hidden and not it.made)
        yield Candidate(
            id=by_seq[memory.name].id,
            seq=spoken.seq,
            kind=spoken.kind,
            text=body.text,
            at=spoken.at,
            origin=spoken.actor.origin,
            actor=spoken.actor.name,
            tags=body.tags,
            importance=body.importance_given,
            made=memory.made,
            said=tuple(sorted(said)) or (_text_of(scope, spoken),),
            captures=tuple(id for part in parts for id in ids_of(scope, part.joins)),
        )


def _text_of(scope: Scope, capture: Capture) -> ClusterText:
    return ClusterText(capture.at, scope.captures.body(capture).text, TRUST[capture.actor.origin])
