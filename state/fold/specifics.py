"""The guard of dense folding: two texts with similar vectors say the same only if their specifics agree.

A cosine separates neither synonyms from opposites nor two numbers. So every number, unit, name, identifier,
date, negation, quantifier and content word must be in both texts, in the same order. Only light words may
differ.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from memtape.state.fold.near_verbatim import Tokens, key_of, read

_LIGHT = frozenset(("our", "that"))
"""English words without which a text names the same things."""
_JUST_READ = 64
"""A text that was judged is put among the others next, and need not be read again."""


class Specifics(NamedTuple):
    """The form of a text (`near_verbatim`), and its specifics: the form without light words."""

    form: Tokens
    kept: Tokens


@lru_cache(maxsize=_JUST_READ)
def specifics(text: str) -> Specifics:
    """Return the form and the specifics of a text; texts of one form have the same specifics."""
    tokens, english = read(text)
    form = key_of(tokens, english=english)
    kept = tuple(token for token in form if token not in _LIGHT) if english else form
    return Specifics(form, kept or form)


def same_specifics(a: str, b: str) -> bool:
    """Return whether two texts have the same specifics; whether they are similar, vectors say."""
    return specifics(a).kept == specifics(b).kept
