"""The results of a question's words: BM25 over texts in context, over sessions, and over days of texts.

Statistics come from the scope alone, so that no other scope can change a score.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from memtape.schemas.patterns import lazy
from memtape.schemas.times import DAY_US, format_day
from memtape.state.index.context import ContextRecipe
from memtape.state.index.parts import Floats, Ints
from memtape.state.index.scoring import Scorer
from memtape.state.index.sorted_values import distinct, is_one_of
from memtape.state.index.texts import Texts
from memtape.state.ranking.recipes import SCAFFOLD_WEIGHT, SESSION_B, SESSION_K1
from memtape.state.text.asking import day_terms, terms_of_day
from memtape.state.text.terms import ENGLISH, TOLD_LANGUAGES, terms

SCAFFOLDING = "list order mention conversation discussion discuss tell say talk chat session summary summarize"
"""Words of a request to an assistant for an earlier text, not found in the text itself."""
LAST_LETTER = "\u2e80"
"""Ideographs, kana and hangul come after it."""
_WORD = lazy(r"\w[\w'’-]*")


class Worded(NamedTuple):
    """The results of words: scores of texts and of sessions, the greatest of each 1, and named speakers.

    `strength` is the share of the question in the best text, comparable between scopes, and `terms` are the
    question's terms in some text.
    """

    texts: Floats
    sessions: Floats
    named: list[str]
    strength: float
    terms: list[str]

    def silenced(self) -> Worded:
        """Return the result with the words switched off."""
        return Worded(np.zeros_like(self.texts), np.zeros_like(self.sessions), self.named, 0.0, self.terms)


@lru_cache(maxsize=16_384)
def _of_word(word: str, language: str) -> tuple[str, ...]:
    return tuple(terms(word, language))


@cache
def _scaffolding() -> frozenset[str]:
    return frozenset(terms(SCAFFOLDING, ENGLISH))


class Lexical:
    """The words of one scope's texts, made ready to be asked many times."""

    def __init__(self, texts: Texts, context: ContextRecipe) -> None:
        self._texts = texts
        self._k1 = context.k1
        self._assisted = texts.answers is not None
        self._scorer = Scorer(texts, context, SESSION_K1, SESSION_B)
        self._languages = [TOLD_LANGUAGES[number] for number in texts.languages]
        self._speakers = {
            name: [term for language in self._languages for term in terms(name, language)] for name in texts.speakers
        }
        self._names = dict.fromkeys(term for its in self._speakers.values() for term in its)

    def ask(self, query: str) -> Worded:
        """Return the results of a question's words."""
        called = self._called(query)
        readings = self._readings(query, called)
        known = self._known(readings)
        texts = self._scorer.score(known)
        for term in day_terms(query):
            if term in self._dated:
                texts[self._on_day(term)] += self._texts.idf(term)
        best = float(texts.max(initial=0))
        sessions = self._scorer.score_sessions(known)
        named = [name for name, its in self._speakers.items() if any(term in called for term in its)]
        # A word is looked for in all languages of the scope, and asked for in one.
        most = min(sum(map(self._texts.idf, dict.fromkeys(reading))) for reading in readings) * (self._k1 + 1)
        return Worded(
            texts / (best or 1),
            sessions / (sessions.max(initial=0) or 1),
            named,
            min(1.0, best / most) if best else 0.0,
            [term for term, _ in known],
        )

    def speakers(self) -> list[str]:
        """Return the names of all speakers."""
        return list(self._speakers)

    def _readings(self, query: str, called: Mapping[str, None]) -> list[list[str]]:
        """Return the terms of a question in each language of the scope.

        Names of speakers, who are in every session, are left out if any term remains.
        """
        readings = [terms(query, language) for language in self._languages] or [terms(query, ENGLISH)]
        return [[term for term in reading if term not in called] or reading for reading in readings]

    def _called(self, query: str) -> dict[str, None]:
        """Return the terms of a question that are names of speakers.

        A name that is also a word in texts, as Mark and mark, counts only if written as a name.
        """
        found: dict[str, None] = {}
        for word in _WORD.findall(query):
            for term in (term for language in self._languages for term in _of_word(word, language)):
                if term in self._names and not (word[0].islower() and self._texts.found(term).lower):
                    found[term] = None
        return found

    def _known(self, readings: list[list[str]]) -> list[tuple[str, float]]:
        asked = dict.fromkeys(term for reading in readings for term in reading)
        return [
            (term, SCAFFOLD_WEIGHT if self._assisted and term in _scaffolding() else 1.0)
            for term in dict.fromkeys(held for term in asked for held in self._held(term))
        ]

    def _held(self, term: str) -> list[str]:
        """Return the terms of texts that match a question's term: itself, or all pairs with an ideograph."""
        if len(self._texts.found(term).rows):
            return [term]
        if len(term) == 1 and term > LAST_LETTER:
            return [pair for pair in self._texts.terms_with(term) if len(pair) == 2]
        return []

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

    def _on_day(self, term: str) -> Ints:
        """Return the texts whose day has a term."""
        return np.flatnonzero(is_one_of(self._days, np.array(self._dated[term])) & self._texts.shown)
