"""The view *search*: an agent's results, their reasons, and the results just below."""

from __future__ import annotations

from typing import Any, get_args

from memtape.schemas.events import Kind, Origin, Tier
from memtape.schemas.lanes import LANES
from memtape.state.views.filters import make_filters
from memtape.tools.ask.telling import told_trace
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery

BELOW = 5
"""So many results are told that were not good enough for the answer."""


def search(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the answer to a question as agents get it; nothing is put on the log."""
    query, limit = asked.text("q"), asked.number("limit", 10, 1, 200)
    shown: dict[str, Any] = {
        "query": query,
        "limit": limit,
        "kinds": get_args(Kind),
        "origins": get_args(Origin),
        "tiers": get_args(Tier),
        "lanes": LANES,
        "answer": None,
    }
    if not query:
        return shown
    filters = make_filters(
        now_us(),
        kinds=_chosen(asked, "kind", get_args(Kind)),
        origins=_chosen(asked, "origin", get_args(Origin)),
        tiers=_chosen(asked, "tier", get_args(Tier)),
        tags=asked.many("tag"),
    )
    answer = client.search(
        query,
        min(limit + BELOW, 1_000),
        filters=filters,
        quiet=True,
        as_of=asked.as_of,
        without=_chosen(asked, "without", LANES),
        explain=True,
        archived=asked.is_on("archived"),
        deep=asked.is_on("deep"),
    )
    below = answer.results[limit:]
    return shown | {
        "answer": answer,
        "results": answer.results[:limit],
        "below": below,
        "steps": told_trace(answer.trace),
    }


def _chosen(asked: PageQuery, name: str, known: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value for value in asked.many(name) if value in known)
