"""`flushes.json` of a home: how many flushes before a compaction went how."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import orjson

from memtape.schemas.errors import Locked
from memtape.sinks.home.folders import write_whole
from memtape.sinks.home.locks import FileLock

Outcome = Literal["deterministic_ok", "distilled_ok", "timeout", "error"]

OUTCOMES_NAME = "flushes.json"
LOCK_WAIT_S = 0.3


def count_outcome(home: Path, outcome: Outcome) -> None:
    """Count one more flush that went so. Never raises: a count must not lose what it counts."""
    try:
        with _locked(home):
            counts = outcomes(home)
            counts[outcome] = counts.get(outcome, 0) + 1
            write_whole(home / OUTCOMES_NAME, orjson.dumps(counts, option=orjson.OPT_SORT_KEYS))
    except (OSError, Locked):
        pass


def outcomes(home: Path) -> dict[str, int]:
    """Return how many flushes went how."""
    try:
        counts = orjson.loads((home / OUTCOMES_NAME).read_bytes())
    except (OSError, ValueError):
        return {}
    return {key: count for key, count in counts.items() if isinstance(count, int)} if isinstance(counts, dict) else {}


class _locked:
    def __init__(self, home: Path) -> None:
        self._lock = FileLock(home / "flushes.lock", "The count of flushes")

    def __enter__(self) -> None:
        self._lock.acquire(LOCK_WAIT_S)

    def __exit__(self, *_: object) -> None:
        self._lock.release()
