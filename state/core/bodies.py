"""Where a state finds again what turns said: it holds offsets of them, and not their texts.

What reads a log is elsewhere; here is what it has to do, and the way of who has no log to read again.
"""

from __future__ import annotations

from typing import Protocol

from memtape.schemas.events import Captured


class Bodies(Protocol):
    """The captured bodies of a partition by offset."""

    def put(self, offset: int, body: Captured) -> None:
        """Take in what was just read at an offset."""

    def at(self, offset: int) -> Captured:
        """Return the body captured at an offset of a capture."""

    def kept(self) -> dict[int, Captured]:
        """Return what a snapshot must hold, since nothing else does, by offset."""


class KeptBodies:
    """The `Bodies` of a state that has no log to read again: all of them, in memory."""

    def __init__(self) -> None:
        self._bodies: dict[int, Captured] = {}

    def put(self, offset: int, body: Captured) -> None:
        """See `Bodies.put`."""
        self._bodies[offset] = body

    def at(self, offset: int) -> Captured:
        """See `Bodies.at`."""
        return self._bodies[offset]

    def kept(self) -> dict[int, Captured]:
        """See `Bodies.kept`."""
        return self._bodies
