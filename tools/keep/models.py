"""A home's models: the model of a step, its daily budget, and prompts about texts that are only data.

Each step has its own handling of answers; `prompts.toml` has the prompts. `flows/models.py` reaches them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from memtape.flows.models import Model, choose_model, is_configured
from memtape.schemas.errors import BadAnswer, MemtapeError, ModelTimeout
from memtape.schemas.events import Actor, DeepStep
from memtape.schemas.model import ModelOptions, Step
from memtape.sinks.home.folders import Home
from memtape.sinks.home.marks import note_use, spend
from memtape.sinks.home.settings import local_settings
from memtape.tools.capture.injected import wrap
from memtape.tools.capture.native_ids import digest
from memtape.tools.capture.writing import now_us

if TYPE_CHECKING:
    from memtape.tools.capture.secrets.redaction import Redactor

ItemT = TypeVar("ItemT")

MAX_NAME_CHARS = 200

_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


@cache
def _prompts() -> dict[str, dict[str, str]]:
    data = Path(__file__).with_name("prompts.toml").read_bytes()
    return msgspec.toml.decode(data, type=dict[str, dict[str, str]])


class CountedModel:
    """A model whose questions and answers count against a home's budget; see `flows.models.Model`."""

    def __init__(self, home: Home, model: Model, options: ModelOptions) -> None:
        self._home, self._model, self._options, self.name = home, model, options, model.name

    def answer(self, prompt: str, limit_s: float) -> str:
        """See `Model.answer`. Raises `BudgetSpent` too, without asking the model."""
        spend(self._home, self._options, len(prompt), now_us())
        before = self._model.tokens
        try:
            answer = self._model.answer(prompt, limit_s)
        except (ModelTimeout, BadAnswer):
            note_use(self._home, 0, 0, self._model.tokens - before, now_us())
            raise
        except MemtapeError:
            note_use(self._home, -1, -len(prompt), 0, now_us())
            raise
        note_use(self._home, 0, len(answer), self._model.tokens - before, now_us())
        return answer


def author(model: CountedModel, redactor: Redactor) -> Actor:
    """Return the author of a model's texts: the model's name, without possible secrets."""
    return Actor(name=redactor.head(model.name, MAX_NAME_CHARS, is_name=True) or "model", origin="model")


def is_named(home: Home) -> bool:
    """Whether a model is named here at all."""
    return is_configured(local_settings(home).model)


def model_for(home: Home, step: Step) -> CountedModel | None:
    """Return the model of a step, None where none is named. Nothing is asked. Raises `MemtapeError`."""
    options = local_settings(home).model
    model = choose_model(options, step=options.of(step))
    return None if model is None else CountedModel(home, model, options)


def prompt_about(step: Literal["extract", "judge"] | DeepStep, text: str) -> str:
    """Return the prompt of a step in `prompts.toml` about a text.

    The mark around the text is its digest, which no part of the text can predict. The prompt is wrapped in
    the block that hooks and imports skip, in case an agent is used as the model.
    """
    mark, prompts = f"=== {digest(text)} ===", _prompts()
    return wrap(prompts["about"]["task"].format(mark=mark, text=text, **prompts[step]))


def without_thoughts(answer: str) -> str:
    """Return an answer without the model's thoughts before the answer."""
    return _THOUGHTS.sub("", answer)


def listed_in(answer: str, type: type[ItemT], what: str, *, strict: bool = True) -> list[ItemT]:
    """Return the JSON list of an answer; `what` is the name of its items in messages.

    Raises `BadAnswer` without a list. Unless `strict`, a number may be quoted.
    """
    answer = without_thoughts(answer)
    said = answer[answer.find("[") : answer.rfind("]") + 1].encode("utf-8", "replace")
    try:
        return msgspec.json.decode(said, type=list[type], strict=strict)  # type: ignore[valid-type]
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise BadAnswer(f"The model's answer is no list of {what}.", "Try another model.") from None
