"""What a machine prefers of embedders. Which embedder decides on a log is in its `configured` events instead."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["http", "local", "floor"]


class EmbedderOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The embedder that is wanted here. Where an endpoint is and its key come by the environment."""

    choice: Literal["auto", "http", "local", "floor"] = "auto"
    """`auto` takes an endpoint that answers, else a local model that is at hand, else the floor."""

    model: str = "all-MiniLM-L6-v2"
    """The local model: a name of the Hugging Face hub, `sentence-transformers/` by default, or a folder."""

    download: bool = False
    """Whether a local model that is not at hand may be downloaded."""


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """What is at hand: `configured` is whether somebody set it up, the reasons say in a clause why it cannot be used.

    A reason is empty where the embedder answers. Without an endpoint's URL `http_configured` is False.
    """

    http_configured: bool = False
    http_reason: str = ""
    local_reason: str = ""


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """The embedder in effect. Degraded: its vectors stay in use, and until it answers no new ones are made."""

    kind: Kind
    degraded: bool = False
    warning: str = ""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing may be embedded or searched by vectors before somebody decides; one sentence, and the next step."""

    message: str
    hint: str
