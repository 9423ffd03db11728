"""What a question is near to in meaning: which vectors of a scope's texts are compared with it, and their cosines.

Where texts are few, all are compared; else those whose sketches are nearest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.state.index.segments import Flags
from memtape.state.index.sorted_values import firsts, is_one_of
from memtape.state.index.texts import Floats, Ints
from memtape.state.index.vectors import TextVectors, Vectors
from memtape.state.ranking.lanes import LEAST_COSINE

Among = Callable[[Ints], Ints]
"""Gives those of some places that may be returned."""

EXACT_TEXTS = 8_192
"""Of so many texts all vectors are compared, held as numbers that need no conversion: 13 MB of 384 dimensions."""
NEAR_TEXTS, NEAR_SHARE = 1_000, 0.01
"""Of more texts those with the nearest sketches are compared: so many, or this share of all where that is more."""
NEAR_IN_SESSION = 2
"""In each session that is asked about, so many of the nearest are compared."""
NOWHERE = -2.0
"""The cosine of the best of a session without vectors: less than any."""


class Similar(NamedTuple):
    """What the vectors say of a question: `places` of texts that are near, ascending, with their `cosines`.

    `best` is the greatest cosine of all, 0 where none is greater. `of` gives the cosine of each of some places, 0
    without a vector, and which have one; `sessions_of` that of the best of the session of each.
    """

    places: Ints
    cosines: Floats
    best: float
    of: Callable[[Ints], tuple[Floats, Flags]]
    sessions_of: Callable[[Ints], Floats]


class Meaning:
    """The vectors of the texts of a scope that are shown, and the number of each text's session."""

    def __init__(self, vectors: TextVectors, session: Ints) -> None:
        self._vectors = vectors
        self._session = session
        self._known = vectors.known
        self._rows = np.flatnonzero(self._known)

    def ask(self, query: Vectors, among: Among) -> Similar:
        """Return what is near a question. Raises `ValueError` for a vector of other dimensions."""
        if query.shape != (self._vectors.dimensions,):
            raise ValueError(f"A question's vector has {query.size} dimensions and not {self._vectors.dimensions}.")
        few = len(self._known) <= EXACT_TEXTS
        return self._compared(query, among) if few else self._sketched(query, among)

    @cached_property
    def _matrix(self) -> tuple[NDArray[np.float32], Floats]:
        matrix = self._vectors.taken(np.arange(len(self._known))).astype(np.float32)
        return matrix, _norms(matrix)

    @cached_property
    def _sessions(self) -> tuple[Ints, Ints, Ints]:
        """The texts that have a vector by their sessions, where each session begins and ends, and its number."""
        grouped = self._rows[np.argsort(self._session[self._rows], kind="stable")]
        starts = np.flatnonzero(firsts(self._session[grouped]))
        return grouped, np.append(starts, len(grouped)), self._session[grouped[starts]]

    def _compared(self, query: Vectors, among: Among) -> Similar:
        """Compare all texts."""
        cosines = _cosines(*self._matrix, query)
        cosines[~self._known] = 0
        grouped, bounds, numbers = self._sessions
        best = np.maximum.reduceat(cosines[grouped], bounds[:-1])

        def of(places: Ints) -> tuple[Floats, Flags]:
            return cosines[places], self._known[places]

        def sessions_of(places: Ints) -> Floats:
            return _looked_up(self._session[places], numbers, best)

        near = among(np.flatnonzero(cosines >= LEAST_COSINE))
        return Similar(near, cosines[near], float(cosines.max()), of, sessions_of)

    def _sketched(self, query: Vectors, among: Among) -> Similar:
        """Compare the texts whose sketches are nearest."""
        distances = self._vectors.distances(query)

        def of(places: Ints) -> tuple[Floats, Flags]:
            taken = self._vectors.taken(places).astype(np.float32)
            known = self._known[places]
            return np.where(known, _cosines(taken, _norms(taken), query), 0), known

        def nearest(rows: Ints) -> tuple[Ints, Floats]:
            most = max(NEAR_TEXTS, round(NEAR_SHARE * len(rows)))
            if most < len(rows):
                rows = np.sort(rows[np.argpartition(distances[rows], most)[:most]])
            return rows, of(rows)[0]

        def sessions_of(places: Ints) -> Floats:
            grouped, bounds, numbers = self._sessions
            wanted = np.flatnonzero(is_one_of(numbers, self._session[places]))
            sizes = bounds[wanted + 1] - bounds[wanted]
            ends = np.cumsum(sizes)
            # The texts of the wanted sessions one after the other, and for each the place of its session among these.
            rows = grouped[np.arange(ends[-1]) + np.repeat(bounds[wanted] - ends + sizes, sizes)]
            owner = np.repeat(np.arange(len(wanted)), sizes)
            order = np.lexsort((distances[rows], owner))
            near = order[np.arange(len(rows)) - np.repeat(ends - sizes, sizes) < NEAR_IN_SESSION]
            best = np.full(len(wanted), NOWHERE)
            np.maximum.at(best, owner[near], of(rows[near])[0])
            return _looked_up(self._session[places], numbers[wanted], best)

        places, cosines = nearest(self._rows)
        best = max(0.0, float(cosines.max()))
        passing = among(self._rows)
        if passing is not self._rows:
            places, cosines = nearest(passing)
        near = cosines >= LEAST_COSINE
        return Similar(places[near], cosines[near], best, of, sessions_of)


def _norms(matrix: NDArray[np.float32]) -> Floats:
    """Return the lengths of vectors, 1 for one of zeros."""
    norms: Floats = np.sqrt(np.square(matrix, dtype=np.float64).sum(axis=1))
    return np.where(norms > 0, norms, 1)


def _cosines(matrix: NDArray[np.float32], norms: Floats, query: Vectors) -> Floats:
    asked = query.astype(np.float32)
    norm = float(np.sqrt(np.square(asked, dtype=np.float64).sum())) or 1.0
    cosines: Floats = (matrix @ asked) / (norms * norm)
    return cosines


def _looked_up(wanted: Ints, numbers: Ints, values: Floats) -> Floats:
    """Return the value of each of some numbers, `NOWHERE` where there is none; `numbers` are in ascending order."""
    places = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    found: Floats = np.where(numbers[places] == wanted, values[places], NOWHERE)
    return found
