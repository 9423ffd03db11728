"""Which memories a pass looks at together: those that are new since the last one, with what is like them.

Likeness is that of words here, so that a pass needs no vectors. What is decided of a cluster is not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memtape.schemas.events import MAX_INPUTS, REPOSITORY_TAG, Kind, Origin
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import TRUST
from memtape.state.subjects.covers import is_shown
from memtape.state.subjects.memories import Memory
from memtape.state.subjects.passes import CONSOLIDATED
from memtape.state.text.polarity import standing
from memtape.state.text.terms import terms

NEIGHBOURS = 8
LEAST_SHARED, LEAST_DICE = 2, 50
"""Neighbours have two terms in common, and half of all that both have (Dice's coefficient, in hundredths)."""
MOST_HOLDING = 200
"""A term that more memories hold brings none together: it is as common as a word like "the" is there."""
MOST_CHARS = 1_000
"""Longer texts stand by themselves: they tell more than one thing."""


class Candidate(NamedTuple):
    """A memory as a pass reads it: `id` and `seq` are those of a decision's input, `text` is what speaks for it.

    `texts` are the wordings that it has, with their times, and of a text that was made those of what it was made of.
    `captures` are the ids of all captures behind it.
    """

    id: str
    seq: int
    kind: Kind
    family: str
    text: str
    at: int
    origin: Origin
    actor: str
    tags: tuple[str, ...]
    importance: int | None
    made: bool
    texts: tuple[tuple[int, str], ...]
    captures: tuple[str, ...]

    @property
    def rank(self) -> tuple[int, int, int]:
        """By which the one that speaks for others is chosen: trust, then time, then order."""
        return TRUST[self.origin], self.at, self.seq


Cluster = tuple[Candidate, ...]


class Due(NamedTuple):
    """A cluster that is to be looked at for the `attempt`-th time, and the seq of the first of it that is new."""

    cluster: Cluster
    attempt: int
    first: int


def due(scope: Scope) -> list[Due]:
    """Return the clusters of a scope's next pass, by the first new memory; before them those that are looked at again.

    Each has at most 25 memories, two at least, and each memory stands in one.
    """
    free = {candidate.id: candidate for candidate in _candidates(scope)}
    found: list[Due] = []
    for ids, (failed, _) in scope.passes.queued.items():
        queued = tuple(free.pop(id) for id in ids if id in free)
        found.append(Due(queued, failed + 1, scope.passes.until))
    near = _Near(free.values())
    for candidate in sorted(free.values(), key=lambda candidate: candidate.seq):
        if candidate.id in free and not candidate.made and candidate.seq >= scope.passes.until:
            found.append(Due(_grown(candidate, near, free), 1, candidate.seq))
    return [due for due in found if len(due.cluster) > 1 and _seen(due.cluster) not in scope.passes.aside]


def _seen(cluster: Iterable[Candidate]) -> tuple[tuple[str, int], ...]:
    return tuple((candidate.id, candidate.seq) for candidate in cluster)


def _grown(first: Candidate, near: _Near, free: dict[str, Candidate]) -> Cluster:
    """Return a candidate with those like it, and those like these, in the order of the log; takes them from `free`."""
    cluster = {first.id: free.pop(first.id)}
    waiting = [first]
    while waiting:
        for other in near.of(waiting.pop(0)):
            if len(cluster) < MAX_INPUTS and other.id in free:
                cluster[other.id] = free.pop(other.id)
                waiting.append(other)
    return tuple(sorted(cluster.values(), key=lambda candidate: candidate.seq))


class _Near:
    """Candidates by the terms of their texts."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._candidates = list(candidates)
        self._terms = [frozenset(terms(candidate.text)) for candidate in self._candidates]
        self._number = {candidate.id: number for number, candidate in enumerate(self._candidates)}
        self._holding: dict[str, list[int]] = {}
        for number, held in enumerate(self._terms):
            for term in sorted(held):
                self._holding.setdefault(term, []).append(number)

    def of(self, candidate: Candidate) -> list[Candidate]:
        """Return the neighbours of a candidate, the nearest first."""
        number = self._number[candidate.id]
        own = self._terms[number]
        shared: dict[int, int] = {}
        for term in sorted(own):
            holding = self._holding[term]
            for other in holding if len(holding) <= MOST_HOLDING else ():
                shared[other] = shared.get(other, 0) + 1
        near: list[tuple[int, int, Candidate]] = []
        for other, count in shared.items():
            dice = 200 * count // (len(own) + len(self._terms[other]))
            found = self._candidates[other]
            enough = count >= min(LEAST_SHARED, len(own)) and dice >= LEAST_DICE
            if other != number and enough and found.family == candidate.family:
                near.append((-dice, found.seq, found))
        return [found for _, _, found in sorted(near)[:NEIGHBOURS]]


def _candidates(scope: Scope) -> Iterator[Candidate]:
    """Yield what may be consolidated: no orders of people, nothing pinned, set apart or told by something else."""
    by_seq = scope.captures.by_seq
    for memory in scope.memories.living():
        spoken = by_seq[memory.canonical]
        if spoken.family not in CONSOLIDATED or not is_shown(scope, scope.covers, memory):
            continue
        ids = [by_seq[join.seq].id for join in (*memory.members, *memory.echoes)]
        body = scope.captures.body(spoken)
        apart = any(id in scope.covers.apart for id in ids)
        if apart or scope.pins.has_any(ids) or len(body.text) > MOST_CHARS or body.tags[:1] == (REPOSITORY_TAG,):
            continue
        if standing(body.text):
            continue
        yield Candidate(
            id=by_seq[memory.name].id,
            seq=spoken.seq,
            kind=spoken.kind,
            family=spoken.family,
            text=body.text,
            at=spoken.at,
            origin=spoken.actor.origin,
            actor=spoken.actor.name,
            tags=body.tags,
            importance=body.importance_given,
            made=memory.made,
            texts=tuple(_texts(scope, memory)),
            captures=(*ids, *_made_of(scope, memory)),
        )


def _texts(scope: Scope, memory: Memory) -> Iterator[tuple[int, str]]:
    """Yield what was said in a memory, or in those that it was made of, each text with its time."""
    for made in _parts(scope, memory):
        for join in made.members:
            capture = scope.captures.by_seq[join.seq]
            if not capture.hidden and not capture.made:
                yield capture.at, scope.captures.body(capture).text


def _made_of(scope: Scope, memory: Memory) -> Sequence[str]:
    """Return the ids of the captures behind what a text was made of."""
    parts = [part for part in _parts(scope, memory) if part is not memory]
    return [scope.captures.by_seq[join.seq].id for part in parts for join in (*part.members, *part.echoes)]


def _parts(scope: Scope, memory: Memory) -> list[Memory]:
    """Return a memory, and all that it was made of, however often."""
    parts = [memory]
    for id in scope.covers.made_of.get(scope.captures.by_seq[memory.birth].id, ()):
        part = scope.memory_of(id)
        parts += [] if part is None else _parts(scope, part)
    return parts
