"""Any OpenAI-compatible endpoint for embeddings as an embedder.

Whether a text or the endpoint is at fault is found out by asking for a text that is known to be harmless: if
that text gets its vector, the other text alone has failed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NoReturn

import numpy as np
import orjson
from numpy.typing import NDArray

from memtape.flows.embed.embedder import HARMLESS, Embedder, Embedding, EmbeddingFailure, checked, sound_of
from memtape.flows.embed.target import NAMES
from memtape.flows.endpoint import Endpoint, HttpTarget, Limits, Unanswered
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError
from memtape.schemas.events import MAX_DIMENSIONS

ATTEMPTS = 3
TIMEOUT_S = 30.0  # For each wait for bytes; a whole answer may take four times that.

BRIEF_TIMEOUT_S = 5.0
"""The same for a waiting caller, for whom results by words alone are better than late ones."""

ALL_S = 600.0
ANSWER_MAX_BYTES = 32 * 1024 * 1024
BATCH_COUNT = 64
BATCH_BYTES = 256 * 1024
EndpointAnswer = tuple[list[NDArray[np.float32] | EmbeddingFailure], str]
"""Raw vectors in the order asked, with only their form checked; the model's name as answered, or empty."""


class HttpEmbedder(Endpoint, Embedder):
    """An embedding endpoint. The constructor sends one request, which tells the number of dimensions.

    `name` is the requested model; `revision` is the model that the endpoint reports. Raises
    `EmbedderUnavailable` if the endpoint does not answer, and `MemtapeError` if the endpoint refuses (400,
    401, 403, 404, redirects).
    """

    def __init__(self, target: HttpTarget, *, timeout_s: float = TIMEOUT_S, attempts: int = ATTEMPTS) -> None:
        super().__init__(target, NAMES, Limits(timeout_s, 4 * timeout_s, ALL_S, attempts, ANSWER_MAX_BYTES))
        self.name = target.model
        try:
            (vector, *_), model = self._ask([HARMLESS])
        except BaseException as error:
            self.close()
            if isinstance(error, Unanswered):
                self._endpoint_failed(error)
            raise
        if not isinstance(vector, EmbeddingFailure):
            long = EmbeddingFailure(f"its vectors have {vector.size} dimensions")
            vector = long if vector.size > MAX_DIMENSIONS else checked(vector, vector.size)
        if isinstance(vector, EmbeddingFailure):
            self.close()
            told = f"{target.place} gives no vectors: {vector.reason}."
            raise MemtapeError(told, f"Check {NAMES.model}: is it for embeddings?")
        self.dimensions, self.revision = vector.size, model or self.name

    def embed_each(self, texts: Sequence[str]) -> Iterator[Embedding]:
        """See `Embedder.embed_each`. Texts are sent in batches. Raises `MemtapeError` too, if it refuses."""
        return sound_of(texts, lambda asked: chain.from_iterable(map(self._batch, batches(asked))))

    def _batch(self, texts: list[str]) -> Iterable[Embedding]:
        """Embed texts in one request; after a failure not explained by a single text, text by text.

        A text alone has failed if a harmless text is answered, and the text then fails again.
        """
        try:
            return self._vectors(self._ask(texts))
        except Unanswered as error:
            if error.how in ("unreachable", "busy"):
                self._endpoint_failed(error)
            failed = error
        if len(texts) > 1:
            return chain.from_iterable(self._batch([text]) for text in texts)
        try:
            self._vectors(self._ask([HARMLESS]))
        except Unanswered as harmless:
            self._endpoint_failed(harmless)
        try:  # The endpoint may have come back between the two.
            if failed.may_pass:
                return self._vectors(self._ask(texts, attempts=1))
            return [EmbeddingFailure(failed.reason)]
        except Unanswered as again:
            if again.how in ("unreachable", "busy"):
                self._endpoint_failed(again)
            return [EmbeddingFailure(again.reason)]

    def _endpoint_failed(self, error: Unanswered) -> NoReturn:
        if error.how in ("refused", "long"):
            raise MemtapeError(
                f"{self._target.place} refuses what it is asked: {error.reason}.",
                f"Check {NAMES.url} and {NAMES.model}.",
            ) from None
        raise EmbedderUnavailable(
            f"{self._target.place} does not answer: {error.reason}.",
            f"Start it or check {NAMES.url}; then try again.",
        ) from None

    def _vectors(self, answer: EndpointAnswer) -> list[Embedding]:
        """Return the vectors of an answer. Raises `Unanswered` if none is valid."""
        vectors, model = answer
        if model and self.revision != model:
            raise MemtapeError(
                f"{self._target.place} answers as {model} now, and was {self.revision}.",
                "Two models' vectors are never compared. `memtape admin embedder set http` takes this one.",
            )
        made = [v if isinstance(v, EmbeddingFailure) else checked(v, self.dimensions) for v in vectors]
        if all(isinstance(one, EmbeddingFailure) for one in made) and isinstance(made[0], EmbeddingFailure):
            raise Unanswered(f"no vector of its answer can be used ({made[0].reason})")
        return made

    def _ask(self, texts: list[str], attempts: int | None = None) -> EndpointAnswer:
        asked = {"model": self._target.model, "input": texts, "encoding_format": "float"}
        return self.ask(orjson.dumps(asked), partial(parse_answer, count=len(texts)), attempts)


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield texts in order, at most 64 and 256 KiB of UTF-8 together; a longer text goes alone."""
    batch: list[str] = []
    total = 0
    for text in texts:
        size = len(text.encode())
        if batch and (len(batch) == BATCH_COUNT or total + size > BATCH_BYTES):
            yield batch
            batch, total = [], 0
        batch.append(text)
        total += size
    if batch:
        yield batch


def parse_answer(body: bytes, count: int) -> EndpointAnswer:
    """Return the vectors of an answer to `count` texts. Raises `Unanswered` if their texts are unclear."""
    try:
        # The standard library reads NaN, as some servers write: then one text fails, not its whole batch.
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise Unanswered("its answer is not JSON") from None
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise Unanswered("its answer has no list of embeddings")
    if len(entries) != count:
        raise Unanswered(f"it answered with {len(entries)} vectors for {count} texts")
    if any("index" in entry for entry in entries):  # Without any index they are in the order asked.
        by_index = {entry["index"]: entry for entry in entries if type(entry.get("index")) is int}
        if sorted(by_index) != list(range(count)):
            raise Unanswered("the indexes of its answer are not those of the texts")
        entries = [by_index[index] for index in range(count)]
    name = answer.get("model")
    is_name = isinstance(name, str) and len(name) <= 200 and name.isprintable()
    return [_vector(entry.get("embedding")) for entry in entries], name if is_name else ""


def _vector(value: object) -> NDArray[np.float32] | EmbeddingFailure:
    if not isinstance(value, list) or not all(type(number) in (int, float) for number in value):
        return EmbeddingFailure("the vector is no list of numbers")
    try:
        with np.errstate(over="ignore"):
            return np.array(value, dtype=np.float64).astype(np.float32)
    except OverflowError:
        return EmbeddingFailure("the vector holds NaN or infinity")
