"""Any OpenAI-compatible endpoint for chat (`/v1/chat/completions`) as a model."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec

from memtape.flows.endpoint import Endpoint, HttpTarget, Limits, Unanswered
from memtape.flows.model.model import ANSWER_MAX_BYTES, NAMES, within
from memtape.schemas.errors import BadAnswer, MemtapeError, ModelTimeout

ATTEMPTS = 2
MAX_TOKENS = 10_000_000
"""No model takes more tokens at once; a larger number from an endpoint is ignored."""


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
        return within(limit_s, lambda: self._ask(prompt, limit_s), self.place)

    def _ask(self, prompt: str, limit_s: float) -> str:
        limits = Limits(limit_s, limit_s, limit_s, ATTEMPTS, ANSWER_MAX_BYTES)
        # Only the fields that every server and model accepts.
        asked = {"messages": [{"content": prompt, "role": "user"}], "model": self.name, "stream": False}
        try:
            with Endpoint(self._target, NAMES, limits, self._sleep) as endpoint:
                return self._text(endpoint.ask(msgspec.json.encode(asked), bytes))
        except Unanswered as error:
            if error.how == "long":
                raise BadAnswer(f"{self.place} is of no use here: {error.reason}.") from None
            if error.how == "late":
                raise ModelTimeout(f"{self.place} has not answered in time.") from None
            if error.how == "unreachable":
                told = f"{self.place} cannot be reached: {error.reason}."
                raise MemtapeError(told, f"Start it or check {NAMES.url}.") from None
            raise MemtapeError(f"{self.place} gives no answer: {error.reason}.", f"Check {NAMES.model}.") from None

    def _text(self, body: bytes) -> str:
        try:
            answer = msgspec.json.decode(body)
            said = answer["choices"][0]["message"].get("content")
            content = msgspec.convert(said, str | list[dict[str, Any]] | None)
        except (msgspec.MsgspecError, UnicodeError, RecursionError, LookupError, TypeError, AttributeError):
            raise BadAnswer(
                f"{self.place} answers in a form that is not that of chat completions.", f"Check {NAMES.url}."
            ) from None
        self.tokens += _tokens(answer.get("usage"))
        if isinstance(content, list):
            return "".join(text for block in content if isinstance(text := block.get("text"), str))
        return content or ""


def _tokens(usage: Any) -> int:
    """Return the tokens of a question and its answer, as reported by an endpoint; 0 for an invalid report."""
    counts = (usage.get(name) for name in ("prompt_tokens", "completion_tokens")) if isinstance(usage, dict) else ()
    return sum(count for count in counts if type(count) is int and 0 < count < MAX_TOKENS)
