"""Embedders: their interface, their checks of texts and vectors, the lexical floor, and the choice of one.

An embedder is an effect: its vectors can differ from run to run, so they are recorded once. It never invents
a vector: a doubtful vector is an `EmbeddingFailure`. A model or a network client is imported where it is
chosen; `state/vectors/choice.py` decides by what is found here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.flows.embed.target import NAMES
from memtape.flows.endpoint import target_of
from memtape.schemas.embedding import FLOOR, EmbedderOptions, Resolved, embedder_key
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError, NotEmbedded
from memtape.state.text.normal import content_key
from memtape.state.vectors.choice import resolve
from memtape.state.vectors.recorded import DIMENSIONS, floor_sums, vector_fault

HARMLESS = "hello"
"""A text with a vector by every embedder. If it gets none, no text is the cause."""


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

    def embed_each(self, texts: Sequence[str]) -> Iterator[Embedding]:
        """Yield, in the order given, the vector of each text or why it alone has none.

        Raises `EmbedderUnavailable` where the embedder and not a text is the cause; the results so far are of
        the first texts.
        """
        raise NotImplementedError

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a question's vector. Raises `NotEmbedded`, or `EmbedderUnavailable` if that may pass."""
        return the_vector(*self.embed_each([text]))


def key_of(embedder: Embedder) -> str:
    """Return the key under which an embedder's vectors are recorded."""
    return embedder_key(embedder.name, embedder.revision, embedder.dimensions)


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

    The components are whole numbers, so that `quantised` gives exactly the values of `floor_vector`.
    """

    name = "floor"
    revision = "1"
    dimensions = DIMENSIONS

    def embed_each(self, texts: Sequence[str]) -> Iterator[Embedding]:
        """See `Embedder.embed_each`. A text whose terms cancel out has no vector."""
        return sound_of(texts, lambda asked: [checked(self._vector(text), DIMENSIONS) for text in asked])

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(DIMENSIONS, dtype=np.float32)
        for dim, total in floor_sums(content_key(text)).items():
            vector[dim] = total
        return vector


class ChosenEmbedder(NamedTuple):
    """The embedder in effect, open; None while it is degraded: then nothing new is embedded."""

    embedder: Embedder | None
    resolved: Resolved

    @property
    def key(self) -> str:
        """The key under which the embedder's vectors are recorded; empty while it is degraded."""
        if self.resolved.kind == FLOOR:
            return FLOOR
        return "" if self.embedder is None else key_of(self.embedder)


def choose_embedder(
    options: EmbedderOptions,
    dense_on_log: bool,
    *,
    brief: bool = False,
    loads_slow: bool = True,
) -> ChosenEmbedder:
    """Find the available embedders and open the one in effect.

    `brief` is for a waiting caller: an endpoint is asked once and briefly, now and later. Without
    `loads_slow`, `EmbedderUnavailable` is raised instead of loading a local model that takes seconds. Raises
    `MemtapeError` if the table refuses, or if a setting is wrong (a bad URL, a refused key).
    """
    http, http_reason, local_reason = _probe(options, brief)
    decided = resolve(options, http_reason, local_reason, dense_on_log)
    if decided.degraded:
        return ChosenEmbedder(None, decided)
    if decided.kind == "http":
        return ChosenEmbedder(http, decided)
    if decided.kind == "local":
        from memtape.flows.embed.local import LocalEmbedder, loads_at_once

        if not loads_slow and not loads_at_once(options):
            told = f"The model {options.model} takes seconds to load"
            raise EmbedderUnavailable(f"{told}; a connected agent's server and the page use it.")
        return ChosenEmbedder(LocalEmbedder(options), decided)
    return ChosenEmbedder(FloorEmbedder(), decided)


def probe(options: EmbedderOptions, dense_on_log: bool) -> Resolved:
    """Return the embedder in effect: ask the endpoint briefly, load no model. Raises as `choose_embedder`."""
    _, http_reason, local_reason = _probe(options, brief=True)
    return resolve(options, http_reason, local_reason, dense_on_log)


def _probe(options: EmbedderOptions, brief: bool) -> tuple[Embedder | None, str | None, str]:
    """Return the endpoint's embedder, and why endpoint and local model cannot be used, as for `resolve`.

    The search goes only as far as the choice needs: an endpoint that answers under `auto` ends it.
    """
    http, http_reason = None, None
    if options.choice in ("auto", "http") and (target := target_of(os.environ, NAMES)) is not None:
        from memtape.flows.embed.http import ATTEMPTS, BRIEF_TIMEOUT_S, TIMEOUT_S, HttpEmbedder

        try:
            timeout_s, attempts = (BRIEF_TIMEOUT_S, 1) if brief else (TIMEOUT_S, ATTEMPTS)
            http, http_reason = HttpEmbedder(target, timeout_s=timeout_s, attempts=attempts), ""
        except EmbedderUnavailable as error:
            http_reason = clause(error)
    local_reason = "it was not looked for"
    if options.choice == "local" or (options.choice == "auto" and http is None):
        from memtape.flows.embed.local import model_folder

        try:
            model_folder(options)
            local_reason = ""
        except MemtapeError as error:
            local_reason = clause(error)
    return http, http_reason, local_reason
