"""The interface of embedders, their common checks of texts and vectors, and the lexical floor.

An embedder is an effect: its vectors can differ from run to run, so they are recorded once. It never invents
a vector: a doubtful vector is an `EmbeddingFailure`. Nothing here imports a model or a network client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.schemas.errors import MemtapeError, NotEmbedded
from memtape.state.vectors.recorded import DIMENSIONS, floor_vector, vector_fault

HARMLESS = "hello"  # A text with a vector by every embedder. If it gets none, no text is the cause.


class EmbeddingFailure(NamedTuple):
    """A text without a vector, and why: a clause without the text or a secret, fit for the log."""

    reason: str


Embedding = NDArray[np.float32] | EmbeddingFailure


class Embedder:
    """Texts to vectors of float32, shape (dimensions,), of which only the direction counts (see `quantised`).

    Vectors are comparable where `name`, `revision` and `dimensions` are the same, and nowhere else. `name` is
    the model's own name; `revision` changes with the model's weights, as far as can be known.
    """

    name: str
    revision: str
    dimensions: int

    @property
    def key(self) -> str:
        """The key of the embedder's vectors on the log."""
        return f"{self.name}@{self.revision}/{self.dimensions}"

    def embed_each(self, texts: Sequence[str]) -> Iterator[Embedding]:
        """Yield, in the order given, the vector of each text or why it alone has none.

        Raises `EmbedderUnavailable` where the embedder and not a text is the cause; the results so far are of
        the first texts.
        """
        raise NotImplementedError

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a question's vector. Raises `NotEmbedded`, or `EmbedderUnavailable` if that may pass."""
        return the_vector(*self.embed_each([text]))


def checked(vector: NDArray[np.float32], dimensions: int) -> Embedding:
    """Return the vector if it is valid for an embedder of `dimensions`, else an `EmbeddingFailure`."""
    fault = vector_fault(vector, dimensions)
    return EmbeddingFailure(fault) if fault else vector


def sound_of(texts: Sequence[str], embed: Callable[[list[str]], Iterable[Embedding]]) -> Iterator[Embedding]:
    """Yield the result of `embed` for each valid text, in its place, and a failure for each invalid text."""
    faults = [_fault(text) for text in texts]
    asked = [text for text, fault in zip(texts, faults, strict=True) if not fault]
    made = iter(embed(asked) if asked else [])
    return (EmbeddingFailure(fault) if fault else next(made) for fault in faults)


def _fault(text: str) -> str:
    """Return why no embedder is asked about a text, empty if one can be."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "the text holds half a surrogate pair"
    return "" if text.strip() else "the text is blank"


def clause(error: MemtapeError) -> str:
    """Return an error's message and next step, as a part of another sentence."""
    hint = error.hint.rstrip(".")
    return str(error).rstrip(".") + (f" ({hint[0].lower()}{hint[1:]})" if hint else "")


def the_vector(embedding: Embedding) -> NDArray[np.float32]:
    """Return a vector, or raise `NotEmbedded` for a failure."""
    if isinstance(embedding, EmbeddingFailure):
        raise NotEmbedded(
            f"There is no vector of this text: {embedding.reason}.", "Say it otherwise, or search by words."
        )
    return embedding


class FloorEmbedder(Embedder):
    """The lexical floor: vectors of hashed terms, 384 dimensions, at once and equal on every machine.

    The components are whole numbers, so that `quantised` gives exactly these.
    """

    name = "floor"
    revision = "1"
    dimensions = DIMENSIONS

    def embed_each(self, texts: Sequence[str]) -> Iterator[Embedding]:
        """See `Embedder.embed_each`. A text whose terms cancel out has no vector."""
        return sound_of(texts, lambda own: [checked(floor_vector(it), DIMENSIONS) for it in own])
