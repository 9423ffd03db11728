"""A scope's texts prepared for ranking, from the views and the tail.

Nothing is searched here, and tables are read only through the index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memtape.schemas.codec import body_of_capture, event_of
from memtape.schemas.embedding import FLOOR
from memtape.schemas.events import Event, Mark
from memtape.schemas.log import Log, forwards
from memtape.schemas.rows import EdgeRow, LifeMark, UseRow, Watermark
from memtape.state.core.erasures import erasures_of
from memtape.state.index.parts import Choice
from memtape.state.index.vectors import TextVectors
from memtape.state.ranking.ranker import Corpus, TextUse
from memtape.state.subjects.edges import Tie, resolved, tie_of, weight_at
from memtape.state.subjects.weights import ONE, hot, times_of
from memtape.state.views.tail import TAIL_TYPES
from memtape.tools.ask.aged import life_of
from memtape.tools.ask.found import ScopeTexts


class Dense(Protocol):
    """The vectors of a search, quantised as in `state/vectors/recorded.py`; all of one embedder."""

    @property
    def note(self) -> str:
        """The reason for a missing vector of the last question; empty if it had a vector."""

    def of_query(self, text: str, embedder: str) -> NDArray[np.int16] | None:
        """Return the vector of a question, shape (dimensions,); None where there is none, and words must do."""

    def of_texts(self, found: ScopeTexts, embedder: str) -> TextVectors | None:
        """Return the vectors of a scope's searchable texts, None where no text has one under the embedder."""


class ScopeView(NamedTuple):
    """Where the views of one scope stand, when the last event of the scope itself was sent (0 for none), and how the
    project stands.
    """

    mark: Mark
    lag: int
    revision: int
    sent: int
    life: LifeMark = LifeMark()


class Key(NamedTuple):
    """The inputs of a scope's texts: the tables with their positions, the tail's event ids, the choice.

    The choice says which texts were asked for, a finished project apart.
    """

    path: Path
    watermark: Watermark | None
    number: int
    tail: tuple[str, ...]
    choice: Choice


class PreparedTexts(NamedTuple):
    """A scope's visible texts, prepared for ranking; valid as long as `key` is the same.

    `use` returns the uses and edges at a time, as `uses_at`; None for a scope without any.
    """

    scope: str
    key: Key
    view: ScopeView
    found: ScopeTexts
    corpus: Corpus
    embedder: str
    vectors: TextVectors | None
    use: Callable[[int], dict[int, TextUse]] | None
    use_at: int = 0


def ties_of(found: ScopeTexts, now: int) -> list[Tie]:
    """Return the edges between what is shown of a scope, by the ids of memories and turns, at a time."""
    edges = [row for row in found.opened.rows("edges") if isinstance(row, EdgeRow)]
    ends = dict.fromkeys(id for edge in edges for id in (edge.source, edge.target))
    name_of = {id: found.result(place).id for id in ends if (place := found.texts.called(id)) is not None}
    return resolved(map(tie_of, edges), name_of, now)


def uses_at(uses: dict[str, UseRow], found: ScopeTexts, now: int) -> dict[int, TextUse]:
    """Return the number and recency of uses of each used text in a scope, and its edges, at a time."""
    times = {id: row.times for id, row in uses.items()}
    ids_at: dict[int, list[str]] = {}
    for id in uses:
        if (place := found.texts.called(id)) is not None:
            ids_at.setdefault(place, []).append(id)
    neighbours: dict[int, list[tuple[str, float]]] = {}
    for tie in ties_of(found, now):
        weight = min(1.0, weight_at(tie, now) / ONE)
        for one, other in ((tie.source, tie.target), (tie.target, tie.source)):
            if (place := found.texts.called(one)) is not None:
                neighbours.setdefault(place, []).append((other, weight))
    return {
        place: TextUse(
            sum(uses[id].used for id in ids_at.get(place, ())),
            hot(times_of(ids_at.get(place, ()), times, own=True), now) / ONE,
            tuple(neighbours.get(place, ())),
        )
        for place in dict.fromkeys((*ids_at, *neighbours))
    }


SAID_ONCE = ("forgotten", "restored", "withdrawn")
"""Events that must not be taken for repetitions: they would undo the events in between."""


def make_ready(
    key: Key,
    partition: int,
    scope: str,
    found: ScopeTexts,
    tail: list[Event],
    dense: Dense | None,
) -> PreparedTexts:
    watermark = key.watermark
    embedder = watermark.embedder if watermark is not None else FLOOR
    vectors = dense.of_texts(found, embedder) if dense is not None else None
    mark = Mark(offset=watermark.offset if watermark else 0, partition=partition)
    sent = max(0, watermark.sent.get(scope, 0) if watermark else 0, *(event.sent for event in tail))
    view = ScopeView(mark, len(tail), watermark.revision if watermark else 0, sent, life_of(watermark, scope))
    uses = {row.id: row for row in found.opened.rows("uses") if isinstance(row, UseRow)}
    use = partial(uses_at, uses, found) if uses else None
    corpus = Corpus(found.texts, found.text, found.texts.called, vectors)
    return PreparedTexts(scope, key, view, found, corpus, embedder, vectors, use)


def tail_of(log: Log, partition: int, offset: int, scope: str, end: int | None = None) -> Iterator[Event]:
    """Yield a scope's events from `offset` on, before `end`, that change visible rows.

    Erased events and repetitions are left out.
    """
    erased = log.erased(partition)
    erasures, erasing = erasures_of(erased), {slot.offset for slot in erased}
    seen: set[str] = set()
    for slot in forwards(log, partition, offset, scope, TAIL_TYPES):
        if end is not None and slot.offset >= end:
            return
        event = event_of(slot.payload)
        if event is None:
            continue
        repeated = event.id in seen or (event.type == "erased" and slot.offset not in erasing)
        if event.type in SAID_ONCE:
            repeated |= log.known(scope, [event.id]).get(event.id, slot.offset) < slot.offset
        seen.add(event.id)
        if not repeated and not erasures.covers(event):
            yield event


def text_at(log: Log, partition: int, offset: int) -> str | None:
    """Return the captured text at an offset, None for other events and erased ones."""
    body = next((body_of_capture(slot.payload) for slot in log.read(partition, offset, 1)), None)
    return None if body is None else body.text
