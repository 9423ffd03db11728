"""Texts in context: each is read with shares of the terms of the turns around it, and is as long as these make it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.state.index.entries import ASKS
from memtape.state.index.parts import Floats, Ints
from memtape.state.index.segments import Flags
from memtape.state.index.sessions import NOBODY, TextSessions

LENT_TERMS = 40
"""Of a long answer a neighbour gets no more than so many terms' worth."""


class ContextRecipe(NamedTuple):
    """BM25's constants, and the shares of terms that a turn gets from its neighbours.

    From the turn before (`asked` after a question mark, else `before`), the turn before that, and the two
    after.
    """

    k1: float
    b: float
    asked: float
    before: float
    before_that: float
    after: float
    after_that: float


Rows = Ints | slice
"""Some texts by their places, or all of them."""


class Turns(NamedTuple):
    """The arrays over N texts that decide which turn lends terms to which.

    `lengths` has one more slot, of 0 terms. `answers` marks the turns of an assistant; None for talk between
    people.
    """

    sessions: TextSessions
    flags: NDArray[np.uint32]
    answers: Flags | None
    lengths: Floats

    def lent(self, rows: Rows, recipe: ContextRecipe) -> list[tuple[Ints, Floats | float]]:
        """Return pairs over the texts: the receiving turns (`NOBODY` for none), and the shares of terms."""
        around, answers = self.sessions, self.answers
        to_next = np.where(self.flags[rows] & ASKS != 0, recipe.asked, recipe.before)
        after, before = around.after[rows], around.before[rows]
        if answers is None:
            return [
                (after, to_next),
                (around.after_that[rows], recipe.before_that),
                (before, recipe.after),
                (around.before_that[rows], recipe.after_that),
            ]
        # Only a user's words and the answer to them are read together.
        own = answers[rows]
        to_answer = np.where(~own & answers[after] & (after != NOBODY), after, NOBODY)
        to_question = np.where(own & ~answers[before], before, NOBODY)
        return [(to_answer, to_next), (to_question, recipe.after)]

    def worth(self, rows: Rows) -> Floats | float:
        """Return the share of its terms that each text lends."""
        return 1.0 if self.answers is None else np.minimum(1, LENT_TERMS / np.maximum(self.lengths[rows], 1))


class TextContext(NamedTuple):
    """The lengths of N texts with lent terms (N + 1, the last 0), and the mask of an assistant's texts."""

    lengths: Floats
    answers: Flags | None


def read_lengths(turns: Turns, recipe: ContextRecipe, known: TextContext | None) -> TextContext:
    """Return the lengths of texts in context; `known` is of the texts before a change at `sessions.again`."""
    rows: Rows
    size, again = len(turns.lengths) - 1, turns.sessions.again
    if known is None or not _alike(turns.answers, known.answers, again):
        rows, read = slice(0, size), turns.lengths.copy()
    else:
        base = min(size, len(known.lengths) - 1)
        rows, read = again, np.append(known.lengths[:base], np.zeros(size + 1 - base))
        read[rows] = turns.lengths[rows]
    given = turns.lengths[rows] * turns.worth(rows)
    for to, share in turns.lent(rows, recipe):
        # Each text is before, or after, at most one other, so that nothing is added twice to one place.
        read[to] += share * given
    read[-1] = 0
    return TextContext(read, turns.answers)


def _alike(answers: Flags | None, others: Flags | None, again: Ints) -> bool:
    """Return whether the same turns are an assistant's, except those read again."""
    if answers is None or others is None:
        return answers is others
    size = min(len(answers), len(others))
    differ = answers[:size] != others[:size]
    differ[again[again < size]] = False
    return not differ.any()
