"""The recorded vectors of a scope's captures, by embedder. The first of a capture under an embedder counts.

Vectors of different embedders are never compared. All are kept, so that a change of the embedder can be
undone. `dense` and `memories` decide the effect of similarity on folding.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from memtape.schemas.events import MAX_ATTEMPTS, Embedded, Event
from memtape.schemas.rows import Change, Context
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.tombstones import HasTombstones


class Embeddings(msgspec.Struct, dict=True, array_like=True):
    """Vectors in their recorded form, by embedder's key and seq; only of captures of the scope.

    `first_of` has the first vector of a normalised text of a family, by which its memory is compared.
    """

    vectors: dict[str, dict[int, bytes]] = {}

    def __post_init__(self) -> None:
        self.first_of: dict[tuple[str, str, bytes], int] = {}

    def of_text(self, embedder: str, capture: Capture) -> bytes | None:
        """Return the first vector of the capture's normalised text in its family, None for none yet."""
        seq = self.first_of.get((embedder, capture.family or "", capture.normal))
        return None if seq is None else self.vectors[embedder][seq]


class HasEmbeddings(HasTombstones, Protocol):
    """A scope seen through its embeddings and the subjects before."""

    embeddings: Embeddings


def evolve(state: Embeddings, event: Event, context: Context[HasTombstones]) -> list[Change]:
    """Apply an `embedded` event; record the capture that got its first vector by the embedder."""
    body, counters = event.body, context.counters
    if not isinstance(body, Embedded):
        return []
    capture = context.of.captures.get(event.refs[0])
    if capture is None or capture.seq in state.vectors.get(body.embedder, ()):
        counters.ignored += 1
        return []
    if body.vector is None:
        if body.attempt == MAX_ATTEMPTS:
            counters.failed[body.embedder] = counters.failed.get(body.embedder, 0) + 1
        return []
    counters.embedded[body.embedder] = counters.embedded.get(body.embedder, 0) + 1
    if body.attempt > MAX_ATTEMPTS:
        counters.failed[body.embedder] = max(0, counters.failed.get(body.embedder, 0) - 1)
    state.vectors.setdefault(body.embedder, {})[capture.seq] = body.vector
    _know(state, body.embedder, capture)
    context.embedded = capture.seq
    return [Change("vectors", context.scope, vector_row_id(capture.id, body.embedder))]


def vector_row_id(id: str, embedder: str) -> str:
    """Return the row id of a capture's vector under an embedder."""
    return f"{id}:{embedder}"


def rebuild(state: Embeddings, of: HasTombstones) -> None:
    """Find the first vector of each text."""
    for embedder, vectors in state.vectors.items():
        for seq in vectors:
            _know(state, embedder, of.captures.by_seq[seq])


def _know(state: Embeddings, embedder: str, capture: Capture) -> None:
    if capture.family:
        state.first_of.setdefault((embedder, capture.family, capture.normal), capture.seq)
