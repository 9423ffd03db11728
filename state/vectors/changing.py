"""A change of the embedder: a machine's actions for a log with or without one, and the new settings.

All of it follows from the log's settings, earlier settings, and the key of the machine's embedder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from memtape.schemas.embedding import FLOOR
from memtape.schemas.settings import Settings

Drift = Literal["", "next", "other"]
"""How a machine's embedder is not the one that a log wants: another is to come `next`, or the log has an `other`."""


class EmbedderPlan(NamedTuple):
    """A machine's plan for a log: make vectors under `key`, and `then` let it take over, or nothing."""

    key: str | None
    then: bool = False
    begin: bool = False
    """Whether the log first needs a `configured` event with this embedder as the next."""
    drift: Drift = ""
    """Why not all is embedded though there is an embedder."""


def plan(settings: Settings, history: Sequence[Settings], own: str) -> EmbedderPlan:
    """Return the plan of a machine with the embedder `own` for a log with these settings.

    A log that never had a dense embedder goes up by itself. Every other change is a person's decision.
    """
    if own == settings.embedder_next:
        return EmbedderPlan(own, then=True)
    if own == FLOOR:
        return EmbedderPlan(None)
    if own == settings.embedder:
        return EmbedderPlan(own, drift="next" if settings.embedder_next else "")
    if not any(map(wants_dense, history)):
        return EmbedderPlan(own, then=True, begin=True)
    return EmbedderPlan(None, drift="other")


def wants_dense(settings: Settings) -> bool:
    """Return whether a log with these settings has dense vectors or is to have them."""
    return settings.embedder != FLOOR or settings.embedder_next is not None


def with_next(settings: Settings, key: str, fold_cosine_hundredths: int | None = None) -> Settings:
    """Return settings with a key's embedder as the next; the floor takes over at once, having no vectors."""
    if fold_cosine_hundredths is not None:
        cosines = {**settings.fold_cosines_hundredths, key: fold_cosine_hundredths}
        settings = msgspec.structs.replace(settings, fold_cosines_hundredths=cosines)
    if key == FLOOR:
        return decided(settings, FLOOR)
    return msgspec.structs.replace(settings, embedder_next=None if settings.embedder == key else key)


def taken_over(settings: Settings, key: str) -> Settings:
    """Return settings with `key` as the deciding embedder if `key` still comes next, else unchanged."""
    return decided(settings, key) if settings.embedder_next == key else settings


def decided(settings: Settings, key: str) -> Settings:
    """Return settings with a deciding embedder and no next one."""
    return msgspec.structs.replace(settings, embedder=key, embedder_next=None)


def before_that(history: Sequence[Settings]) -> str | None:
    """Return the embedder that decides after a coming one is cancelled, else the previous one, if any."""
    now = history[-1]
    if now.embedder_next is not None:
        return now.embedder
    return next((known.embedder for known in reversed(history) if known.embedder != now.embedder), None)
