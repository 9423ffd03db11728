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

from memtape.flows.embed.answers import BadEmbeddingAnswer, EndpointAnswer, batches, parse_answer, question
from memtape.flows.embed.embedder import HARMLESS, Embedding, EmbeddingFailure, checked, sound_only, the_vector
from memtape.flows.embed.target import KEY_VARIABLE, MODEL_VARIABLE, URL_VARIABLE
from memtape.flows.endpoint import HttpTarget, http_client
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError
from memtape.schemas.events import MAX_DIMENSIONS

if TYPE_CHECKING:
    import httpx
    import tenacity

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
            answer = self._ask([HARMLESS])
        except _Unanswered as error:
            self._endpoint_failed(error)
        vector = answer.vectors[0]
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
        self.revision = answer.model or self.name

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
        if answer.model and self.revision != answer.model:
            raise MemtapeError(
                f"{self._target.place} answers as {answer.model} now, and was {self.revision}.",
                "Vectors of two models are never compared; `memtape embedder set http` lets the new one take over.",
            )
        made = [v if isinstance(v, EmbeddingFailure) else checked(v, self.dimensions) for v in answer.vectors]
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
            wait=_Wait(tenacity.wait_exponential_jitter(max=BACKOFF_MAX_S)),
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
        except BadEmbeddingAnswer as error:
            raise _Unanswered(str(error)) from None
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
            raise BadEmbeddingAnswer("its answer is compressed, which it was told not to do")
        deadline = time.monotonic() + 4 * self._timeout_s
        body = bytearray()
        # Without a size, since a piece of a given size is not handed out before it is full.
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > BODY_MAX_BYTES:
                raise BadEmbeddingAnswer(f"its answer is longer than {BODY_MAX_BYTES >> 20} MiB")
            if time.monotonic() > deadline:
                raise BadEmbeddingAnswer(f"its answer takes longer than {4 * self._timeout_s:g} s")
        return bytes(body)


class _Wait:
    """Exponential backoff from 1 s with jitter, or as long as the endpoint asked for, up to a minute."""

    def __init__(self, backoff: tenacity.wait.wait_base) -> None:
        self._backoff = backoff

    def __call__(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked_s = error.wait_s if isinstance(error, _Unanswered) else 0
        return min(max(asked_s, self._backoff(state)), RETRY_AFTER_MAX_S)


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
