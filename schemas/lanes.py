"""The lanes of a search, and the marks among lanes of a recall unasked for or by a shadow.

`state/ranking/lanes.py` says what each lane does.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple, get_args

Lane = Literal["sparse", "dense", "hot", "fresh", "edges"]
LANES: tuple[Lane, ...] = get_args(Lane)

Unasked = Literal["start", "prompt"]
"""The reasons for memories given to an agent unasked for: a start's context, or a prompt's sure results."""
UNASKED: tuple[Unasked, ...] = get_args(Unasked)
_TOKENS = "tokens:"

MOST_LOOKS = 3
"""Maximum looks of a deep search (spec R4)."""

SHADOW = "shadow"
"""The mark of a shadow's recall: its results were shown to no session."""
_RETRIEVER, _TOOK, _FAILED = "retriever:", "took_us:", "failed"


def unasked_lanes(by: Unasked, tokens: int) -> tuple[str, ...]:
    """Return the lanes of a recall unasked for: the giver's name, and the given text's length in tokens."""
    return by, f"{_TOKENS}{tokens}"


def unasked_by(lanes: Collection[str]) -> Unasked | None:
    """Return the giver of a recall unasked for, by its lanes; None for a search."""
    return next((by for by in UNASKED if by in lanes), None)


def tokens_given(lanes: Collection[str]) -> int | None:
    """Return the number of tokens given to an agent with a recall, None if not counted."""
    told = _told(lanes, _TOKENS)
    return int(told) if told.isdecimal() and told.isascii() else None


class ShadowLanes(NamedTuple):
    """Content of a shadow's lanes: retriever, duration in microseconds, and whether the retriever failed."""

    retriever: str
    took_us: int = 0
    failed: bool = False


def shadow_lanes(told: ShadowLanes) -> tuple[str, ...]:
    """Return the lanes of a shadow's recall."""
    return SHADOW, _RETRIEVER + told.retriever, _FAILED if told.failed else f"{_TOOK}{told.took_us}"


def shadow_of(lanes: Collection[str]) -> ShadowLanes | None:
    """Return the content of a shadow's lanes, None for a recall whose results were shown."""
    if SHADOW not in lanes:
        return None
    took = _told(lanes, _TOOK)
    took_us = int(took) if took.isdecimal() and took.isascii() else 0
    return ShadowLanes(_told(lanes, _RETRIEVER), took_us, _FAILED in lanes)


def _told(lanes: Collection[str], what: str) -> str:
    return next((lane[len(what) :] for lane in lanes if lane.startswith(what)), "")
