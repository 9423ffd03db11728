"""The reading of a question's words in a scope: words that count, their weights, and words left out.

`lexical` scores texts by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from memtape.state.index.parts import Floats, Ints
from memtape.state.index.sorted_values import is_one_of
from memtape.state.ranking.lexical import Lexical
from memtape.state.text.asking import day_terms, questions
from memtape.state.text.lexicon import SEARCH_STOP
from memtape.state.text.normal import words
from memtape.state.text.terms import ENGLISH, is_common, terms, worded_terms

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


LEAST_SHARED = 2
"""Minimum number of common words; a single one is no evidence."""
MORE_TEXTS = 1_000
"""A scope is taken to have so many more texts without any word of a prompt: in a young one no word is common yet."""


class Weighed(NamedTuple):
    """The share of a prompt in a text and the turns around it, from 0 to 1, and the speaker it names.

    `named` is None for a prompt that names no speaker or several. A text with a single word of the prompt,
    apart from the language's commonest words, has the share 0. A name counts as such a word.
    """

    share: float
    named: str | None


class ScopeWords(Lexical):
    """The words of one scope's texts, matched with the terms of a question."""

    def weights(self, query: str) -> dict[str, float]:
        """Return the weight of each term of a question."""
        asked = self._asked(query, self._called(query))
        return {held: self._texts.idf(held) for term in asked for held in self._held(term) or [term]}

    def weighed(self, prompt: str, places: Ints) -> list[Weighed]:
        """Return the share of a prompt in each text, or of the prompt's question with the greatest share."""
        called = self._called(prompt)
        named = [name for name, its in self._speakers.items() if any(term in called for term in its)]
        parts = dict.fromkeys((prompt, *questions(prompt)))
        shares = np.max([self._shares(part, places, called) for part in parts], axis=0)
        one = named[0] if len(named) == 1 else None
        return [Weighed(share, one) for share in shares.tolist()]

    def _shares(self, query: str, places: Ints, called: Mapping[str, None]) -> Floats:
        readings = self._readings(query, called)
        most = min(sum(map(self._weight, dict.fromkeys(reading))) for reading in readings)
        known, specific = [term for term, _ in self._known(readings)], self._specific(query)
        holds = self._scorer.holds(known, places)
        held = np.array([self._weight(term) for term in known]) @ holds
        shared = bool(called) + (holds[[term in specific for term in known]] > 0).sum(axis=0)
        for term in day_terms(query):
            if term in self._dated:
                held += self._weight(term) * is_one_of(self._days[places], np.array(self._dated[term]))
        return np.where(shared >= LEAST_SHARED, np.minimum(1, held / (most or 1)), 0)

    def _specific(self, query: str) -> frozenset[str]:
        """Return the terms of the words of a question that are not among the commonest of a language."""
        languages = self._languages or [ENGLISH]
        pairs = (pair for language in languages for pair in worded_terms(query, language))
        return frozenset(held for word, term in pairs if not is_common(word) for held in self._held(term))

    def _weight(self, term: str) -> float:
        held = len(self._texts.found(term).rows)
        return float(np.log1p((self._texts.count + MORE_TEXTS - held + 0.5) / (held + 0.5)))

    def reading(self, query: str) -> QuestionTerms:
        """Return which terms of a question count and which do not."""
        called = self._called(query)
        asked = self._asked(query, called)
        days = (term for term in day_terms(query) if term in self._dated)
        used = {term: self._texts.idf(term) for term in (*(held for term in asked for held in self._held(term)), *days)}
        names = tuple(term for term in called if term not in asked)
        return QuestionTerms(used, self._unheld(query, {**used, **dict.fromkeys(names)}), names, _common(query))

    def _asked(self, query: str, called: Mapping[str, None]) -> dict[str, None]:
        return dict.fromkeys(term for reading in self._readings(query, called) for term in reading)

    def _unheld(self, query: str, known: Mapping[str, object]) -> tuple[str, ...]:
        """Return the words of a question that are none of these terms in any language of the scope."""
        forms = {
            word: [held for term in self._terms_of(word) for held in self._held(term) or [term]]
            for word in words(query)
            if word not in SEARCH_STOP
        }
        return tuple(word for word, its in forms.items() if not any(term in known for term in its))

    def _terms_of(self, word: str) -> list[str]:
        return [term for language in self._languages or [ENGLISH] for term in terms(word, language)]

    def held(self, place: int, text: str, reading: QuestionTerms) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the used terms in a text itself, and those only in the turns around it or its day."""
        own = dict.fromkeys(terms(text))
        others = [term for term in reading.used if term not in own]
        around = [term for term in others if self._is_around(term, place)]
        return tuple(term for term in reading.used if term in own), tuple(around)

    def _is_around(self, term: str, place: int) -> bool:
        by_turns = self._scorer.score([(term, 1.0)])[place] > 0
        return bool(by_turns or (term in self._dated and int(self._days[place]) in self._dated[term]))


def _common(query: str) -> tuple[str, ...]:
    """Return the words of a question left out as too common; none if it has no further words."""
    kept = words(query)
    said = (run.strip(_AROUND) for run in query.lower().split())
    return tuple(dict.fromkeys(word for word in said if word in SEARCH_STOP and word not in kept))
