"""What was found out of terms, kept for the next question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from memtape.state.index.parts import Ints

MOST_KEPT_ROWS = 500_000
"""Of common terms so many rows are kept, which take 8 megabytes."""


class _Held(Protocol):
    @property
    def rows(self) -> Ints: ...


HeldT = TypeVar("HeldT", bound=_Held)


class Kept(Generic[HeldT]):
    """What was found out of terms, kept until it is too much: then all of it is found out anew.

    It does not hold what finds it out, which holds it: a circle of large arrays would outlive its last use.
    """

    def __init__(self) -> None:
        self._held: dict[str, HeldT] = {}
        self._rows = 0

    def of(self, term: str, make: Callable[[str], HeldT]) -> HeldT:
        """Return what there is of a term; `make` finds it out."""
        known = self._held.get(term)
        if known is None:
            known = make(term)
            if self._rows > MOST_KEPT_ROWS:
                # Another thread may still read the old one, and nothing is lost but time.
                self._held, self._rows = {}, 0
            self._held[term] = known
            self._rows += len(known.rows) + 1
        return known
