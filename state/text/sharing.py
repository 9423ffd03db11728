"""Texts with common words: the candidates for a comparison that is too costly for all texts.

The meaning of the words is not read here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from memtape.state.text.terms import terms

MOST_HOLDING = 500
"""A term in more texts identifies none of them; it is looked up only for a text without any other term."""


class Sharing:
    """Texts by number, indexed by their terms. The index follows from the texts, in any order of arrival."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[int, None]] = {}
        self._terms: dict[int, tuple[str, ...]] = {}

    def put(self, number: int, text: str) -> None:
        """Store a text under a number, replacing an older one."""
        self.drop(number)
        self._terms[number] = tuple(dict.fromkeys(terms(text)))
        for term in self._terms[number]:
            self._numbers.setdefault(term, {})[number] = None

    def drop(self, number: int) -> None:
        """Remove a number's text, if present."""
        for term in self._terms.pop(number, ()):
            del self._numbers[term][number]
            if not self._numbers[term]:
                del self._numbers[term]

    def near(self, number: int, most: int) -> list[int]:
        """Return at most `most` texts by falling number of terms shared with a stored text, then the latest first."""
        return [other for other in self.near_terms(self._terms.get(number, ()), most + 1) if other != number][:most]

    def near_terms(self, among: Iterable[str], most: int) -> list[int]:
        """Return the same by the number of given terms."""
        holding = [self._numbers[term] for term in among if term in self._numbers]
        telling = [numbers for numbers in holding if len(numbers) <= MOST_HOLDING] or holding
        shared = Counter(other for numbers in telling for other in numbers)
        return sorted(shared, key=lambda other: (-shared[other], -other))[:most]
