"""The view *now*: whether the memory is fresh, what came last, and what waits for a person."""

from __future__ import annotations

from typing import Any

from memtape.tools.client import Client
from memtape.tools.page.asked import Asked

LATEST = 8


def now(client: Client, asked: Asked) -> dict[str, Any]:
    """Return the state of the home and of one scope."""
    status = client.status(as_of=asked.as_of)
    return {
        "status": status,
        "here": status.scopes.get(asked.scope),
        "life": status.lives.get(asked.scope),
        "conflicts": client.conflicts().pending,
        "proposals": sum(answer is None for _, answer in client.proposals()),
        "stale": client.stale(LATEST),
        "recent": client.recent(LATEST, kinds=()),
    }
