"""The view *recalls*: what was asked, by whom, what came back, what was used, and what was injected unasked."""

from __future__ import annotations

from typing import Any

from memtape.tools.ask.given import EVERY_WAY
from memtape.tools.client import Client
from memtape.tools.page.asked import Asked

AT_ONCE = 25


def recalls(client: Client, asked: Asked) -> dict[str, Any]:
    """Return the latest recalls of a scope, narrowed to a way, a session and words of the question."""
    limit = asked.number("limit", AT_ONCE, 1, 500)
    by, session, words = asked.text("by"), asked.text("session"), asked.text("words").casefold()
    found = client.given(limit, session=session or None, since=asked.text("since") or None, searches=True)
    shown = [one for one in found if by in ("", one.by) and words in one.query.casefold()]
    return {
        "recalls": shown,
        "looked_at": len(found),
        "limit": limit,
        "ways": EVERY_WAY,
        "by": by,
        "session": session,
        "words": asked.text("words"),
        "more": len(found) == limit,
    }
