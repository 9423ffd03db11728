"""Orders about memory, as "never mention X again" and "forget that I …": the sentences and their subjects.

English first; of other languages the commonest forms are read. When in doubt a sentence is no order: "never
mention prices in the newsletter" is a rule for work, and "forget it" is not about memory. The right to give
orders is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memtape.state.text.lexicon import SEARCH_STOP, cues, word_list
from memtape.state.text.own_words import MOST_CHARS, asks, unquoted
from memtape.state.text.reading import Reading, has_foreign_letter
from memtape.state.text.terms import ENGLISH, is_common, language_of, worded_terms

_CUES = cues("orders")
_FORMS = (
    *(_CUES.never_again, _CUES.never_speak, _CUES.never_keep),
    *(_CUES.out_of_memory, _CUES.forget, _CUES.unwanted),
)
_STEMS = word_list("beginnings of words of an order")
"""Beginnings of the words of all forms in plain letters; a sentence without them is read no further."""
_NAMES_NOTHING = SEARCH_STOP | word_list("words of an order that name nothing")
"""Words that alone name nothing."""


def orders_of(reading: Reading) -> tuple[str, ...]:
    """Return the orders about memory among the sentences of a text in its sender's voice."""
    if not may_order(reading.text):
        return ()
    found = ((it.said, unquoted(it.said)) for it in reading.shown if len(it.said) <= MOST_CHARS)
    return tuple(sentence for sentence, said in found if is_order(said) and not asks(said))


def is_order(said: str) -> bool:
    """Return whether a sentence, with `QUOTED` for quotations, is an order about memory."""
    return may_order(said) and any(form.search(said) for form in (*_FORMS, _CUES.abroad))


def may_order(text: str) -> bool:
    """Return whether a text has a word of an order about memory."""
    lowered = text.lower()
    return has_foreign_letter(lowered) or any(map(lowered.__contains__, _STEMS))


def named_by(sentence: str) -> frozenset[str]:
    """Return the terms of an order's subject; none if it names nothing, as "forget what I said"."""
    return frozenset(term for _, term in _named(sentence))


def words_named_by(sentence: str) -> tuple[str, ...]:
    """Return the words of an order's subject, each term once, in order, for display."""
    return tuple({term: word for word, term in reversed(_named(sentence))}.values())[::-1]


def _named(sentence: str) -> list[tuple[str, str]]:
    sentence = sentence.replace("’", "'")
    found = next((match for form in _FORMS if (match := form.search(sentence))), None)
    if found is None:
        named, language = _CUES.words_abroad.sub(" ", sentence), language_of(sentence)
    else:
        named, language = next(filter(None, found.groupdict().values()), ""), ENGLISH
        if _CUES.told_of.match(named):
            about = _CUES.about.search(named)
            named = "" if about is None else about["of"]
    told = (pair for pair in worded_terms(named, language) if pair[0] not in _NAMES_NOTHING)
    # Of English no more is left out, since "my old address" is not every address.
    return [(word, term) for word, term in told if language == ENGLISH or not is_common(word)]


def is_about(reading: Reading, named: Sequence[Collection[str]]) -> bool:
    """Return whether a text holds all terms of the subject of any of these orders."""
    return any(terms and reading.terms().keys() >= frozenset(terms) for terms in named)
