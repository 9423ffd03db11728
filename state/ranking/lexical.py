"""The results of a question's words: BM25 over texts in context, over sessions, and over days of texts.

Statistics come from the scope alone, so that no other scope can change a score.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from memtape.schemas.patterns import lazy
from memtape.schemas.times import DAY_US, format_day
from memtape.state.index.parts import EVERY, Floats, Ints, TermCache, TermRows
from memtape.state.index.segments import Array
from memtape.state.index.sorted_values import distinct, is_one_of, stands
from memtape.state.index.texts import NOBODY, ContextRecipe, Texts
from memtape.state.ranking.lanes import KIND_WEIGHT, SCAFFOLD_WEIGHT
from memtape.state.text.kinds import kinds_asked, member_terms
from memtape.state.text.lexicon import SEARCH_STOP, word_list
from memtape.state.text.normal import signs, without_signs, words
from memtape.state.text.questions import day_terms, questions, terms_of_day
from memtape.state.text.reading import read
from memtape.state.text.terms import ENGLISH, TOLD_LANGUAGES, is_common, terms, worded_terms

LAST_LETTER = "\u2e80"  # Ideographs, kana and hangul come after it.
_WORD = lazy(r"\w[\w'’-]*")


class Worded(NamedTuple):
    """The results of words: scores of texts and of sessions, the `best` of each, and named speakers.

    `strength` is the share of the question in the best text, comparable between scopes, and `terms` are the
    question's terms in some text.
    """

    texts: Floats
    sessions: Floats
    best: tuple[float, float]
    named: list[str]
    strength: float
    terms: list[str]


@cache
def _scaffolding() -> frozenset[str]:
    """Return the terms of a request for an earlier text, which that text does not have."""
    return frozenset(terms(" ".join(sorted(word_list("words of a request"))), ENGLISH))


_AROUND = ".,;:!?¿¡…()[]{}\"“”„«»'’"


class QuestionTerms(NamedTuple):
    """A question as put to a scope's texts. Terms are stemmed; words left out are in their compared form.

    `used` has the weight (inverse frequency) of each term in some text or its day, `unheld` the words in
    none, `names` the terms left out as names of speakers, `common` the words left out because every text has
    them.
    """

    used: dict[str, float]
    unheld: tuple[str, ...]
    names: tuple[str, ...]
    common: tuple[str, ...]


LEAST_SHARED = 2  # Minimum number of common words; a single one is evidence only for a question.
LEAST_ALONE = 0.6  # Minimum share of the question that the single word then holds.
MORE_TEXTS = 1_000
"""A scope counts as having so many more texts without a word of a prompt: a young one has no common word."""


class Weighed(NamedTuple):
    """The share of a prompt in a text and the turns around it, from 0 to 1, and the speaker it names.

    `named` is None for a prompt that names no speaker or several. A text with a single word of the prompt,
    apart from the language's commonest words, has the share 0. A name counts as such a word.
    """

    share: float
    named: str | None


SESSION_K1, SESSION_B = 1.2, 0.75
RARE = 200
"""A term in at most 1 text of 200 is scored around its texts only, any other by an array over all texts."""


class Scorer:
    """BM25 over the texts of a scope, each read with shares of the turns around it, and over sessions."""

    def __init__(self, texts: Texts, context: ContextRecipe) -> None:
        self._texts = texts
        self._context = context
        self._worths, self._session_worths = TermCache(), TermCache()
        self._read = texts.read(context)
        self._mean = float(self._read[:-1][texts.shown].mean()) if texts.count else 0.0
        number = texts.sessions.number[texts.shown]
        self._session_lengths = np.bincount(number, texts.lengths[:-1][texts.shown], minlength=texts.size)
        held = np.bincount(number, minlength=texts.size) > 0
        self._session_mean = float(self._session_lengths.sum() / held.sum()) if held.any() else 0.0

    def score(self, wanted: Iterable[tuple[str, float]], *, in_sessions: bool = False) -> Floats:
        """Return every text's score for weighted terms, or every session's, by its number."""
        worths, make = self._worths, self._worth_of
        if in_sessions:
            worths, make = self._session_worths, self._worth_in_sessions
        scores = np.zeros(self._texts.size)
        for term, weight in wanted:
            rows, values, _ = worths.of(term, make)
            scores[rows] += weight * values
        return scores

    def holds(self, terms: Sequence[str], places: Ints) -> Array:
        """Return saturated counts of terms in context, shape (terms, places): 1 for one at mean length.

        Only the texts around these are read, since a common term is in very many.
        """
        texts, around = self._texts, self._texts.sessions
        links = (around.before, around.before_that, around.after, around.after_that)
        near = distinct(np.concatenate([places, *(link[places] for link in links)]))
        held, asked = np.zeros((len(terms), len(near))), near.astype(np.uint32)
        for n, term in enumerate(terms):
            rows, counts, _ = texts.found(term)
            has = stands(rows, asked)
            held[n, has] = counts[rows.searchsorted(asked[has])]
        numbers, columns = np.nonzero(held)
        rows, counts = near[columns], held[numbers, columns]
        for to, given in texts.lent(rows, self._context, counts):
            is_near = stands(near, to) & (to != NOBODY)
            np.add.at(held, (numbers[is_near], np.searchsorted(near, to[is_near])), given[is_near])
        here = held[:, np.searchsorted(near, places)]
        holds: Array = np.minimum(1, self._saturated(places, here))
        return holds

    def _worth_in_sessions(self, term: str) -> TermRows:
        """Return the scores of a term in the sessions that have it."""
        rows, counts, _ = self._texts.found(term)
        counted = np.bincount(self._texts.sessions.number[rows], counts, minlength=self._texts.size)
        here = np.flatnonzero(counted)
        held = counted[here]
        lengths = SESSION_B * self._session_lengths[here] / (self._session_mean or 1)
        norms = SESSION_K1 * (1 - SESSION_B + lengths)
        return TermRows(here, held * (SESSION_K1 + 1) / (held + norms) * self._texts.idf(term))

    def _worth_of(self, term: str) -> TermRows:
        """Return the scores of a term in texts with the term, and in texts beside a text with the term."""
        texts = self._texts
        rows, counts, _ = texts.found(term)
        given = [(rows, counts), *texts.lent(rows, self._context, counts)]
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
        worths = self._saturated(here, held) * texts.idf(term)
        if 2 * len(here) < texts.size:
            return TermRows(here, worths)
        every = np.zeros(texts.size)
        every[here] = worths
        return TermRows(EVERY, every)

    def _saturated(self, here: Any, held: Any) -> Any:
        """Return the saturated count of a term by text length: at the mean length, a count of 1 is 1."""
        k1, b = self._context.k1, self._context.b
        norms = k1 * (1 - b + b * self._read[here] / (self._mean or 1))
        return held * (k1 + 1) / (held + norms)


class AskedTerms(NamedTuple):
    """The terms of a question: those that name speakers, all by language, and the matching terms of texts.

    `readings` has no names of speakers, who are in every session, if any term remains. `held` has for each
    term of the readings the terms of texts that match it, `known` all of these. `named` are the speakers.
    """

    called: dict[str, None]
    readings: list[list[str]]
    held: dict[str, list[str]]
    known: list[str]
    named: list[str]


class ScopeWords:
    """The words of one scope's texts, made ready to be asked many times."""

    def __init__(self, texts: Texts, context: ContextRecipe) -> None:
        self._texts = texts
        self._k1 = context.k1
        self._assisted = texts.answers is not None
        self._scorer = Scorer(texts, context)
        self._languages = [TOLD_LANGUAGES[number] for number in texts.languages] or [ENGLISH]
        self._speakers = {name: self._terms_of(name) for name in texts.speakers}
        self._names = dict.fromkeys(term for its in self._speakers.values() for term in its)
        self._asked: dict[str, AskedTerms] = {}
        """The last question, which is asked for its scores, its weights and its passages."""

    def ask(self, query: str) -> Worded:
        """Return the results of a question's words."""
        its = self._terms(query)
        less = _scaffolding() if self._assisted else ()
        known = [(term, SCAFFOLD_WEIGHT if term in less else 1.0) for term in its.known]
        texts = self._scorer.score(known)
        for term in day_terms(read(query)):
            if term in self._dated:
                on_day = is_one_of(self._days, np.array(self._dated[term])) & self._texts.shown
                texts[on_day] += self._texts.idf(term)
        for kind in kinds_asked(query):
            texts += KIND_WEIGHT * self._held_members(kind)
        best = float(texts.max(initial=0))
        sessions = self._scorer.score(known, in_sessions=True)
        # A word is looked for in all languages of the scope, and asked for in one.
        most = min(sum(map(self._texts.idf, dict.fromkeys(each))) for each in its.readings) * (self._k1 + 1)
        return Worded(
            texts,
            sessions,
            (best or 1.0, float(sessions.max(initial=0)) or 1.0),
            its.named,
            min(1.0, best / most) if best else 0.0,
            [term for term, _ in known],
        )

    def _held_members(self, kind: str) -> Floats:
        """Return for each text the inverse frequency of the rarest member of a kind in it, 0 without any."""
        held = np.zeros(self._texts.size)
        for term in member_terms(kind):
            rows = self._texts.found(term).rows
            held[rows] = np.maximum(held[rows], self._texts.idf(term))
        return held

    def _terms(self, query: str, named: dict[str, None] | None = None) -> AskedTerms:
        """Return the terms of a question; those of names are `named`, by default the question's own.

        A name that is also a word in texts, as Mark and mark, counts only if written as a name.
        """
        known = self._asked.get(query)
        if known is not None and (named is None or named == known.called):
            return known
        called = named
        if called is None:
            called = dict.fromkeys(
                term
                for word in _WORD.findall(query)
                for term in self._terms_of(word)
                if term in self._names and not (word[0].islower() and self._texts.found(term).lower)
            )
        readings = [[*terms(query, language), *signs(query)] for language in self._languages]
        readings = [[term for term in each if term not in called] or each for each in readings]
        held = {term: self._held(term) for each in readings for term in each}
        known_terms = list(dict.fromkeys(term for its in held.values() for term in its))
        speakers = [name for name, its in self._speakers.items() if any(term in called for term in its)]
        asked = AskedTerms(called, readings, held, known_terms, speakers)
        if named is None:
            self._asked = {query: asked}
        return asked

    def _held(self, term: str) -> list[str]:
        """Return the terms of texts that match a question's term: itself, or all pairs with an ideograph."""
        if len(self._texts.found(term).rows):
            return [term]
        if len(term) == 1 and term > LAST_LETTER:
            return [pair for pair in self._texts.terms_with(term) if len(pair) == 2]
        return []

    def _terms_of(self, word: str) -> list[str]:
        return [term for language in self._languages for term in terms(word, language)]

    @cached_property
    def _dated(self) -> dict[str, list[int]]:
        """The days on which something was said, by their terms."""
        dated: dict[str, list[int]] = {}
        for day in distinct(self._days[self._texts.shown]).tolist():
            for term in terms_of_day(format_day(day * DAY_US)):
                dated.setdefault(term, []).append(day)
        return dated

    @cached_property
    def _days(self) -> Ints:
        days: Ints = self._texts.whole("at") // DAY_US
        return days

    def weights(self, query: str) -> dict[str, float]:
        """Return the weight of each term of a question."""
        asked = self._terms(query).held
        return {held: self._texts.idf(held) for term, its in asked.items() for held in its or [term]}

    def weighed(self, prompt: str, places: Sequence[int]) -> list[Weighed]:
        """Return the share of a prompt in each text, or of the prompt's question with the greatest share.

        Emojis are no evidence.
        """
        prompt = without_signs(prompt)
        whole = self._terms(prompt)
        asked = questions(read(prompt))
        parts = {prompt: LEAST_SHARED} | dict.fromkeys(asked, 1)
        here = np.array(places, np.int64)
        shares = np.max([self._shares(part, here, whole.called, n) for part, n in parts.items()], axis=0)
        one = whole.named[0] if len(whole.named) == 1 else None
        return [Weighed(share, one) for share in shares.tolist()]

    def _shares(self, query: str, places: Ints, called: dict[str, None], least: int) -> Floats:
        """Return the share of a part of a prompt in each text; `called` are the names in the whole prompt.

        A text with fewer than `LEAST_SHARED` common words needs `least`, and a share of `LEAST_ALONE`.
        """
        asked = self._terms(query, called)
        most = min(sum(map(self._weight, dict.fromkeys(each))) for each in asked.readings)
        known = asked.known
        pairs = (pair for language in self._languages for pair in worded_terms(query, language))
        # The commonest words of a language say nothing.
        specific = {held for word, term in pairs if not is_common(word) for held in self._held(term)}
        holds = self._scorer.holds(known, places)
        held = np.array([self._weight(term) for term in known]) @ holds
        shared = bool(called) + (holds[[term in specific for term in known]] > 0).sum(axis=0)
        for term in day_terms(read(query)):
            if term in self._dated:
                held += self._weight(term) * is_one_of(self._days[places], np.array(self._dated[term]))
        share = np.minimum(1, held / (most or 1))
        return np.where((shared >= LEAST_SHARED) | ((shared >= least) & (share >= LEAST_ALONE)), share, 0)

    def _weight(self, term: str) -> float:
        held = max(1, len(self._texts.found(term).rows))
        return float(np.log1p((self._texts.count + MORE_TEXTS - held + 0.5) / (held + 0.5)))

    def reading(self, query: str) -> QuestionTerms:
        """Return which terms of a question count and which do not."""
        asked, counted = self._terms(query), words(query)
        days = (term for term in day_terms(read(query)) if term in self._dated)
        used = {term: self._texts.idf(term) for term in (*asked.known, *days)}
        names = tuple(term for term in asked.called if term not in asked.held)
        forms = {
            word: [held for term in self._terms_of(word) for held in self._held(term) or [term]]
            for word in counted
            if word not in SEARCH_STOP
        }
        unheld = (word for word, its in forms.items() if not any(it in used or it in names for it in its))
        # A question of common words alone keeps them.
        said = (run.strip(_AROUND) for run in query.lower().split())
        common = dict.fromkeys(word for word in said if word in SEARCH_STOP and word not in counted)
        return QuestionTerms(used, tuple(unheld), names, tuple(common))

    def held(self, place: int, text: str, reading: QuestionTerms) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the used terms in a text itself, and those only in the turns around it or its day."""
        own = dict.fromkeys(terms(text))
        around = [
            term
            for term in reading.used
            if term not in own
            and (
                self._scorer.score([(term, 1.0)])[place] > 0
                or (term in self._dated and int(self._days[place]) in self._dated[term])
            )
        ]
        return tuple(term for term in reading.used if term in own), tuple(around)
