"""How a view stands against its log, in one word: hydrating, ready, lagging or failing. Pure: the time is handed in.

What was measured for it, and what people are told to do, is not here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import msgspec

HealthState = Literal["ready", "lagging", "hydrating", "failing"]
"""From the best to the worst."""
ViewName = Literal["rows", "pages", "vectors"]
"""Rows are the tables with the search index, under one watermark."""

LAGGING_S = 10
"""A projector looks ten times a second: longer waits have another cause."""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """How one view of one partition stands.

    `lag_events` is how many events, or texts of `vectors`, it lacks; `lag_s` how long the oldest of them has waited, in
    seconds. `why` is a sentence where it is failing.
    """

    view: ViewName
    partition: int
    state: HealthState
    lag_events: int
    lag_s: int
    why: str = ""


def health(
    view: ViewName, partition: int, *, lag_events: int, oldest_us: int | None, now_us: int, made: bool, why: str = ""
) -> Health:
    """Return how a view stands.

    `oldest_us` is when the oldest of what it lacks came onto the log, None where nobody knows. `made` says whether the
    view was ever made; `why` is a sentence where it cannot be served, or where nobody works on it.
    """
    waited_s = max(0, now_us - oldest_us) // 1_000_000 if lag_events and oldest_us is not None else 0
    state: HealthState = "ready"
    if why:
        state = "failing"
    elif lag_events and not made:
        state = "hydrating"
    elif lag_events and (oldest_us is None or waited_s >= LAGGING_S):
        state = "lagging"
    return Health(view=view, partition=partition, state=state, lag_events=lag_events, lag_s=waited_s, why=why)


def worst(states: Iterable[Health]) -> HealthState:
    """Return the worst of some states, `ready` where there is none."""
    order: tuple[HealthState, ...] = get_args(HealthState)
    return max((its.state for its in states), key=order.index, default="ready")
