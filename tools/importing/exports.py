"""Items of JSON exports, told apart by their shape: the names of files and keys differ from year to year."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memtape.tools.capture.native_ids import CHATGPT, CLAUDE_AI, GEMINI, MEM0
from memtape.tools.importing import chatgpt, claude_ai, gemini, mem0
from memtape.tools.importing.reading import HEAD, WHOLE
from memtape.tools.importing.records import Found, State
from memtape.tools.importing.skips import Skipped

SHAPES = {CHATGPT: chatgpt, CLAUDE_AI: claude_ai, MEM0: mem0}

_LISTS = ("chat_messages", "docs")
"""The keys of messages and documents in a file of one conversation or project of Claude.ai."""
OTHER = Skipped("an item of no known shape")


def source_of(item: Any) -> str | None:
    """Return the source of an item, None for an unknown shape."""
    return next((name for name, shape in SHAPES.items() if shape.fits(item)), None)


def take(key: str | None, item: Any, state: State) -> Iterator[Found]:
    """Yield the records of a document's item (`reading.Item`).

    `state` gets the fields before a list, and the session id among them.
    """
    if key == HEAD:
        state["head"] = item
        state["session"] = item.get("sessionId")
    elif key == WHOLE and source_of(item) is None:
        return
    elif key in _LISTS and isinstance(item, dict):
        yield from claude_ai.take({**state.get("head", {}), key: [item]})
    elif key == "messages" and isinstance(item, dict) and isinstance(state.get("session"), str):
        yield from gemini.take(item, state)
    elif (source := source_of(item)) is not None:
        yield from SHAPES[source].take(item)
    else:
        yield OTHER


def source_in(key: str | None, item: Any) -> str | None:
    """Return the source of a document's item, by its shape and the key above the item."""
    if key == "messages":
        return GEMINI
    return CLAUDE_AI if key in _LISTS else source_of(item)
