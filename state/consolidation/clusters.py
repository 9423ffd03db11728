"""The clusters of a consolidation pass: memories new since the last pass, each with similar memories.

Similarity compares words, so that a pass needs no vectors. Decisions about clusters are made elsewhere.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from memtape.schemas.events import MAX_INPUTS, REPOSITORY_TAG, Kind, Origin
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import TRUST
from memtape.state.subjects.covers import is_shown
from memtape.state.subjects.memories import Memory
from memtape.state.subjects.passes import CONSOLIDATED
from memtape.state.text.instructions import heard_in
from memtape.state.text.replacing import replaces
from memtape.state.text.terms import terms

NEIGHBOURS = 8
LEAST_SHARED, LEAST_DICE = 2, 50
"""Neighbours have two terms in common, and half of all that both have (Dice's coefficient, in hundredths)."""
MOST_COMPARED = 200
"""Candidates compared with a memory at most: those that share its rarest terms, the latest first."""
MOST_RARE, MOST_TRIED = 50, 16
"""Largest number of memories with a rare term, and of those tried for replacement."""
MOST_CHARS = 1_000
"""Longer texts are not consolidated, since they have more than one subject."""


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


class DueCluster(NamedTuple):
    """A cluster that is to be looked at for the `attempt`-th time, and the seq of the first of it that is new."""

    cluster: Cluster
    attempt: int
    first: int


class Plan(NamedTuple):
    """The clusters of a pass, and the seq up to which it has read: at most the first without room."""

    due: list[DueCluster]
    until: int


def plan(scope: Scope) -> Plan:
    """Return the clusters of a scope's next pass: new and queued memories, each with similar ones.

    A cluster has at least two memories and at most 25, and each memory is in one. Without room for all
    similar memories the latest come first, since they hold the present state, and the rest waits for the next
    pass.
    """
    free = {candidate.id: candidate for candidate in _candidates(scope)}
    again = dict.fromkeys(id for ids in scope.passes.queued for id in ids)
    near, left, found = _Near(free.values()), list[int](), list[DueCluster]()
    for candidate in sorted(free.values(), key=lambda candidate: -candidate.seq):
        is_new = candidate.seq >= scope.passes.until and not candidate.made
        if candidate.id in free and (is_new or candidate.id in again):
            cluster, over = _grown(candidate, near, free)
            found.append(DueCluster(cluster, _failed(scope, cluster) + 1, min(it.seq for it in cluster)))
            left += over
    kept = [due for due in found if len(due.cluster) > 1 and _seen(due.cluster) not in scope.passes.aside]
    kept.sort(key=lambda due: due.first)
    return Plan(kept, min((seq for seq in left if seq >= scope.passes.until), default=scope.seq))


def _failed(scope: Scope, cluster: Cluster) -> int:
    """Return the number of failures of a cluster: of the most failed cluster contained in it."""
    ids = frozenset(candidate.id for candidate in cluster)
    return max((failed for queued, (failed, _) in scope.passes.queued.items() if ids.issuperset(queued)), default=0)


def _seen(cluster: Iterable[Candidate]) -> tuple[tuple[str, int], ...]:
    return tuple((candidate.id, candidate.seq) for candidate in cluster)


def _grown(first: Candidate, near: _Near, free: dict[str, Candidate]) -> tuple[Cluster, list[int]]:
    """Return the cluster grown from a candidate by similarity, and the seqs without room in the cluster.

    Removes the cluster's members, and the candidates without room, from `free`.
    """
    cluster = {first.id: free.pop(first.id)}
    waiting, left = [first], list[int]()
    while waiting:
        for place, other in enumerate(near.of(waiting.pop(0), free)):
            if len(cluster) == MAX_INPUTS:
                left.append(free.pop(other.id).seq)
            elif place < NEIGHBOURS:
                cluster[other.id] = free.pop(other.id)
                waiting.append(other)
    return tuple(sorted(cluster.values(), key=lambda candidate: candidate.seq)), left


class _Near:
    """Candidates by the terms of their last texts."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._candidates = sorted(candidates, key=lambda candidate: -candidate.seq)
        self._terms = [frozenset(terms(candidate.latest.text)) for candidate in self._candidates]
        self._number = {candidate.id: number for number, candidate in enumerate(self._candidates)}
        self._holding: dict[str, list[int]] = {}
        for number, held in enumerate(self._terms):
            for term in sorted(held):
                self._holding.setdefault(term, []).append(number)

    def of(self, candidate: Candidate, free: Mapping[str, Candidate]) -> list[Candidate]:
        """Return the nearest free candidates: texts made by a consolidation first, then the latest."""
        number = self._number[candidate.id]
        own = self._terms[number]
        near: list[tuple[int, bool, int, Candidate]] = []
        for other in self._compared(number):
            found = self._candidates[other]
            if found.id not in free:
                continue
            shared = len(own & self._terms[other])
            dice = 200 * shared // (len(own) + len(self._terms[other]))
            if shared >= min(LEAST_SHARED, len(own)) and dice >= LEAST_DICE:
                near.append((-dice, not found.made, -found.seq, found))
        alike = [found for *_, found in sorted(near)]
        return alike + [other for other in self._replacing(number, free) if other not in alike]

    def _replacing(self, number: int, free: Mapping[str, Candidate]) -> list[Candidate]:
        """Return candidates that share a rare term with a candidate and replace it, or vice versa."""
        shared: dict[int, int] = {}
        for term in sorted(self._terms[number]):
            holding = self._holding[term]
            for other in holding if len(holding) <= MOST_RARE else ():
                shared[other] = shared.get(other, 0) + 1
        shared.pop(number, None)
        tried = sorted(shared, key=lambda other: (-shared[other], abs(other - number), other))[:MOST_TRIED]
        candidate = self._candidates[number]
        found = (other for other in map(self._candidates.__getitem__, tried) if other.id in free)
        return [it for it in found if may_replace(it, candidate)]

    def _compared(self, number: int) -> list[int]:
        """Return the candidates with a candidate's rarest terms; of a common term the latest and nearest."""
        compared: dict[int, None] = {}
        for term in sorted(self._terms[number], key=lambda term: (len(self._holding[term]), term)):
            holding = self._holding[term]
            place = bisect_left(holding, number)
            around = holding[max(0, place - NEIGHBOURS) : place + NEIGHBOURS]
            compared |= dict.fromkeys([*around, *holding[:MOST_COMPARED]])
            if len(compared) >= MOST_COMPARED:
                break
        compared.pop(number, None)
        return list(compared)


def may_replace(a: Candidate, b: Candidate) -> bool:
    """Return whether the later of two candidates replaces the earlier, and covers all of its subject."""
    older, newer = sorted((a, b), key=lambda it: (it.latest.at, it.seq))
    found = replaces(older.latest.text, newer.latest.text)
    return found is not None and found.whole


def _candidates(scope: Scope) -> Iterator[Candidate]:
    """Yield the memories to consolidate: no orders of people, nothing pinned, set apart or covered."""
    by_seq = scope.captures.by_seq
    for memory in scope.memories.living():
        spoken = by_seq[memory.canonical]
        if spoken.family != CONSOLIDATED or not is_shown(scope, scope.covers, memory):
            continue
        ids = [by_seq[join.seq].id for join in memory.joins]
        body = scope.captures.body(spoken)
        apart = any(id in scope.covers.apart for id in ids)
        if apart or scope.pins.has_any(ids) or len(body.text) > MOST_CHARS or body.tags[:1] == (REPOSITORY_TAG,):
            continue
        if heard_in(body.text).standing:
            continue
        parts = scope.covers.parts(scope, memory)
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
            said=tuple(sorted(_said(scope, parts))) or (ClusterText(spoken.at, body.text, TRUST[spoken.actor.origin]),),
            captures=tuple(by_seq[join.seq].id for part in parts for join in part.joins),
        )


def _said(scope: Scope, parts: Iterable[Memory]) -> Iterator[ClusterText]:
    """Yield the living captured texts of memories, without texts made by a consolidation."""
    for part in parts:
        for join in part.members:
            capture = scope.captures.by_seq[join.seq]
            if not capture.hidden and not capture.made:
                yield ClusterText(capture.at, scope.captures.body(capture).text, TRUST[capture.actor.origin])
