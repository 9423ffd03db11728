"""The view *recalls*: queries with their author, results and used results, and unasked injections."""

from __future__ import annotations

from typing import Any

from memtape.tools.ask.looking import EVERY_WAY, By
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery

AT_ONCE = 25


def recalls(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the latest recalls of a scope, narrowed to a way, a session and words of the question."""
    limit = asked.number("limit", AT_ONCE, 1, 500)
    by: By | None = next((way for way in EVERY_WAY if way == asked.text("by")), None)
    session, words = asked.text("session"), asked.text("words")
    since = asked.text("since") or None
    found = client.given(limit + 1, session=session or None, since=since, searches=True, by=by, words=words)
    return {
        "recalls": found[:limit],
        "limit": limit,
        "ways": EVERY_WAY,
        "by": by or "",
        "session": session,
        "words": words,
        "is_narrowed": bool(by or session or words or since),
        "more": len(found) > limit,
    }
