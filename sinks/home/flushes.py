"""`flushes.json` of a home: how many flushes before a compaction went how."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from memtape.sinks.home.tallies import count_one, tally_of

Outcome = Literal["deterministic_ok", "distilled_ok", "timeout", "error"]

FLUSHES = "flushes"


def count_outcome(home: Path, outcome: Outcome) -> None:
    """Add 1 to the count of flushes with this outcome. Never raises."""
    count_one(home, FLUSHES, outcome)


def outcomes(home: Path) -> dict[str, int]:
    """Return how many flushes went how."""
    return tally_of(home, FLUSHES)
