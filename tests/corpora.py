"""A corpus of documents that stand nowhere else, for tests of ranking."""

from __future__ import annotations

from collections.abc import Sequence

from memtape.state.index.entries import Document, IndexEntry
from memtape.state.index.parts import part_of
from memtape.state.index.texts import Texts
from memtape.state.index.vectors import Vectors, text_vectors
from memtape.state.ranking.ranker import Corpus, TextUse


def corpus_of(documents: Sequence[Document], vectors: Vectors | None = None) -> Corpus:
    """Return a corpus of documents that stand nowhere else, each at its place in the sequence."""
    entries = [IndexEntry(document, document.text.encode("utf-8", "surrogatepass"), 0) for document in documents]
    texts = Texts([part_of(entries)])
    place_of = {document.id: place for place, document in enumerate(documents) if document.id}
    used = {
        place: TextUse(document.uses, document.hot, document.neighbours)
        for place, document in enumerate(documents)
        if document.uses or document.hot or document.neighbours
    }
    given = None if vectors is None else text_vectors(vectors)
    return Corpus(texts, lambda place: documents[place].text, place_of.get, given, used)
