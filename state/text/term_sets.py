"""Sets of terms, and which of them share enough terms with a text: counted for all sets at once.

Each set has a bit, and each term the bits of its sets. The counters of all sets stand in planes, one for each
binary digit, so that a term is added to them by a few operations on integers. A counter starts so that it
overflows at the set's least number of shared terms.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")


class TermSets(Generic[KeyT]):
    """Sets of terms by key."""

    def __init__(self) -> None:
        self._bits: dict[KeyT, int] = {}
        self._keys: dict[int, KeyT] = {}
        self._used = 0
        self._bits_of_term: dict[str, int] = {}
        self._start: list[int] = []

    def put(self, key: KeyT, terms: Collection[str], least: int) -> None:
        """Add a set that shares enough with a text of `least` of its terms."""
        bit = ~self._used & (self._used + 1)  # The first that no set has.
        while 1 << len(self._start) < least:
            self._start.append(self._used)
        first = (1 << len(self._start)) - least
        self._start = [plane | bit * (first >> digit & 1) for digit, plane in enumerate(self._start)]
        self._used |= bit
        self._bits[key], self._keys[bit] = bit, key
        for term in terms:
            self._bits_of_term[term] = self._bits_of_term.get(term, 0) | bit

    def drop(self, key: KeyT, terms: Collection[str]) -> None:
        """Remove a set, given with its terms."""
        bit = self._bits.pop(key)
        del self._keys[bit]
        self._used ^= bit
        self._start = [plane & ~bit for plane in self._start]
        for term in terms:
            self._bits_of_term[term] ^= bit
            if not self._bits_of_term[term]:
                del self._bits_of_term[term]

    def sharing(self, terms: Collection[str]) -> list[KeyT]:
        """Return the keys of the sets that share enough with the terms of a text, each given once."""
        planes, enough = [*self._start], 0
        for carry in [self._bits_of_term[term] for term in terms if term in self._bits_of_term]:
            for digit, plane in enumerate(planes):
                planes[digit] = plane ^ carry
                carry &= plane
                if not carry:
                    break
            enough |= carry
        return [key for bit, key in self._keys.items() if bit & enough] if enough else []
