"""The view *search*: an agent's results, their reasons, and the results just below."""

from __future__ import annotations

from typing import Any, get_args
from urllib.parse import parse_qsl, urlencode

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Kind, Origin, Tier
from memtape.schemas.lanes import LANES
from memtape.schemas.visible import one_line
from memtape.sinks.home.questions import drop_question, keep_question, questions_of
from memtape.state.views.filters import make_filters
from memtape.tools.ask.telling import told_trace
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery

NAME_CHARS = 80
KEPT = ("scope", "at", "q", "limit", "kind", "origin", "tier", "tag", "without", "archived", "deep")
"""The parameters of an address that make up a question."""
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
        "kept": {
            name: f".{told}" for name, told in questions_of(client.home.path).items() if told.startswith("/search?")
        },
        "called": asked.text("called"),
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
    ).answer
    below = answer.results[limit:]
    return shown | {
        "answer": answer,
        "results": answer.results[:limit],
        "below": below,
        "steps": told_trace(answer.trace),
    }


def _chosen(asked: PageQuery, name: str, known: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value for value in asked.many(name) if value in known)


def kept_or_dropped(client: Client, asked: PageQuery) -> str:
    """Keep a question of a form under a name, or `drop` one; return the question's address.

    Secrets are removed, as from any question. Raises `MemtapeError` for no name and for no question.
    """
    home = client.home.path
    if asked.text("drop"):
        dropped = drop_question(home, asked.text("drop"))
        return f".{dropped}" if dropped else asked.link("/search")
    name = one_line(client.redactor.text(asked.text("called")), NAME_CHARS)
    given = parse_qsl(asked.text("question").partition("?")[2])
    redactor = client.redactor
    told = [
        (key, redactor.question(value) if key == "q" else redactor.text(value)) for key, value in given if key in KEPT
    ]
    if not name or not any(key == "q" for key, _ in told):
        raise MemtapeError("A question is kept under a name.", "Ask it, and give it one.")
    address = f"/search?{urlencode(told)}"
    keep_question(home, name, address)
    return f".{address}&{urlencode({'called': name})}"
