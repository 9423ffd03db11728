"""Measures retrievers on a corpus of conversations, through the ordinary pipeline in a home that is
thrown away. Each conversation is the memory of a scope of its own. `state/ranking/evaluation.py` has the
measures.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtape.flows.embed.embedder import Embedder, EmbeddingFailure
from memtape.flows.workers.turns import statement_id
from memtape.schemas.embedding import FLOOR
from memtape.schemas.errors import NotEmbedded
from memtape.schemas.events import Event
from memtape.schemas.metrics import tell_progress
from memtape.schemas.scopes import PROJECT_PREFIX
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.state.index.vectors import TextVectors, text_vectors
from memtape.state.ranking.evaluation import EvaluatedQuestion, summary
from memtape.state.text.statements import MOST_STATEMENTS
from memtape.state.vectors.recorded import quantised
from memtape.tools.client import Client
from memtape.tools.measure.comparing import MOST, Ask, asks_of
from memtape.tools.measure.corpus import Conversation, read_corpus
from memtape.tools.query.found import ScopeTexts
from memtape.tools.query.plan import SearchQuery
from memtape.tools.query.retrieval import Retriever
from memtape.tools.query.telling import tokenizer

BATCH_LINES, BATCH_TEXTS = 1_000, 64


class EmbedderVectors:
    """Vectors made on demand, a `Dense`; `spent_s` is the time spent on questions."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder, self.note = embedder, ""
        self.spent_s: float = 0
        self._texts: dict[str, NDArray[np.int16]] = {}
        self._queries: dict[str, NDArray[np.int16] | None] = {}

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
        """Return the vectors of a scope's searchable texts; None for no texts. A failed text has zeros."""
        texts = [found.text(place) for place in range(found.texts.size)]
        missing = [text for text in dict.fromkeys(texts) if text not in self._texts]
        for start in range(0, len(missing), BATCH_TEXTS):
            batch = missing[start : start + BATCH_TEXTS]
            for text, vector in zip(batch, self.embedder.embed_each(batch), strict=True):
                none = np.zeros(self.embedder.dimensions, np.int16)
                self._texts[text] = none if isinstance(vector, EmbeddingFailure) else _whole(vector)
            tell_progress("embedding", start + len(batch), len(missing))
        return text_vectors(np.stack([self._texts[text] for text in texts])) if texts else None


def evaluate(path: Path, names: Sequence[str], embedder: Embedder) -> dict[str, Any]:
    """Ask every question that has evidence of every retriever, and return the measures of each.

    On the floor Memtape finds by words alone, since hashed words add nothing to words; the retriever `dense`
    then is the floor's cosine. Latency is that of searching, without embedding the question. Raises
    `MemtapeError`.
    """
    conversations = read_corpus(path)
    vectors = EmbedderVectors(embedder)
    asked: dict[str, list[EvaluatedQuestion]] = {name: [] for name in names}
    questions, done = sum(len(conversation.questions) for conversation in conversations), 0
    with filled(conversations) as (home, log):
        views = Retriever(home, log, dense=None if embedder.name == FLOOR else vectors)
        has_floor = embedder.name == FLOOR and bool({"dense", "rrf"} & set(names))
        by = Retriever(home, log, dense=vectors) if has_floor else views
        for conversation in conversations:
            client = Client(home, scope=conversation.scope, log=log)
            made = {line.native_id: client.events_of(line, {}) for line in conversation.lines}
            for name, ask in asks_of(views, conversation.scope, names, by=by).items():
                asked[name] += _ask_all(conversation, made, ask, vectors)
            done += len(conversation.questions)
            tell_progress("asking", done, questions)
    lines = list(_lines(conversations, asked))
    return {
        "questions": len(lines),
        "turns": sum(len(conversation.lines) for conversation in conversations),
        "missing_evidence": conversations.missing,
        "notes": list(conversations.notes),
        "embedder": embedder.name,
        "tokenizer": tokenizer().name,
        "retrievers": {name: summary(its) for name, its in asked.items()},
        "lines": lines,
    }


def _lines(
    conversations: Sequence[Conversation], asked: Mapping[str, Sequence[EvaluatedQuestion]]
) -> Iterator[dict[str, Any]]:
    """Yield a line for each asked question, with the ranks of its evidence by retriever, for paired tests."""
    told = ((it.scope, question) for it in conversations for question in it.questions if question.evidence)
    for number, (scope, question) in enumerate(told):
        yield {
            "conversation": scope.removeprefix(PROJECT_PREFIX),
            "question": question.text,
            "category": question.category,
            "ranks": {name: its[number].ranks for name, its in asked.items()},
        }


@contextmanager
def filled(conversations: Sequence[Conversation]) -> Iterator[tuple[Home, EmbeddedLog]]:
    """Yield a home that is thrown away, and its log, with everything that was said captured and projected."""
    lines = [line for conversation in conversations for line in conversation.lines]
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        with closing(EmbeddedLog(home.log_path)) as log:
            client = Client(home, scope=conversations[0].scope, log=log)
            for start in range(0, len(lines), BATCH_LINES):
                client.capture_many(lines[start : start + BATCH_LINES])
                tell_progress("capturing", min(start + BATCH_LINES, len(lines)), len(lines))
            client.project()
            client.project()  # Of so many turns the views come first, and statements the next time.
            yield home, log


def _ask_all(
    conversation: Conversation, made: Mapping[str | None, Sequence[Event]], ask: Ask, vectors: EmbedderVectors
) -> list[EvaluatedQuestion]:
    """Ask every question whose evidence is there; the first one twice, since it makes things ready.

    `made` has the events of each turn: several where the turn is too long for one. Any of them counts as the
    turn.
    """
    id_of = {native: events[0].id for native, events in made.items()}
    turn_of = turns_told(made)
    session_of = {id_of[line.native_id]: line.session or "" for line in conversation.lines}
    count = tokenizer().count
    tokens_of = {id_of[line.native_id]: count(line.text) for line in conversation.lines}
    asked: list[EvaluatedQuestion] = []
    for question in conversation.questions:
        wanted = tuple(id_of[native] for native in question.evidence if native in id_of)
        if not wanted:
            continue
        # Evidence is named by the ids of turns, of which each counts, whatever others say the same.
        about = SearchQuery(question.text, repeats=True, limit=MOST)
        if not asked:
            ask(about)
        spent, start = vectors.spent_s, time.perf_counter()
        found = ask(about)
        took = time.perf_counter() - start - (vectors.spent_s - spent)
        turns = tuple(dict.fromkeys(turn_of.get(id, id) for id in found))
        own = EvaluatedQuestion(question.category, wanted, turns, session_of, took * 1_000, tokens_of)
        asked.append(own)
    return asked


def turns_told(made: Mapping[str | None, Sequence[Event]]) -> dict[str, str]:
    """Return the id of a turn's first event by the id of all that tells it, also of statements from it."""
    pairs = [(event, events[0].id) for events in made.values() for event in events]
    turn_of = {event.id: first for event, first in pairs}
    for place in range(MOST_STATEMENTS):
        turn_of |= {statement_id(event.scope, event.id, place): first for event, first in pairs}
    return turn_of


def _whole(vector: NDArray[np.float32]) -> NDArray[np.int16]:
    return np.frombuffer(quantised(vector), dtype="<i2").astype(np.int16)
