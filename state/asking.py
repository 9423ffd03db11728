"""What a question says besides its terms: what kind of answer it wants, and how those it names would put it.

How much each of these moves a score stands in `ranking`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MONTHS = (
    "january february march april may june july august september october november december".split()  # As they are said.
)
_TIME = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|week(?:end)?s?|months?|years?|days?|morning|evening|"
    rf"(?:mon|tues|wednes|thurs|fri|satur|sun)day|{'|'.join(month for month in MONTHS if month != 'may')}|"
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


def held_by_answers(query: str) -> re.Pattern[str] | None:
    """Return the pattern of what an answer would hold: a time, number or place; None where none is asked for."""
    return next((held for question, held in _HINTS if question.search(query)), None)


def is_about_answers(query: str) -> bool:
    """Whether a question to an assistant is about what the assistant said."""
    return bool(_ABOUT_ANSWERS.search(query))


def first_person(query: str, speakers: Iterable[str]) -> str:
    """Return a question as the speakers that it names would put it of themselves: "Ada's" is "my", "Ada" is "I".

    Turns are said in the first person, and so are nearer to such a question; for its vector, not for its words.
    """
    for name in speakers:
        for form in dict.fromkeys((name, name.split(" ")[0])):
            if form.strip() and re.search(rf"\b{re.escape(form)}\b", query):
                query = re.sub(rf"\b{re.escape(form)}['’]s\b", "my", query)
                query = re.sub(rf"\b{re.escape(form)}\b", "I", query)
                break
    return query
