"""A shadow retriever's answer to a search of the log: another recipe over the texts the search could find.

Nothing is put on the log here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from memtape.flows.workers.shadow import ShadowAnswer, ShadowQuestion
from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Event, Mark, Recalled
from memtape.schemas.log import Log
from memtape.schemas.retrievers import ORDINARY, Recipe, recipe_of
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.sinks.home.folders import Home
from memtape.state.index.vectors import TextVectors
from memtape.state.views.tail import PENDING_TYPES
from memtape.tools.ask.as_of import PastViews, Positions
from memtape.tools.ask.comparing import asks_of
from memtape.tools.ask.found import ScopeTexts
from memtape.tools.ask.recorded_vectors import RecordedVectors
from memtape.tools.ask.retrieval import Retriever
from memtape.tools.ask.retrievers import Ask

MOVING = (*PENDING_TYPES, "embedded")
"""Events after which a search may find otherwise."""


class Shadowing:
    """Asks the retrievers of one home. Loaded texts stay ready while the views do not change."""

    def __init__(self, home: Home, log: Log) -> None:
        self._home = home
        self._log = log
        self._present: dict[str, Retriever] = {}

    def answer(self, question: ShadowQuestion) -> ShadowAnswer:
        """Return a retriever's results for a search, as of its place on the log and at its time.

        Where nothing that a search reads has come since, the current views are asked, else the views of then.
        Raises the retriever's errors.
        """
        recipe = recipe_of(question.retriever)
        event = self._asked(question)
        body, scope = event.body, event.scope
        assert isinstance(body, Recalled) and scope is not None
        positions = self._positions(scope, question, event)
        with self._views(recipe, scope, positions) as views:
            # Not as others read: an error of a shadow says nothing of the views.
            took, results = _timed(views, recipe, event)
        if recipe.embedder and views.dense is not None and views.dense.note:
            raise MemtapeError(views.dense.note)
        marks = tuple(Mark(offset=offset, partition=number) for number, offset in positions.items())
        return ShadowAnswer(results=results, took_us=took, marks=marks)

    def _asked(self, question: ShadowQuestion) -> Event:
        slots = self._log.read(question.partition, question.offset, 1)
        event = event_of(slots[0].payload) if slots else None
        if event is None or not isinstance(event.body, Recalled):
            raise MemtapeError(f"No search stands at {question.partition}/{question.offset}.")
        return event

    def _positions(self, scope: str, question: ShadowQuestion, event: Event) -> Positions:
        """Return the positions up to which the search could read each of its partitions."""
        numbers = dict.fromkeys(partition_of(name, self._log.partitions) for name in scopes_read(scope))
        positions = {number: self._log.offset_after(number, event.sent) for number in numbers}
        return positions | {question.partition: question.offset}

    @contextmanager
    def _views(self, recipe: Recipe, scope: str, positions: Positions) -> Iterator[Retriever]:
        if not self._has_moved(scope, positions):
            if recipe.embedder not in self._present:
                self._present[recipe.embedder] = Retriever(self._home, self._log, dense=self._dense(recipe))
            yield self._present[recipe.embedder]
            return
        past = PastViews(self._home, self._log, positions)
        try:
            yield Retriever(self._home, self._log, past, dense=self._dense(recipe))
        finally:
            past.discard()  # Hardly anybody asks of the same position, and there are many.

    def _has_moved(self, scope: str, positions: Positions) -> bool:
        log = self._log
        return any(
            log.read(number, positions[number], 1, scope=name, types=MOVING)
            for name in scopes_read(scope)
            for number in (partition_of(name, log.partitions),)
        )

    def _dense(self, recipe: Recipe) -> RecordedVectors:
        return UnderEmbedder(self._home, recipe.embedder) if recipe.embedder else RecordedVectors(self._home)


class UnderEmbedder(RecordedVectors):
    """The recorded vectors of one embedder, whichever decides on the log."""

    def __init__(self, home: Home, key: str) -> None:
        super().__init__(home)
        self._only = key

    def of_query(self, text: str, embedder: str) -> NDArray[np.int16] | None:
        """See `RecordedVectors.of_query`."""
        return super().of_query(text, self._only)

    def of_texts(self, found: ScopeTexts, embedder: str) -> TextVectors | None:
        """See `RecordedVectors.of_texts`. Raises `MemtapeError` where the views have no vector of the embedder."""
        vectors = super().of_texts(found, self._only)
        if vectors is None and found.texts.size:
            raise MemtapeError(f"No text has a vector under {self._only} yet.", "`memtape run --once` makes them.")
        return vectors


def _timed(views: Retriever, recipe: Recipe, event: Event) -> tuple[int, tuple[str, ...]]:
    """Return the duration of a prepared retriever in microseconds, and the ids it found."""
    assert event.scope is not None and isinstance(event.body, Recalled)
    views.prepare(event.scope)
    ask = _ask(views, recipe, event.scope, event.body, event.session)
    start = time.perf_counter_ns()
    found = tuple(ask(event.body.query))[: event.body.limit]
    return (time.perf_counter_ns() - start) // 1_000, found


def _ask(views: Retriever, recipe: Recipe, scope: str, asked: Recalled, session: str | None) -> Ask:
    if recipe.ranks != ORDINARY:
        return asks_of(views, scope, asked.filters, [recipe.ranks], lambda left_out: lambda query: ())[recipe.ranks]
    return lambda query: [
        result.id
        for result in views.search(
            scope, query, asked.limit, asked.filters, recipe.lanes, asked.now, session=session
        ).results
    ]
