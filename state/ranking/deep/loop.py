"""The loop of a deep search: look, filter, walk, follow edges, and ask again while there is not enough.

It ends after three looks, and as soon as nothing is to be asked that was not asked before. Nothing here reads a clock
or asks a model: both are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from memtape.schemas.events import DeepStep, Failure
from memtape.schemas.lanes import MOST_LOOKS
from memtape.state.ranking.deep.asking import terms_of_kinds
from memtape.state.ranking.deep.ground import Ground
from memtape.state.ranking.deep.rules import BY_RULE, Judge, StepDecision
from memtape.state.ranking.deep.seen import SeenText, Spot, merged
from memtape.state.ranking.lanes import LENT, SEEDS

LOOKED_AT = 50
"""So many of the best of each look are looked at, or as many as are wanted."""
GATED = 10
"""So many of the best are judged for whether they are enough."""


class FinishedStep(NamedTuple):
    """A finished step: `given` and `kept` count texts, `spots` are texts first seen or dropped in the step.

    `query` is the query of the step, or the next query that the step asks for.
    """

    look: int
    step: DeepStep
    given: int
    kept: int
    spots: Sequence[Spot]
    query: str
    by: str
    cost: int
    failure: Failure
    took_us: int


class Deep(NamedTuple):
    """The results of a deep search, best first, and its steps."""

    found: list[SeenText]
    steps: list[FinishedStep]


def deepened(question: str, ground: Ground, judge: Judge, wanted: int, clock_us: Callable[[], int]) -> Deep:
    """Return the results of up to three looks at a question: `wanted` results, then the rest."""
    loop = _Loop(question, ground, judge, max(LOOKED_AT, wanted), clock_us)
    query, asked = question, dict[str, None]()
    for _ in range(MOST_LOOKS):
        asked[query] = None
        query = loop.take(query)
        if not query or query in asked:
            break
    return Deep(loop.found(), loop.steps)


class _Loop:
    """The texts seen, kept and lent in the looks so far; `_number` is that of the last look, from 1 on."""

    def __init__(self, question: str, ground: Ground, judge: Judge, most: int, clock_us: Callable[[], int]) -> None:
        self._question = question
        self._ground = ground
        self._judge = judge
        self._most = most
        self._clock_us = clock_us
        self._number = 0
        self._looks: list[list[SeenText]] = []
        self._lent: dict[Spot, float] = {}
        self._dropped: dict[Spot, None] = {}
        self._of_kind: dict[Spot, None] = {}
        self._found: list[SeenText] = []
        self.steps: list[FinishedStep] = []

    def found(self) -> list[SeenText]:
        """Return the texts found and kept in all looks, best first."""
        return [it for it in self._found if it.spot not in self._dropped]

    def take(self, query: str) -> str:
        """Look once, and return the next query, empty at the end of the search."""
        self._number += 1
        seen = self._scouts(query)
        self._looks.append(self._filtered(seen))
        if self._number > 1:
            self._favour([it.spot for look in self._looks for it in look])
        self._walk(query)
        self._follow()
        self._found = merged(self._looks, self._lent, self._of_kind)
        return self._gate()

    def _scouts(self, query: str) -> list[SeenText]:
        since = self._clock_us()
        known = dict.fromkeys(self._ground.first)
        seen = self._ground.look(query, self._most, self._number)
        new = [it.spot for it in seen if it.spot not in known]
        self._note("scouts", len(seen), len(seen), new, StepDecision((), query), since)
        return seen

    def _filtered(self, seen: Sequence[SeenText]) -> list[SeenText]:
        since, spots = self._clock_us(), [it.spot for it in seen]
        told = self._judge.filter(self._question, self._ground, spots, self._number) if spots else StepDecision(spots)
        kept = dict.fromkeys(told.kept)
        dropped = [spot for spot in spots if spot not in kept]
        self._note("filter", len(spots), len(kept), dropped, told, since)
        return [it for it in seen if it.spot in kept]

    def _favour(self, spots: Sequence[Spot]) -> None:
        """Record which seen texts hold a member of a kind named in the question."""
        members = dict.fromkeys(member for its in terms_of_kinds(self._question).values() for member in its)
        held = self._ground.holding(members, spots)
        self._of_kind = {spot: None for spot, its in zip(spots, held, strict=True) if its}

    def _walk(self, query: str) -> None:
        """Go down the tree of pages, and lend each half the best relevance by its share of the query."""
        since, known = self._clock_us(), dict.fromkeys(self._ground.first)
        visited = self._ground.walked(query)
        spots = [spot for spot, _ in visited]
        told = self._judge.walk(self._question, self._ground, spots, self._number) if spots else StepDecision(spots)
        kept = dict.fromkeys(told.kept)
        best = max((self._ground.hits[it.spot].relevance for it in self._looks[-1]), default=1.0)
        lent = {spot: LENT * best * share for spot, share in visited if spot in kept}
        reached = self._ground.lend(lent, self._number)
        self._lend(reached)
        new = [it.spot for it in reached if it.spot not in known]
        self._note("walk", len(spots), len(reached), new, told, since)

    def _lend(self, reached: Sequence[SeenText]) -> None:
        for spot, score in reached:
            self._lent[spot] = max(self._lent.get(spot, 0.0), score)

    def _follow(self) -> None:
        since, known = self._clock_us(), dict.fromkeys(self._ground.first)
        # Texts reached by edges alone are a hop away already.
        seeds = [it for it in self._looks[-1] if self._ground.is_found(it.spot)][:SEEDS]
        near = self._ground.near(seeds, self._number)
        self._lend(near)
        new = [it.spot for it in near if it.spot not in known]
        self._note("edges", len(seeds), len(near), new, StepDecision(()), since)

    def _gate(self) -> str:
        since, spots = self._clock_us(), [it.spot for it in self.found()[:GATED]]
        told = self._judge.gate(self._question, self._ground, spots, self._number)
        kept = dict.fromkeys(told.kept)
        dropped = [spot for spot in spots if spot not in kept]
        self._dropped |= dict.fromkeys(dropped)
        told = told._replace(query="" if self._number == MOST_LOOKS else told.query)
        self._note("gate", len(spots), len(kept), dropped, told, since)
        return told.query

    def _note(
        self, step: DeepStep, given: int, kept: int, spots: Iterable[Spot], told: StepDecision, since: int
    ) -> None:
        took = max(0, self._clock_us() - since)
        by = BY_RULE if step in ("scouts", "edges") else told.by
        taken = FinishedStep(
            self._number, step, given, kept, list(spots), told.query, by, told.cost, told.failure, took
        )
        self.steps.append(taken)
