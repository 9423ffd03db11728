"""Requests and answers of an OpenAI-compatible `/v1/embeddings`, as bytes: no connection, no retry."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from memtape.flows.embed.embedder import EmbeddingFailure

BATCH_COUNT = 64
BATCH_BYTES = 256 * 1024


class BadEmbeddingAnswer(Exception):
    """An answer without a list of embeddings for the request; the message is a clause without its content."""


class EndpointAnswer(NamedTuple):
    """Raw vectors in the order asked, unchecked but for their form, and the model's name as answered, or empty."""

    vectors: list[NDArray[np.float32] | EmbeddingFailure]
    model: str


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


def question(model: str, texts: Sequence[str], encoding_format: str) -> bytes:
    """Return the body of a request for the vectors of texts."""
    return orjson.dumps({"model": model, "input": list(texts), "encoding_format": encoding_format})


def parse_answer(body: bytes, count: int) -> EndpointAnswer:
    """Return the vectors of an answer to `count` texts. Raises `BadEmbeddingAnswer` if their texts are unclear."""
    try:
        # The standard library reads NaN, which some servers write: then one text fails, and not its whole batch.
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise BadEmbeddingAnswer("its answer is not JSON") from None
    if not isinstance(answer, dict) or not isinstance(answer.get("data"), list):
        raise BadEmbeddingAnswer("its answer has no list of embeddings")
    entries = answer["data"]
    if len(entries) != count:
        raise BadEmbeddingAnswer(f"it answered with {len(entries)} vectors for {count} texts")
    if not all(isinstance(entry, dict) for entry in entries):
        raise BadEmbeddingAnswer("its answer has no list of embeddings")
    return EndpointAnswer([_vector(entry.get("embedding")) for entry in _in_order(entries)], _name(answer.get("model")))


def _name(model: object) -> str:
    return model if isinstance(model, str) and len(model) <= 200 and model.isprintable() else ""


def _in_order(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return entries by their `index`; without any, in the given order."""
    if not any("index" in entry for entry in entries):
        return entries
    by_index: dict[int, dict[str, Any]] = {
        entry["index"]: entry for entry in entries if type(entry.get("index")) is int
    }
    if sorted(by_index) != list(range(len(entries))):
        raise BadEmbeddingAnswer("the indexes of its answer are not those of the texts")
    return [by_index[index] for index in range(len(entries))]


def _vector(value: object) -> NDArray[np.float32] | EmbeddingFailure:
    """Return the vector of one entry: a list of numbers, or base64 of little-endian float32."""
    if isinstance(value, str):
        try:
            data = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return EmbeddingFailure("the vector is not base64")
        if len(data) % 4:
            return EmbeddingFailure("the vector is no whole number of float32")
        return np.frombuffer(data, dtype="<f4").astype(np.float32)
    if not isinstance(value, list) or not all(type(number) in (int, float) for number in value):
        return EmbeddingFailure("the vector is no list of numbers")
    try:
        with np.errstate(over="ignore"):
            return np.array(value, dtype=np.float64).astype(np.float32)
    except OverflowError:
        return EmbeddingFailure("the vector holds NaN or infinity")
