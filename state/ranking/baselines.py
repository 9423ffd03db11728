"""Plain rankings for comparison with Memtape's own: built in the usual way, without any of its recipe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

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
        counts = counts_of(tokens, self._number)
        self._postings = Postings(counts, inverse_frequencies(counts, len(self._number)), K1, B)

    def rank(self, query: str, most: int) -> list[int]:
        """Return the places of the texts that hold most of a question, best first, earlier ones first among equals."""
        asked = _WORD.findall(query.lower())
        scores = self._postings.score([(self._number[term], 1) for term in asked if term in self._number])
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


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Counts(NamedTuple):
    """How often rows hold terms: three arrays of one length, ordered by row, and the length of every row."""

    rows: Ints
    terms: Ints
    counts: Floats
    lengths: Floats


def counts_of(tokens: Sequence[Sequence[str]], number: dict[str, int]) -> Counts:
    """Return the counts of texts given as terms; `number` says which column a term has."""
    held = [Counter(found) for found in tokens]
    rows = np.repeat(np.arange(len(tokens)), [len(counter) for counter in held])
    terms = np.fromiter((number[term] for counter in held for term in counter), np.int64)
    counts = np.fromiter((count for counter in held for count in counter.values()), np.float64)
    return Counts(rows, terms, counts, np.fromiter(map(len, tokens), np.float64))


def inverse_frequencies(counts: Counts, terms: int) -> Floats:
    """Return ln(1 + (N - df + 1/2) / (df + 1/2)) for every term, and last for a term that no text holds."""
    held = np.append(np.bincount(counts.terms, minlength=terms), 0)
    half = 1 / 2
    frequencies: Floats = np.log1p((len(counts.lengths) - held + half) / (held + half))
    return frequencies


class Postings:
    """Counts made ready to be asked: BM25 with the given k1 and b."""

    def __init__(self, counts: Counts, idf: Floats, k1: float, b: float) -> None:
        relative = counts.lengths / (counts.lengths.mean() or 1) if len(counts.lengths) else counts.lengths
        norms = k1 * (1 - b + b * relative)
        worth = counts.counts * (k1 + 1) / (counts.counts + norms[counts.rows]) * idf[counts.terms]
        order = np.argsort(counts.terms, kind="stable")
        self._rows, self._worth = counts.rows[order], worth[order]
        self._starts = np.searchsorted(counts.terms[order], np.arange(len(idf)))
        self._size = len(counts.lengths)

    def score(self, wanted: Iterable[tuple[int, float]]) -> Floats:
        """Return the score of every row for terms, each with its weight."""
        scores = np.zeros(self._size)
        for term, weight in wanted:
            part = slice(self._starts[term], self._starts[term + 1])
            scores[self._rows[part]] += weight * self._worth[part]
        return scores
