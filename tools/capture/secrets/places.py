"""Where words that tell a secret may stand in a text, so that slow expressions are tried there alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

_DIGIT = re.compile(r"[0-9]")


compiled = lru_cache(maxsize=None)(re.compile)
"""An expression is compiled when it is first tried: to compile all of them takes as long as capturing a text."""


@cache
def _ascii(stems: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(stem for stem in stems if stem.isascii())


class Places:
    """A text in lower case, with the places of what was looked for in it, and whether it has a digit."""

    def __init__(self, text: str) -> None:
        self.text = text
        lower = text.lower()
        # A few letters become two, which would move what follows.
        self.lower = lower if len(lower) == len(text) else "".join(char.lower()[:1] for char in text)
        self.numbered = _DIGIT.search(text) is not None
        self._is_ascii = text.isascii()
        self._found: dict[str, list[int]] = {}
        self._begun: dict[tuple[str, ...], list[int]] = {}

    def has(self, stems: Iterable[str]) -> bool:
        """Whether any of these stands in the text, whatever its case."""
        return any(stem in self.lower for stem in stems)

    def has_begun(self, stems: tuple[str, ...]) -> bool:
        """Whether one of the stems begins in the text; this is kept, so that `matches` finds it again."""
        return bool(self._begins(stems))

    def matches(self, pattern: str, stems: Iterable[str]) -> Iterator[re.Match[str]]:
        """Yield what a pattern matches where one of the stems begins, in order and apart from each other."""
        end = 0
        for place in self._begins(tuple(stems)):
            if place >= end and (found := compiled(pattern).match(self.text, place)):
                yield found
                end = found.end()

    def _begins(self, stems: tuple[str, ...]) -> list[int]:
        if stems not in self._begun:
            sought = _ascii(stems) if self._is_ascii else stems
            self._begun[stems] = sorted({place for stem in sought for place in self._of(stem)})
        return self._begun[stems]

    def _of(self, stem: str) -> list[int]:
        if stem in self._found:
            return self._found[stem]
        found = self._found[stem] = []
        place = self.lower.find(stem)
        while place >= 0:
            found.append(place)
            place = self.lower.find(stem, place + 1)
        return found
