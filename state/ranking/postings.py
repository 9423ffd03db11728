"""BM25 over single texts, for the plain rankings: the rows and the score of each term.

Memtape's own is in `state/index/texts.py`. Scores are answers and never state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
