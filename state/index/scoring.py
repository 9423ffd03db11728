"""BM25 over the texts of a scope in context, and over whole sessions. Scores are answers and never state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from memtape.state.index.parts import Floats, Ints, TermCache, TermRows
from memtape.state.index.segments import Array
from memtape.state.index.sessions import NOBODY
from memtape.state.index.sorted_values import distinct
from memtape.state.index.texts import ContextRecipe, Texts

SESSION_K1, SESSION_B = 1.2, 0.75
RARE = 200
"""A term in at most 1 text of 200 is scored around its texts only, any other by an array over all texts."""


class Scorer:
    """BM25 over the texts of a scope, each read with shares of the turns around it, and over sessions."""

    def __init__(self, texts: Texts, context: ContextRecipe) -> None:
        self._texts = texts
        self._context = context
        self._worths = TermCache()
        self._read = texts.read(context)
        self._mean = float(self._read[:-1][texts.shown].mean()) if texts.count else 0.0
        number = texts.sessions.number[texts.shown]
        self._session_lengths = np.bincount(number, texts.lengths[:-1][texts.shown], minlength=texts.size)
        held = np.bincount(number, minlength=texts.size) > 0
        self._session_mean = float(self._session_lengths.sum() / held.sum()) if held.any() else 0.0

    def score(self, wanted: Iterable[tuple[str, float]]) -> Floats:
        """Return the score of every text for terms, each with its weight."""
        scores = np.zeros(self._texts.size)
        for term, weight in wanted:
            rows, worths, _ = self._worths.of(term, self._worth_of)
            scores[rows] += weight * worths
        return scores

    def holds(self, terms: Sequence[str], places: Ints) -> Array:
        """Return saturated counts of terms in context, shape (terms, places): 1 for one at mean length.

        Only the texts around these are read, since a common term is in very many.
        """
        texts, turns, around = self._texts, self._texts.turns, self._texts.sessions
        links = (around.before, around.before_that, around.after, around.after_that)
        near = distinct(np.concatenate([places, *(link[places] for link in links)]))
        held = np.zeros((len(terms), len(near)))
        for n, term in enumerate(terms):
            rows, counts, _ = texts.found(term)
            if len(rows):
                at = np.minimum(np.searchsorted(rows, near), len(rows) - 1)
                held[n] = np.where(rows[at] == near, counts[at], 0)
        numbers, columns = np.nonzero(held)
        rows, counts = near[columns], held[numbers, columns]
        lent = counts * turns.worth(rows)
        for to, share in turns.lent(rows, self._context):
            at = np.minimum(np.searchsorted(near, to), max(0, len(near) - 1))
            is_near = (near[at] == to) & (to != NOBODY)
            np.add.at(held, (numbers[is_near], at[is_near]), np.broadcast_to(share * lent, len(to))[is_near])
        here = held[:, np.searchsorted(near, places)]
        holds: Array = np.minimum(1, self._saturated(places, here))
        return holds

    def score_sessions(self, wanted: Iterable[tuple[str, float]]) -> Floats:
        """Return the score of every session, by the numbers that `TextSessions` gives them."""
        scores, number = np.zeros(self._texts.size), self._texts.sessions.number
        for term, weight in wanted:
            rows, counts, _ = self._texts.found(term)
            counted = np.bincount(number[rows], counts, minlength=self._texts.size)
            here = np.flatnonzero(counted)
            held = counted[here]
            relative = self._session_lengths[here] / (self._session_mean or 1)
            norms = SESSION_K1 * (1 - SESSION_B + SESSION_B * relative)
            scores[here] += weight * (held * (SESSION_K1 + 1) / (held + norms) * self._texts.idf(term))
        return scores

    def _worth_of(self, term: str) -> TermRows:
        """Return the scores of a term in texts with the term, and in texts beside a text with the term."""
        texts, turns = self._texts, self._texts.turns
        rows, counts, _ = texts.found(term)
        lent = counts * turns.worth(rows)
        given = [(rows, counts), *((to, share * lent) for to, share in turns.lent(rows, self._context))]
        if len(rows) * RARE < texts.size:
            every = np.concatenate([to for to, _ in given])
            here = distinct(every)
            places = np.searchsorted(here, every)
            held: Any = np.bincount(places, np.concatenate([its for _, its in given]), minlength=len(here))
            is_lent = (here != NOBODY) & (held > 0)
            here, held = here[is_lent], held[is_lent]
        else:
            counted: Floats = np.zeros(texts.size + 1)
            for to, its in given:
                counted[to] += its
            here = np.flatnonzero(counted[:-1] > 0)
            held = counted[here]
        return TermRows(here, self._saturated(here, held) * texts.idf(term))

    def _saturated(self, here: Any, held: Any) -> Any:
        """Return the saturated count of a term by text length: at the mean length, a count of 1 is 1."""
        k1, b = self._context.k1, self._context.b
        norms = k1 * (1 - b + b * self._read[here] / (self._mean or 1))
        return held * (k1 + 1) / (held + norms)
