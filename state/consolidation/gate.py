"""The start of a scope's consolidation pass, and reasons for a delay. The numbers are specified (F4)."""

from __future__ import annotations

from typing import NamedTuple

from memtape.schemas.rows import PassMark
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.schemas.visible import many

REST_US = DAY_US
"""A pass begins a day after the last one at the earliest."""
ENOUGH_NEW, ENOUGH_CONFIRMED = 20, 25
BEHIND_US = 14 * DAY_US
"""A pass starts for memories waiting longer, however few."""


class Gate(NamedTuple):
    """Whether a pass may begin, and why or why not, as a sentence without its end."""

    is_open: bool
    reason: str


def gate(mark: PassMark, now: int) -> Gate:
    """Return whether a pass begins in a scope at a time in microseconds."""
    waited = now - mark.oldest if mark.oldest else 0
    if waited > BEHIND_US:
        return Gate(True, f"the oldest new memory has waited for {waited // DAY_US} days")
    if not (mark.new or mark.confirmed or mark.queued):
        return Gate(False, "nothing is new")
    rested = now - mark.at
    if mark.at and rested < REST_US:
        return Gate(False, f"the last pass was {max(0, rested) // HOUR_US} h ago, and there is one in 24 h")
    if mark.new >= ENOUGH_NEW:
        return Gate(True, many(mark.new, "new memory", "new memories"))
    if mark.confirmed >= ENOUGH_CONFIRMED:
        return Gate(True, many(mark.confirmed, "confirmation"))
    if mark.queued:
        return Gate(True, f"{many(mark.queued, 'cluster')} to be looked at again")
    return Gate(
        False,
        f"{mark.new} of {ENOUGH_NEW} new memories and {mark.confirmed} of {ENOUGH_CONFIRMED} confirmations are there",
    )
