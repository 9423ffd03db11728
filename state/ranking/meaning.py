"""The nearest texts by meaning: the vectors compared with a question, and their cosines.

Few texts are all compared; of many those with the nearest sketches.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtape.state.index.parts import Floats, Ints
from memtape.state.index.segments import Flags
from memtape.state.index.sorted_values import firsts, is_one_of
from memtape.state.index.vectors import TextVectors, Vectors
from memtape.state.ranking.lanes import PERHAPS_COSINE

Among = Callable[[Ints], Ints]  # A filter of places: returns the allowed ones.

EXACT_TEXTS = 8_192
"""Of so many texts all vectors are compared, as numbers that need no conversion: 13 MB of 384 dimensions."""
NEAR_TEXTS, NEAR_SHARE = 1_000, 0.01
"""Texts compared in full, those with the nearest sketches: the greater of a number and a share of all."""
NEAR_IN_SESSION = 2  # In each session that is asked about, so many of the nearest are compared.
NOWHERE = -2.0  # The cosine of the best of a session without vectors: less than any.


class Meaning:
    """The vectors of the texts of a scope that are shown, and the number of each text's session."""

    def __init__(self, vectors: TextVectors, session: Ints) -> None:
        self.vectors = vectors
        self.session = session
        self.rows = np.flatnonzero(vectors.known)

    def cosines(self, places: Ints) -> Floats:
        """Return how similar all texts are to some, shape (texts, places), 0 without a vector."""
        matrix, lengths = self._matrix
        cosines: Floats = (matrix @ matrix[places].T) / np.outer(lengths, lengths[places])
        return cosines

    @cached_property
    def sessions(self) -> tuple[Ints, Ints, Ints]:
        """The texts with a vector by their sessions, where each session begins and ends, and its number."""
        grouped = self.rows[np.argsort(self.session[self.rows], kind="stable")]
        starts = np.flatnonzero(firsts(self.session[grouped]))
        return grouped, np.append(starts, len(grouped)), self.session[grouped[starts]]

    @cached_property
    def _matrix(self) -> tuple[NDArray[np.float32], Floats]:
        every = np.arange(len(self.session))
        return self.vectors.taken(every).astype(np.float32), self.vectors.lengths(every)

    def compared(self, query: Vectors) -> Floats:
        """Return how similar all texts are to a question."""
        return np.where(self.vectors.known, _cosines(*self._matrix, query), 0)


class Similar:
    """A question's vector compared with all of few texts, or with the texts of the nearest sketches of many.

    `places` are those of the allowed texts that may be near, ascending, with their `cosines`; `best` is the
    greatest cosine of all texts, 0 if none is greater.
    """

    def __init__(self, meaning: Meaning, query: Vectors, among: Among) -> None:
        """Compare a question. Raises `ValueError` for a vector of other dimensions."""
        if query.shape != (meaning.vectors.dimensions,):
            known = meaning.vectors.dimensions
            raise ValueError(f"A question's vector has {query.size} dimensions and not {known}.")
        self._meaning = meaning
        self._query = query
        self._compared = meaning.compared(query) if len(meaning.session) <= EXACT_TEXTS else None
        self._distances: Any = meaning.vectors.distances(query) if self._compared is None else -self._compared
        self.best = max(0.0, float(self._nearest(meaning.rows)[1].max()))
        places, cosines = self._nearest(among(meaning.rows))
        near = cosines >= PERHAPS_COSINE
        self.places: Ints = places[near]
        self.cosines: Floats = cosines[near]

    def _nearest(self, rows: Ints) -> tuple[Ints, Floats]:
        """Return those of some texts that may be near, and their cosines."""
        most = max(NEAR_TEXTS, round(NEAR_SHARE * len(rows)))
        if self._compared is None and most < len(rows):
            rows = np.sort(rows[np.argpartition(self._distances[rows], most)[:most]])
        return rows, self.of(rows)[0]

    def of(self, places: Ints) -> tuple[Floats, Flags]:
        """Return the cosine of each text, 0 without a vector, and a mask of the texts with one."""
        vectors = self._meaning.vectors
        known = vectors.known[places]
        if self._compared is not None:
            return self._compared[places], known
        taken = vectors.taken(places).astype(np.float32)
        return np.where(known, _cosines(taken, vectors.lengths(places), self._query), 0), known

    def sessions_of(self, places: Ints) -> Floats:
        """Return the best cosine of each text's session, `NOWHERE` where the session has no vector."""
        session = self._meaning.session
        grouped, bounds, numbers = self._meaning.sessions
        wanted = np.flatnonzero(is_one_of(numbers, session[places]))
        if not len(wanted):
            return np.full(len(places), NOWHERE)
        sizes = bounds[wanted + 1] - bounds[wanted]
        ends = np.cumsum(sizes)
        # The texts of the wanted sessions in turn, and for each the place of its session among these.
        rows = grouped[np.arange(ends[-1]) + np.repeat(bounds[wanted] - ends + sizes, sizes)]
        owner = np.repeat(np.arange(len(wanted)), sizes)
        order = np.lexsort((self._distances[rows], owner))
        near = order[np.arange(len(rows)) - np.repeat(ends - sizes, sizes) < NEAR_IN_SESSION]
        best = np.full(len(wanted), NOWHERE)
        np.maximum.at(best, owner[near], self.of(rows[near])[0])
        here = np.minimum(np.searchsorted(numbers[wanted], session[places]), len(wanted) - 1)
        found: Floats = np.where(numbers[wanted][here] == session[places], best[here], NOWHERE)
        return found


def _cosines(matrix: NDArray[np.float32], lengths: Floats, query: Vectors) -> Floats:
    asked = query.astype(np.float32)
    norm = float(np.sqrt(np.square(asked, dtype=np.float64).sum())) or 1.0
    cosines: Floats = (matrix @ asked) / (lengths * norm)
    return cosines
