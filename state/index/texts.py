"""All texts of one scope as one: what the segments hold together, which turns stand around which, and BM25 over that.

Statistics are sums over the texts that are shown, and so do not depend on how the texts lie in segments. Scores are
answers and never state. Making it costs some 40 ns a text, and asking it what the words of a question occur.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memtape.state.index.entries import (
    ANSWERS,
    ASKS,
    HIDDEN,
    IN_LOWER_CASE,
    MOST_COUNT,
    TURN,
    Entry,
    Guard,
    language_read,
    number_of,
    take,
    told_of,
    usual_language,
)
from memtape.state.index.segments import NO_SESSION, Flags, Segment, segment_of
from memtape.state.index.sorted_values import distinct, firsts

LENT_TERMS = 40
"""Of a long answer a neighbour gets no more than so many terms' worth."""
LEAST_TURNS = 5
"""Of so many turns a mean length says something."""
LEAST_SHARE = 4
"""One turn in so many is an assistant's where there is one."""
UNEQUAL_LENGTHS = 2.5
"""From this ratio of two speakers' mean lengths on, one of them is taken for an assistant."""

KEPT_TEXTS = 2_048
"""So many texts that stand in no segment are kept as they were taken apart."""
MOST_KEPT_ROWS = 500_000
"""Of common terms so many rows are kept, which take 8 megabytes."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
HeldT = TypeVar("HeldT", "Found", "Worth")


class ContextRecipe(NamedTuple):
    """BM25's constants, and the shares that a turn gets of its neighbours' terms.

    Of the one before (`asked` if that holds a question mark, else `before`), the one before that, and the two after.
    """

    k1: float
    b: float
    asked: float
    before: float
    before_that: float
    after: float
    after_that: float


class Part(NamedTuple):
    """A segment, and which of its documents are shown: those that live and are not hidden."""

    segment: Segment
    shown: Flags


class Found(NamedTuple):
    """The texts that are shown and hold a term, how often each does, and whether one has it in lower case."""

    rows: Ints
    counts: Floats
    lower: bool


class Worth(NamedTuple):
    """What a term is worth where it counts: rows, each once, and the score that it gives each."""

    rows: Ints
    scores: Floats


class Kept(Generic[HeldT]):
    """What was found out of terms, kept until it is too much: then all of it is found out anew.

    It does not hold what finds it out, which holds it: a circle of large arrays would outlive its last use.
    """

    def __init__(self) -> None:
        self._held: dict[str, HeldT] = {}
        self._rows = 0

    def of(self, term: str, make: Callable[[str], HeldT]) -> HeldT:
        """Return what there is of a term; `make` finds it out."""
        known = self._held.get(term)
        if known is None:
            known = make(term)
            if self._rows > MOST_KEPT_ROWS:
                # Another thread may still read the old one, and nothing is lost but time.
                self._held, self._rows = {}, 0
            self._held[term] = known
            self._rows += len(known.rows) + 1
        return known


class Around(NamedTuple):
    """Turns before and after each in its session, by one and by two; `nowhere` (the number of all texts) for none."""

    before: Ints
    before_that: Ints
    after: Ints
    after_that: Ints


def shown_of(segment: Segment, living: Flags) -> Flags:
    """Return which documents of a segment are shown, where `living` has a flag for each row."""
    shown: Flags = living[: segment.size] & (segment.flags & HIDDEN == 0)
    return shown


class Texts:
    """The texts of the parts, counted through: those of the first part, then those of the next."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.starts = np.cumsum([0, *(part.segment.size for part in parts)])
        self.size = int(self.starts[-1])
        self.shown: Flags = _joined([part.shown for part in parts], np.bool_)
        self.count = int(self.shown.sum())
        self._found: Kept[Found] = Kept()

    def column(self, name: str, rows: Ints) -> Any:
        """Return what a column has for some texts, given in ascending order."""
        cuts = np.searchsorted(rows, self.starts)
        taken = [
            getattr(part.segment, name)[rows[cuts[n] : cuts[n + 1]] - self.starts[n]]
            for n, part in enumerate(self.parts)
            if cuts[n] < cuts[n + 1]
        ]
        if taken:
            return np.concatenate(taken) if len(taken) > 1 else taken[0]
        return getattr(self.parts[0].segment, name)[:0] if self.parts else np.zeros(0, np.int64)

    def whole(self, name: str) -> Any:
        """Return a column of all texts."""
        arrays = [getattr(part.segment, name) for part in self.parts]
        return np.concatenate(arrays) if len(arrays) > 1 else arrays[0] if arrays else np.zeros(0, np.int64)

    def where(self, row: int) -> tuple[int, int]:
        """Return the number of the part in which a text stands, and its row there."""
        part = int(np.searchsorted(self.starts, row, "right")) - 1
        return part, row - int(self.starts[part])

    def called(self, id: str) -> int | None:
        """Return the text that is shown and can be called by an id."""
        starts: list[int] = self.starts.tolist()
        for start, part in zip(starts, self.parts, strict=False):
            called: list[int] = part.segment.called(id).tolist()
            for row in called:
                if part.shown[row]:
                    return start + row
        return None

    def found(self, term: str) -> Found:
        """Return where a term stands."""
        return self._found.of(term, self._find)

    def _find(self, term: str) -> Found:
        number, rows, counts = number_of(term), [], []
        for start, part in zip(self.starts.tolist(), self.parts, strict=False):
            here, counted = part.segment.postings(number)
            if len(here):
                kept = part.shown[here]
                rows.append(here[kept].astype(np.int64) + start)
                counts.append(counted[kept])
        every = _joined(counts, np.uint16)
        lower = bool((every & IN_LOWER_CASE).any())
        return Found(_joined(rows, np.int64), (every & MOST_COUNT).astype(np.float64), lower)

    def terms_with(self, part: str) -> list[str]:
        """Return the terms that are shown and hold a text, sorted."""
        found = dict.fromkeys(term for held in self.parts for term in held.segment.terms_with(part))
        return sorted(term for term in found if len(self.found(term).rows))

    def idf(self, term: str) -> float:
        """Return ln(1 + (N - n + 1/2) / (n + 1/2)) of a term that n of N texts hold."""
        held = len(self.found(term).rows)
        return float(np.log1p((self.count - held + 0.5) / (held + 0.5)))

    @cached_property
    def flags(self) -> NDArray[np.uint16]:
        """The flags of all texts."""
        flags: NDArray[np.uint16] = self.whole("flags").astype(np.uint16)
        return flags

    @cached_property
    def latest(self) -> int:
        """The time of the latest text that is shown, 0 where there is none."""
        return max((int(part.segment.at[part.shown].max()) for part in self.parts if part.shown.any()), default=0)

    @cached_property
    def languages(self) -> list[int]:
        """The numbers of the languages in which texts are read, the smallest first."""
        read = sum((np.bincount(part.segment.read[part.shown], minlength=64) for part in self.parts), np.zeros(64, int))
        return np.flatnonzero(read).tolist()

    @cached_property
    def speakers(self) -> list[str]:
        """The names of those whose turns are no assistant's, the longest first: one may begin with another."""
        names: dict[str, None] = {}
        answers = self.answers
        for start, part in zip(self.starts.tolist(), self.parts, strict=False):
            said = part.shown & (part.segment.flags & TURN != 0)
            if answers is not None:
                said &= ~answers[start : start + part.segment.size]
            own = part.segment.speaker_names()
            places = np.flatnonzero(np.bincount(part.segment.speakers[said], minlength=len(own)))
            names |= dict.fromkeys(own[place] for place in places.tolist())
        return sorted(names, key=lambda name: (-len(name), name))

    def spoken_by(self, name: str, rows: Ints) -> Flags:
        """Return which of some texts, in ascending order, somebody said."""
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
        """Which turns an assistant gave; None where people talk with each other.

        An assistant is known by role, where a quarter of the turns are its, so that a few words of a tool or a bot make
        no assistant of people's talk; else by length, of the two who speak most.
        """
        turns = self.shown & (self.flags & TURN != 0)
        given: Flags = self.flags & ANSWERS != 0
        if int((given & turns).sum()) * LEAST_SHARE >= max(1, int(turns.sum())):
            return given
        said, chars = self._spoken(turns)
        most = sorted(said.items(), key=lambda item: (-item[1], item[0]))[:2]
        means = sorted((chars[name] / turns_of, name) for name, turns_of in most if turns_of >= LEAST_TURNS)
        if len(means) < 2 or means[1][0] < UNEQUAL_LENGTHS * means[0][0]:
            return None
        rows = np.flatnonzero(self.flags & TURN)
        answers = np.zeros(self.size, np.bool_)
        answers[rows] = self.spoken_by(means[1][1], rows)
        return answers

    def _spoken(self, turns: Flags) -> tuple[Counter[str], Counter[str]]:
        """Return how many turns each has said, and how many characters."""
        said: Counter[str] = Counter()
        chars: Counter[str] = Counter()
        for start, part in zip(self.starts.tolist(), self.parts, strict=False):
            here = turns[start : start + part.segment.size]
            names = part.segment.speaker_names()
            speakers = part.segment.speakers[here]
            counts = np.bincount(speakers, minlength=len(names)).tolist()
            lengths = np.bincount(speakers, part.segment.chars[here], minlength=len(names)).tolist()
            said.update({name: n for name, n in zip(names, counts, strict=True) if n})
            chars.update({name: round(n) for name, n in zip(names, lengths, strict=True) if n})
        return said, chars

    @cached_property
    def lengths(self) -> Floats:
        """How many terms each text has; last, for none, 0."""
        return np.append(self.whole("lengths").astype(np.float64), 0.0)

    @cached_property
    def sessions(self) -> tuple[Ints, int]:
        """The number of each text's session, and how many numbers there are; what has none is one by itself."""
        keys = distinct(_joined([part.segment.session_keys for part in self.parts], np.uint64))
        keys = keys[keys != NO_SESSION]
        numbers = []
        for start, part in zip(self.starts.tolist(), self.parts, strict=False):
            own, size = part.segment.session_keys, part.segment.size
            here = np.searchsorted(keys, own)[part.segment.sessions].astype(np.int64)
            alone = (own == NO_SESSION)[part.segment.sessions]
            numbers.append(np.where(alone, len(keys) + start + np.arange(size), here))
        return _joined(numbers, np.int64), len(keys) + self.size

    def session_number(self, session: str) -> int | None:
        """Return the number of a session, None where no text is of it."""
        numbers, _ = self.sessions
        for start, part in zip(self.starts.tolist(), self.parts, strict=False):
            place = np.searchsorted(part.segment.session_keys, np.uint64(number_of(session)))
            here = np.flatnonzero(part.segment.sessions == place)
            if len(here) and int(part.segment.session_keys[place]) == number_of(session):
                return int(numbers[start + here[0]])
        return None

    @cached_property
    def around(self) -> Around:
        """Which turns that are shown stand around each, by time and id."""
        lines = [start + part.segment.order[_turns(part)] for start, part in zip(self.starts, self.parts, strict=False)]
        before, before_that, after, after_that = (np.full(self.size + 1, self.size) for _ in range(4))

        def link(rows: Ints, sessions: Ints) -> None:
            for step, backward, forward in ((1, before, after), (2, before_that, after_that)):
                same = sessions[step:] == sessions[:-step]
                forward[rows[:-step][same]] = rows[step:][same]
                backward[rows[step:][same]] = rows[:-step][same]

        numbers, most = self.sessions
        several = self._several(lines)
        is_apart = np.zeros(most, np.bool_)
        is_apart[several] = True
        gathered = []
        for rows in lines:
            own = numbers[rows]
            apart = is_apart[own]
            link(rows[~apart], own[~apart])
            gathered.append(rows[apart])
        if len(several):
            link(*self._in_order(np.concatenate(gathered), numbers))
        return Around(before, before_that, after, after_that)

    def _several(self, lines: Sequence[Ints]) -> Ints:
        """Return the numbers of the sessions whose turns stand in several segments, given the turns of each."""
        numbers, _ = self.sessions
        # The turns of a session stand together, so that each is met once in a segment.
        each = [own[firsts(own)] for own in (numbers[rows] for rows in lines)]
        every = np.sort(_joined(each, np.int64))
        return distinct(every[~firsts(every)])

    def _in_order(self, rows: Ints, numbers: Ints) -> tuple[Ints, Ints]:
        """Return turns by session, time and id, and the number of the session of each."""
        rows = np.sort(rows)
        ids = self.column("ids", rows)
        ordered = rows[np.lexsort((ids[:, 1], ids[:, 0], self.column("at", rows), numbers[rows]))]
        return ordered, numbers[ordered]


def _turns(part: Part) -> Ints:
    """Return the places in `order` of the turns of sessions that are shown."""
    segment = part.segment
    alone = (segment.session_keys == NO_SESSION)[segment.sessions]
    turns = part.shown & (segment.flags & TURN != 0) & ~alone
    return np.flatnonzero(turns[segment.order])


def _joined(arrays: Sequence[Any], dtype: Any) -> Any:
    return np.concatenate(arrays).astype(dtype, copy=False) if arrays else np.zeros(0, dtype)


class Scorer:
    """BM25 over the texts of a scope, each read with shares of the turns around it, and over whole sessions."""

    def __init__(self, texts: Texts, context: ContextRecipe, session_k1: float, session_b: float) -> None:
        self._texts = texts
        self._context = context
        self._session_k1, self._session_b = session_k1, session_b
        self._worths: Kept[Worth] = Kept()
        self._session_worths: Kept[Worth] = Kept()
        assisted = texts.answers is not None
        self._lent = np.minimum(1, LENT_TERMS / np.maximum(texts.lengths, 1)) if assisted else None
        self._shares = self._shares_of(texts)
        read = texts.lengths.copy()
        for to, share in self._shares:
            # Each text is before, or after, at most one other, so that nothing is added twice to one place.
            read[to] += share * (texts.lengths if self._lent is None else texts.lengths * self._lent)
        read[-1] = 0
        self._read = read
        self._mean = float(read[:-1][texts.shown].mean()) if texts.count else 0.0
        numbers, most = texts.sessions
        self._session_lengths = np.bincount(numbers[texts.shown], texts.lengths[:-1][texts.shown], minlength=most)
        held = np.bincount(numbers[texts.shown], minlength=most) > 0
        self._session_mean = float(self._session_lengths.sum() / held.sum()) if held.any() else 0.0

    def _shares_of(self, texts: Texts) -> list[tuple[Ints, Floats | float]]:
        """Return to which texts each lends its terms, and which share of them each time."""
        context, around = self._context, texts.around
        asks = np.append(texts.flags & ASKS != 0, False)
        to_next = np.where(asks, context.asked, context.before)
        if texts.answers is None:
            return [
                (around.after, to_next),
                (around.after_that, context.before_that),
                (around.before, context.after),
                (around.before_that, context.after_that),
            ]
        # Only a user's words and the answer to them are read together.
        answers, nowhere = np.append(texts.answers, False), texts.size
        to_answer = np.where(~answers & answers[around.after], around.after, nowhere)
        to_question = np.where(answers & ~answers[around.before], around.before, nowhere)
        return [(to_answer, to_next), (to_question, context.after)]

    def score(self, wanted: Iterable[tuple[str, float]]) -> Floats:
        """Return the score of every text for terms, each with its weight."""
        return _added(self._texts.size, wanted, self._worths, self._worth_of)

    def score_sessions(self, wanted: Iterable[tuple[str, float]]) -> Floats:
        """Return the score of every session, by the numbers of `Texts.sessions`."""
        return _added(self._texts.sessions[1], wanted, self._session_worths, self._worth_in_sessions)

    def _worth_of(self, term: str) -> Worth:
        """Return what a term is worth in texts that hold it or stand around one that does."""
        k1, b = self._context.k1, self._context.b
        texts, counted = self._texts, np.zeros(self._texts.size + 1)
        rows, counts, _ = texts.found(term)
        counted[rows] = counts
        lent = counts if self._lent is None else counts * self._lent[rows]
        for to, share in self._shares:
            counted[to[rows]] += (share[rows] if isinstance(share, np.ndarray) else share) * lent
        here = np.flatnonzero(counted[:-1] > 0)
        held = counted[here]
        norms = k1 * (1 - b + b * self._read[here] / (self._mean or 1))
        return Worth(here, held * (k1 + 1) / (held + norms) * texts.idf(term))

    def _worth_in_sessions(self, term: str) -> Worth:
        numbers, most = self._texts.sessions
        rows, counts, _ = self._texts.found(term)
        counted = np.bincount(numbers[rows], counts, minlength=most)
        here = np.flatnonzero(counted > 0)
        held = counted[here]
        relative = self._session_lengths[here] / (self._session_mean or 1)
        norms = self._session_k1 * (1 - self._session_b + self._session_b * relative)
        return Worth(here, held * (self._session_k1 + 1) / (held + norms) * self._texts.idf(term))


def _added(size: int, wanted: Iterable[tuple[str, float]], worths: Kept[Worth], make: Callable[[str], Worth]) -> Floats:
    scores = np.zeros(size)
    for term, weight in wanted:
        rows, its = worths.of(term, make)
        scores[rows] += weight * its
    return scores


def counted_languages(parts: Sequence[Part], languages: int) -> list[int]:
    """Return of each language how many texts that are shown tell it and no other."""
    counts = np.zeros(languages, np.int64)
    for part in parts:
        told = part.segment.told[part.shown].astype(np.int64)
        sure = told[(told != 0) & (told & (told - 1) == 0)]
        counts += np.bincount(sure, minlength=1 << languages)[1 << np.arange(languages)]
    return counts.tolist()


# The texts behind the watermark are taken in anew with each that comes.
_told_once, _take_once = lru_cache(maxsize=KEPT_TEXTS)(told_of), lru_cache(maxsize=KEPT_TEXTS)(take)


def part_of(entries: Sequence[Entry], usual: int | None = None) -> Part:
    """Return entries that stand nowhere else as a part, in their order, all of them shown.

    `usual` is the language in which a text is read that may be in several; by default it is found out of these.
    """
    told = [_told_once(entry.document.text) for entry in entries]
    if usual is None:
        sure = [number.bit_length() - 1 for number in told if number.bit_count() == 1]
        usual = usual_language(np.bincount(sure, minlength=1).tolist() if sure else [])
    made = [
        (entry, _take_once(entry.document.text, its, language_read(its, usual)), Guard(0, 0, 0), 0)
        for entry, its in zip(entries, told, strict=True)
    ]
    segment = segment_of(made)
    return Part(segment, shown_of(segment, np.ones(len(made), np.bool_)))
