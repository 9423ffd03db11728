"""The order of memories by how current they are: of those about the same thing, the latest stands first.

This orders what was found, and finds nothing. That a memory was replaced is known elsewhere (`subjects/validity.py`);
here it is enough that two texts hold as much of the question and share what they are about, since a wrong order loses
nothing. Texts that share more with each other than with the question are no reason: of a person's many facts only the
one that is asked for answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memtape.state.text.slots import GENERIC, SAYS_NOTHING
from memtape.state.text.terms import terms

AMONG = 50
"""So many of the best are put in order."""
LEAST_HELD = 0.8
"""A later text holds at least so much of the question, as a share of what the one before it holds."""


class Memory(NamedTuple):
    """A memory that was found: its family, how far it is trusted, when its text was said, and what it is about.

    `held` is the share of the question's weight that it holds.
    """

    family: str
    trust: int
    at: int
    about: frozenset[str]
    held: float


def about(text: str) -> frozenset[str]:
    """Return the terms that tell what a text is about."""
    return frozenset(terms(text)) - GENERIC - SAYS_NOTHING


class Placed(NamedTuple):
    """The number of something found, of that whose place it takes, and of those above it about the same thing.

    Of these the latest comes last.
    """

    number: int
    place_of: int
    above: tuple[int, ...] = ()


def latest_first(found: Sequence[Memory | None]) -> list[Placed]:
    """Return what was found in a new order, by its numbers.

    Each place goes to the latest of those about the same thing as what stood there, of no source that is trusted less.
    What is None, as a turn, keeps its place among the rest.
    """
    left, order = list(range(len(found))), list[Placed]()
    while left:
        first = left[0]
        chosen = max(
            (n for n in left if _may_precede(found[n], found[first])), key=lambda n: _when(found[n]), default=first
        )
        above = [it.number for it in order if _may_precede(found[it.number], found[chosen])]
        order.append(Placed(chosen, first, tuple(sorted(above, key=lambda n: _when(found[n])))))
        left.remove(chosen)
    return order


def _when(told: Memory | None) -> int:
    return 0 if told is None else told.at


def _may_precede(one: Memory | None, other: Memory | None) -> bool:
    if one is None or other is None or one is other or one.family != other.family:
        return False
    if one.trust < other.trust or one.at < other.at:
        return False
    return one.held >= LEAST_HELD * other.held and not one.about.isdisjoint(other.about)
