"""Any OpenAI-compatible endpoint for chat (`/v1/chat/completions`) as a model.

The key goes to the one origin that was set, and into no error or log.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from memtape.flows.endpoint import HttpTarget, http_client
from memtape.flows.model.model import ANSWER_MAX_BYTES, KEY_VARIABLE, MODEL_VARIABLE, URL_VARIABLE, within
from memtape.schemas.errors import BadAnswer, MemtapeError, ModelTimeout

if TYPE_CHECKING:
    import httpx

ATTEMPTS = 2
BACKOFF_MAX_S = 2.0
MAX_TOKENS = 10_000_000
"""No model takes more tokens at once; a larger number from an endpoint is ignored."""

_NEXT_STEPS = {
    401: f"Set {KEY_VARIABLE} to a valid key.",
    403: f"Set {KEY_VARIABLE} to a key that may use this model.",
    404: f"Check {URL_VARIABLE} (it usually ends in /v1) and {MODEL_VARIABLE}.",
}


class _Again(MemtapeError):
    """An error that a retry may solve."""


class HttpModel:
    """A model behind an endpoint; see `flows.model.model.Model`."""

    def __init__(self, target: HttpTarget, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._target = target
        self._sleep = sleep
        self.name = target.model
        self.place = target.place
        self.tokens = 0

    def answer(self, prompt: str, limit_s: float) -> str:
        """See `Model.answer`. It is asked a second time where the endpoint is busy or the connection broke."""
        return within(limit_s, lambda: self._ask(prompt, time.monotonic() + limit_s, limit_s), self.place)

    def _ask(self, prompt: str, deadline: float, limit_s: float) -> str:
        import tenacity

        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(ATTEMPTS),
            retry=tenacity.retry_if_exception_type(_Again),
            wait=tenacity.wait_random_exponential(multiplier=0.5, max=BACKOFF_MAX_S),
            sleep=self._sleep,
            reraise=True,
        )
        with http_client(self._target, limit_s) as client:
            return retrying(self._ask_once, client, _question(self._target.model, prompt), deadline)

    def _ask_once(self, client: httpx.Client, body: bytes, deadline: float) -> str:
        import httpx

        # httpx's exceptions hold the request with its headers, and must not become a cause.
        try:
            with client.stream("POST", self._target.url, content=body) as response:
                self._check_status(response.status_code)
                return self._text(self._read(response, deadline))
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise MemtapeError(
                f"{self.place} cannot be reached ({type(error).__name__}).", f"Start it or check {URL_VARIABLE}."
            ) from None
        except httpx.TimeoutException:
            raise self._late() from None
        except httpx.HTTPError as error:
            raise _Again(f"{self.place}: the connection broke ({type(error).__name__}).") from None

    def _check_status(self, status: int) -> None:
        if status == 200:
            return
        if 300 <= status < 400:
            raise self._target.redirected(status, URL_VARIABLE)
        refused = f"{self.place} refuses with HTTP {status}."
        if status >= 500 or status in (408, 429):
            raise _Again(refused)
        raise MemtapeError(refused, _NEXT_STEPS.get(status, f"Check {URL_VARIABLE} and {MODEL_VARIABLE}."))

    def _read(self, response: httpx.Response, deadline: float) -> bytes:
        """Return the body as received, limited in size and time, so that no slow sender goes on for ever."""
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > ANSWER_MAX_BYTES:
                raise BadAnswer(f"{self.place} answers more than {ANSWER_MAX_BYTES >> 20} MiB.")
            if time.monotonic() > deadline:
                raise self._late()
        return bytes(body)

    def _text(self, body: bytes) -> str:
        try:
            answer = msgspec.json.decode(body)
            said = answer["choices"][0]["message"].get("content")
            content = msgspec.convert(said, str | list[dict[str, Any]] | None)
        except (msgspec.MsgspecError, UnicodeError, RecursionError, LookupError, TypeError, AttributeError):
            raise BadAnswer(
                f"{self.place} answers in a form that is not that of chat completions.", f"Check {URL_VARIABLE}."
            ) from None
        self.tokens += _tokens(answer.get("usage"))
        if isinstance(content, list):
            return "".join(text for block in content if isinstance(text := block.get("text"), str))
        return content or ""

    def _late(self) -> ModelTimeout:
        return ModelTimeout(f"{self.place} has not answered in time.")


def _question(model: str, prompt: str) -> bytes:
    """Return the body of a request with only the fields that every server and model accepts."""
    return msgspec.json.encode({"messages": [{"content": prompt, "role": "user"}], "model": model, "stream": False})


def _tokens(usage: Any) -> int:
    """Return the tokens of a question and its answer, as reported by an endpoint; 0 for an invalid report."""
    counts = (usage.get(name) for name in ("prompt_tokens", "completion_tokens")) if isinstance(usage, dict) else ()
    return sum(count for count in counts if type(count) is int and 0 < count < MAX_TOKENS)
