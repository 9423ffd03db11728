"""A corpus of documents that stand nowhere else, for tests of ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memtape.state.index.entries import AGES, ANSWERS, TURN, IndexEntry
from memtape.state.index.parts import part_of
from memtape.state.index.texts import Texts
from memtape.state.index.vectors import Vectors, text_vectors
from memtape.state.ranking.ranker import Corpus, TextUse


class Document(NamedTuple):
    """A text to be ranked, and its use; the fields are those of `IndexEntry` and of `TextUse`."""

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


def entry_of(of: Document) -> IndexEntry:
    flags = TURN * of.turn | ANSWERS * of.answers | AGES * (of.ages_from is not None)
    entry = IndexEntry(of.text, of.session, of.speaker, of.at, of.kind, of.id, flags, 0)
    return entry._replace(ages_from=of.ages_from, confidence=of.confidence, ids=(of.id,) if of.id else ())


def corpus_of(documents: Sequence[Document], vectors: Vectors | None = None) -> Corpus:
    """Return a corpus of documents that stand nowhere else, each at its place in the sequence."""
    texts = Texts([part_of([*map(entry_of, documents)])])
    uses = {n: TextUse(its.uses, its.hot, its.neighbours) for n, its in enumerate(documents)}
    used = {n: its for n, its in uses.items() if any(its)}
    given = None if vectors is None else text_vectors(vectors)
    return Corpus(texts, lambda place: documents[place].text, given, used)
