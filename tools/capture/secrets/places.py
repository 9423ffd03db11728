"""Where words that tell a secret may stand in a text, so that slow expressions are tried there alone.

All of them are looked for in one pass, by an automaton of a library.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

Stems = NewType("Stems", frozenset[str])
"""What is looked for together, in lower case; only `stems` and `marks` make it."""

PIECE_CHARS = 65_536
"""A long text is looked through in pieces, since all that is found in one stands in memory at once."""
_DIGIT = re.compile(r"[0-9]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_EVERY: dict[str, bool] = {}
"""All that is ever looked for, and whether its places count: each constant of this folder notes its own at import."""


compiled = lru_cache(maxsize=None)(re.compile)
"""An expression is compiled when it is first tried: to compile all of them takes as long as capturing a text."""


def stems(*groups: Iterable[str]) -> Stems:
    """Return what is to be looked for together; a constant, since each new one is looked for in every text."""
    found = frozenset(stem for group in groups for stem in group)
    _EVERY.update(dict.fromkeys(sorted(found), True))
    return Stems(found)


def marks(*groups: Iterable[str]) -> Stems:
    """Return the same of words of which it is only asked whether they stand in a text, and not where."""
    found = frozenset(mark for group in groups for mark in group)
    for mark in sorted(found):
        _EVERY.setdefault(mark, False)
    return Stems(found)


@cache
def _automaton(size: int) -> tuple[list[tuple[str, bool]], int, AhoCorasick]:
    """Return all that is looked for, `size` words, how long the longest is, and what finds them."""
    from ahocorasick_rs import AhoCorasick

    every = list(_EVERY.items())
    assert len(every) == size
    return every, max(map(len, _EVERY)), AhoCorasick(list(_EVERY))


class Places:
    """A text in lower case, with the places of all that is looked for in it, and whether it has a digit."""

    def __init__(self, text: str) -> None:
        self.text = text
        lower = text.lower()
        # A few letters become two, which would move what follows.
        self.lower = lower if len(lower) == len(text) else "".join(char.lower()[:1] for char in text)
        self.numbered = _DIGIT.search(text) is not None
        self._found: dict[str, list[int]] = {}
        every, longest, automaton = _automaton(len(_EVERY))
        # The library takes whole characters only.
        lower = self.lower if self.lower.isascii() else _SURROGATE.sub("\ufffd", self.lower)
        for begin in range(0, len(lower), PIECE_CHARS):
            piece = lower[begin : begin + PIECE_CHARS + longest - 1]
            for number, start, _ in automaton.find_matches_as_indexes(piece, overlapping=True):
                stem, has_places = every[number]
                places = self._found.setdefault(stem, [])
                if has_places and start < PIECE_CHARS:  # What begins behind the piece is found in the next.
                    places.append(begin + start)

    def has(self, sought: Stems) -> bool:
        """Whether any of these stands in the text, whatever its case."""
        return not self._found.keys().isdisjoint(sought)

    def among(self, sought: Stems) -> set[str]:
        """Return those of the stems that stand in the text."""
        return self._found.keys() & sought

    def matches(self, pattern: str, sought: Stems) -> Iterable[re.Match[str]]:
        """Return what a pattern matches where one of the stems begins, in order and apart from each other."""
        begun = self.among(sought)
        return self._matched(pattern, sorted({place for stem in begun for place in self._found[stem]})) if begun else ()

    def _matched(self, pattern: str, places: list[int]) -> Iterator[re.Match[str]]:
        end = 0
        for place in places:
            if place >= end and (found := compiled(pattern).match(self.text, place)):
                yield found
                end = found.end()
