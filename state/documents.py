"""What is ranked, as plain values, and which texts stand around which: the context that a turn is read in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from recollect.state.postings import Floats, Ints
from recollect.state.recipes import UNEQUAL_LENGTHS, Context

LENT_TERMS = 40
"""Of a long answer a neighbour gets no more than so many terms' worth."""
LEAST_TURNS = 5
"""Of so many turns a mean length says something."""


class Document(NamedTuple):
    """What is ranked. `turn` marks something said in a `session`, `answers` that an assistant said it.

    `at` is in microseconds UTC, and so is `ages_from`, None for what does not age. `uses` is how often it was used,
    `hot` how much lately, on any scale from 0 on. `confidence` is 1 for what nothing speaks against. `neighbours` are
    ids of others with the weights of the edges to them, 1 for a full one. `kind` and `id` order equals.
    """

    text: str
    session: str | None
    speaker: str
    turn: bool
    answers: bool
    at: int
    kind: str = ""
    id: str = ""
    ages_from: int | None = None
    uses: int = 0
    hot: float = 0
    confidence: float = 1
    neighbours: tuple[tuple[str, float], ...] = ()

    def said(self) -> bool:
        """Whether it is a turn."""
        return self.turn

    def speaks(self, name: str) -> bool:
        """Whether it is somebody's words."""
        return self.speaker == name

    def own(self) -> bool:
        """Whether a person said it."""
        return not self.answers

    def asks(self) -> bool:
        """Whether it ends as a question."""
        return self.text.rstrip().endswith("?")

    def holds(self, pattern: re.Pattern[str]) -> bool:
        """Whether there is something of a kind in it."""
        return bool(pattern.search(self.text))


def has_assistant(documents: Sequence[Document]) -> bool:
    """Whether an assistant is among those who speak: by role, or by how much longer one speaks than another."""
    lengths: dict[str, list[int]] = {}
    for document in documents:
        if document.turn:
            if document.answers:
                return True
            lengths.setdefault(document.speaker, []).append(len(document.text))
    means = [sum(said) / len(said) for said in lengths.values() if len(said) >= LEAST_TURNS]
    return len(means) > 1 and max(means) >= UNEQUAL_LENGTHS * min(means)


def sessions_of(documents: Sequence[Document]) -> tuple[Ints, int]:
    """Return the number of each document's session, and how many there are; what has none is one by itself."""
    keys = [(document.session, -1 if document.session is not None else n) for n, document in enumerate(documents)]
    numbers = {key: n for n, key in enumerate(dict.fromkeys(keys))}
    return np.fromiter((numbers[key] for key in keys), np.int64, len(keys)), len(numbers)


def neighbours_of(
    documents: Sequence[Document], lengths: Floats, context: Context, assisted: bool
) -> tuple[Ints, Ints, Floats]:
    """Return which turn gets a share of which other turn's terms, and how much."""
    shares = list(_shares(documents, context, assisted))
    rows, neighbours = (np.fromiter((share[side] for share in shares), np.int64) for side in (0, 1))
    how_much = np.fromiter((share[2] for share in shares), np.float64)
    if assisted:
        how_much *= np.minimum(1, LENT_TERMS / np.maximum(lengths[neighbours], 1))
    return rows, neighbours, how_much


def _shares(documents: Sequence[Document], context: Context, assisted: bool) -> Iterator[tuple[int, int, float]]:
    sessions: dict[str, list[int]] = {}
    for place, document in enumerate(documents):
        if document.turn and document.session is not None:
            sessions.setdefault(document.session, []).append(place)
    steps = ((-1, context.before), (-2, context.before_that), (1, context.after), (2, context.after_that))
    for places in sessions.values():
        places.sort(key=lambda place: (documents[place].at, documents[place].id, place))
        for here, place in enumerate(places):
            for step, share in steps:
                if not 0 <= here + step < len(places):
                    continue
                other = places[here + step]
                first, second = sorted((here, here + step))
                if assisted and not _is_exchange(documents[places[first]], documents[places[second]], second - first):
                    continue
                asked = step == -1 and "?" in documents[other].text
                yield place, other, context.asked if asked else share


def _is_exchange(first: Document, second: Document, distance: int) -> bool:
    """Whether two turns are a user's words and the answer to them."""
    return distance == 1 and not first.answers and second.answers
