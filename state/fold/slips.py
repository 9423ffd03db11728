"""Texts that are one but for a slip of one letter in a long word: `the certficate expires in May`.

The word as typed is no word, and what it is a slip of is one. Names, identifiers and what is typed to the letter have
no slips. Nor has a word at its first letter or in its ending, where letters make another form of the word.
"""

from __future__ import annotations

from collections.abc import Iterator

from memtape.schemas.patterns import lazy
from memtape.state.fold.near_verbatim import Tokens
from memtape.state.text import lexicon
from memtape.state.text.dictionary import is_word

Trace = tuple[Tokens, str, Tokens]
"""A key without one word, of which its beginning or its end is left."""
MOST_TOKENS = 60
"""In a longer text no slip is looked for."""
LEAST_LETTERS = 7
_HALF = 3
"""A slip in a word of so many letters leaves its first three as they are, or its last three."""
_ENDING = 2
_CAPITALISED = lazy(r"[^\W\d_]*[A-Z][^\W_]*")
_TO_THE_LETTER = (
    lexicon.ABOUT_TYPING | lexicon.ABOUT_WORDS | frozenset(["called", "named", "name", "names", "nickname"])
)


def long_words(text: str, key: Tokens) -> tuple[int, ...]:
    """Return the places in the key of an English text where there may be a slip."""
    if len(key) > MOST_TOKENS or not _TO_THE_LETTER.isdisjoint(key):
        return ()
    behind = " ".join(text.split(None, 1)[1:])  # The first word has a capital anyway.
    capitals = frozenset(found.lower() for found in _CAPITALISED.findall(behind))
    return tuple(
        place
        for place, token in enumerate(key)
        if len(token) >= LEAST_LETTERS - 1
        and token.isascii()
        and token.isalpha()
        and token.islower()
        and token not in capitals
    )


def traces(key: Tokens, places: tuple[int, ...]) -> Iterator[Trace]:
    """Yield what a text leaves that is shared by every text that is the same but for one slip."""
    for place in places:
        word = key[place]
        yield key[:place], word[:_HALF] + "-", key[place + 1 :]
        yield key[:place], "-" + word[-_HALF:], key[place + 1 :]


def is_slip(a: Tokens, b: Tokens, in_a: tuple[int, ...], in_b: tuple[int, ...]) -> bool:
    """Tell whether two keys are equal but for one letter of a long word, which one of them has and the other not."""
    if len(a) != len(b):
        return False
    places = [place for place, (one, other) in enumerate(zip(a, b, strict=True)) if one != other]
    if len(places) != 1 or places[0] not in in_a or places[0] not in in_b:
        return False
    one, other = a[places[0]], b[places[0]]
    return _is_one_letter(one, other) and is_word(one) != is_word(other)


def _is_one_letter(a: str, b: str) -> bool:
    """Tell whether one letter of two words is another, is missing, or stands in the next one's place."""
    short, long = sorted((a, b), key=len)
    if len(long) < LEAST_LETTERS or len(long) - len(short) > 1:
        return False
    at = next((index for index in range(len(short)) if short[index] != long[index]), len(short))
    if at == 0 or at >= len(long) - _ENDING:
        return False
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    exchanged = short[at] == long[at + 1] and short[at + 1] == long[at]
    return short[at + 1 :] == long[at + 1 :] or (exchanged and short[at + 2 :] == long[at + 2 :])
