"""The view *now*: whether the memory is fresh, the latest texts, and decisions waiting for a person."""

from __future__ import annotations

from typing import Any

from memtape.schemas.log import Log
from memtape.tools.ask.status import Status, next_steps
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery

LATEST = 8
MOST_COUNTED = 10_000
"""Of a partition that is further behind no captures are counted."""


def now(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the state of the home and of one scope."""
    status = client.status(as_of=asked.as_of)
    held = sum(at.end > 0 for at in status.positions.values())
    return {
        "status": status,
        "steps": next_steps(status),
        "empty": len(status.positions) - held,
        "waiting": captures_behind(client.log, status) if not asked.at else 0,
        "here": status.scopes.get(asked.scope),
        "life": status.lives.get(asked.scope),
        "conflicts": client.conflicts().pending,
        "proposals": sum(answer == "waits" for _, answer in client.proposals()),
        "stale": client.stale(LATEST),
        "recent": client.recent(LATEST, kinds=()),
    }


def captures_behind(log: Log, status: Status) -> int | None:
    """Return how many captures the views lack, None where they are too many to count."""
    count = 0
    for number, at in status.positions.items():
        if at.end - at.watermark > MOST_COUNTED:
            return None
        if at.end > at.watermark:
            slots = log.read(number, at.watermark, MOST_COUNTED, types=("captured",))
            count += sum(slot.offset < at.end for slot in slots)
    return count
