"""A machine's settings for models that write text. Texts written by a model are events instead."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Step = Literal["flush", "extract", "gate", "consolidate", "recall"]
"""What a model is asked for: the end of a conversation distilled, facts of talk, whether talk holds any, what to make
of memories that are alike, and what of a deep search belongs to the answer."""

Most = Annotated[int, Meta(ge=0)]


class StepOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The model of one step, if different: a name at the same endpoint, or a command of its own.

    A step has no endpoint of its own, since the key is for a single endpoint.
    """

    model: str = ""
    command: str = ""


class ModelOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The model that is wanted here: an endpoint or a command; none where both are empty. A key is in no file."""

    url: str = ""
    """The base of an OpenAI-compatible API (`http://127.0.0.1:11434/v1`)."""

    model: str = ""
    """The model's name at the endpoint; for a command the name that signs its statements."""

    command: str = ""
    """A command as in a shell, without one: it reads a prompt on stdin and writes the answer to stdout."""

    calls_per_day: Most = 200
    """How often models are asked in a day of UTC at most, whatever for. 0 asks none."""

    characters_per_day: Most = 1_000_000
    """How many characters go to models and come from them in a day at most: a question that has no room is not asked.

    That is about 250,000 tokens. Characters are counted, since not every model tells its tokens.
    """

    extract: StepOptions = StepOptions()
    """The model for facts in talk, if different."""

    gate: StepOptions = StepOptions()
    """The model that is asked first whether talk holds anything; none is asked where this names none."""

    consolidate: StepOptions = StepOptions()
    """The model for decisions about similar memories, if different."""

    recall: StepOptions = StepOptions()
    """The model for deep searches, if different."""

    def of(self, step: Step) -> StepOptions:
        """Return the options of one step."""
        options = {
            "extract": self.extract, "gate": self.gate, "consolidate": self.consolidate, "recall": self.recall
        }  # fmt: skip
        return options.get(step, StepOptions())
