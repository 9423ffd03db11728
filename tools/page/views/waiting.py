"""The view *yours*: decisions waiting for a person, and texts that a person can bring back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtape.schemas.rows import MemoryRow, TurnRow
from memtape.tools.ask.archived import ArchivedText
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery

Listed = Sequence[MemoryRow | TurnRow | ArchivedText]
SHOWN = 100
LOOKED_AT = 5_000
"""So many of a list are looked through for words."""


def waiting(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return waiting conflicts, rules and edges, and archived, hidden and pinned texts with some words."""
    words = asked.text("words")
    limit = asked.number("limit", SHOWN, 1, 1_000)
    archived = client.archived(LOOKED_AT)
    lists = {name: listed(client, name, words) for name in LISTS if name != "unarchive"}
    lists["unarchive"] = _with(archived.archived, words)
    return {
        "conflicts": client.conflicts(settled=asked.is_on("settled")).conflicts,
        "settled": asked.is_on("settled"),
        "proposals": client.proposals(),
        "promoted": client.edge_candidates().edges,
        "lists": [(name, title, lists[name][:limit], len(lists[name])) for name, title in LISTS.items()],
        "purged": archived.purged,
        "words": words,
        "limit": limit,
    }


LISTS = {"unarchive": "Archived", "restore": "Forgotten or withdrawn", "unpin": "Pinned"}
"""The listed things, by the action on them."""


def listed(client: Client, action: str, words: str) -> Listed:
    """Return the entries of an action's list with these words, in any case; none without a list."""
    if action == "unarchive":
        return _with(client.archived(LOOKED_AT).archived, words)
    if action == "restore":
        return _with(client.hidden(LOOKED_AT), words)
    return _with(client.pinned(), words) if action == "unpin" else ()


def _with(rows: Listed, words: str) -> Listed:
    folded = words.casefold()
    return [row for row in rows if folded in row.text.casefold()]
