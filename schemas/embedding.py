"""A machine's settings for embedders. A log's deciding embedder is in its `configured` events instead."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

Kind = Literal["http", "local", "floor"]
Choice = Literal["auto", "http", "local", "floor"]
CHOICES: tuple[Choice, ...] = get_args(Choice)

FLOOR = "floor"
"""The key of the lexical floor, whose vectors are computed from the text alone and never recorded."""


def dimensions_of(key: str) -> int:
    """Return the dimensions in an embedder's key, 0 for any other text."""
    digits = key.rpartition("/")[2]
    return int(digits) if len(digits) <= 5 and digits.isascii() and digits.isdigit() else 0


MINILM = "all-MiniLM-L6-v2"
MINILM_KEY = f"{MINILM}@53aa51172d14/384"
"""The embedder of a new log where it is installed. Its revision is the beginning of the official weights'
digest.
"""


class EmbedderOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The embedder that is wanted here. Where an endpoint is and its key come by the environment."""

    choice: Choice = "auto"
    """`http`, `local`, `floor`, or `auto`: an endpoint that answers, else a local model, else the floor.
    `MEMTAPE_EMBEDDER` overrides it.
    """

    model: str = MINILM
    """The local model: a name of the Hugging Face hub, `sentence-transformers/` by default, or a folder."""

    download: bool = False
    """A missing local model is downloaded without asking."""

    texts_per_s: Annotated[int, Meta(ge=0)] = 0
    """Most texts that are embedded in a second; 0 for no limit."""


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """The embedder in effect. Degraded: old vectors stay in use; new ones are made once it answers."""

    kind: Kind
    degraded: bool = False
    warning: str = ""
