"""Refusal of a model's words: a model may order the words of its sources, and add none.

Each step has its own prompt and its own parsing of answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memtape.schemas.errors import BadAnswer
from memtape.state.text.instructions import heard_in
from memtape.state.text.terms import terms

LIMIT_S = 60.0
_VALUES = re.compile(r"\w*\d[\w.:/-]*|https?://\S+")
_TURNING = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|without|except|unless|only|cannot|neither|nor|kein\w*|nicht|nie|ohne|nur)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
_TELLING = "since previously previous before earlier until formerly now currently then"


def check_words(text: str, known: str) -> None:
    """Raise `BadAnswer` for a text with an order, or a word or value missing from its sources, `known`."""
    if not is_part(values(text), values(known)):
        raise BadAnswer("The model's answer has a number or address that no memory has.", "Try another model.")
    if not is_part(terms(text), [*terms(known), *terms(_TELLING)]) or not is_part(turning(text), turning(known)):
        raise BadAnswer("The model's answer says what no memory says.", "Try another model.")
    if heard_in(text).standing:
        raise BadAnswer("The model's answer gives an order.", "Try another model.")


def is_told_by(text: str, other: str) -> bool:
    """Whether another text has every term, value and word of a text that turns a statement around."""
    return all(is_part(find(text), find(other)) for find in (terms, values, turning))


def values(text: str) -> list[str]:
    """Return the numbers and addresses of a text."""
    return [value.rstrip(".:/-,;)").lower() for value in _VALUES.findall(text)]


def turning(text: str) -> list[str]:
    """Return the words of a text that turn a statement around."""
    return [word.lower().replace("’", "'") for word in _TURNING.findall(text)]


def is_part(some: Iterable[str], all: Iterable[str]) -> bool:
    """Whether all contain some, each once or more."""
    return frozenset(some) <= frozenset(all)
