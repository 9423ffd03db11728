"""The rules of a deep search without a model: which texts each step keeps, and when the search ends.

A model can decide instead, as a `Judge`; the caller asks the model and handles its failures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from memtape.schemas.events import Failure
from memtape.state.ranking.deep.asking import bare, by_kinds, by_names, share_held, terms_of_kinds
from memtape.state.ranking.deep.ground import Ground
from memtape.state.ranking.deep.seen import Spot

READY = 0.9
"""Share of a question's weight at which a search ends."""
BY_RULE = "rules"


class StepDecision(NamedTuple):
    """The decision of a step: author, cost in characters read and written by a model, and failure.

    `kept` are the texts kept, in the given order; `query` is the next query, empty at the end of the search.
    """

    kept: Sequence[Spot]
    query: str = ""
    by: str = BY_RULE
    cost: int = 0
    failure: Failure = ""


class Judge(Protocol):
    """The decisions in the steps of a deep search. `number` is that of the look, from 1 on."""

    def filter(self, question: str, ground: Ground, spots: Sequence[Spot], number: int) -> StepDecision:
        """Return which seen texts of a look are kept."""

    def walk(self, question: str, ground: Ground, spots: Sequence[Spot], number: int) -> StepDecision:
        """Return which pages reached by a walk are opened."""

    def gate(self, question: str, ground: Ground, spots: Sequence[Spot], number: int) -> StepDecision:
        """Return the best texts to keep, and the next query."""


class Rules:
    """A `Judge` that goes by words alone."""

    def filter(self, question: str, ground: Ground, spots: Sequence[Spot], number: int) -> StepDecision:
        """Keep all results of the first look; of later ones only texts with a term or kind asked for."""
        if number == 1:
            return StepDecision(spots)
        kinds = terms_of_kinds(question)
        asked = dict.fromkeys((*ground.weights(question), *(member for its in kinds.values() for member in its)))
        held = ground.holding(asked, spots)
        return StepDecision([spot for spot, its in zip(spots, held, strict=True) if its or ground.first[spot] == 1])

    def walk(self, question: str, ground: Ground, spots: Sequence[Spot], number: int) -> StepDecision:
        """Open all to which the walk has come, which goes by the same words."""
        return StepDecision(spots)

    def gate(self, question: str, ground: Ground, spots: Sequence[Spot], number: int) -> StepDecision:
        """Keep all texts; the search ends if the found texts hold most of the question's weight.

        A term that names a kind is held by members of the kind, from the look that searched for them.
        """
        kinds = terms_of_kinds(question)
        weights = ground.weights(bare(question))
        stand_for = {term: (term, *kinds.get(term, ())) for term in weights}
        members = dict.fromkeys(member for its in stand_for.values() for member in its)
        found = dict.fromkeys(term for its in ground.holding(members, spots) for term in its)
        open_kinds = kinds if number == 1 else {}
        held = [t for t, its in stand_for.items() if t not in open_kinds and any(member in found for member in its)]
        if share_held(weights, held) >= READY:
            return StepDecision(spots)
        if number == 1:
            return StepDecision(spots, by_kinds(question))
        missing = [term for term in weights if term not in held]
        return StepDecision(spots, by_names(question, missing, [ground.text(spot) for spot in spots]))
