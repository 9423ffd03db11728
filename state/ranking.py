"""The order in which found texts are shown: BM25 in context, and what a question says of who, when and where.

Statistics come from the scope alone, so that nothing in another scope can move a score. The recipe and its constants
were measured on two corpora: people who chat (LoCoMo), and users with an assistant, whose long answers need other
weights. Scores are answers and never state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.schemas.times import format_time
from recollect.state.postings import Floats, Ints, Postings, counts_of, inverse_frequencies
from recollect.state.terms import language_of, terms


class Document(NamedTuple):
    """What is ranked. `turn` marks something said in a `session`, `answers` that an assistant said it.

    `at` is in microseconds UTC.
    """

    text: str
    session: str | None
    speaker: str
    turn: bool
    answers: bool
    at: int

    def said(self) -> bool:
        """Whether it is a turn."""
        return self.turn

    def speaks(self, name: str) -> bool:
        """Whether it is somebody's words."""
        return self.speaker == name

    def own(self) -> bool:
        """Whether a person said it."""
        return not self.answers

    def asks(self) -> bool:
        """Whether it ends as a question."""
        return self.text.rstrip().endswith("?")

    def holds(self, pattern: re.Pattern[str]) -> bool:
        """Whether there is something of a kind in it."""
        return bool(pattern.search(self.text))


class Hit(NamedTuple):
    """A document's place in the list that was ranked, and its score."""

    place: int
    score: float


class Weights(NamedTuple):
    """The constants of a mode.

    A turn gets shares of the terms of its neighbours: of the one before (`asked` if that holds a question mark, else
    `before`), the one before that, and the two after. The others are added to a score whose greatest is 1.
    """

    k1: float
    b: float
    asked: float
    before: float
    before_that: float
    after: float
    after_that: float
    session: float
    speaker: float
    hint: float
    question: float
    own_words: float


PEERS = Weights(0.6, 0.4, 1.0, 0.15, 0.3, 0.3, 0.1, session=0.2, speaker=0.2, hint=0.27, question=-0.09, own_words=0.0)
ASSISTED = Weights(1.2, 0.9, 1.0, 0.3, 0.3, 0.3, 0.1, session=0.4, speaker=0.0, hint=0.0, question=0.0, own_words=0.3)
SESSION_K1, SESSION_B = 1.2, 0.75
LENT_TERMS = 40
"""Of a long answer a neighbour gets no more than so many terms' worth."""
UNEQUAL_LENGTHS = 2.5
"""From this ratio of two speakers' mean lengths on, one of them is taken for an assistant."""
LEAST_TURNS = 5
"""Of so many turns a mean length says something."""
SCAFFOLD_WEIGHT = HALF = 0.5
SCAFFOLDING = frozenset(
    terms("list order mention conversation discussion discuss tell say talk chat session summary summarize", "english")
)
"""Terms by which one asks an assistant for something that was said, which are not what was said."""

_MONTHS = (
    "january february march april may june july august september october november december".split()  # As they are said.
)
_TIME = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|week(?:end)?s?|months?|years?|days?|morning|evening|"
    rf"(?:mon|tues|wednes|thurs|fri|satur|sun)day|{'|'.join(month for month in _MONTHS if month != 'may')}|"
    r"\d{4}|\d{1,2}(?:st|nd|rd|th)|\d{1,2}:\d{2})\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twice|couple|few|dozen|several)\b", re.IGNORECASE
)
_PLACE = re.compile(
    r"\b(?:in|at|to|from|near|around|visit(?:ed|ing)?)\s+(?:the\s+|my\s+|a\s+)?[A-Z]|"
    r"\b(?:city|town|country|beach|park|home|street|village|state|mountains?|lake|cafe|restaurant)\b"
)
_HINTS = (
    (re.compile(r"\bwhen\b|\bwhat (?:date|day|month|year|time)\b|\bhow long\b", re.IGNORECASE), _TIME),
    (re.compile(r"\bhow (?:many|much|often)\b", re.IGNORECASE), _NUMBER),
    (re.compile(r"\bwhere\b|\bwhich (?:city|country|place|state)\b", re.IGNORECASE), _PLACE),
)
"""What a question asks for, and what a text holds that could answer it."""
_ABOUT_ANSWERS = re.compile(
    r"\bdid you\b|\byou (?:said|told|recommended|suggested|mentioned|advised|gave)\b|"
    r"\byour (?:advice|answer|recommendation|suggestion)",
    re.IGNORECASE,
)


class Corpus:
    """The texts of one scope, made ready to be asked many times.

    Making it takes some 25 µs a text; asking one of 100,000 texts some milliseconds.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._assisted = has_assistant(documents)
        self._weights = ASSISTED if self._assisted else PEERS
        tokens = [terms(document.text) for document in documents]
        self._languages = list(dict.fromkeys(language_of(document.text) for document in documents))
        self._number = {term: n for n, term in enumerate(dict.fromkeys(term for found in tokens for term in found))}
        counts = counts_of(tokens, self._number)
        self._idf = inverse_frequencies(counts, len(self._number))
        around = counts.with_neighbours(*_neighbours(documents, counts.lengths, self._weights, self._assisted))
        self._texts = Postings(around, self._idf, self._weights.k1, self._weights.b)
        number_of = {name: n for n, name in enumerate(dict.fromkeys(document.session for document in documents))}
        self._session = np.fromiter((number_of[document.session] for document in documents), np.int64)
        together = counts.together(self._session, len(number_of))
        self._sessions = Postings(together, self._idf, SESSION_K1, SESSION_B)
        self._speakers = {name: terms(name) for name in dict.fromkeys(d.speaker for d in documents if d.turn)}
        self._facts: dict[tuple[object, ...], NDArray[np.bool_]] = {}
        self._dated: dict[str, list[int]] = {}
        for place, document in enumerate(documents):
            for term in _date_terms(document.at):
                self._dated.setdefault(term, []).append(place)

    def rank(self, query: str) -> Iterator[Hit]:
        """Yield every text that the query finds, best first, earlier texts first among equals."""
        asked = list(dict.fromkeys(term for language in self._languages for term in terms(query, language)))
        found = self._found(asked)
        best = found.max(initial=0)
        if best <= 0:
            return iter(())
        sessions = self._sessions.score(self._known(asked))
        scores = found / best + self._weights.session * (sessions / (sessions.max() or 1))[self._session]
        places = np.flatnonzero(found > 0)
        scores = scores[places] + self._sides(query, asked, places)
        scores *= best / self._most(asked)
        order = np.lexsort((places, -scores))
        return map(Hit, places[order].tolist(), scores[order].tolist())

    def _most(self, asked: list[str]) -> float:
        """Return what a text could have at most, by which the scores of several scopes can be compared."""
        idfs = sum(self._idf[self._number.get(term, -1)] for term in self._sought(asked))
        return float(idfs * (self._weights.k1 + 1))

    def _found(self, asked: list[str]) -> Floats:
        """Return how much of what is asked each text and its date hold."""
        found = self._texts.score(self._known(asked))
        for term in self._sought(asked):
            if term in self._dated:
                found[self._dated[term]] += self._idf[self._number.get(term, -1)]
        return found

    def _sought(self, asked: list[str]) -> list[str]:
        """Return what is asked without the names of those who speak, who are in every session, if something is left."""
        names = {term for named in self._speakers.values() for term in named}
        return [term for term in asked if term not in names] or asked

    def _known(self, asked: list[str]) -> list[tuple[int, float]]:
        return [
            (self._number[term], SCAFFOLD_WEIGHT if self._assisted and term in SCAFFOLDING else 1.0)
            for term in self._sought(asked)
            if term in self._number
        ]

    def _sides(self, query: str, asked: list[str], places: Ints) -> Floats:
        """Return what is added for who said a text, what kind of thing it holds, and whether it asks itself."""
        weights = self._weights
        named = [name for name, its in self._speakers.items() if any(term in asked for term in its)]
        hint = next((held for question, held in _HINTS if question.search(query)), None)
        # Without one name, or with a question about the answers, everybody gets half, which changes no order of turns.
        sides = np.zeros(len(places))
        sides += weights.speaker * (self._is(Document.speaks, named[0])[places] if len(named) == 1 else HALF)
        sides += weights.own_words * (HALF if _ABOUT_ANSWERS.search(query) else self._is(Document.own)[places])
        if hint is not None and weights.hint:
            sides += weights.hint * self._is(Document.holds, hint)[places]
        sides += weights.question * self._is(Document.asks)[places]
        return sides * self._is(Document.said)[places]

    def _is(self, fact: Callable[..., bool], *about: object) -> NDArray[np.bool_]:
        """Return of every document whether something is so; it is found out once."""
        key = (fact.__name__, *about)
        if key not in self._facts:
            self._facts[key] = np.fromiter((fact(document, *about) for document in self._documents), np.bool_)
        return self._facts[key]


def has_assistant(documents: Sequence[Document]) -> bool:
    """Whether an assistant is among those who speak: by role, or by how much longer one speaks than another."""
    lengths: dict[str, list[int]] = {}
    for document in documents:
        if document.turn:
            if document.answers:
                return True
            lengths.setdefault(document.speaker, []).append(len(document.text))
    means = [sum(said) / len(said) for said in lengths.values() if len(said) >= LEAST_TURNS]
    return len(means) > 1 and max(means) >= UNEQUAL_LENGTHS * min(means)


def _neighbours(
    documents: Sequence[Document], lengths: Floats, weights: Weights, assisted: bool
) -> tuple[Ints, Ints, Floats]:
    """Return which turn gets a share of which other turn's terms, and how much."""
    shares = list(_shares(documents, weights, assisted))
    rows, neighbours = (np.fromiter((share[side] for share in shares), np.int64) for side in (0, 1))
    how_much = np.fromiter((share[2] for share in shares), np.float64)
    if assisted:
        how_much *= np.minimum(1, LENT_TERMS / np.maximum(lengths[neighbours], 1))
    return rows, neighbours, how_much


def _shares(documents: Sequence[Document], weights: Weights, assisted: bool) -> Iterator[tuple[int, int, float]]:
    sessions: dict[str, list[int]] = {}
    for place, document in enumerate(documents):
        if document.turn and document.session is not None:
            sessions.setdefault(document.session, []).append(place)
    steps = ((-1, weights.before), (-2, weights.before_that), (1, weights.after), (2, weights.after_that))
    for places in sessions.values():
        places.sort(key=lambda place: (documents[place].at, place))
        for here, place in enumerate(places):
            for step, share in steps:
                if not 0 <= here + step < len(places):
                    continue
                other = places[here + step]
                first, second = sorted((here, here + step))
                if assisted and not _is_exchange(documents[places[first]], documents[places[second]], second - first):
                    continue
                asked = step == -1 and "?" in documents[other].text
                yield place, other, weights.asked if asked else share


def _is_exchange(first: Document, second: Document, distance: int) -> bool:
    """Whether two turns are a user's words and the answer to them."""
    return distance == 1 and not first.answers and second.answers


def _date_terms(at: int) -> list[str]:
    """Return the terms of a day as people write it: 8 May 2023."""
    year, month, day = format_time(at)[:10].split("-")
    return [str(int(day)), *terms(_MONTHS[int(month) - 1], "english"), year]
