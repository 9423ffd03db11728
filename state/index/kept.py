"""A cache by term, for the next question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from memtape.state.index.parts import Ints

MOST_KEPT_ROWS = 500_000
"""Rows of common terms in the cache: 8 megabytes."""


class _CachedRows(Protocol):
    @property
    def rows(self) -> Ints: ...


HeldT = TypeVar("HeldT", bound=_CachedRows)


class TermCache(Generic[HeldT]):
    """A cache of values by term, emptied as a whole at `MOST_KEPT_ROWS` rows.

    The cache holds no reference to its owner: a cycle of large arrays would outlive its last use.
    """

    def __init__(self) -> None:
        self._held: dict[str, HeldT] = {}
        self._rows = 0

    def of(self, term: str, make: Callable[[str], HeldT]) -> HeldT:
        """Return the value of a term, by `make` on a miss."""
        known = self._held.get(term)
        if known is None:
            known = make(term)
            if self._rows > MOST_KEPT_ROWS:
                # Another thread may still read the old one, and nothing is lost but time.
                self._held, self._rows = {}, 0
            self._held[term] = known
            self._rows += len(known.rows) + 1
        return known
