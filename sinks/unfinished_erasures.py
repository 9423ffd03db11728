"""Erasures that were cut short: what the next call needs in order to finish and to prove them.

A file of a plan holds the texts that are erased, is readable by its owner alone, and is deleted once their absence is
proven.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from memtape.sinks.home.folders import Home, write_whole

Plan = TypeVar("Plan")


def keep_unfinished(home: Home, name: str, plan: msgspec.Struct) -> None:
    """Keep a plan under a name, durably, until `drop_unfinished`."""
    home.erasures.mkdir(mode=0o700, exist_ok=True)
    write_whole(home.erasures / f"{name}.json", msgspec.json.encode(plan), durable=True)


def unfinished_erasures(home: Home, type: type[Plan]) -> Iterator[Plan]:
    """Yield each kept plan. A file that cannot be read stays, and a proof names it."""
    for path in sorted(home.erasures.glob("*.json")):
        try:
            yield msgspec.json.decode(path.read_bytes(), type=type)
        except (OSError, msgspec.MsgspecError):
            continue


def drop_unfinished(home: Home, name: str) -> None:
    """Delete a kept plan, and what a killed writer left of it."""
    for path in home.erasures.glob(f"*{name}.json*"):
        path.unlink(missing_ok=True)
