"""Properties of a prompt besides its terms: the wanted kind of answer, and whether it only thanks or nods.

The weights of these properties are in `ranking`. Courtesies count only in a prompt with nothing else in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import cues, word_list
from memtape.state.text.own_words import is_question
from memtape.state.text.reading import Reading, kept

MONTHS = "january february march april may june july august september october november december".split()
_TIMES, _NUMBERS = map(word_list, ("words of a time", "words of a number"))
_WRITTEN_TIME = lazy(r"\d{4}|\d{1,2}(?:st|nd|rd|th)")
_CLOCK = lazy(r"\b\d{1,2}:\d{2}\b")
_RUN, _DIGIT = lazy(r"\w+"), lazy(r"\d")
_CUES = cues("asking")
ANSWERS_HOLD = ("time", "number", "place")  # Kinds of content in texts that a question can ask for.
_HINTS = (_CUES.asks_time, _CUES.asks_number, _CUES.asks_place)
"""The question words, in the order of `ANSWERS_HOLD`."""
MOST_WORDS = 16  # A longer sentence mostly states something besides.
_CLAUSE = lazy(r"[,;:\u2014\u2013]| - |\b(?:I|we)\b")
"""Marks that may separate a statement from the question behind it."""
_MONTHS = {name: n for n, month in enumerate(MONTHS, 1) for name in (month, month[:3])} | {"sept": 9}
_NAMED_DAY = lazy(
    r"\b(?:(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?)?"
    rf"(?P<month>{'|'.join(sorted(_MONTHS, reverse=True))})\b"
    r"(?:\.?\s+(?P<after>\d{1,2})(?:st|nd|rd|th)?\b(?!:))?",
    re.IGNORECASE,
)
_WRITTEN_DAYS = tuple(
    lazy(rf"\b{pattern}\b")
    for pattern in (
        r"\d{4}-(?P<month>\d{1,2})-(?P<day>\d{1,2})",
        r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?\d{4}",
        r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/\d{4}",
    )
)
_YEAR = lazy(r"\b(?:19|20)\d{2}\b")


@kept
def day_terms(reading: Reading) -> list[str]:
    """Return the days in a question, in the terms of `terms_of_day`: days of months, months and years.

    A number is a day only beside its month, and "may" a month only with a capital or a day.
    """
    query = reading.text
    found = [term for match in _NAMED_DAY.finditer(query) for term in _named_day(match)]
    for written in _WRITTEN_DAYS:
        for match in written.finditer(query):
            month, day = int(match["month"]), int(match["day"])
            if month > len(MONTHS):  # 25/12/2023, which begins with the day.
                month, day = day, month
            if 0 < month <= len(MONTHS):
                found += [str(day), MONTHS[month - 1]]
    return list(dict.fromkeys([*found, *_YEAR.findall(query)]))


def terms_of_day(day: str) -> list[str]:
    """Return the terms of a day, given as 2023-05-08: 8, may, 2023."""
    year, month, number = day.split("-")
    return [str(int(number)), MONTHS[int(month) - 1], year]


def _named_day(match: re.Match[str]) -> list[str]:
    name, number = match["month"], match["day"] or match["after"]
    is_word = name.lower() in ("may", "mar", "march") and (name.islower() or not match.start())
    days = [str(int(number))] if number else []
    return [*days, MONTHS[_MONTHS[name.lower()] - 1]] if days or not is_word else []


def held_by_answers(reading: Reading) -> int | None:
    """Return which of `ANSWERS_HOLD` an answer would have; None where a question asks for none of them."""
    return next((number for number, question in enumerate(_HINTS) if question.search(reading.text)), None)


def held(reading: Reading) -> tuple[bool, bool, bool]:
    """Return whether a text holds each of `ANSWERS_HOLD`."""
    text = reading.text
    runs = frozenset(_RUN.findall(text.lower()))
    digits = _DIGIT.search(text) is not None
    counts = digits or not runs.isdisjoint(_NUMBERS)
    time = not runs.isdisjoint(_TIMES) or (":" in text and _CLOCK.search(text) is not None)
    time = time or (digits and any(_WRITTEN_TIME.fullmatch(run) for run in runs if run[0].isdigit()))
    return time, counts, _CUES.place.search(text) is not None


def is_about_answers(reading: Reading) -> bool:
    """Return whether a question to an assistant is about the assistant's own answers."""
    return bool(_CUES.about_answers.search(reading.text))


def questions(reading: Reading) -> list[str]:
    """Return the questions of a prompt, in order."""
    return [it.said for it in reading.shown if is_question(it.said)]


def only_asks(reading: Reading) -> bool:
    """Return whether a text only asks: each sentence is a question by its first words, or a short one.

    A sentence that states a fact before it asks ("I moved it, where is it?") does not only ask.
    """
    sentences = reading.shown
    return bool(sentences) and all(_asks(it.said) for it in sentences)


def _asks(sentence: str) -> bool:
    if len(sentence.split()) > MOST_WORDS or _CUES.tells.search(sentence):
        return False
    if is_question(sentence) and _CUES.opens.match(sentence):
        return True
    asks = is_question(sentence) or _CUES.asks_bare.match(sentence) is not None
    return asks and _CLAUSE.search(sentence) is None


def first_person(query: str, speakers: Iterable[str]) -> str:
    """Return a question in the first person of its named speakers: "Ada's" becomes "my", "Ada" "I".

    Turns are in the first person, and so nearer to such a question; used for its vector, not for its words.
    """
    for name in speakers:
        for form in dict.fromkeys((name, name.split(" ")[0])):
            if form.strip() and re.search(rf"\b{re.escape(form)}\b", query):
                query = re.sub(rf"\b{re.escape(form)}['’]s\b", "my", query)
                query = re.sub(rf"\b{re.escape(form)}\b", "I", query)
                break
    return query


MOST_COURTESY_CHARS = 100
"""A longer prompt says more than thanks, a farewell, or a nod such as "go on"."""


def is_nod(reading: Reading) -> bool:
    """Return whether a prompt only lets an agent go on with its earlier request."""
    return len(reading.text) <= MOST_COURTESY_CHARS and _CUES.is_nod.match(reading.text) is not None


def is_goodbye(reading: Reading) -> bool:
    """Return whether a prompt does nothing but thank and part."""
    is_short = len(reading.text) <= MOST_COURTESY_CHARS
    return is_short and _CUES.is_goodbye.match(reading.text) is not None and not is_nod(reading)
