"""The health of a view against its log, in one word: hydrating, ready, lagging or failing.

Pure: the caller passes the time. Measurements, and advice for people, are elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import msgspec

HealthState = Literal["ready", "lagging", "hydrating", "failing"]  # From the best to the worst.
ViewName = Literal["rows", "pages", "vectors"]
"""Rows are the tables with the search index, under one watermark."""

LAGGING_S = 10  # A projector looks ten times a second: longer waits have another cause.


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """The health of one view of one partition.

    `lag_events` is the number of missing events, or of texts in `vectors`; `lag_s` the age of the oldest of
    them, in seconds. `why` is a sentence about a failing view.
    """

    view: ViewName
    partition: int
    state: HealthState
    lag_events: int
    lag_s: int
    why: str = ""


def health(
    view: ViewName, partition: int, *, lag_events: int, oldest_us: int | None, now_us: int, made: bool,
    why: str = "",
) -> Health:  # fmt: skip
    """Return the health of a view.

    `oldest_us` is the time of the oldest missing event, None if unknown. `made` says whether the view was
    ever built; `why` is a sentence if it cannot be served, or if no process works on it.
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
    """Return the worst of some states, `ready` without any."""
    order: tuple[HealthState, ...] = get_args(HealthState)
    return max((its.state for its in states), key=order.index, default="ready")
