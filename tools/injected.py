"""What a memory system put into a conversation by itself, which must never come back as something that was said.

Our own context is wrapped here before a host is handed it, and recognised here, with what the hosts themselves inject,
before a text is taken. Nothing here reads a transcript or knows a host's rows.
"""

from __future__ import annotations

import re

MARKER = "recollect"
"""The tag around every context that Recollect hands to a host, as `<recollect>…</recollect>`."""

_PAIRED = (
    MARKER,
    "recollect-context",
    "hook_context",
    "system-reminder",
    "session_context",
    "environment_context",
    "user_instructions",
    "user-memory-input",
    "state_snapshot",
    "task-notification",
    "agent-message",
    "teammate-message",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "command-name",
    "command-message",
    "command-args",
    "claude-mem-context",
    "supermemory-context",
    "relevant-memories",
    "relevant_memories",
)
"""Tags whose whole content a host or a memory system wrote: hook contexts, reminders, includes, echoes of commands."""

MAX_DEPTH = 32
"""An end looks this many open blocks back for its start."""

_TAG = re.compile(rf"<(/?)({'|'.join(_PAIRED)})(?:\s[^<>]{{0,500}})?>", re.IGNORECASE)
_LINE_START = re.compile(r"(?:\A|\n)[ \t]*\Z")
_INCLUDE = re.compile(r"\A\s*# (?:AGENTS|CLAUDE|GEMINI)(?:\.\w+)?\.md instructions\b", re.IGNORECASE)


def wrap(context: str) -> str:
    """Return a context as a host may be handed it. A marker inside it is broken, so that it cannot end the block."""
    broken = re.sub(rf"<(/?)({MARKER})\b", r"<\1 \2", context, flags=re.IGNORECASE)
    return f"<{MARKER}>\n{broken}\n</{MARKER}>"


def without_injected(text: str) -> str:
    """Return a text without its injected blocks; empty where nothing else is in it.

    Blocks nest. One that never ends runs to the end of the text if it starts a line; else its tag is just a word.
    """
    if _INCLUDE.match(text):
        return ""
    kept, place = [], 0
    for start, end in _blocks(text):
        kept.append(text[place:start])
        place = end
    kept.append(text[place:])
    # With nothing between them the rest could make a tag that was none.
    return " ".join(part for part in kept if part).strip()


def _blocks(text: str) -> list[tuple[int, int]]:
    """Return the outermost blocks in order, as (start, end)."""
    opened: list[tuple[str, int]] = []
    closed: list[tuple[int, int]] = []
    for found in _TAG.finditer(text):
        tag = found[2].lower()
        if not found[1]:
            opened.append((tag, found.start()))
        elif any(tag == name for name, _ in opened[-MAX_DEPTH:]):
            while opened[-1][0] != tag:
                opened.pop()
            _close(closed, opened.pop()[1], found.end())
    endless = next((start for _, start in opened if _LINE_START.search(text, max(0, start - 80), start)), None)
    if endless is not None:
        _close(closed, endless, len(text))
    return closed


def _close(closed: list[tuple[int, int]], start: int, end: int) -> None:
    """Add a block, which takes those that began inside it."""
    while closed and closed[-1][0] > start:
        closed.pop()
    closed.append((start, end))
