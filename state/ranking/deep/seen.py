"""The texts seen by a look at some scopes, and the merging of looks into one order.

Scores are answers and never state. Nothing here reads a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from memtape.state.ranking.ranker import DIGITS
from memtape.state.ranking.yielding import LEAST_STEP

WEIGHTS = (1.0, 1.0, 0.05)
"""What each look counts; the third asks for what is missing and for names, and hardly does more than part equals."""
OF_KIND = 0.12
"""The share of the best score added to texts with a member, in their own words, of a kind asked for."""
SURE = 5
"""Places of the first look that are sure: no later look moves their texts below twice the place."""


class Spot(NamedTuple):
    """A text: the number of its scope among the scopes searched, and its place in the scope."""

    scope: int
    place: int


class SeenText(NamedTuple):
    """A text seen in a look, with its score, comparable within the look."""

    spot: Spot
    score: float


def merged(
    looks: Sequence[Sequence[SeenText]], lent: Mapping[Spot, float], of_kind: Mapping[Spot, None] = MappingProxyType({})
) -> list[SeenText]:
    """Return all texts seen in looks as one order, best first, each once, no two with the same score.

    Each look is in its order. A text has the sum of its shares of each look's best score, by the looks'
    weights, and for a text in `of_kind` also `OF_KIND`, as a share of the first look's best; or its `lent`
    score, if greater. The text at place r of the first look, from 1 to `SURE`, is among the first 2 r. Equals
    keep the looks' order.
    """
    every = [look for look in looks if look]
    best = every[0][0].score if every else max(lent.values(), default=0.0)
    whole = sum(weight for weight, look in zip(WEIGHTS, looks, strict=False) if look) or 1
    summed = dict[Spot, float]()
    for weight, look in zip(WEIGHTS, looks, strict=False):
        for spot, score in look:
            summed[spot] = summed.get(spot, 0.0) + weight * score / (look[0].score or 1) / whole
    added = OF_KIND if of_kind else 0.0
    scores = {
        spot: best * (share + (added if spot in of_kind else 0.0)) / (1 + added) for spot, share in summed.items()
    }
    scores |= {spot: max(score, scores.get(spot, 0.0)) for spot, score in lent.items()}
    units = {spot: round(scores[spot] / LEAST_STEP) for spot in dict.fromkeys((*summed, *lent))}
    ranked = sorted(units, key=lambda spot: -units[spot])  # Equals stay as they were put in.
    sure = [it.spot for it in looks[0][:SURE]] if looks else []
    return _apart([(spot, units[spot]) for spot in _with_sure(ranked, sure)])


def _with_sure(ranked: Sequence[Spot], sure: Sequence[Spot]) -> list[Spot]:
    """Return `ranked` with the nth text of `sure` moved up to place 2n, if ranked lower."""
    waiting, placed = dict.fromkeys(ranked), list[Spot]()
    while waiting and len(placed) < 2 * len(sure):
        # Of those that are sure the first that waits is due when no place is left before the last that it may have.
        due = next((it for r, it in enumerate(sure, start=1) if it in waiting and 2 * r <= len(placed) + 1), None)
        spot = due if due is not None else next(iter(waiting))
        del waiting[spot]
        placed.append(spot)
    return [*placed, *waiting]


def _apart(ordered: Sequence[tuple[Spot, int]]) -> list[SeenText]:
    """Return an order, given with scores in `LEAST_STEP`, with scores that fall by a step at least to the next."""
    seen, least = list[SeenText](), 0
    for spot, units in reversed(ordered):
        least = max(units, least + 1)
        seen.append(SeenText(spot, round(least * LEAST_STEP, DIGITS)))
    return seen[::-1]
