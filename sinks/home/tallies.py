"""Small counts of a home, each kind in a file of its own, that any process adds to and `memtape status` shows."""

from __future__ import annotations

from pathlib import Path

import orjson

from memtape.schemas.errors import Locked
from memtape.sinks.home.folders import write_whole
from memtape.sinks.home.locks import FileLock

LEFT_OUT = "left-out"
"""Events of hooks that were not stored, by reason."""
LESSENED = "lessened"
"""Texts of hooks stored out of reach of searches, or without their middle."""
LOCK_WAIT_S = 0.3


def count_one(home: Path, kind: str, name: str) -> None:
    """Add 1 to the count of a name. Never raises: a failed count must not lose the counted event."""
    lock = FileLock(home / f"{kind}.lock", f"The count of {kind}")
    try:
        lock.acquire(LOCK_WAIT_S)
        try:
            counts = tally_of(home, kind)
            counts[name] = counts.get(name, 0) + 1
            write_whole(home / f"{kind}.json", orjson.dumps(counts, option=orjson.OPT_SORT_KEYS))
        finally:
            lock.release()
    except (OSError, Locked):
        pass


def tally_of(home: Path, kind: str) -> dict[str, int]:
    """Return how many there were of each name."""
    try:
        counts = orjson.loads((home / f"{kind}.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return {key: count for key, count in counts.items() if isinstance(count, int)} if isinstance(counts, dict) else {}
