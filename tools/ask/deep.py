"""A deep search of the prepared texts: looks at all readable scopes, and the trace of their steps.

The steps are in `state/ranking/deep`, the questions to a model in `deep_model`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from memtape.schemas.events import Traced
from memtape.schemas.rows import PageRow
from memtape.state.index.entries import KINDS
from memtape.state.ranking.deep.asking import share_held
from memtape.state.ranking.deep.ground import Field, Ground, Links, Rank, Walk
from memtape.state.ranking.deep.loop import FinishedStep, deepened
from memtape.state.ranking.deep.rules import Judge, Rules
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import Ranking
from memtape.state.text.terms import terms
from memtape.state.tree.walking import walk
from memtape.tools.ask.readied import PreparedTexts

MOST_WANTED, MOST_TRACED = 2_000, 1_000
PAGE = KINDS.index("page")


def _clock_us() -> int:
    return time.perf_counter_ns() // 1_000


class Deepening(NamedTuple):
    """The parts of a deep search: the judge of its steps, and the clock that times them."""

    judge: Judge = Rules()
    clock_us: Callable[[], int] = _clock_us


def looked(
    question: str, readies: Sequence[PreparedTexts], fields: Sequence[Field], deep: Deepening, limit: int
) -> tuple[list[Ranking], tuple[Traced, ...]]:
    """Return the rankings of a deep search by scope, as far as `limit` may need them, and its trace."""
    ground = Ground(fields)
    # Texts that say the same are returned once.
    found = deepened(question, ground, deep.judge, min(2 * limit, MOST_WANTED), deep.clock_us)
    return ground.ordered(found.found), tuple(_traced(taken, readies) for taken in found.steps)


def field_of(
    ready: PreparedTexts, rank: Rank, among: Among | None, now: int, session: str | None, *, follows: bool
) -> Field:
    """Return a scope as the field of a deep search; `follows` says whether edges are followed."""
    passing = among or (lambda places: places)
    text_of, links = ready.found.text, linker(ready)
    return Field(ready.corpus, rank, passing, text_of, now, session, walker(ready), links, follows)


def walker(ready: PreparedTexts) -> Walk:
    """Return a function that walks down a scope's tree by the short texts of pages."""
    opened = ready.found.opened

    def walked(query: str) -> list[tuple[int, float]]:
        if not opened.has_any("pages"):
            return []
        weights = ready.corpus.weights(query)

        def score(row: PageRow) -> int:
            own = dict.fromkeys(terms(" ".join((row.title, row.summary, *row.hints))))
            return round(1_000 * share_held(weights, own))

        visited = walk(lambda id: _page(ready, id), ready.scope, score)
        placed = ((ready.found.texts.called(it.row.version or ""), it.score) for it in visited)
        return [(place, share / 1_000) for place, share in placed if place is not None]

    return walked


def linker(ready: PreparedTexts) -> Links:
    """Return a function that follows the edges of pages in a scope."""
    texts = ready.found.texts

    @cache
    def pages() -> dict[str | None, PageRow]:
        return {row.version: row for row in ready.found.opened.rows("pages") if isinstance(row, PageRow)}

    def links(place: int) -> list[int]:
        if texts.column("kinds", np.array([place]))[0] != PAGE:
            return []
        row = pages().get(ready.found.result(place).id)
        others = (_page(ready, edge.to) for edge in row.edges if edge.to is not None) if row is not None else ()
        placed = (texts.called(other.version or "") for other in others if other is not None)
        return [other for other in placed if other is not None]

    return links


def _page(ready: PreparedTexts, id: str) -> PageRow | None:
    row = ready.found.opened.row("pages", id)
    return row if isinstance(row, PageRow) else None


def _traced(taken: FinishedStep, readies: Sequence[PreparedTexts]) -> Traced:
    results = (readies[spot.scope].found.result(spot.place) for spot in taken.spots)
    return Traced(
        by=taken.by,
        cost=taken.cost,
        failure=taken.failure,
        given=taken.given,
        ids=tuple(dict.fromkeys(result.id for result in results if not result.sums))[:MOST_TRACED],
        kept=taken.kept,
        look=taken.look,
        query=taken.query,
        step=taken.step,
        took_us=taken.took_us,
    )
