"""Whether one of two similar texts revises the other: both say the same of the same thing, with another value, or one
denies what the other says.

The value stands behind the verb, and nothing else differs. So "Dock 2 is free" does not revise "Dock 1 is free". Which
of two values holds is not asked here, and neither is whether a thing may have both.
"""

from __future__ import annotations

import re

from memtape.schemas.patterns import lazy
from memtape.state.fold import classes
from memtape.state.fold.near_verbatim import Tokens
from memtape.state.fold.synonyms import concept
from memtape.state.text.claims import MOST_VALUE_WORDS
from memtape.state.text.replacing import words_alike

_NUMBERED = lazy(r"(?:^|[\s(#$€£:])(?:v|[a-z]+-)?\d", re.IGNORECASE)
_OPENING = frozenset("on in at for by with to of what who whoever whatever which why how as per".split())
MOST_ASKED = 16
"""Of so many similar texts it is asked, the most similar first."""
_LEAST_BEFORE = 3
"""So many words before a value at the end hold a verb, though no list has it."""
_VERBS = classes.BE | frozenset(classes.BINDERS) | frozenset("do does has have = called named due".split())


def gives_another_value(a: Tokens, b: Tokens) -> bool:
    """Return whether two texts, by their near-verbatim keys, differ in one value behind what they say it of.

    What one says and the other denies is such a value too.
    """
    if _denies(a) is not _denies(b):
        return _affirmed(a) == _affirmed(b)
    one, other = list(a), list(b)
    before = words_alike(one, other)
    after = min(words_alike(one[::-1], other[::-1]), min(len(one), len(other)) - before)
    values = one[before : len(one) - after], other[before : len(other) - after]
    if not before or not all(0 < len(value) <= MOST_VALUE_WORDS for value in values):
        return False
    if any(value[0] in classes.ROLES or not classes.NEGATIONS.isdisjoint(value) for value in values):
        return False
    if frozenset(values[0]) <= frozenset(values[1]) or frozenset(values[1]) <= frozenset(values[0]):
        return False  # One only says more.
    if not _are_of_one_kind(*(" ".join(value) for value in values)):
        return False
    told = any(map(_is_verb, one[:before])) or one[before - 1] in classes.ATTRIBUTES
    behind = one[len(one) - after :] if after else []
    return (told or (not behind and before >= _LEAST_BEFORE)) and not any(map(_is_finite, behind))


def _denies(key: Tokens) -> bool:
    return not classes.NEGATIONS.isdisjoint(key)


def _affirmed(key: Tokens) -> list[str]:
    """Return what a text says or denies."""
    said = ("can" if token == "cannot" else token for token in key)
    return [token for token in said if token not in classes.NEGATIONS and token not in ("do", "does")]


def _is_verb(token: str) -> bool:
    return token in _VERBS or (token.isalpha() and concept(token) in classes.VERBS)


def _is_finite(token: str) -> bool:
    """Tell whether a word says something of what stands before."""
    return token in _VERBS or (token.endswith("s") and _is_verb(token))


def _are_of_one_kind(older: str, newer: str) -> bool:
    """Whether two values may fill one slot: both or none have a number, and both open with one preposition or none."""
    openings, numbered = [], []
    for value in (older, newer):
        first = value.split()[0].lower()
        openings.append(first if first in _OPENING else "")
        numbered.append(_NUMBERED.search(value) is not None)
    return numbered[0] == numbered[1] and openings[0] == openings[1]
