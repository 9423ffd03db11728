"""All texts of one scope: the union of its segments, their sessions, and the turns around each.

Each text is read in context: with shares of the terms of the turns around it, and as long as these make it.
Statistics are sums over the shown texts, and so do not depend on the segments. A union costs some 60 ns a
text; a question costs the occurrences of its words.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.schemas.times import US_PER_S
from memtape.state.index.entries import ANSWERS, ASKS, IN_LOWER_CASE, KINDS, MOST_COUNT, TURN, number_of
from memtape.state.index.parts import (
    Floats,
    Ints,
    MaskedSegment,
    TermCache,
    TermRows,
    column_of,
    joined,
    shown_sizes,
)  # fmt: skip
from memtape.state.index.segments import NO_SESSION, Flags
from memtape.state.index.sorted_values import firsts, numbered

NOBODY = -1
"""The place of no turn. As an index it is the last slot: arrays over places have one slot more."""
LEAST_TURNS = 5  # Of so many turns a mean length says something.
LEAST_SHARE = 4  # Minimum share of assistant turns in a scope with an assistant: 1 in 4.
UNEQUAL_LENGTHS = 2.5
"""From this ratio of two speakers' mean lengths on, one of them is taken for an assistant."""
LENT_TERMS = 40  # Of a long text a neighbour gets no more than so many terms' worth.

BURST_US, BURST_FACTS = 60 * US_PER_S, 20
"""At least so many facts without a session, each within a minute of the one before, are a burst: a program
has put a talk or a list on the log text by text. Few facts need not have anything to do with each other.
"""
_FACT = KINDS.index("fact")


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


Rows = Ints | slice  # Some texts by their places, or all of them.


class TextSessions:
    """The sessions of N texts.

    `starts` has the place of the first text of each part, texts counted through, and last the number of all.
    `number` (N) is equal for texts of one session: the place of one of them. A text without a session is one
    by itself. `after` and `before` (N + 1) have the place of the next and of the previous shown turn of a
    session or fact of a burst, by time and id, `after_that` and `before_that` (N + 1) those at distance two,
    `NOBODY` for none. `has_any` says whether any text has a session.
    """

    def __init__(self, parts: Sequence[MaskedSegment]) -> None:
        self.starts = list(accumulate((part.segment.size for part in parts), initial=0))
        self.shown: Flags = joined([part.shown for part in parts], np.bool_)
        size = self.starts[-1]
        keys, back = numbered(joined([part.segment.session_keys for part in parts], np.uint64))
        cuts = np.cumsum([len(part.segment.session_keys) for part in parts])
        pairs = zip(parts, np.split(back, cuts), strict=False)
        sessions = joined([own[part.segment.sessions] for part, own in pairs], np.int64)
        first = np.full(len(keys), NOBODY)
        first[sessions[::-1]] = np.arange(size)[::-1]
        is_held = (first != NOBODY) & (keys != NO_SESSION)
        self._keys, self._firsts = keys[is_held], first[is_held]
        self.has_any = bool(is_held.any())
        is_alone = (keys == NO_SESSION)[sessions]
        self.number: Ints = np.where(is_alone, np.arange(size), first[sessions])
        self.before, self.before_that, self.after, self.after_that = (
            np.full(size + 1, NOBODY) for _ in range(4)
        )
        # The turns of each part in its order by session, time and id.
        lines = list[Ints]()
        for part, start in zip(parts, self.starts, strict=False):
            segment = part.segment
            own = slice(start, start + segment.size)
            turns = part.shown & (segment.flags & TURN != 0) & ~is_alone[own]
            lines.append(start + segment.order[turns[segment.order]].astype(np.int64))
        # The turns of a session stand together in a part; those of a session in several parts are sorted.
        each = [own[firsts(own)] for own in (self.number[rows] for rows in lines)]
        every = np.sort(joined(each, np.int64))
        is_apart = np.zeros(size, np.bool_)
        is_apart[every[~firsts(every)]] = True
        rows = np.sort(joined([rows[is_apart[self.number[rows]]] for rows in lines], np.int64))
        ids = column_of(parts, self.starts, "ids", rows).reshape(-1, 2)
        at = column_of(parts, self.starts, "at", rows)
        ordered = rows[np.lexsort((ids[:, 1], ids[:, 0], at, self.number[rows]))]
        apart = (*(rows[~is_apart[self.number[rows]]] for rows in lines), ordered)
        bursts = _bursts(parts, self.starts, np.flatnonzero(is_alone & self.shown))
        for rows, own in (*((rows, self.number[rows]) for rows in apart), bursts):
            for step, back, forward in ((1, self.before, self.after), (2, self.before_that, self.after_that)):
                same = own[step:] == own[:-step]
                forward[rows[:-step][same]] = rows[step:][same]
                back[rows[step:][same]] = rows[:-step][same]

    def number_of(self, session: str) -> int | None:
        """Return the number of a session, None if it has no text."""
        key = np.uint64(number_of(session))
        place = int(np.searchsorted(self._keys, key))
        return int(self._firsts[place]) if place < len(self._keys) and self._keys[place] == key else None


def _bursts(parts: Sequence[MaskedSegment], starts: Sequence[int], alone: Ints) -> tuple[Ints, Ints]:
    """Return the facts of bursts among texts without a session, in order, and the burst of each, a number."""
    rows: Ints = alone[column_of(parts, starts, "kinds", alone) == _FACT]
    rows = rows[column_of(parts, starts, "wordings", rows) == 0]
    at, ids = (column_of(parts, starts, name, rows) for name in ("at", "ids"))
    order = np.lexsort((*ids.reshape(-1, 2).T[::-1], at))
    number = np.cumsum(np.diff(at[order], prepend=at[order[:1]]) > BURST_US)
    is_many = (np.bincount(number) >= BURST_FACTS)[number]
    return rows[order][is_many], number[is_many]


class Texts:
    """The texts of the parts, numbered from the first part on."""

    def __init__(self, parts: Sequence[MaskedSegment]) -> None:
        self.parts = parts
        self.sessions = TextSessions(parts)
        self.starts, self.shown = self.sessions.starts, self.sessions.shown
        self.size = self.starts[-1]
        self.count = int(self.shown.sum())
        self._found = TermCache()

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
        part = bisect_right(self.starts, row) - 1
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
                rows.append(here[kept] + np.uint32(start))
                counts.append(counted[kept])
        every = joined(counts, np.uint8)
        lower = bool((every & IN_LOWER_CASE).any())
        return TermRows(joined(rows, np.uint32), every & MOST_COUNT, lower)

    def terms_with(self, part: str) -> list[str]:
        """Return the terms that are shown and hold a text, sorted."""
        found = dict.fromkeys(term for held in self.parts for term in held.segment.terms_with(part))
        return sorted(term for term in found if len(self.found(term).rows))

    def idf(self, term: str) -> float:
        """Return ln(1 + (N - n + 1/2) / (n + 1/2)) of a term that n of N texts hold."""
        held = len(self.found(term).rows)
        return float(np.log1p((self.count - held + 0.5) / (held + 0.5)))

    @cached_property
    def shown_sizes(self) -> list[NDArray[Any]]:
        """The number of shown texts of each term, by part: counting them reads all postings."""
        return [shown_sizes(part) for part in self.parts]

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

    def speakers_called(self, names: Sequence[str]) -> list[str]:
        """Return the speakers with these names in any letter case, each once."""
        wanted = {name.casefold() for name in names}
        own = (name for part in self.parts if wanted for name in part.segment.speaker_names())
        return list(dict.fromkeys(name for name in own if name.casefold() in wanted))

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

    def lent(self, rows: Rows, recipe: ContextRecipe, counts: Any) -> list[tuple[Ints, Floats]]:
        """Return pairs over some texts: the turns that receive terms (`NOBODY` for none), and how many.

        `counts` has how many terms each of the texts itself has. A long text lends a limited number.
        """
        around, answers = self.sessions, self.answers
        to_next = np.where(self.flags[rows] & ASKS != 0, recipe.asked, recipe.before)
        after, before = around.after[rows], around.before[rows]
        worth = counts * np.minimum(1, LENT_TERMS / np.maximum(self.lengths[rows], 1))
        if answers is None:
            return [
                (after, to_next * worth),
                (around.after_that[rows], recipe.before_that * worth),
                (before, recipe.after * worth),
                (around.before_that[rows], recipe.after_that * worth),
            ]
        # Only a user's words and the answer to them are read together.
        own = answers[rows]
        to_answer = np.where(~own & answers[after] & (after != NOBODY), after, NOBODY)
        to_question = np.where(own & ~answers[before], before, NOBODY)
        return [(to_answer, to_next * worth), (to_question, recipe.after * worth)]

    def read(self, recipe: ContextRecipe) -> Floats:
        """Return how long each text is with the terms that it is lent; last, for none, 0."""
        read = self.lengths.copy()
        for to, given in self.lent(slice(0, self.size), recipe, self.lengths[:-1]):
            # Each text is before, or after, at most one other, so that nothing is added twice to one place.
            read[to] += given
        read[-1] = 0
        return read
