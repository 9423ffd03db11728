"""The order in which found texts are shown: BM25 over the scope's own texts, and one tie-break.

Statistics come from the scope alone, so that nothing in another scope can move a score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rank_bm25 import BM25Plus

from recollect.state.text import words


class Hit(NamedTuple):
    """A document's place in the list that was ranked, and its score."""

    place: int
    score: float


class Corpus:
    """The texts of one scope, made ready to be asked many times."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._holding: dict[str, list[int]] = {}
        tokens = [words(text) for text in texts]
        for index, document in enumerate(tokens):
            for term in dict.fromkeys(document):
                self._holding.setdefault(term, []).append(index)
        # rank-bm25 divides by the mean length, so that an empty corpus must not reach it.
        self._bm25 = BM25Plus(tokens) if self._holding else None

    def rank(self, query: str) -> list[Hit]:
        """Return every text that holds a term of the query, best first, earlier texts first among equals."""
        terms = [term for term in dict.fromkeys(words(query)) if term in self._holding]
        if not terms or self._bm25 is None:
            return []
        found = sorted({index for term in terms for index in self._holding[term]})
        scores = self._bm25.get_batch_scores(terms, found)
        return sorted(map(Hit, found, map(float, scores)), key=lambda hit: (-hit.score, hit.place))
