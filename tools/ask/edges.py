"""Edges of a memory, the proposals for curated edges, and their weights at now."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from memtape.schemas.events import Kind
from memtape.schemas.rows import made_from
from memtape.state.index.parts import EVERY_TEXT
from memtape.state.subjects.edges import Tie, candidates
from memtape.state.subjects.weights import ONE
from memtape.tools.ask.readied import ties_of
from memtape.tools.ask.retrieval import Retriever


class EdgeEnd(msgspec.Struct, frozen=True, kw_only=True):
    """A memory or turn at an end of an edge."""

    id: str
    kind: Kind
    text: str


class UseEdge(msgspec.Struct, frozen=True, kw_only=True):
    """An edge: `weight` at `EdgeList.now`, 1.0 for one joint use just now; `windows` used both.

    `learned` says how much more often than by chance 90 days of windows held both, from 0.2 to 1, over
    `learned_windows` with both; 0 if not learned.
    """

    source: EdgeEnd
    target: EdgeEnd
    weight: float
    windows: int
    learned: float
    learned_windows: int


class EdgeList(msgspec.Struct, frozen=True, kw_only=True):
    """Edges of a scope, the strongest first, at ranking's now; `lag` is how many events the views lack."""

    scope: str
    now: int
    lag: int
    edges: tuple[UseEdge, ...]


def edges_of(retriever: Retriever, scope: str, id: str) -> EdgeList:
    """Return the edges of the memory or turn that an id resolves to, which is each one's source. Raises `NotFound`."""
    found = retriever.find(scope, id)
    assert found.scope is not None

    def own(ties: Sequence[Tie], now: int) -> list[Tie]:
        ties = [tie for tie in ties if found.id in (tie.source, tie.target)]
        return [tie if tie.source == found.id else tie._replace(source=tie.target, target=tie.source) for tie in ties]

    return _edge_list(retriever, found.scope, own)


def proposed(retriever: Retriever, scope: str) -> EdgeList:
    """Return the edges of a scope that are strong enough to be curated: proposed, and never written."""
    return _edge_list(retriever, scope, candidates)


def all_edges(retriever: Retriever, scope: str) -> EdgeList:
    """Return every edge of a scope between visible memories."""
    return _edge_list(retriever, scope, lambda ties, now: ties)


def _edge_list(retriever: Retriever, scope: str, chosen: Callable[[list[Tie], int], Sequence[Tie]]) -> EdgeList:
    """Return the chosen ones of all edges of a scope between visible memories, at a time."""
    found, view = retriever.found(scope, EVERY_TEXT)
    now = retriever.now([view])
    ties = found.once_rows.of("edges", now, lambda: ties_of(found, now))

    def end(id: str) -> EdgeEnd:
        place = found.texts.called(id)
        assert place is not None
        return made_from(EdgeEnd, found.result(place))

    edges = tuple(
        UseEdge(
            source=end(tie.source),
            target=end(tie.target),
            weight=round(tie.weight / ONE, 6),
            windows=tie.windows,
            learned=round(tie.learned.weight / ONE, 6),
            learned_windows=tie.learned.windows,
        )
        for tie in chosen(ties, now)
    )
    return EdgeList(scope=scope, now=now, lag=view.lag, edges=edges)
