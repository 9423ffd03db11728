"""What is ranked, as plain values, and which texts stand around which: the context that a turn is read in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.state.ranking.postings import Floats, Ints
from memtape.state.ranking.recipes import UNEQUAL_LENGTHS, ContextRecipe

LENT_TERMS = 40
"""Of a long answer a neighbour gets no more than so many terms' worth."""
LEAST_TURNS = 5
"""Of so many turns a mean length says something."""
LEAST_SHARE = 4
"""One turn in so many is an assistant's where there is one."""

Flags = NDArray[np.bool_]


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

    def speaks(self, name: str) -> bool:
        """Whether it is somebody's words."""
        return self.speaker == name

    def asks(self) -> bool:
        """Whether it ends as a question."""
        return self.text.rstrip().endswith("?")

    def holds(self, pattern: re.Pattern[str]) -> bool:
        """Whether there is something of a kind in it."""
        return bool(pattern.search(self.text))


def answers_of(documents: Sequence[Document]) -> Flags | None:
    """Return which turns an assistant gave; None where people talk with each other.

    An assistant is known by role, where a quarter of the turns are its, so that a few words of a tool or a bot make no
    assistant of people's talk; else by length, of the two who speak most.
    """
    turns = [document for document in documents if document.turn]
    if sum(document.answers for document in turns) * LEAST_SHARE >= max(1, len(turns)):
        return np.fromiter((document.answers for document in documents), np.bool_, len(documents))
    lengths: dict[str, list[int]] = {}
    for document in turns:
        lengths.setdefault(document.speaker, []).append(len(document.text))
    most = sorted(lengths.items(), key=lambda item: (-len(item[1]), item[0]))[:2]
    means = sorted((sum(said) / len(said), name) for name, said in most if len(said) >= LEAST_TURNS)
    if len(means) < 2 or means[1][0] < UNEQUAL_LENGTHS * means[0][0]:
        return None
    assistant = means[1][1]
    return np.fromiter((it.turn and it.speaker == assistant for it in documents), np.bool_, len(documents))


def sessions_of(documents: Sequence[Document]) -> tuple[Ints, int]:
    """Return the number of each document's session, and how many there are; what has none is one by itself."""
    keys = [(document.session, -1 if document.session is not None else n) for n, document in enumerate(documents)]
    numbers = {key: n for n, key in enumerate(dict.fromkeys(keys))}
    return np.fromiter((numbers[key] for key in keys), np.int64, len(keys)), len(numbers)


def neighbours_of(
    documents: Sequence[Document], lengths: Floats, context: ContextRecipe, answers: Flags | None
) -> tuple[Ints, Ints, Floats]:
    """Return which turn gets a share of which other turn's terms, and how much; `answers` as of `answers_of`."""
    shares = list(_shares(documents, context, answers))
    rows, neighbours = (np.fromiter((share[side] for share in shares), np.int64) for side in (0, 1))
    how_much = np.fromiter((share[2] for share in shares), np.float64)
    if answers is not None:
        how_much *= np.minimum(1, LENT_TERMS / np.maximum(lengths[neighbours], 1))
    return rows, neighbours, how_much


def _shares(
    documents: Sequence[Document], context: ContextRecipe, answers: Flags | None
) -> Iterator[tuple[int, int, float]]:
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
                if answers is not None:
                    first, second = sorted((here, here + step))
                    if second - first > 1 or answers[places[first]] or not answers[places[second]]:
                        continue  # Only a user's words and the answer to them are read together.
                asked = step == -1 and "?" in documents[other].text
                yield place, other, context.asked if asked else share
