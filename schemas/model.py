"""A machine's settings for models that write text. Texts written by a model are events instead."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Step = Literal["extract", "consolidate", "recall"]
"""The uses of a model: facts of talk, verdicts on memories that are alike, deep searches."""

Most = Annotated[int, Meta(ge=0)]


class StepOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The model of one step, if different: a name at the same endpoint, or a command of its own.

    A step has no endpoint of its own, since the key is for a single endpoint.
    """

    model: str = ""
    command: str = ""


DailyJudge = Literal["auto", "none", "head", "nli", "model"]


class JudgeOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The judges of pairs of memories."""

    daily: DailyJudge = "auto"
    """Who judges in a daily pass: `auto` (the named model, if any), `none`, `head`, `nli` or `model`."""

    calls_per_pass: Most = 5
    """Most calls of the daily model in one pass of a project."""

    path: str = ""
    """The folder of the entailment model `nli`."""


class ModelOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The wanted model: an endpoint or a command; none if both are empty. A key is in no file."""

    url: str = ""
    """An OpenAI-compatible endpoint (`http://127.0.0.1:11434/v1`). `MEMTAPE_MODEL_URL` overrides it."""

    model: str = ""
    """The model's name at the endpoint; for a command the name that signs its statements."""

    command: str = ""
    """Instead of an endpoint, a command that reads a prompt on stdin and writes the answer to stdout.
    `MEMTAPE_MODEL_COMMAND` overrides it.
    """

    calls_per_day: Most = 200
    """Most calls of all models in a day of UTC; 0 allows none."""

    characters_per_day: Most = 1_000_000
    """Most characters of prompts and answers in a day, about 250,000 tokens."""

    extract: StepOptions = StepOptions()
    """Another model that takes facts from talk."""

    consolidate: StepOptions = StepOptions()
    """Another model that judges pairs of memories."""

    recall: StepOptions = StepOptions()
    """Another model that is asked in deep searches."""

    def of(self, step: Step) -> StepOptions:
        """Return the options of one step."""
        options: StepOptions = getattr(self, step)
        return options
