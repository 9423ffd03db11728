"""Measures of a retriever by the evidence of questions, and plain rankings to compare with.

The measures are over wanted and found ids: recall by turn and by session, overlap, and latency. The rankings
are built in the usual way, without any of Memtape's recipe. Figures are never state.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf, log1p
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

CUTS = (5, 10, 20, 50)
OVERLAP_CUTS = (5, 10)
TOKEN_PARTS = (50, 75, 90)


class EvaluatedQuestion(NamedTuple):
    """One question with a retriever's answer: ids of turns, best first, and the duration in milliseconds.

    `wanted` are the ids of its evidence, at least one. `session_of` has the session of each turn, and
    `tokens_of` how many tokens its text has.
    """

    category: str
    wanted: tuple[str, ...]
    found: tuple[str, ...]
    session_of: Mapping[str, str]
    ms: float
    tokens_of: Mapping[str, int] = MappingProxyType({})

    @property
    def ranks(self) -> list[int | None]:
        """The rank of each wanted id, from 1; None if it was not found."""
        return [self.found.index(id) + 1 if id in self.found else None for id in self.wanted]

    @property
    def tokens(self) -> float:
        """The tokens of the results down to the last evidence, endless if some was not found."""
        ranks = [rank for rank in self.ranks if rank is not None]
        if len(ranks) < len(self.wanted):
            return inf
        return sum(self.tokens_of.get(id, 0) for id in self.found[: max(ranks)])


def recall(wanted: Sequence[str], found: Iterable[str]) -> float:
    """Return the share of the wanted ids that were found; 0 without wanted ids."""
    got = frozenset(found)
    return sum(id in got for id in wanted) / len(wanted) if wanted else 0


def overlap(first: Sequence[str], second: Sequence[str], cut: int) -> float:
    """Return the share of the longer of two lists, each cut off, that both have; 1 for two empty lists."""
    size = max(len(first[:cut]), len(second[:cut]))
    return len(frozenset(first[:cut]) & frozenset(second[:cut])) / size if size else 1


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the smallest value not exceeded by at least `percent` percent of the values; 0 for none."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] if ordered else 0


def summary(asked: Sequence[EvaluatedQuestion], cuts: Sequence[int] = CUTS) -> dict[str, Any]:
    """Return the means over questions: by turn, by session, the same for each category, and latency.

    A session counts as found where any of its turns is. `any` and `all` are the shares of questions with any
    and with all of their evidence found. `tokens` are percentiles over all questions, None where more is
    needed than was found.
    """
    categories, times = sorted(dict.fromkeys(one.category for one in asked)), [one.ms for one in asked]
    needed = {f"p{part}": percentile([one.tokens for one in asked], part) for part in TOKEN_PARTS}
    found = {cut: [recall(one.wanted, one.found[:cut]) for one in asked] for cut in cuts}
    return {
        **_recalls(asked, cuts),
        "any": {str(cut): mean([share > 0 for share in its]) for cut, its in found.items()},
        "all": {str(cut): mean([share == 1 for share in its]) for cut, its in found.items()},
        "tokens": {part: None if it == inf else it for part, it in needed.items()},
        "by_category": {
            category: {"questions": len(its), **_recalls(its, cuts)}
            for category in categories
            for its in [[one for one in asked if one.category == category]]
        },
        "latency_ms": {f"p{part}": round(percentile(times, part), 3) for part in (50, 95)},
    }


def mean(values: Sequence[float]) -> float:
    """Return the mean to four digits, 0 of none."""
    return round(sum(values) / len(values), 4) if values else 0


def _recalls(asked: Sequence[EvaluatedQuestion], cuts: Sequence[int]) -> dict[str, dict[str, float]]:
    def by_session(one: EvaluatedQuestion, cut: int) -> float:
        wanted = list(dict.fromkeys(one.session_of[id] for id in one.wanted))
        return recall(wanted, [one.session_of[id] for id in one.found[:cut] if id in one.session_of])

    return {
        "turn": {str(cut): mean([recall(one.wanted, one.found[:cut]) for one in asked]) for cut in cuts},
        "session": {str(cut): mean([by_session(one, cut) for one in asked]) for cut in cuts},
    }


K1, B = 1.5, 0.75  # What rank-bm25 sets by default.
RRF_K = 60  # The constant of reciprocal rank fusion (Cormack et al. 2009).

_WORD = re.compile(r"\w+")


class PlainBm25:
    """BM25 over lower-case words of single texts: no stemming, no stop words, no context.

    idf is Lucene's, which unlike Okapi's is never negative.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        held = [Counter(_WORD.findall(text.lower())) for text in texts]
        mean_length = sum(its.total() for its in held) / max(1, len(held)) or 1
        self._size = len(held)
        self._shares: dict[str, list[tuple[int, float]]] = {}
        """By term the texts with the term, each with its share of the term's weight."""
        for place, its in enumerate(held):
            norm = K1 * (1 - B + B * its.total() / mean_length)
            for term, count in its.items():
                self._shares.setdefault(term, []).append((place, count * (K1 + 1) / (count + norm)))

    def rank(self, query: str, most: int) -> list[int]:
        """Return the places of the texts that hold most of a question, best first, the earlier of equals."""
        scores: dict[int, float] = {}
        for shares in (self._shares.get(term, []) for term in _WORD.findall(query.lower())):
            idf = log1p((self._size - len(shares) + 0.5) / (len(shares) + 0.5))
            for place, share in shares:
                scores[place] = scores.get(place, 0) + share * idf
        return sorted(scores, key=lambda place: (-scores[place], place))[:most]


class PlainCosine:
    """Cosine alone, over quantised vectors; a row of zeros is a text without one, which is never found."""

    def __init__(self, vectors: NDArray[np.int16]) -> None:
        self._vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        self._norms = np.sqrt(np.square(self._vectors, dtype=np.float64).sum(axis=1))

    def rank(self, query: NDArray[np.int16] | None, most: int) -> list[int]:
        """Return the places of the nearest texts, nearest first; nothing where the question has no vector."""
        if query is None:
            return []
        known = self._norms > 0
        dots = self._vectors @ query.astype(np.float32)
        cosines = np.where(known, dots / np.where(known, self._norms, 1), -np.inf)
        order = np.argsort(-cosines, kind="stable")[:most]
        return [int(place) for place in order if known[place]]


def reciprocal_rank_fusion(orders: Sequence[Sequence[int]], most: int) -> list[int]:
    """Return the places of several rankings by the sum of 1 / (60 + rank), among equals the earlier first."""
    scores: dict[int, float] = {}
    for order in orders:
        for rank, place in enumerate(order, start=1):
            scores[place] = scores.get(place, 0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda place: (-scores[place], place))[:most]
