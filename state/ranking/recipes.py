"""The constants of ranking: a recipe for people who chat, one for users with an assistant, with vectors and without.

Measured on LoCoMo and on long chats with an assistant, never on single questions; `docs/benchmarks.md` has the figures.
"""

from __future__ import annotations

from typing import NamedTuple

from memtape.state.index.context import ContextRecipe


class Weights(NamedTuple):
    """The weights of additions to a text's own score, whose maximum is 1.

    `session` and `session_cosine` weigh its whole session and the session's best cosine, `cosine` its own
    cosine; all others are added whole: a named speaker, the wanted kind of answer (`hint`), a question, a
    user's own words.
    """

    session: float
    speaker: float
    hint: float
    question: float
    own_words: float
    cosine: float
    session_cosine: float


class RankingRecipe(NamedTuple):
    """The reading of texts, and the weights by words alone and with vectors."""

    context: ContextRecipe
    by_words: Weights
    with_vectors: Weights


PEERS = RankingRecipe(
    ContextRecipe(k1=0.6, b=0.4, asked=1.0, before=0.1, before_that=0.3, after=0.3, after_that=0.1),
    Weights(session=0.35, speaker=0.2, hint=0.27, question=-0.09, own_words=0.0, cosine=0.0, session_cosine=0.0),
    Weights(session=0.1, speaker=0.22, hint=0.3, question=-0.14, own_words=0.0, cosine=0.8, session_cosine=0.8),
)
ASSISTED = RankingRecipe(
    ContextRecipe(k1=1.2, b=0.9, asked=1.0, before=0.3, before_that=0.3, after=0.3, after_that=0.1),
    Weights(session=0.4, speaker=0.0, hint=0.0, question=0.0, own_words=0.3, cosine=0.0, session_cosine=0.0),
    Weights(session=0.4, speaker=0.0, hint=0.0, question=0.0, own_words=0.4, cosine=0.9, session_cosine=0.3),
)
ASKED_PEOPLE, ASKED_ANSWERS = 0.5, 1.0
"""How far people's words and the assistant's are preferred where a question is about what the assistant said."""
SESSION_K1, SESSION_B = 1.2, 0.75
SCAFFOLD_WEIGHT = HALF = 0.5
