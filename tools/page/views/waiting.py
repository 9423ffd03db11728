"""The view *yours*: what waits for a person, and what a person can bring back."""

from __future__ import annotations

from typing import Any

from memtape.tools.client import Client
from memtape.tools.page.asked import Asked

MOST = 100


def waiting(client: Client, asked: Asked) -> dict[str, Any]:
    """Return conflicts, rules that wait, and what is archived, hidden or pinned; of lists the words asked for."""
    words = asked.text("words").casefold()
    limit = asked.number("limit", MOST, 1, 1_000)
    archived = client.archived(limit)
    hidden, pinned = client.hidden(limit), client.pinned()
    return {
        "conflicts": client.conflicts(settled=asked.is_on("settled")).conflicts,
        "settled": asked.is_on("settled"),
        "proposals": client.proposals(),
        "archived": [one for one in archived.archived if words in one.text.casefold()],
        "archived_all": sum(archived.counts.values()),
        "purged": archived.purged,
        "hidden": [row for row in hidden if words in row.text.casefold()],
        "pinned": [row for row in pinned if words in row.text.casefold()],
        "words": asked.text("words"),
        "limit": limit,
    }
