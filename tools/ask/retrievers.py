"""The retrievers of `eval`, `compare` and shadows: Memtape's own, with and without lanes, and plain ones.

Each answers a question with ids, best first. Their work is in `retrieval` and in `state/ranking/baselines.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memtape.flows.embed.embedder import Embedder, EmbeddingFailure
from memtape.schemas.errors import MemtapeError, NotEmbedded
from memtape.schemas.events import Filters
from memtape.schemas.retrievers import ORDINARY, Ranks, Recipe, recipe_of
from memtape.state.index.vectors import TextVectors, text_vectors
from memtape.state.ranking.baselines import PlainBm25, PlainCosine, reciprocal_rank_fusion
from memtape.state.vectors.recorded import quantised
from memtape.state.views.filters import NO_FILTERS, passes
from memtape.tools.ask.found import ScopeTexts
from memtape.tools.ask.ordering import SearchQuery
from memtape.tools.ask.results import embedded_text
from memtape.tools.ask.retrieval import Retriever

MOST = 50
BATCH_TEXTS = 64

Ask = Callable[[SearchQuery], Sequence[str]]


class EmbedderVectors:
    """Vectors made on demand, once per text and question. A `Dense` like recorded ones.

    `spent_s` is the time spent on questions, to be told apart from searching.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.spent_s: float = 0
        self.note = ""
        self._texts: dict[str, NDArray[np.int16]] = {}
        self._queries: dict[str, NDArray[np.int16] | None] = {}

    def prepare(self, texts: Sequence[str], on_progress: Callable[[int, int], None]) -> None:
        """Embed texts; a failed text gets a zero vector."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._texts]
        for start in range(0, len(missing), BATCH_TEXTS):
            batch = missing[start : start + BATCH_TEXTS]
            for text, vector in zip(batch, self.embedder.embed_documents(batch), strict=True):
                none = np.zeros(self.embedder.dimensions, np.int16)
                self._texts[text] = none if isinstance(vector, EmbeddingFailure) else _whole(vector)
            on_progress(start + len(batch), len(missing))

    def of_query(self, text: str, embedder: str) -> NDArray[np.int16] | None:
        """Return the vector of a question, None where it has none."""
        if text not in self._queries:
            start = time.perf_counter()
            try:
                self._queries[text] = _whole(self.embedder.embed_query(text))
            except NotEmbedded:
                self._queries[text] = None
            self.spent_s += time.perf_counter() - start
        return self._queries[text]

    def of_texts(self, found: ScopeTexts, embedder: str) -> TextVectors | None:
        """Return the vectors of a scope's searchable texts; None for no texts."""
        texts = [found.text(place) for place in range(found.texts.size)]
        self.prepare(texts, lambda done, total: None)
        return text_vectors(np.stack([self._texts[text] for text in texts])) if texts else None


def asks_of(
    views: Retriever, scope: str, names: Iterable[str], filters: Filters = NO_FILTERS, by: Retriever | None = None
) -> dict[str, Ask]:
    """Return the named retrievers of a scope; each takes a question with the filters.

    `by` has the texts and vectors of the plain retrievers, by default `views`. A name is `bm25`, `dense` (cosine
    alone), `rrf` (the reciprocal ranks of both), or that of an ordinary search, whole or without lanes
    (`schemas.retrievers`). Raises `MemtapeError` where a retriever needs vectors and none exist.
    """
    recipes = {name: recipe_of(name) for name in names}
    ranks = {recipe.ranks for recipe in recipes.values()} - {ORDINARY}
    plain = _plain_ranks(by or views, scope, filters, needs_vectors=bool(ranks - {"bm25"})) if ranks else {}

    def ask_of(recipe: Recipe) -> Ask:
        if recipe.ranks in plain:
            return lambda asked: plain[recipe.ranks](asked.query)[: asked.limit]
        return lambda asked: [it.id for it in views.answer(scope, asked._replace(lanes=recipe.lanes)).results]

    return {name: ask_of(recipe) for name, recipe in recipes.items()}


def _plain_ranks(
    views: Retriever, scope: str, filters: Filters, *, needs_vectors: bool
) -> dict[Ranks, Callable[[str], list[str]]]:
    """Return the plain rankings of the filtered texts of a scope, each from a question to ids."""
    documents, vectors, of_query = views.plain(scope)
    if vectors is None and needs_vectors and documents:
        raise MemtapeError("There are no vectors to compare with.", "Leave out the retrievers dense and rrf.")
    places = [place for place, document in enumerate(documents) if passes(document, filters)]
    bm25 = PlainBm25([embedded_text(documents[place]) for place in places])
    cosine = PlainCosine(vectors[places]) if vectors is not None else None

    def by_words(query: str) -> list[int]:
        return bm25.rank(query, MOST)

    def by_vectors(query: str) -> list[int]:
        return cosine.rank(of_query(query), MOST) if cosine is not None else []

    def by_both(query: str) -> list[int]:
        return reciprocal_rank_fusion([by_words(query), by_vectors(query)], MOST)

    def named(rank: Callable[[str], list[int]]) -> Callable[[str], list[str]]:
        return lambda query: [documents[places[number]].id for number in rank(query)]

    return {"bm25": named(by_words), "dense": named(by_vectors), "rrf": named(by_both)}


def _whole(vector: NDArray[np.float32]) -> NDArray[np.int16]:
    return np.frombuffer(quantised(vector), dtype="<i2").astype(np.int16)
