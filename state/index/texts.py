"""All texts of one scope: the union of its segments, with results known from an earlier union.

Each text is read in context: with shares of the terms of the turns around it, and as long as these make it.
Statistics are sums over the shown texts, and so do not depend on the segments. Without earlier results a
union costs some 40 ns a text; a question costs the occurrences of its words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.state.index.entries import ANSWERS, ASKS, IN_LOWER_CASE, MOST_COUNT, TURN, number_of
from memtape.state.index.parts import Floats, Ints, MaskedSegment, TermCache, TermRows, column_of, joined
from memtape.state.index.segments import Flags
from memtape.state.index.sessions import NOBODY, TextSessions

LEAST_TURNS = 5
"""Of so many turns a mean length says something."""
LEAST_SHARE = 4
"""Minimum share of assistant turns in a scope with an assistant: 1 in 4."""
UNEQUAL_LENGTHS = 2.5
"""From this ratio of two speakers' mean lengths on, one of them is taken for an assistant."""
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


class Texts:
    """The texts of the parts, numbered from the first part on.

    Results of `known` texts that begin with the same segments are extended, not computed again.
    """

    def __init__(self, parts: Sequence[MaskedSegment], known: Texts | None = None) -> None:
        self.parts = parts
        self.sessions: TextSessions = TextSessions(parts, None if known is None else known.sessions)
        self.starts, self.shown = self.sessions.starts, self.sessions.shown
        self.size = self.starts[-1]
        self.count = int(self.shown.sum())
        self._found = TermCache()
        self._reads: dict[ContextRecipe, Floats] = {}
        for recipe in () if known is None else known._reads:
            self._reads[recipe] = self._in_context(recipe, known)

    def column(self, name: str, places: Ints) -> Any:
        """Return a column's values for texts at ascending places."""
        return column_of(self.parts, self.starts, name, places)

    def whole(self, name: str) -> Any:
        """Return a column of all texts."""
        arrays = [getattr(part.segment, name) for part in self.parts]
        return np.concatenate(arrays) if len(arrays) > 1 else arrays[0] if arrays else np.zeros(0, np.int64)

    @cached_property
    def is_worded(self) -> bool:
        """Return whether any text is a further wording of the one before."""
        return any(bool(part.segment.wordings.any()) for part in self.parts)

    def heads(self, places: Ints) -> Ints:
        """Return for ascending places the text that each is a further wording of, or itself."""
        if not self.is_worded:
            return places
        heads: Ints = places - self.column("wordings", places)
        return heads

    def head(self, place: int) -> int:
        """Return the text that a text is a further wording of, or itself."""
        part, row = self.where(place)
        return self.starts[part] + self.parts[part].segment.head_of(row)

    def where(self, row: int) -> tuple[int, int]:
        """Return the number of a text's part, and its row in the part."""
        part = int(np.searchsorted(self.starts, row, "right")) - 1
        return part, row - self.starts[part]

    def called(self, id: str) -> int | None:
        """Return the text that is shown and can be called by an id."""
        for start, part in zip(self.starts, self.parts, strict=False):
            called: list[int] = part.segment.called(id).tolist()
            for row in called:
                if part.shown[row]:
                    return start + row
        return None

    def found(self, term: str) -> TermRows:
        """Return the shown texts that hold a term."""
        return self._found.of(term, self._find)

    def _find(self, term: str) -> TermRows:
        number, rows, counts = number_of(term), [], []
        for start, part in zip(self.starts, self.parts, strict=False):
            here, counted = part.segment.postings(number)
            if len(here):
                kept = part.shown[here]
                rows.append(here[kept].astype(np.int64) + start)
                counts.append(counted[kept])
        every = joined(counts, np.uint16)
        lower = bool((every & IN_LOWER_CASE).any())
        return TermRows(joined(rows, np.int64), (every & MOST_COUNT).astype(np.float64), lower)

    def terms_with(self, part: str) -> list[str]:
        """Return the terms that are shown and hold a text, sorted."""
        found = dict.fromkeys(term for held in self.parts for term in held.segment.terms_with(part))
        return sorted(term for term in found if len(self.found(term).rows))

    def idf(self, term: str) -> float:
        """Return ln(1 + (N - n + 1/2) / (n + 1/2)) of a term that n of N texts hold."""
        held = len(self.found(term).rows)
        return float(np.log1p((self.count - held + 0.5) / (held + 0.5)))

    @cached_property
    def flags(self) -> NDArray[np.uint32]:
        """The flags of all texts."""
        flags: NDArray[np.uint32] = self.whole("flags").astype(np.uint32)
        return flags

    @cached_property
    def latest(self) -> int:
        """The time of the latest shown text, 0 without texts."""
        shown = (part.segment.at[part.shown] for part in self.parts)
        return max((int(at.max()) for at in shown if len(at)), default=0)

    @cached_property
    def languages(self) -> list[int]:
        """The numbers of the languages of the texts, the smallest first."""
        read = joined([part.segment.read[part.shown] for part in self.parts], np.int64)
        return np.flatnonzero(np.bincount(read)).tolist()

    @cached_property
    def speakers(self) -> list[str]:
        """The names of speakers except assistants, the longest first: a name may be another's prefix."""
        names: dict[str, None] = {}
        answers = self.answers
        for start, part in zip(self.starts, self.parts, strict=False):
            said = part.shown & (part.segment.flags & TURN != 0)
            if answers is not None:
                said &= ~answers[start : start + part.segment.size]
            own = part.segment.speaker_names()
            places = np.flatnonzero(np.bincount(part.segment.speakers[said], minlength=len(own)))
            names |= dict.fromkeys(own[place] for place in places.tolist())
        return sorted(names, key=lambda name: (-len(name), name))

    def spoken_by(self, name: str, rows: Ints) -> Flags:
        """Return a mask of the texts by one speaker, among texts in ascending order."""
        by: Flags = np.zeros(len(rows), np.bool_)
        cuts = np.searchsorted(rows, self.starts)
        for n, part in enumerate(self.parts):
            here = rows[cuts[n] : cuts[n + 1]] - self.starts[n]
            own = part.segment.speaker_names() if len(here) else []
            if name in own:
                by[cuts[n] : cuts[n + 1]] = part.segment.speakers[here] == own.index(name)
        return by

    @cached_property
    def answers(self) -> Flags | None:
        """The mask of an assistant's turns; None for talk between people.

        An assistant is known by role if a quarter of the turns are its own, so that a few words of a tool or
        a bot make no assistant of people's talk; otherwise by length, among the two most frequent speakers.
        """
        turns = self.shown & (self.flags & TURN != 0)
        given: Flags = self.flags & ANSWERS != 0
        if int((given & turns).sum()) * LEAST_SHARE >= max(1, int(turns.sum())):
            return given
        # How many turns each has said, and how many characters.
        said, chars = Counter[str](), Counter[str]()
        for start, part in zip(self.starts, self.parts, strict=False):
            here = turns[start : start + part.segment.size]
            names, speakers = part.segment.speaker_names(), part.segment.speakers[here]
            counts = np.bincount(speakers, minlength=len(names)).tolist()
            lengths = np.bincount(speakers, part.segment.chars[here], minlength=len(names)).tolist()
            said.update({name: n for name, n in zip(names, counts, strict=True) if n})
            chars.update({name: round(n) for name, n in zip(names, lengths, strict=True) if n})
        most = sorted(said.items(), key=lambda item: (-item[1], item[0]))[:2]
        means = sorted((chars[name] / turns_of, name) for name, turns_of in most if turns_of >= LEAST_TURNS)
        if len(means) < 2 or means[1][0] < UNEQUAL_LENGTHS * means[0][0]:
            return None
        rows = np.flatnonzero(self.flags & TURN)
        answers = np.zeros(self.size, np.bool_)
        answers[rows] = self.spoken_by(means[1][1], rows)
        return answers

    @cached_property
    def lengths(self) -> Floats:
        """How many terms each text has; last, for none, 0."""
        return np.append(self.whole("lengths").astype(np.float64), 0.0)

    @cached_property
    def turns(self) -> Turns:
        """The arrays that decide how turns lend terms."""
        return Turns(self.sessions, self.flags, self.answers, self.lengths)

    def read(self, recipe: ContextRecipe) -> Floats:
        """Return how long each text is with the terms that it is lent; last, for none, 0."""
        if recipe not in self._reads:
            self._reads[recipe] = self._in_context(recipe, None)
        return self._reads[recipe]

    def _in_context(self, recipe: ContextRecipe, known: Texts | None) -> Floats:
        """Return lengths with lent terms; those of the `known` texts count before a change of neighbours."""
        rows: Rows = slice(0, self.size)
        read, again = self.lengths.copy(), self.sessions.again
        if known is not None and self._has_answers_of(known, again):
            base = min(self.size, known.size)
            rows, read = again, np.append(known._reads[recipe][:base], np.zeros(self.size + 1 - base))
            read[rows] = self.lengths[rows]
        given = self.lengths[rows] * self.turns.worth(rows)
        for to, share in self.turns.lent(rows, recipe):
            # Each text is before, or after, at most one other, so that nothing is added twice to one place.
            read[to] += share * given
        read[-1] = 0
        return read

    def _has_answers_of(self, known: Texts, again: Ints) -> bool:
        """Return whether the same turns are an assistant's, except those read again."""
        answers, others = self.answers, known.answers
        if answers is None or others is None:
            return answers is others
        size = min(len(answers), len(others))
        differ = answers[:size] != others[:size]
        differ[again[again < size]] = False
        return not differ.any()
