"""What the words of a question find: BM25 over texts in context, over whole sessions, and over the days of texts.

Statistics come from the scope alone, so that nothing in another scope can move a score.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from memtape.schemas.times import DAY_US, format_day
from memtape.state.ranking.asking import day_terms, terms_of_day
from memtape.state.ranking.documents import Document, Flags, neighbours_of
from memtape.state.ranking.postings import Floats, Ints, Postings, counts_of, inverse_frequencies
from memtape.state.ranking.recipes import SCAFFOLD_WEIGHT, SESSION_B, SESSION_K1, ContextRecipe
from memtape.state.text.terms import ENGLISH, languages_told, terms

SCAFFOLDING = frozenset(
    terms("list order mention conversation discussion discuss tell say talk chat session summary summarize", "english")
)
"""Terms by which one asks an assistant for something that was said, which are not what was said."""
LAST_LETTER = "\u2e80"
"""Ideographs, kana and hangul come after it."""
_WORD = re.compile(r"\w[\w'’-]*")


class Worded(NamedTuple):
    """What words found: the scores of texts and of their sessions, the greatest of each 1, and who was named.

    `strength` is the share of what was asked that the best text holds, by which scopes can be compared.
    """

    texts: Floats
    sessions: Floats
    named: list[str]
    strength: float

    def silenced(self) -> Worded:
        """Return what is left where words are not to find anything."""
        return Worded(np.zeros_like(self.texts), np.zeros_like(self.sessions), self.named, 0.0)


class Taken(NamedTuple):
    """What a text was taken apart into: the languages that it may be in, the one that it was read in, and its terms."""

    told: list[str]
    language: str
    terms: list[str]


class Lexical:
    """The words of one scope's texts, made ready to be asked many times.

    Making it takes some 25 µs a text, and to take a text apart some 50 µs more. What `before` has taken apart is not
    taken apart again.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        context: ContextRecipe,
        answers: Flags | None,
        session: Ints,
        sessions: int,
        before: Mapping[str, Taken],
    ) -> None:
        self._assisted = answers is not None
        self._k1 = context.k1
        self._session = session
        self.taken = _taken([document.text for document in documents], before)
        taken = [self.taken[document.text] for document in documents]
        tokens = [its.terms for its in taken]
        self._languages = list(dict.fromkeys(its.language for its in taken))
        self._number = {term: n for n, term in enumerate(dict.fromkeys(term for found in tokens for term in found))}
        counts = counts_of(tokens, self._number)
        self._idf = inverse_frequencies(counts, len(self._number))
        around = counts.with_neighbours(*neighbours_of(documents, counts.lengths, context, answers))
        self._texts = Postings(around, self._idf, context.k1, context.b)
        self._sessions = Postings(counts.together(session, sessions), self._idf, SESSION_K1, SESSION_B)
        people = (it for n, it in enumerate(documents) if it.turn and (answers is None or not answers[n]))
        self._speakers = {
            name: [term for language in self._languages for term in terms(name, language)]
            for name in dict.fromkeys(document.speaker for document in people)
        }
        self._names = _names(self._speakers, documents)
        self._dated = _dated(documents)

    def ask(self, query: str) -> Worded:
        """Return what the words of a question find."""
        called = self._called(query)
        readings = self._readings(query, called)
        known = self._known(readings)
        texts = self._texts.score(known)
        for term in day_terms(query):
            if term in self._dated:
                texts[self._dated[term]] += self._idf_of(term)
        best = float(texts.max(initial=0))
        sessions = self._sessions.score(known)
        named = [name for name, its in self._speakers.items() if any(term in called for term in its)]
        # A word is looked for in all languages of the scope, and asked for in one.
        most = min(sum(map(self._idf_of, dict.fromkeys(reading))) for reading in readings) * (self._k1 + 1)
        return Worded(
            texts / (best or 1),
            (sessions / (sessions.max(initial=0) or 1))[self._session],
            named,
            min(1.0, best / most) if best else 0.0,
        )

    def speakers(self) -> list[str]:
        """Return the names of those who speak."""
        return list(self._speakers)

    def _readings(self, query: str, called: Mapping[str, None]) -> list[list[str]]:
        """Return the terms of a question in each language of the scope.

        What it calls those who speak by, who are in every session, is left out if something remains.
        """
        readings = [terms(query, language) for language in self._languages] or [terms(query)]
        return [[term for term in reading if term not in called] or reading for reading in readings]

    def _called(self, query: str) -> dict[str, None]:
        """Return the terms of a question that are names of those who speak.

        What texts use as a word too, as Mark and mark, is a name only where it is written like one.
        """
        found: dict[str, None] = {}
        for word in _WORD.findall(query):
            for term in (term for language in self._languages for term in terms(word, language)):
                if term in self._names and not (word[0].islower() and self._names[term]):
                    found[term] = None
        return found

    def _known(self, readings: list[list[str]]) -> list[tuple[int, float]]:
        asked = dict.fromkeys(term for reading in readings for term in reading)
        return [
            (self._number[term], SCAFFOLD_WEIGHT if self._assisted and term in SCAFFOLDING else 1.0)
            for term in dict.fromkeys(held for term in asked for held in self._held(term))
        ]

    def _held(self, term: str) -> list[str]:
        """Return the terms of texts that one of a question stands for: itself, or all pairs with an ideograph."""
        if term in self._number:
            return [term]
        if len(term) == 1 and term > LAST_LETTER:
            return [pair for pair in self._number if len(pair) == 2 and term in pair]
        return []

    def _idf_of(self, term: str) -> float:
        """Return the weight of a term, the greatest of all for one that no text holds."""
        return float(self._idf[self._number.get(term, -1)])


def _taken(texts: Sequence[str], before: Mapping[str, Taken]) -> dict[str, Taken]:
    """Take each text apart in the language that it says itself, or else in what most of the texts are in."""
    told = {text: before[text].told if text in before else languages_told(text) for text in dict.fromkeys(texts)}
    sure = Counter(told[text][0] for text in texts if len(told[text]) == 1)
    usual = min(sure, key=lambda language: (-sure[language], language), default=ENGLISH)
    taken: dict[str, Taken] = {}
    for text, languages in told.items():
        language = usual if usual in languages or not languages else languages[0]
        known = before.get(text)
        taken[text] = (
            known if known and known.language == language else Taken(languages, language, terms(text, language))
        )
    return taken


def _names(speakers: Mapping[str, Sequence[str]], documents: Sequence[Document]) -> dict[str, bool]:
    """Return the terms of the names of those who speak, and whether texts use each as a word, in lower case."""
    by_word = {word.lower(): its for name, its in speakers.items() for word in _WORD.findall(name)}
    used: dict[str, bool] = dict.fromkeys((term for its in speakers.values() for term in its), False)
    if by_word:
        pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, by_word))})\b")
        for word in dict.fromkeys(word for document in documents for word in pattern.findall(document.text)):
            used.update(dict.fromkeys(by_word[word], True))
    return used


def _dated(documents: Sequence[Document]) -> dict[str, Ints]:
    """Return the places of texts by the terms of their days."""
    days: dict[int, list[int]] = {}
    for place, document in enumerate(documents):
        days.setdefault(document.at // DAY_US, []).append(place)
    dated: dict[str, list[int]] = {}
    for day, places in days.items():
        for term in terms_of_day(format_day(day * DAY_US)):
            dated.setdefault(term, []).extend(places)
    return {term: np.array(places, np.int64) for term, places in dated.items()}
