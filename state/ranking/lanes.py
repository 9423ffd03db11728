"""The constants of ranking: lanes with their maximum results, factors from relevance to score, and recipes.

`ranker` finds the texts of a lane. Scores are answers and never state. The recipes were measured on LoCoMo
and on long chats with an assistant, never on single questions; `docs/benchmarks.md` has the figures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from memtape.schemas.lanes import Lane
from memtape.schemas.times import HOUR_US
from memtape.state.index.parts import Floats, Ints
from memtape.state.index.texts import ContextRecipe

DAY_US = 24 * HOUR_US
SPARSE_HITS = 1_000
DENSE_HITS = 100
HOT_HITS = FRESH_HITS = 40
SEEDS, HITS_A_SEED, EDGE_HITS = 18, 6, 45
"""Edges are walked from so many of the best, to so many neighbours of each, to so many in all."""
LEAST_COSINE = 0.2
"""Minimum cosine of a text found by its vector alone; with MiniLM lower cosines find mostly noise."""
PERHAPS_COSINE, PERHAPS_HITS = 0.12, 3
"""With fewer than 3 found texts, the nearest fill up to 3, each with at least this cosine."""
FOLLOWED_FROM, FOLLOWED_COSINE, FOLLOWED_SHARE = 3, 0.3, 0.6
"""For each of the 3 nearest memories, the later memory with the greatest cosine to it, at least 0.3.

Its cosine to the question counts as 0.6 of the nearest one's: a new value may share no word with a question.
"""
PERHAPS = "perhaps"
"""The mark of a text that is only near, and may have nothing to do with what was asked."""
MOVING: dict[Lane, float] = {"hot": 0.1, "fresh": 0.02}
"""Use and youth move what was found; they find nothing, since they know nothing of the question."""
NEWS, NEWS_AMONG = 0.4, 50
"""The weight of what is new in a text (`state/index/newness.py`), and how many of the best it moves."""
YOUNG_TEXTS = 100
"""In a scope of so many texts what is new counts half."""
FRESH_DAYS = 3
LENT = 0.5  # The share of a seed's relevance that an edge of full weight lends.
AGE_DAYS, LEAST_AGE = 180, 0.5
USE_STEP, MOST_USE = 0.02, 0.5
LEAST_CONFIDENCE = 0.3
MODELS_CONFIDENCE = 0.7
"""Factor of texts by models alone: below equal texts by others, above texts hardly about the question."""


class Hit(NamedTuple):
    """A document's place in the ranked list, its score, and the reasons: lanes with scores, and factors.

    `score` is `relevance` (0 to 1 within the scope) x `age` x `use` x `confidence` x `yields` x `looked`:
    `yields` is less than 1 for a text below a better one with the same answer (`state/ranking/yielding.py`),
    and `looked` is the factor of a deep search's looks, of which `look` saw it first.
    """

    place: int
    score: float
    relevance: float
    age: float
    use: float
    confidence: float
    yields: float
    lanes: dict[Lane, float]
    looked: float = 1.0
    look: int = 1


def is_perhaps(hit: Hit) -> bool:
    """Return whether a text was found by its vector alone, and is not similar enough for that to say much."""
    return not {"sparse", "edges"} & hit.lanes.keys() and hit.lanes.get("dense", 1.0) < LEAST_COSINE


def first_of(scores: Floats, places: Ints, most: int, order: Callable[[Ints], Ints]) -> Ints:
    """Return the `places` with the `most` greatest positive scores, in the given order.

    `order` gives the rank of each place, and decides among equals.
    """
    values = scores[places]
    places, values = places[values > 0], values[values > 0]
    if len(places) <= most:
        return places
    near = places[values >= np.partition(values, -most)[-most]]
    best: Ints = near[np.lexsort((order(near), -scores[near]))[:most]]
    return best


class Weights(NamedTuple):
    """The weights of additions to a text's own score, whose maximum is 1.

    `session` and `session_cosine` weigh its whole session and the session's best cosine, `cosine` its own
    cosine; all others are added whole: a named speaker, the wanted kind of answer (`hint`), a question, a
    user's own words.
    """

    session: float = 0.0
    speaker: float = 0.0
    hint: float = 0.0
    question: float = 0.0
    own_words: float = 0.0
    cosine: float = 0.0
    session_cosine: float = 0.0


class RankingRecipe(NamedTuple):
    """The reading of texts, and the weights by words alone and with vectors."""

    context: ContextRecipe
    by_words: Weights
    with_vectors: Weights


PEERS = RankingRecipe(
    ContextRecipe(k1=0.6, b=0.4, asked=1.0, before=0.1, before_that=0.3, after=0.3, after_that=0.1),
    Weights(session=0.35, speaker=0.2, hint=0.27, question=-0.09),
    Weights(session=0.1, speaker=0.22, hint=0.3, question=-0.14, cosine=1.1, session_cosine=1.0),
)
ALONE = RankingRecipe(
    PEERS.context,
    PEERS.by_words,
    PEERS.with_vectors._replace(session=0.35, cosine=0.5, session_cosine=0.0),
)
"""Texts without sessions, where the best cosine of a session is that of a text itself, and counted twice."""
ASSISTED = RankingRecipe(
    ContextRecipe(k1=1.2, b=0.9, asked=1.0, before=0.3, before_that=0.3, after=0.3, after_that=0.1),
    Weights(session=0.3, own_words=0.3),
    Weights(session=0.4, own_words=0.4, cosine=0.7, session_cosine=0.3),
)
ASKED_PEOPLE, ASKED_ANSWERS = 0.5, 1.0
"""How far people's words and the assistant's are preferred for a question about what the assistant said."""
SCAFFOLD_WEIGHT = HALF = 0.5
KIND_WEIGHT = 0.3
"""The weight of a member of a kind that a question names: a violin for an instrument."""
