"""A machine's settings for models that write text. Texts written by a model are events instead."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Step = Literal["extract", "consolidate", "recall"]
"""The uses of a model: facts of talk, decisions on alike memories, deep searches."""

Most = Annotated[int, Meta(ge=0)]


class StepOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The model of one step, if different: a name at the same endpoint, or a command of its own.

    A step has no endpoint of its own, since the key is for a single endpoint.
    """

    model: str = ""
    command: str = ""


class ModelOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The wanted model: an endpoint or a command; none if both are empty. A key is in no file."""

    url: str = ""
    """The base of an OpenAI-compatible API (`http://127.0.0.1:11434/v1`)."""

    model: str = ""
    """The model's name at the endpoint; for a command the name that signs its statements."""

    command: str = ""
    """A command as in a shell, without one: it reads a prompt on stdin and writes the answer to stdout."""

    calls_per_day: Most = 200
    """Maximum calls of models in a day of UTC, for all steps. 0 allows none."""

    characters_per_day: Most = 1_000_000
    """Maximum characters to and from models in a day: a question beyond the rest is not asked.

    That is about 250,000 tokens. Characters are counted, since not every model reports its tokens.
    """

    extract: StepOptions = StepOptions()
    """The model for facts in talk, if different."""

    consolidate: StepOptions = StepOptions()
    """The model for decisions about similar memories, if different."""

    recall: StepOptions = StepOptions()
    """The model for deep searches, if different."""

    def of(self, step: Step) -> StepOptions:
        """Return the options of one step."""
        options: StepOptions = getattr(self, step)
        return options
