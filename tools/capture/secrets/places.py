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
"""What is looked for together, in lower case; only `stems` makes it."""

_DIGIT = re.compile(r"[0-9]")
_EVERY: dict[str, None] = {}
"""All that is ever looked for: each constant of this folder notes its own when it is imported."""


compiled = lru_cache(maxsize=None)(re.compile)
"""An expression is compiled when it is first tried: to compile all of them takes as long as capturing a text."""


def stems(*groups: Iterable[str]) -> Stems:
    """Return what is to be looked for together; a constant, since each new one is looked for in every text."""
    found = frozenset(stem for group in groups for stem in group)
    _EVERY.update(dict.fromkeys(sorted(found)))
    return Stems(found)


@cache
def _automaton(size: int) -> tuple[tuple[str, ...], AhoCorasick]:
    """Return all that is looked for, `size` words, and what finds it."""
    from ahocorasick_rs import AhoCorasick

    every = tuple(_EVERY)
    assert len(every) == size
    return every, AhoCorasick(every)


class Places:
    """A text in lower case, with the places of all that is looked for in it, and whether it has a digit."""

    def __init__(self, text: str) -> None:
        self.text = text
        lower = text.lower()
        # A few letters become two, which would move what follows.
        self.lower = lower if len(lower) == len(text) else "".join(char.lower()[:1] for char in text)
        self.numbered = _DIGIT.search(text) is not None
        self._found: dict[str, list[int]] = {}
        every, automaton = _automaton(len(_EVERY))
        for number, start, _ in automaton.find_matches_as_indexes(self.lower, overlapping=True):
            self._found.setdefault(every[number], []).append(start)

    def has(self, sought: Stems) -> bool:
        """Whether any of these stands in the text, whatever its case."""
        return not self._found.keys().isdisjoint(sought)

    def among(self, sought: Stems) -> set[str]:
        """Return those of the stems that stand in the text."""
        return self._found.keys() & sought

    def matches(self, pattern: str, sought: Stems) -> Iterable[re.Match[str]]:
        """Return what a pattern matches where one of the stems begins, in order and apart from each other."""
        begun = self._found.keys() & sought
        return self._matched(pattern, sorted({place for stem in begun for place in self._found[stem]})) if begun else ()

    def _matched(self, pattern: str, places: list[int]) -> Iterator[re.Match[str]]:
        end = 0
        for place in places:
            if place >= end and (found := compiled(pattern).match(self.text, place)):
                yield found
                end = found.end()
