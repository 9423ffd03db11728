"""What the words of a question find: BM25 over texts in context, over whole sessions, and over the days of texts.

Statistics come from the scope alone, so that nothing in another scope can move a score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recollect.schemas.times import format_time
from recollect.state.asking import MONTHS
from recollect.state.documents import Document, neighbours_of
from recollect.state.postings import Floats, Ints, Postings, counts_of, inverse_frequencies
from recollect.state.recipes import SCAFFOLD_WEIGHT, SESSION_B, SESSION_K1, Context
from recollect.state.terms import language_of, terms

SCAFFOLDING = frozenset(
    terms("list order mention conversation discussion discuss tell say talk chat session summary summarize", "english")
)
"""Terms by which one asks an assistant for something that was said, which are not what was said."""


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


class Lexical:
    """The words of one scope's texts, made ready to be asked many times. Making it takes some 25 µs a text."""

    def __init__(
        self, documents: Sequence[Document], context: Context, assisted: bool, session: Ints, sessions: int
    ) -> None:
        self._assisted = assisted
        self._k1 = context.k1
        self._session = session
        tokens = [terms(document.text) for document in documents]
        self._languages = list(dict.fromkeys(language_of(document.text) for document in documents))
        self._number = {term: n for n, term in enumerate(dict.fromkeys(term for found in tokens for term in found))}
        counts = counts_of(tokens, self._number)
        self._idf = inverse_frequencies(counts, len(self._number))
        around = counts.with_neighbours(*neighbours_of(documents, counts.lengths, context, assisted))
        self._texts = Postings(around, self._idf, context.k1, context.b)
        self._sessions = Postings(counts.together(session, sessions), self._idf, SESSION_K1, SESSION_B)
        self._speakers = {name: terms(name) for name in dict.fromkeys(d.speaker for d in documents if d.turn)}
        self._names = {term for named in self._speakers.values() for term in named}
        self._dated = _dated(documents)

    def ask(self, query: str) -> Worded:
        """Return what the words of a question find."""
        asked = self._asked(query)
        known = self._known(asked)
        texts = self._texts.score(known)
        for term in self._sought(asked):
            if term in self._dated:
                texts[self._dated[term]] += self._idf_of(term)
        best = float(texts.max(initial=0))
        sessions = self._sessions.score(known)
        named = [name for name, its in self._speakers.items() if any(term in asked for term in its)]
        most = float(sum(map(self._idf_of, self._sought(asked)))) * (self._k1 + 1)
        return Worded(
            texts / (best or 1),
            (sessions / (sessions.max(initial=0) or 1))[self._session],
            named,
            min(1.0, best / most) if best else 0.0,
        )

    def speakers(self) -> list[str]:
        """Return the names of those who speak."""
        return list(self._speakers)

    def worth(self, query: str, text: str) -> float:
        """Return how much of what is asked a piece of text holds, each term once."""
        asked = dict.fromkeys(self._sought(self._asked(query)))
        return float(sum(self._idf_of(term) for term in dict.fromkeys(terms(text)) if term in asked))

    def _asked(self, query: str) -> list[str]:
        return list(dict.fromkeys(term for language in self._languages for term in terms(query, language)))

    def _sought(self, asked: list[str]) -> list[str]:
        """Return what is asked without the names of those who speak, who are in every session, if something is left."""
        return [term for term in asked if term not in self._names] or asked

    def _known(self, asked: list[str]) -> list[tuple[int, float]]:
        return [
            (self._number[term], SCAFFOLD_WEIGHT if self._assisted and term in SCAFFOLDING else 1.0)
            for term in self._sought(asked)
            if term in self._number
        ]

    def _idf_of(self, term: str) -> float:
        """Return the weight of a term, the greatest of all for one that no text holds."""
        return float(self._idf[self._number.get(term, -1)])


def _dated(documents: Sequence[Document]) -> dict[str, Ints]:
    """Return the places of texts by the terms of their days."""
    days: dict[str, list[int]] = {}
    for place, document in enumerate(documents):
        days.setdefault(format_time(document.at)[:10], []).append(place)
    dated: dict[str, list[int]] = {}
    for day, places in days.items():
        for term in _date_terms(day):
            dated.setdefault(term, []).extend(places)
    return {term: np.array(places, np.int64) for term, places in dated.items()}


def _date_terms(day: str) -> list[str]:
    """Return the terms of a day as people write it: 8 May 2023."""
    year, month, number = day.split("-")
    return [str(int(number)), *terms(MONTHS[int(month) - 1], "english"), year]
