"""Which model is meant, from settings and environment. Nothing is asked here.

`MEMTAPE_MODEL_URL` is the base of an OpenAI-compatible API, `MEMTAPE_MODEL` its model, `MEMTAPE_MODEL_KEY` a key if it
has one; or `MEMTAPE_MODEL_COMMAND` is a command that reads a prompt on stdin. They go before the settings. Plain http
beyond this machine needs `MEMTAPE_MODEL_INSECURE=yes`.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from memtape.flows.endpoint import target_of
from memtape.flows.model.model import COMMAND_VARIABLE, NAMES, Model
from memtape.schemas.errors import MemtapeError
from memtape.schemas.model import ModelOptions, StepOptions

_ANY = StepOptions()


def is_configured(options: ModelOptions, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether a model is wanted here at all; it may still be named wrongly."""
    return any(_named(options, environment))


def choose_model(
    options: ModelOptions, environment: Mapping[str, str] = os.environ, step: StepOptions = _ANY
) -> Model | None:
    """Return the model configured here, None for none. Sends no request. Raises `MemtapeError`.

    The model of a `step` precedes the model for all steps, in the environment too.
    """
    url, command = _named(options, environment)
    if step.command.strip():
        url, command = "", step.command.strip()
    name = step.model.strip() or environment.get(NAMES.model, "").strip() or options.model
    if url and command:
        raise MemtapeError("Both a URL and a command name a model.", "Keep the one that is meant.")
    if command:
        from memtape.flows.model.command import CommandModel

        try:
            return CommandModel(shlex.split(command), name)
        except ValueError:
            told = f"{COMMAND_VARIABLE} is no command: a quotation has no end."
            raise MemtapeError(told, "Write it as you would in a shell.") from None
    target = target_of({**environment, NAMES.url: url, NAMES.model: name}, NAMES)
    if target is None:
        return None
    from memtape.flows.model.http import HttpModel

    return HttpModel(target)


def _named(options: ModelOptions, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return URL and command of the environment if either is set there, else of the settings."""
    url, command = (environment.get(name, "").strip() for name in (NAMES.url, COMMAND_VARIABLE))
    return (url, command) if url or command else (options.url.strip(), options.command.strip())
