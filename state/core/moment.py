"""When and under what an event is folded: the context that every reducer gets beside the event."""

from __future__ import annotations

from typing import NamedTuple

from memtape.schemas.settings import Settings


class Moment(NamedTuple):
    """`seq` counts the scope's events, `offset` is where this one stands, `at` is its clamped time."""

    seq: int
    offset: int
    at: int
    settings: Settings
