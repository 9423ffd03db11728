"""The order of memories by currency: of those about the same thing, the latest comes first.

The module orders found memories, and finds none. Replaced memories are known elsewhere
(`subjects/validity.py`); here two texts need only hold as much of the question and share a subject, since a
wrong order loses nothing. Texts that share more with each other than with the question do not count: of a
person's many facts only the wanted one answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from memtape.schemas.times import HOUR_US
from memtape.state.index.parts import Floats
from memtape.state.index.segments import Flags
from memtape.state.subjects.captures import TRUST
from memtape.state.text.claims import GENERIC, SAYS_NOTHING, Claim, singles_of
from memtape.state.text.lexicon import cues
from memtape.state.text.reading import Reading
from memtape.state.text.replacements import without_serial
from memtape.state.text.terms import terms

AMONG = 50  # So many of the best are put in order.
LEAST_HELD = 0.8
"""Minimum of the question's weight in a later text, as a share of the weight in the earlier one."""
ALIKE_COSINE, NEAREST_COSINE = 0.4, 0.25
"""Least cosines of texts about one thing: of any two, and of two that are each other's nearest."""
LEAST_NEAR = 0.5
"""Of these the later is at least so near to the question, as a share of how near the other is."""
CHANGED_COSINE, CHANGED_NEAR = 0.25, 0.3
"""The same two bounds for a later text that speaks of a change."""
_CUES = cues("currency")
LEAST_TOLD = 0.2
"""Minimum share, as in `LEAST_HELD`, of a text ranked above anyway for a mark that it is later."""
SITTING_US = HOUR_US
"""What was said in one sitting stands side by side, unless a text says a change."""
LEAST_SHARED = 0.5
"""Values of one class are of one thing if the texts share more than half of the shorter one's other terms."""

TELLING = frozenset(terms("port listens listening binds version runs running serves costs price"))
"""Terms that introduce a value and do not name its subject."""
CODE = "code "
"""What the classes of names with a number begin with: a code says by itself what it is a value of."""
LEAST_KIN, LEAST_STEM = 5, 3
"""Words are one family if the shorter begins the longer: from 5 letters, or from 3 with a listed ending."""
ENDINGS = ("er", "or", "ment", "ing")

Shares = Mapping[str, float]  # The share of each term of a question.


class FoundMemory(NamedTuple):
    """A found memory: its family, its trust, the time of its text, and its subject terms.

    `held` is the share of the question's weight in the memory. `values` has each value with a digit that is
    the only value of its class in the text.
    """

    family: str
    trust: int
    at: int
    about: frozenset[str]
    held: float
    values: tuple[Claim, ...] = ()


def memory(family: str, trust: int, at: int, reading: Reading, held: float, asked: Shares) -> FoundMemory:
    """Return a memory of a text whose own words hold the share `held` of a question.

    A word of the family of a term, such as `owner` of `owns`, holds it too.
    """
    words, kin_held = frozenset(reading.terms()), 0.0
    for term, share in asked.items():
        beginning = term[:LEAST_STEM]  # Most words are no kin by their first letters.
        kin = [word for word in words if word.startswith(beginning)] if term not in words else ()
        kin_held += share if any(_are_kin(*sorted((term, word), key=len)) for word in kin) else 0.0
    return FoundMemory(family, trust, at, words - GENERIC - SAYS_NOTHING, held + kin_held, values(reading))


def _are_kin(short: str, long: str) -> bool:
    size = len(short)
    is_enough = size >= LEAST_KIN or (size >= LEAST_STEM and long[size:] in ENDINGS)
    return is_enough and long.startswith(short)


def values(reading: Reading) -> tuple[Claim, ...]:
    """Return the values of a text that are the only one of their class; none of a text without digits.

    A name with a number, as SEV2, has its own class.
    """
    text, found = without_serial(reading.text), list[Claim]()
    for it in singles_of(text) if any(map(str.isdigit, text)) else ():
        it = it._replace(subject=it.subject - GENERIC)
        if it.cls != "name":
            found.append(it)
        elif any(map(str.isdigit, it.value)):
            bare = tuple("".join(filter(str.isalnum, token)) for token in it.tokens)
            found.append(it._replace(cls=CODE + "".join(filter(str.isalpha, "".join(bare))), tokens=bare))
    return tuple(found)


def about_one(cosines: Floats) -> Flags:
    """Return which texts are about one thing, by their cosines; both of shape (texts, texts)."""
    others = np.where(np.eye(len(cosines), dtype=np.bool_), -1, cosines)
    nearest = others >= others.max(axis=1, initial=NEAREST_COSINE, keepdims=True)
    about: Flags = (others >= ALIKE_COSINE) | (nearest & nearest.T)
    return about


def are_changes(cosines: Floats, texts: Sequence[str]) -> Flags:
    """Return for [later, earlier] whether the later text speaks of a change and is about the same thing."""
    speaking = np.array([_CUES.change.search(text) is not None for text in texts], np.bool_)
    about: Flags = speaking[:, None] & (cosines >= CHANGED_COSINE)
    return about


class Likeness(IntEnum):
    """How far two texts are about one thing by their vectors."""

    NONE = 0
    ALIKE = 1
    CHANGE = 2
    """The later text also speaks of a change: then the subjects may have no word in common."""


Alike = Callable[[int, int], Likeness]


def nothing_alike(one: int, other: int) -> Likeness:
    """Return `NONE`: no text has a vector."""
    return Likeness.NONE


class Placed(NamedTuple):
    """A moved result: `number` takes the place of the result `place_of`.

    `above` are the numbers of the results about the same thing ranked above, the latest last.
    """

    number: int
    place_of: int
    above: tuple[int, ...] = ()


def latest_first(found: Sequence[FoundMemory | None], alike: Alike = nothing_alike) -> Iterator[Placed]:
    """Yield the results in a new order, by their numbers: a caller of few has few compared.

    Each place goes to the latest result about the same thing as its old one, of no less trusted source. None,
    as for a turn, keeps its place among the rest. `alike` says for two numbers how far by their vectors the
    first is about the same thing as the second, and as near to the question.
    """

    def may_precede(one: int, other: int, least: float = LEAST_HELD) -> bool:
        its, that = found[one], found[other]
        if its is None or that is None or its is that:
            return False
        return _may_precede(its, that, alike(one, other), least)

    left, order = list(range(len(found))), list[Placed]()
    while left:
        first = left[0]
        if found[first] is None:
            order.append(Placed(left.pop(0), first))
            yield order[-1]
            continue
        chosen = max((n for n in left if may_precede(n, first)), key=lambda n: _when(found[n]), default=first)
        # Readers are told what may supersede a memory below it, at a lower bound than moves a memory up.
        above = [it.number for it in order if may_precede(it.number, chosen, LEAST_TOLD)]
        order.append(Placed(chosen, first, tuple(sorted(above, key=lambda n: _when(found[n])))))
        left.remove(chosen)
        yield order[-1]


def _when(told: FoundMemory | None) -> int:
    return 0 if told is None else told.at


def _may_precede(one: FoundMemory, other: FoundMemory, likeness: Likeness, least: float) -> bool:
    """Return whether a memory may stand above another, which is about the same thing.

    It was said after the other, in another sitting, of no source that is trusted less. Or it is of people and
    gives another value.
    """
    is_later = one.at >= other.at + SITTING_US and one.trust >= other.trust
    is_of_people = one.trust >= TRUST["user"] > other.trust
    if one.family != other.family or not (is_later or is_of_people):
        return False
    pairs = [(its, that) for its in one.values for that in other.values if its.cls == that.cls]
    # Both give a value of one class, of things without a common word, such as two ports.
    are_apart = bool(pairs) and all(
        its.tokens != that.tokens
        and its.subject - TELLING
        and that.subject - TELLING
        and not (its.subject & that.subject) - TELLING
        for its, that in pairs
    )
    if likeness < Likeness.CHANGE and are_apart:
        return False
    if one.held > 0 and any(its.tokens != that.tokens and _are_of_one(its, that) for its, that in pairs):
        return True
    holds = one.held >= least * other.held and not one.about.isdisjoint(other.about)
    return is_later and (bool(likeness) or holds)


def _are_of_one(one: Claim, other: Claim) -> bool:
    """Return whether two values may be of one thing: most subject terms are shared, or a number or code."""
    shared = one.subject & other.subject
    if one.cls.startswith(CODE) and shared:
        return True
    of, of_other = one.subject - TELLING, other.subject - TELLING
    if of and of_other:
        shared = of & of_other
    else:
        of, of_other = one.subject, other.subject
    has_digit = any(char.isdigit() for term in shared for char in term)
    return has_digit or len(shared) > LEAST_SHARED * min(len(of), len(of_other))
