"""Texts ranked below a text with the same answer: prompts that only ask, and texts just said in the session.

Such a text yields to found texts that do not yield themselves and hold at least half of the question's terms
in it: in their own words, or in the words of the question right before them, which they answer. A prompt that
only asks is ranked below all of these, a text just said below the best of them, since it may hold news.
"""

from __future__ import annotations

import numpy as np

from memtape.schemas.times import US_PER_S
from memtape.state.index.entries import ASKS, ONLY_ASKS, TAGGED, TURN
from memtape.state.index.parts import Floats, Ints
from memtape.state.index.segments import Array, Flags
from memtape.state.index.sorted_values import is_one_of, stands
from memtape.state.index.texts import NOBODY, Texts

JUST_US = 600 * US_PER_S
"""Ten minutes before a search: the session's texts since then are still in the agent's context."""
ASKING_AMONG = 50  # The best texts that yield for asking alone.
LEAST_STEP = 1e-9  # Scores have nine digits.


def only_asking(texts: Texts, places: Ints) -> Flags:
    """Return a mask of texts by people that only ask."""
    asking: Flags = texts.flags[places] & ONLY_ASKS != 0
    return asking if texts.answers is None else asking & ~texts.answers[places]


def just_said(texts: Texts, places: Ints, session: str | None, now: int) -> Flags:
    """Return a mask of the texts of a session in the minutes before `now`: turns, and captures from them."""
    number = None if session is None else texts.sessions.number_of(session)
    if number is None:
        return np.zeros(len(places), np.bool_)
    at, flags = texts.column("at", places), texts.flags[places]
    own: Flags = (texts.sessions.number[places] == number) & (at > now - JUST_US)
    turns = np.flatnonzero((texts.sessions.number == number) & (texts.flags & TURN != 0))
    # A statement has the time of its turn; a capture by the session itself has its own.
    taken = (flags & TAGGED != 0) & is_one_of(at, texts.column("at", turns))
    said: Flags = own & ((flags & TURN != 0) | taken)
    return said


def first_with_equals(scores: Floats, most: int) -> Flags:
    """Return a mask of the `most` highest scores, including all scores equal to the lowest of them."""
    if len(scores) <= most:
        return np.ones(len(scores), np.bool_)
    first: Flags = scores >= np.partition(scores, -most)[-most]
    return first


def held_with_question(texts: Texts, places: Ints, terms: list[str]) -> tuple[Array, Array]:
    """Return the terms in each text, shape (places, terms), and with a question right before it."""
    before = texts.sessions.before[places]
    asked = (before != NOBODY) & (texts.flags[before] & ASKS != 0)
    own, around = np.zeros((len(places), len(terms)), np.bool_), np.zeros((len(places), len(terms)), np.bool_)
    for n, term in enumerate(terms):
        rows = texts.found(term).rows
        own[:, n] = stands(rows, places)
        around[:, n] = asked & stands(rows, before)
    return own, own | around


def below(scores: Floats, asks: Flags, said: Flags, own: Array, answering: Array) -> Floats:
    """Return scores with each yielding text below the texts with the same answer, by the rule of this file.

    `asks` marks texts that only ask, `said` texts just said; `own` and `answering` are of shape (texts,
    terms). All other scores stay.
    """
    lowered, others = scores.copy(), np.flatnonzero(~(asks | said))
    answered: dict[bytes, Floats] = {}
    for n in np.flatnonzero((asks | said) & own.any(axis=1)).tolist():
        key = own[n].tobytes()
        if key not in answered:
            shared = (answering[others] & own[n]).sum(axis=1)
            answered[key] = scores[others[2 * shared >= own[n].sum()]]
        if len(its := answered[key]):
            below_it = float(its.min() if asks[n] else its.max())
            lowered[n] = max(0.0, min(float(scores[n]), below_it - LEAST_STEP))
    return lowered
