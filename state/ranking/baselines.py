"""Plain rankings for comparison with Memtape's own: built in the usual way, without any of its recipe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

K1, B = 1.5, 0.75
"""What rank-bm25 sets by default."""
RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack et al. 2009)."""

_WORD = re.compile(r"\w+")


class PlainBm25:
    """BM25 over lower-case words of single texts: no stemming, no stop words, no context.

    idf is Lucene's, which unlike Okapi's is never negative.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        tokens = [_WORD.findall(text.lower()) for text in texts]
        self._number = {term: n for n, term in enumerate(dict.fromkeys(term for found in tokens for term in found))}
        held = [Counter(found) for found in tokens]
        rows = np.repeat(np.arange(len(tokens)), [len(counter) for counter in held])
        terms = np.fromiter((self._number[term] for counter in held for term in counter), np.int64)
        counts = np.fromiter((count for counter in held for count in counter.values()), np.float64)
        lengths = np.fromiter(map(len, tokens), np.float64)
        texts_of = np.bincount(terms, minlength=len(self._number))
        idf = np.log1p((len(tokens) - texts_of + 0.5) / (texts_of + 0.5))
        norms = K1 * (1 - B + B * lengths / (lengths.sum() / max(1, len(tokens)) or 1))
        order = np.argsort(terms, kind="stable")
        self._rows, self._worth = rows[order], (counts * (K1 + 1) / (counts + norms[rows]) * idf[terms])[order]
        self._starts = np.searchsorted(terms[order], np.arange(len(self._number) + 1))
        self._size = len(tokens)

    def rank(self, query: str, most: int) -> list[int]:
        """Return the places of the texts that hold most of a question, best first, earlier ones first among equals."""
        scores = np.zeros(self._size)
        for number in (self._number[term] for term in _WORD.findall(query.lower()) if term in self._number):
            part = slice(self._starts[number], self._starts[number + 1])
            scores[self._rows[part]] += self._worth[part]
        order = np.argsort(-scores, kind="stable")[:most]
        return [int(place) for place in order if scores[place] > 0]


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
        cosines = np.where(known, (self._vectors @ query.astype(np.float32)) / np.where(known, self._norms, 1), -np.inf)
        order = np.argsort(-cosines, kind="stable")[:most]
        return [int(place) for place in order if known[place]]


def reciprocal_rank_fusion(orders: Sequence[Sequence[int]], most: int) -> list[int]:
    """Return the places of several rankings by the sum of 1 / (60 + rank), earlier ones first among equals."""
    scores: dict[int, float] = {}
    for order in orders:
        for rank, place in enumerate(order, start=1):
            scores[place] = scores.get(place, 0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda place: (-scores[place], place))[:most]
