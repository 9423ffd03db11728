"""A model: a prompt goes in, a text comes out, within a time limit. Which one is meant, from settings and environment.

`MEMTAPE_MODEL_URL` is the base of an OpenAI-compatible API, `MEMTAPE_MODEL` its model, `MEMTAPE_MODEL_KEY` the
key if it wants one; or `MEMTAPE_MODEL_COMMAND` is a command that reads a prompt on stdin. They go before the
settings. Plain http beyond this machine needs `MEMTAPE_MODEL_INSECURE=yes`. What is asked, and what becomes of the
answer, is not known here. A model's answer is data and nothing else.
"""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Callable, Mapping
from typing import Protocol

from memtape.flows.endpoint import Names, target_of
from memtape.schemas.errors import MemtapeError, ModelTimeout
from memtape.schemas.model import ModelOptions

URL_VARIABLE = "MEMTAPE_MODEL_URL"
MODEL_VARIABLE = "MEMTAPE_MODEL"
KEY_VARIABLE = "MEMTAPE_MODEL_KEY"
COMMAND_VARIABLE = "MEMTAPE_MODEL_COMMAND"
INSECURE_VARIABLE = "MEMTAPE_MODEL_INSECURE"
ANSWER_MAX_BYTES = 1024 * 1024

_NAMES = Names("model", "chat/completions", URL_VARIABLE, MODEL_VARIABLE, KEY_VARIABLE, INSECURE_VARIABLE)


class Model(Protocol):
    """Something that answers. `name` is what its texts are signed with, `place` what errors call it."""

    name: str
    place: str

    def answer(self, prompt: str, limit_s: float) -> str:
        """Return the answer, never empty. Raises `ModelTimeout` after `limit_s` in all, `MemtapeError` else.

        No error holds anything of the prompt, the answer or a key.
        """
        ...


def is_configured(options: ModelOptions, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a model is wanted here at all; it may still be named wrongly."""
    return any(_named(options, environment))


def choose_model(options: ModelOptions, environment: Mapping[str, str] = os.environ) -> Model | None:
    """Return the model that is wanted here, None where none is. Nothing is asked. Raises `MemtapeError`."""
    url, command = _named(options, environment)
    name = environment.get(MODEL_VARIABLE, "").strip() or options.model
    if url and command:
        raise MemtapeError("Both a URL and a command name a model.", "Keep the one that is meant.")
    if command:
        from memtape.flows.model.command import CommandModel

        return CommandModel(_words(command), name)
    target = target_of({**environment, URL_VARIABLE: url, MODEL_VARIABLE: name}, _NAMES)
    if target is None:
        return None
    from memtape.flows.model.http import HttpModel

    return HttpModel(target)


def within(limit_s: float, work: Callable[[], str], place: str) -> str:
    """Return what `work` returns, or raise `ModelTimeout` when it takes longer, whatever it is that it waits for.

    What is late goes on in a thread that nobody waits for; who calls this ends what it waits for.
    """
    ended: list[str | BaseException] = []

    def run() -> None:
        try:
            ended.append(work())
        except BaseException as error:
            ended.append(error)

    # No library of futures: a hook imports this file, and they cost it 20 ms.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit_s)
    if not ended:
        raise ModelTimeout(f"{place} has not answered within {limit_s:g} s.")
    answer = ended[0]
    if isinstance(answer, BaseException):
        raise answer
    answer = answer.strip()
    if not answer:
        raise MemtapeError(f"{place} answered nothing.")
    return answer


def _named(options: ModelOptions, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return URL and command: those of the environment where it has one of them, else those of the settings."""
    url, command = (environment.get(name, "").strip() for name in (URL_VARIABLE, COMMAND_VARIABLE))
    return (url, command) if url or command else (options.url.strip(), options.command.strip())


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        raise MemtapeError(
            f"{COMMAND_VARIABLE} is no command: a quotation has no end.", "Write it as you would in a shell."
        ) from None
