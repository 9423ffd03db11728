"""The form of an agent's action: the tags of a turn by a tool.

An action is a turn of origin `tool` whose text is one line. Its path is the edited file. The hosts' names of
tools are elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Act = Literal["edit", "command", "test"]

ACTION_TAG = "action"
"""The first tag of an action. The next is the act, as `edit`; a command's third is its end: `exit:1`."""


def action_tags(act: Act, exit: int | None = None) -> tuple[str, ...]:
    """Return the tags of an action; `exit` is the exit code of a command, not 0 after a failure."""
    return (ACTION_TAG, act, *(() if exit is None else (f"exit:{exit}",)))


def act_of(tags: Sequence[str]) -> str | None:
    """Return the act named by the tags of an action, None for tags of no action."""
    return tags[1] if len(tags) >= 2 and tags[0] == ACTION_TAG else None


def has_failed(tags: Sequence[str]) -> bool:
    """Return whether the tags mark an action as a failed command."""
    return act_of(tags) is not None and any(tag.startswith("exit:") and tag != "exit:0" for tag in tags[2:])
