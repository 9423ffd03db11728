"""Where words that tell a secret may stand in a text, so that slow expressions are tried there alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_DIGIT = re.compile(r"[0-9]")


compiled = lru_cache(maxsize=None)(re.compile)
"""An expression is compiled when it is first tried: to compile all of them takes as long as capturing a text."""


class Places:
    """A text in lower case, with the places of what was looked for in it, and whether it has a digit."""

    def __init__(self, text: str) -> None:
        self.text = text
        lower = text.lower()
        # A few letters become two, which would move what follows.
        self.lower = lower if len(lower) == len(text) else "".join(char.lower()[:1] for char in text)
        self.numbered = _DIGIT.search(text) is not None
        self._found: dict[str, list[int]] = {}

    def has(self, stems: Iterable[str]) -> bool:
        """Whether any of these stands in the text, whatever its case."""
        return any(stem in self.lower for stem in stems)

    def matches(self, pattern: str, stems: Iterable[str]) -> Iterator[re.Match[str]]:
        """Yield what a pattern matches where one of the stems begins, in order and apart from each other."""
        end = 0
        for place in sorted({place for stem in stems for place in self._of(stem)}):
            if place >= end and (found := compiled(pattern).match(self.text, place)):
                yield found
                end = found.end()

    def _of(self, stem: str) -> list[int]:
        if stem not in self._found:
            found = self._found[stem] = []
            place = self.lower.find(stem)
            while place >= 0:
                found.append(place)
                place = self.lower.find(stem, place + 1)
        return self._found[stem]
