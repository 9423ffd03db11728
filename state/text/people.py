"""People and projects named in an English text: beside typical words, as "ask Anna" or "project Reef".

Precision before recall: products and places do not say, promise or have a sister. The names shown to readers
are chosen elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import word_list
from memtape.state.text.statements import MOST_TURN_CHARS, without_code

NAME_CHARS = 60
PROJECT_KEY = "\x1f"
"""Begins the key of a project; no key of a person has it, since it counts as a space."""
_NAME = r"(?P<name>[A-Z][a-zà-ÿ]+(?:[-'’][A-Z][a-zà-ÿ]+)?(?: [A-Z][a-zà-ÿ]+)?)"
_SAYS = lazy(
    _NAME
    + r" (?:said|says|told (?:me|us|you|him|her|them)|asked (?:me|us|you|him|her|them|if|whether|for|about)|thinks"
    r"|thought|agreed|suggested|promised|insisted|recommended (?:that|I|we)|wants (?:to|me|us)|wanted (?:to"
    r"|me|us)|prefers|loves|likes|and I\b|called me|emailed|texted|wrote to)\b"
)
_OF = lazy(
    r"\b(?:[Aa]sk(?:ed)?|[Tt]ell|[Tt]old|[Mm]et|[Mm]eet with|[Tt]alk(?:ed)? (?:to|with)|[Ss]poke (?:to|with)"
    r"|[Mm]y (?:friend|colleague"
    r"|boss|manager|partner|wife|husband|brother|sister|son|daughter|mom|dad|mother|father|cousin|aunt|uncle|mentor)"
    r"|Dr\.|Mr\.|Mrs\.|Ms\.),? " + _NAME
)
_NO_NAME = word_list("words that name nobody")


def key_of_name(name: str) -> str:
    """Return the key of a name, equal for all spellings in upper and lower case."""
    return " ".join(name.casefold().split())[:NAME_CHARS]


def people_named(text: str) -> list[str]:
    """Return the names of people that a text gives, each once, in their order."""
    if len(text) > MOST_TURN_CHARS:
        return []
    return list(dict.fromkeys(_names(without_code(text))))


def is_named(name: str, text: str) -> bool:
    """Return whether a name is in a text as separate words; a lower-case name counts as any word."""
    if name not in text or not name[:1].isupper():
        return False
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def projects_named(text: str) -> list[str]:
    """Return the names of projects that a text gives, each once, in their order."""
    if len(text) > MOST_TURN_CHARS:
        return []
    names = (found["name"] or found["after"] for found in _PROJECT.finditer(without_code(text)))
    return list(dict.fromkeys(name for name in names if name not in _NO_NAME))


_PROJECT = lazy(
    r"\b(?:[Tt]he|[Oo]ur|[Mm]y|[Ii]n|[Oo]f|[Ff]or|[Tt]o|[Oo]n) (?P<name>[A-Z][\w-]*\w|[a-z]\w*[-_][\w-]*\w)"
    r" (?:project|repo|repository|codebase)\b|\b[Pp]roject (?P<after>[A-Z][\w-]*\w)"
)


def _names(text: str) -> Iterator[str]:
    for cue in (_SAYS, _OF):
        for found in cue.finditer(text):
            words = found["name"].split()
            words = words[1:] if words[0] in _NO_NAME else words
            if words and not any(word in _NO_NAME for word in words):
                yield " ".join(words)
