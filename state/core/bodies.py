"""The source of turns' bodies: a state stores their offsets, and not their texts.

The reader of a log is elsewhere; here is the store for states without a log to read again.
"""

from __future__ import annotations

from memtape.schemas.events import Captured


class Bodies:
    """The captured bodies of a partition by offset; here all of them, in memory."""

    def __init__(self) -> None:
        self._bodies: dict[int, Captured] = {}

    def put(self, offset: int, body: Captured) -> None:
        """Store a body just read at an offset."""
        self._bodies[offset] = body

    def at(self, offset: int) -> Captured:
        """Return the body captured at an offset of a capture."""
        return self._bodies[offset]

    def kept(self) -> dict[int, Captured]:
        """Return by offset the bodies that only the snapshot can hold."""
        return self._bodies
