"""The retrievers of `eval` and `compare`: Memtape's own, with and without lanes, and plain ones.

Each answers a question with ids, best first. Their work is in `retrieval` and in
`state/ranking/baselines.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memtape.flows.embed.embedder import Embedder, EmbeddingFailure
from memtape.schemas.errors import NotEmbedded
from memtape.schemas.lanes import LANES, Lane
from memtape.state.index.vectors import TextVectors, text_vectors
from memtape.state.ranking.baselines import PlainBm25, PlainCosine, reciprocal_rank_fusion
from memtape.state.vectors.recorded import quantised
from memtape.tools.ask.found import ScopeTexts
from memtape.tools.ask.results import Result, embedded_text

MOST = 50
BATCH_TEXTS = 64

Ask = Callable[[str], Sequence[str]]


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

    def of_query(self, text: str, embedder: str = "") -> NDArray[np.int16] | None:
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
        matrix = self._of([found.text(place) for place in range(found.texts.size)])
        return None if matrix is None else text_vectors(matrix)

    def of_results(self, results: Sequence[Result]) -> NDArray[np.int16] | None:
        """Return a row for each result; None for no results."""
        return self._of([embedded_text(result) for result in results])

    def _of(self, texts: Sequence[str]) -> NDArray[np.int16] | None:
        self.prepare(texts, lambda done, total: None)
        return np.stack([self._texts[text] for text in texts]) if texts else None


def rivals(
    documents: Sequence[Result],
    vectors: NDArray[np.int16] | None,
    of_query: Callable[[str], NDArray[np.int16] | None],
    names: Sequence[str],
    search: Callable[[Sequence[Lane]], Ask],
) -> Mapping[str, Ask]:
    """Return the named retrievers over the same texts; `search` makes the ordinary one, less some lanes.

    `of_query` gives a question's vector as in the ordinary search; only the plain retrievers need it. A name
    is `bm25`, `dense` (cosine alone), `rrf` (the reciprocal ranks of both), that of `without(lane)`, or any
    other for the ordinary search. Without vectors, retrievers that need them find nothing.
    """
    ids = [document.id for document in documents]
    bm25 = PlainBm25([embedded_text(document) for document in documents])
    cosine = PlainCosine(vectors) if vectors is not None else None

    def by_words(query: str) -> list[int]:
        return bm25.rank(query, MOST)

    def by_vectors(query: str) -> list[int]:
        return cosine.rank(of_query(query), MOST) if cosine is not None else []

    def by_both(query: str) -> list[int]:
        return reciprocal_rank_fusion([by_words(query), by_vectors(query)], MOST)

    plain = {"bm25": by_words, "dense": by_vectors, "rrf": by_both}
    made: dict[str, Ask] = {}
    for name in names:
        if name in plain:
            made[name] = _named(plain[name], ids)
        else:
            made[name] = search([lane for lane in LANES if name == without(lane)])
    return made


def without(lane: Lane) -> str:
    """Return the name of Memtape's own retriever less a lane."""
    return f"memtape without {lane}"


def _named(rank: Callable[[str], list[int]], ids: Sequence[str]) -> Ask:
    return lambda query: [ids[place] for place in rank(query)]


def _whole(vector: NDArray[np.float32]) -> NDArray[np.int16]:
    return np.frombuffer(quantised(vector), dtype="<i2").astype(np.int16)
