"""Any OpenAI-compatible endpoint for embeddings as an embedder. With `model_http`, all that speaks HTTP.

Whether a text or the endpoint is at fault is found out by asking for a text that is known to be harmless: if that one
is answered, the text alone has failed. The key goes to the one origin that was set, and into no error or log.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from memtape.flows.embed.embedder import HARMLESS, Embedding, EmbeddingFailure, checked, sound_only, the_vector
from memtape.flows.embed.target import KEY_VARIABLE, MODEL_VARIABLE, URL_VARIABLE
from memtape.flows.endpoint import HttpTarget, http_client
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError
from memtape.schemas.events import MAX_DIMENSIONS

if TYPE_CHECKING:
    import httpx
    import tenacity
import base64
import binascii
import json
from typing import Any

import orjson

ATTEMPTS = 3
TIMEOUT_S = 30.0
"""For each wait for bytes; a whole answer may take four times that."""

BRIEF_TIMEOUT_S = 5.0
"""The same for a waiting caller, for whom results by words alone are better than late ones."""

BACKOFF_MAX_S = 8.0
RETRY_AFTER_MAX_S = 60.0
BODY_MAX_BYTES = 32 * 1024 * 1024

# Status codes for a refused request: one text may be the cause, for example a text that is too long.
_REFUSED_FOR_CONTENT = (400, 413, 422)
_NEXT_STEPS = {
    401: f"Set {KEY_VARIABLE} to a valid key.",
    403: f"Set {KEY_VARIABLE} to a key that may use this model.",
    404: f"Check {URL_VARIABLE} (it usually ends in /v1) and {MODEL_VARIABLE}.",
}
BATCH_COUNT = 64
BATCH_BYTES = 256 * 1024
EndpointAnswer = tuple[list[NDArray[np.float32] | EmbeddingFailure], str]
"""Raw vectors in the order asked, unchecked but for their form, and the model's name as answered, or empty."""


class _Unanswered(Exception):
    """A request without vectors. `reason` is a clause; `of_endpoint` if no text can be the cause."""

    def __init__(self, reason: str, *, again: bool = True, of_endpoint: bool = False, wait_s: float = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.of_endpoint = of_endpoint
        self.wait_s = wait_s


class HttpEmbedder:
    """An embedding endpoint. The constructor sends one request, which tells the number of dimensions.

    `name` is the requested model; `revision` is the model that the endpoint reports. Raises
    `EmbedderUnavailable` if the endpoint does not answer, and `MemtapeError` if the endpoint refuses (400,
    401, 403, 404, redirects).
    """

    def __init__(
        self,
        target: HttpTarget,
        *,
        encoding_format: str = "float",
        timeout_s: float = TIMEOUT_S,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._target = target
        self._encoding_format = encoding_format
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._sleep = sleep
        self._client = http_client(target, timeout_s)
        self.name = target.model
        self.revision, self.dimensions = "", 0
        try:
            self._introduce()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> HttpEmbedder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; nothing can be asked afterwards."""
        self._client.close()

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question; raises `NotEmbedded`, `EmbedderUnavailable` or `MemtapeError`."""
        return the_vector(self.embed_documents([text])[0])

    def embed_documents(self, texts: Sequence[str]) -> list[Embedding]:
        """Return the vectors of texts, in order; raises `EmbedderUnavailable` or `MemtapeError`."""
        return list(self.embed_each(texts))

    def embed_each(self, texts: Sequence[str]) -> Iterator[Embedding]:
        """Yield the same, a request at a time."""
        return sound_only(texts, lambda asked: (made for batch in batches(asked) for made in self._batch(batch)))

    # --- The meaning of a failure ---

    def _introduce(self) -> None:
        try:
            (vector, *_), model = self._ask([HARMLESS])
        except _Unanswered as error:
            self._endpoint_failed(error)
        dimensions = 0 if isinstance(vector, EmbeddingFailure) else vector.size
        embedding = vector if isinstance(vector, EmbeddingFailure) else checked(vector, dimensions)
        if isinstance(embedding, EmbeddingFailure) or not 0 < dimensions <= MAX_DIMENSIONS:
            reason = (
                embedding.reason
                if isinstance(embedding, EmbeddingFailure)
                else f"its vectors have {dimensions} dimensions"
            )
            raise MemtapeError(
                f"{self._target.place} gives no vectors: {reason}.", f"Check {MODEL_VARIABLE}: is it for embeddings?"
            )
        self.dimensions = dimensions
        self.revision = model or self.name

    def _batch(self, texts: list[str]) -> Iterator[Embedding]:
        """Embed all texts in one request; after a failure not explained by a single text, text by text."""
        try:
            made: Iterable[Embedding] = self._vectors(self._ask(texts))
        except _Unanswered as error:
            if error.of_endpoint:
                self._endpoint_failed(error)
            if len(texts) == 1:
                made = [self._failed_alone(texts, error)]
            else:
                made = (one for text in texts for one in self._batch([text]))
        yield from made

    def _failed_alone(self, text: list[str], error: _Unanswered) -> Embedding:
        """Return the failure of one text, if a harmless text was answered and the text then failed again."""
        try:
            self._vectors(self._ask([HARMLESS]))
        except _Unanswered as harmless:
            self._endpoint_failed(harmless)
        if not error.again:
            return EmbeddingFailure(error.reason)
        try:  # The endpoint may have come back between the two.
            return self._vectors(self._ask(text, attempts=1))[0]
        except _Unanswered as again:
            if again.of_endpoint:
                self._endpoint_failed(again)
            return EmbeddingFailure(again.reason)

    def _endpoint_failed(self, error: _Unanswered) -> NoReturn:
        if not error.again:
            raise MemtapeError(
                f"{self._target.place} refuses what it is asked: {error.reason}.",
                f"Check {URL_VARIABLE} and {MODEL_VARIABLE}.",
            ) from None
        raise EmbedderUnavailable(
            f"{self._target.place} does not answer: {error.reason}.",
            f"Start it or check {URL_VARIABLE}; then try again.",
        ) from None

    def _vectors(self, answer: EndpointAnswer) -> list[Embedding]:
        """Return the vectors of an answer. Raises `_Unanswered` if none is valid."""
        vectors, model = answer
        if model and self.revision != model:
            raise MemtapeError(
                f"{self._target.place} answers as {model} now, and was {self.revision}.",
                "Vectors of two models are never compared; `memtape embedder set http` lets the new one take over.",
            )
        made = [v if isinstance(v, EmbeddingFailure) else checked(v, self.dimensions) for v in vectors]
        if all(isinstance(one, EmbeddingFailure) for one in made) and isinstance(made[0], EmbeddingFailure):
            raise _Unanswered(f"no vector of its answer can be used ({made[0].reason})")
        return made

    # --- One request ---

    def _ask(self, texts: list[str], attempts: int | None = None) -> EndpointAnswer:
        """Ask with retries. Raises `_Unanswered` after the last try, and at once for a permanent failure."""
        import tenacity

        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(attempts or self._attempts),
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, _Unanswered) and error.again),
            wait=_waiting(tenacity.wait_exponential_jitter(max=BACKOFF_MAX_S)),
            sleep=self._sleep,
            reraise=True,
        )
        body = question(self._target.model, texts, self._encoding_format)
        return retrying(self._ask_once, body, len(texts))

    def _ask_once(self, body: bytes, count: int) -> EndpointAnswer:
        import httpx

        try:
            with self._client.stream("POST", self._target.url, content=body) as response:
                self._check_status(response)
                return parse_answer(self._read(response), count)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            # httpx's own words may hold addresses and no more; its exception holds the request with its headers.
            raise _Unanswered(f"no connection ({type(error).__name__})", of_endpoint=True) from None
        except httpx.TimeoutException:
            raise _Unanswered(f"no answer within {self._timeout_s:g} s") from None
        except httpx.HTTPError as error:
            raise _Unanswered(f"the connection broke ({type(error).__name__})") from None

    def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        if status == 200:
            return
        if 300 <= status < 400:
            raise self._target.redirected(status, URL_VARIABLE)
        if status in _NEXT_STEPS:
            raise MemtapeError(f"{self._target.place} refuses with HTTP {status}.", _NEXT_STEPS[status])
        if status == 429:
            wait_s = _retry_after_s(response.headers.get("Retry-After", ""))
            raise _Unanswered("too many requests (HTTP 429)", of_endpoint=True, wait_s=wait_s)
        again = status >= 500 or status == 408
        raise _Unanswered(f"HTTP {status}", again=again, of_endpoint=not again and status not in _REFUSED_FOR_CONTENT)

    def _read(self, response: httpx.Response) -> bytes:
        """Return the body as received, limited in size and time, so that no slow sender goes on for ever."""
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise _Unanswered("its answer is compressed, which it was told not to do")
        deadline = time.monotonic() + 4 * self._timeout_s
        body = bytearray()
        # Without a size, since a piece of a given size is not handed out before it is full.
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > BODY_MAX_BYTES:
                raise _Unanswered(f"its answer is longer than {BODY_MAX_BYTES >> 20} MiB")
            if time.monotonic() > deadline:
                raise _Unanswered(f"its answer takes longer than {4 * self._timeout_s:g} s")
        return bytes(body)


def _waiting(backoff: tenacity.wait.wait_base) -> Callable[[tenacity.RetryCallState], float]:
    """Return the wait by an exponential backoff, or as long as the endpoint asked for, up to a minute."""

    def wait_s(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked_s = error.wait_s if isinstance(error, _Unanswered) else 0
        return min(max(asked_s, backoff(state)), RETRY_AFTER_MAX_S)

    return wait_s


def _retry_after_s(value: str) -> float:
    """Return the seconds that a Retry-After header names, a count or a date; 0 for none (RFC 9110, 10.2.3)."""
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        then = parsedate_to_datetime(value)
    except ValueError:
        return 0
    if then.tzinfo is None:
        then = then.replace(tzinfo=timezone.utc)
    return max(0.0, (then - datetime.now(timezone.utc)).total_seconds())


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
    """Return the vectors of an answer to `count` texts. Raises `_Unanswered` if their texts are unclear."""
    try:
        # The standard library reads NaN, which some servers write: then one text fails, and not its whole batch.
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise _Unanswered("its answer is not JSON") from None
    if not isinstance(answer, dict) or not isinstance(answer.get("data"), list):
        raise _Unanswered("its answer has no list of embeddings")
    entries = answer["data"]
    if len(entries) != count:
        raise _Unanswered(f"it answered with {len(entries)} vectors for {count} texts")
    if not all(isinstance(entry, dict) for entry in entries):
        raise _Unanswered("its answer has no list of embeddings")
    return [_vector(entry.get("embedding")) for entry in _in_order(entries)], _name(answer.get("model"))


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
        raise _Unanswered("the indexes of its answer are not those of the texts")
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
