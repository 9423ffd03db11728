"""Bounds of the MCP server's answers: a maximum length, no active tag, no hidden character.

Every answer passes here last. The server imports this module at its start: import no view and no reader of
views here.
"""

from __future__ import annotations

from memtape.schemas.visible import visible
from memtape.tools.capture.injected import MARKER, without_tags

MAX_ANSWER_BYTES = 36_000
"""Below the smallest limit of hosts for a result: 40,000 characters, or 10,000 tokens at 4 bytes each."""
MAX_ERROR_BYTES = 2_000
_END = f"\n</{MARKER}>"


def bounded(answer: str) -> str:
    """Return an answer visible and in at most `MAX_ANSWER_BYTES`, with no block of ours left open."""
    shown = visible(answer)
    if len(shown.encode("utf-8", "replace")) <= MAX_ANSWER_BYTES:
        return shown
    head = cut(shown, MAX_ANSWER_BYTES - len(_END))
    return head if _END in head or f"<{MARKER}>" not in head else head + _END


def sentence(error: str) -> str:
    """Return an error for an agent, in at most `MAX_ERROR_BYTES`."""
    return fitted(visible(error), MAX_ERROR_BYTES)


def fitted(text: str, limit_bytes: int) -> str:
    """Return a text in which no tag acts, of at most `limit_bytes`."""
    return cut(without_tags(text), limit_bytes)


def cut(text: str, limit_bytes: int) -> str:
    """Return a text of at most `limit_bytes` in UTF-8, with an ellipsis where it was longer."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= limit_bytes else data[: limit_bytes - 3].decode("utf-8", "ignore") + "…"
