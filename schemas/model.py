"""What a machine prefers of models that write text. What one wrote is in events instead."""

from __future__ import annotations

import msgspec

HOOKS_VARIABLE, HOOKS_OFF = "MEMTAPE_HOOKS", "off"
"""By which a process and its children do without hooks: an agent that is used as a model has nothing to remember."""


class ModelOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The model that is wanted here: an endpoint or a command; none where both are empty. A key is in no file."""

    url: str = ""
    """The base of an OpenAI-compatible API (`http://127.0.0.1:11434/v1`)."""

    model: str = ""
    """The model's name there; of a command only what its statements are signed with."""

    command: str = ""
    """A command as in a shell, without one: it reads a prompt on stdin and writes the answer to stdout."""
