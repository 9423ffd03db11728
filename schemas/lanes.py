"""The lanes by which a text can be found or moved, and what says that a recall was asked for by nobody.

What each lane does is in `state/ranking/lanes.py`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, get_args

Lane = Literal["sparse", "dense", "hot", "fresh", "edges"]
LANES: tuple[Lane, ...] = get_args(Lane)

Unasked = Literal["start", "prompt"]
"""What gave an agent memories that it did not ask for: the context of a start, or what a prompt surely needs."""
UNASKED: tuple[Unasked, ...] = get_args(Unasked)
_TOKENS = "tokens:"


def unasked_lanes(by: Unasked, tokens: int) -> tuple[str, ...]:
    """Return what stands among the lanes of a recall that nobody asked for: what gave it, and its length in tokens."""
    return by, f"{_TOKENS}{tokens}"


def unasked_by(lanes: Collection[str]) -> Unasked | None:
    """Return what gave the results of a recall with these lanes unasked, None where somebody searched."""
    return next((by for by in UNASKED if by in lanes), None)


def tokens_given(lanes: Collection[str]) -> int | None:
    """Return how many tokens an agent was given with a recall, None where that was not counted."""
    told = next((lane[len(_TOKENS) :] for lane in lanes if lane.startswith(_TOKENS)), "")
    return int(told) if told.isdecimal() and told.isascii() else None
