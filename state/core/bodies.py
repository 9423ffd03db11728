"""The source of turns' bodies: a state stores their offsets, and not their texts.

The reader of a log is elsewhere; here are its interface, and a store for states without a log to read again.
"""

from __future__ import annotations

from typing import Protocol

from memtape.schemas.events import Captured


class Bodies(Protocol):
    """The captured bodies of a partition by offset."""

    def put(self, offset: int, body: Captured) -> None:
        """Store a body just read at an offset."""

    def at(self, offset: int) -> Captured:
        """Return the body captured at an offset of a capture."""

    def kept(self) -> dict[int, Captured]:
        """Return by offset the bodies that only the snapshot can hold."""


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
