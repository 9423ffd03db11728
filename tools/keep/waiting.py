"""Progress of folding states of the log, for the caller that waits, wherever the fold happens.

Nothing is imported here, since every command sets the callback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Told = Callable[[int, int], None]
"""Gets how many slots are folded, and how many there are."""

TOLD: ContextVar[Told] = ContextVar("told", default=lambda done, total: None)
"""The progress callback of this context."""


@contextmanager
def told_of_folding(told: Told) -> Iterator[None]:
    """Tell how many slots are folded of how many, while states are asked for in this context."""
    token = TOLD.set(told)
    try:
        yield
    finally:
        TOLD.reset(token)
