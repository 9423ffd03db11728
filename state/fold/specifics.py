"""Whether two texts whose vectors are similar say the same: they differ in form alone, or are paraphrases by rule.

What differs in form alone is one in every language, whatever the vectors say. Paraphrases are told in English only.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from memtape.state.fold.near_verbatim import key_of, read, said
from memtape.state.fold.paraphrase import Form, form_of
from memtape.state.fold.slips import long_words
from memtape.state.fold.wordings import Wording, is_same_wording

_JUST_READ = 64
"""A text that was judged is put among the others next, and need not be read again."""


class Specifics(NamedTuple):
    """What a text says, ready to be compared: its wording, and its form (of English, else none)."""

    wording: Wording
    form: Form = ()


def same_specifics(a: str, b: str) -> bool:
    """Tell whether neither text has specifics that the other lacks; their similarity is for vectors to say."""
    return agree(specifics(a), specifics(b))


def agree(a: Specifics, b: Specifics) -> bool:
    """Tell whether two texts have the same specifics, in about a microsecond."""
    return a.form == b.form != () or is_same_wording(a.wording, b.wording)


@lru_cache(maxsize=_JUST_READ)
def specifics(text: str) -> Specifics:
    """Return what a text says in the form that `agree` compares; to be computed once a text."""
    tokens, english = read(text)
    key = key_of(tokens, english=english)
    if not english:
        return Specifics(Wording(key))
    return Specifics(Wording(key, long_words(text, key)), form_of(said(tokens)))
