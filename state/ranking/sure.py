"""Results sure enough to be given to an agent with a prompt, unasked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeVar

from memtape.schemas.events import PEOPLE, STATED_TAG
from memtape.state.ranking.lexical import Weighed
from memtape.state.text.questions import only_asks
from memtape.state.text.reading import read
from memtape.state.views.filters import Narrowed

LEAST_HELD = 0.47
"""The least share of a prompt that one text holds where anything is offered (`docs/benchmarks.md`)."""
LEAST_BESIDE = 0.25  # Minimum share of each further text offered.

CandidateT = TypeVar("CandidateT", bound=Narrowed)
Pick = Callable[[Sequence[CandidateT], Sequence[Weighed], int], list[CandidateT]]


def sure_for(prompt: str, session: str) -> Pick[CandidateT]:
    """Return the rule that picks the sure results among the first, each weighed against a prompt.

    One result holds about half of the prompt's weight, and the rest half of that. If the prompt names one
    person, only that person's turns count; if another person's turn comes first, nothing is sure, since the
    answer known is about another person. Turns of the same session, and captures by an agent in it, are in
    the agent's context already. A person's turn does not count if it only asks, or if all its terms are in
    the prompt.
    """
    asked = read(prompt).terms().keys()

    def tells(result: CandidateT) -> bool:
        if session and any(known.session == session for known in result.provenance):
            return False
        said = read(result.text)
        return not (_is_said(result) and (said.terms().keys() <= asked or only_asks(said)))

    def sure(results: Sequence[CandidateT], weighed: Sequence[Weighed], limit: int) -> list[CandidateT]:
        telling = ((result, its) for result, its in zip(results, weighed, strict=True) if tells(result))
        best = next(telling, None)
        if best is None or not _is_of_whom_it_names(*best):
            return []
        others = ((result, its) for result, its in telling if _is_of_whom_it_names(result, its))
        first = [best, *islice(others, limit - 1)]
        if max(its.share for _, its in first) < LEAST_HELD:
            return []
        return [result for result, its in first if its.share >= LEAST_BESIDE]

    return sure


def _is_said(result: Narrowed) -> bool:
    return result.origin in PEOPLE and (result.kind == "turn" or STATED_TAG in result.tags)


def _is_of_whom_it_names(result: Narrowed, weighed: Weighed) -> bool:
    """Return whether a result is no turn by a person other than the one named in a prompt."""
    return weighed.named is None or not _is_said(result) or result.actor == weighed.named
