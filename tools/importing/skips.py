"""What an import leaves out, and the reasons that several readers share. No source is read here."""

from __future__ import annotations

import msgspec

from memtape.tools.capture.injected import clean
from memtape.tools.capture.noise import TOOL_ERROR


class Skipped(msgspec.Struct, frozen=True):
    """Something that is not taken, and why. A `problem` is named with its place, the rest is counted."""

    reason: str
    problem: bool = False


THINKING = Skipped("thinking")
INJECTED = Skipped("injected by a host or a memory")
EMPTY = Skipped("no text")
CALL = Skipped("tool call")
"""For exports, whose tools worked on no project."""
TOOL = Skipped("a tool's message")
FAILED = Skipped(TOOL_ERROR)
RECALLED = Skipped("answer of a memory tool")
BOOKKEEPING = Skipped("bookkeeping of the host")
COMPACTION = Skipped("summary of a compaction")
NO_ID = Skipped("a turn without an id", problem=True)
NO_MESSAGES = Skipped("a conversation without its messages", problem=True)
SECRETS = Skipped("of a file of secrets, and not taken")
NO_FORMAT = Skipped("a file of no known format")
"""In a folder such files are counted; one that was named by itself is a problem."""


def unknown(name: object) -> Skipped:
    """Return the skip of a row of an unknown type; skips are counted by type name."""
    return Skipped(f"unknown type {clean(str(name))[:40]!r}")
