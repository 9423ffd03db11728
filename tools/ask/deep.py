"""A deep search of what is ready: looks at all scopes that are read, and the trace of their steps.

What each step does is in `state/ranking/deep`, how a model is asked in `deep_model`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from memtape.schemas.events import Traced
from memtape.state.ranking.deep.ground import Field, Ground
from memtape.state.ranking.deep.loop import Taken, deepened
from memtape.state.ranking.deep.rules import Judge, Rules
from memtape.state.ranking.ranker import Ranking
from memtape.tools.ask.readied import Ready

MOST_WANTED = 400


def _clock_us() -> int:
    return time.perf_counter_ns() // 1_000


class Deepening(NamedTuple):
    """How a deep search is made: who decides in its steps, and what tells the time that these take."""

    judge: Judge = Rules()
    clock_us: Callable[[], int] = _clock_us


def looked(
    question: str, readies: Sequence[Ready], fields: Sequence[Field], deep: Deepening, limit: int
) -> tuple[list[Ranking], tuple[Traced, ...]]:
    """Return the rankings by scope of what a deep search finds, as far as `limit` may need it, and its trace."""
    ground = Ground(fields)
    # Texts that say the same are returned once.
    found = deepened(question, ground, deep.judge, min(2 * limit, MOST_WANTED), deep.clock_us)
    return ground.ordered(found.found), tuple(_traced(taken, readies) for taken in found.steps)


def _traced(taken: Taken, readies: Sequence[Ready]) -> Traced:
    results = (readies[spot.scope].found.result(spot.place) for spot in taken.spots)
    return Traced(
        by=taken.by,
        cost=taken.cost,
        failure=taken.failure,
        given=taken.given,
        ids=tuple(dict.fromkeys(result.id for result in results if not result.sums)),
        kept=taken.kept,
        look=taken.look,
        query=taken.query,
        step=taken.step,
        took_us=taken.took_us,
    )
