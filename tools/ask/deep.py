"""A deep search of the prepared texts: the fields that it looks at, the tree and the links of pages.

The steps are in `state/ranking/deep.py`, the questions to a model in `deep_model`.
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
from memtape.state.ranking.deep import RULES, Field, Judge, deepened, share_held
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import Ranking
from memtape.state.text.terms import terms
from memtape.state.tree.walking import walk
from memtape.tools.ask.readied import PreparedTexts

MOST_WANTED = 2_000
PAGE = KINDS.index("page")


class Deepening(NamedTuple):
    """The parts of a deep search: the judge of its steps, and the clock that times them."""

    judge: Judge = RULES
    clock_us: Callable[[], int] = lambda: time.perf_counter_ns() // 1_000


def looked(
    question: str, fields: Sequence[Field], deep: Deepening, limit: int
) -> tuple[list[Ranking], tuple[Traced, ...]]:
    """Return the rankings of a deep search by scope, as far as `limit` may need them, and its trace."""
    # Texts that say the same are returned once.
    search = deepened(question, fields, deep.judge, min(2 * limit, MOST_WANTED), deep.clock_us)
    return search.ordered(), tuple(search.trace)


def field_of(
    ready: PreparedTexts, rank: Callable[[str], Ranking], among: Among | None, now: int, session: str | None,
    *, follows: bool,
) -> Field:  # fmt: skip
    """Return a scope as the field of a deep search; `follows` says whether edges are followed."""
    found, opened = ready.found, ready.found.opened

    def page(id: str) -> PageRow | None:
        row = opened.row("pages", id)
        return row if isinstance(row, PageRow) else None

    @cache
    def pages() -> dict[str | None, PageRow]:
        return {row.version: row for row in opened.rows("pages") if isinstance(row, PageRow)}

    def id_of(place: int) -> str:
        result = found.result(place)
        return "" if result.sums else result.id

    def walked(query: str) -> list[tuple[int, float]]:
        if not opened.has_any("pages"):
            return []
        weights = ready.corpus.weights(query)

        def score(row: PageRow) -> int:
            own = dict.fromkeys(terms(" ".join((row.title, row.summary, *row.hints))))
            return round(1_000 * share_held(weights, own))

        visited = walk(page, ready.scope, score)
        placed = ((found.texts.called(it.row.version or ""), it.score) for it in visited)
        return [(place, share / 1_000) for place, share in placed if place is not None]

    def links(place: int) -> list[int]:
        if found.texts.column("kinds", np.array([place]))[0] != PAGE:
            return []
        row = pages().get(found.result(place).id)
        others = (page(edge.to) for edge in row.edges if edge.to is not None) if row is not None else ()
        placed = (found.texts.called(other.version or "") for other in others if other is not None)
        return [other for other in placed if other is not None]

    passing = among or (lambda places: places)
    return Field(ready.corpus, rank, passing, found.text, id_of, now, session, walked, links, follows)
