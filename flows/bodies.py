"""The bodies of turns, read again from the log when a changed row, a page or an answer needs them."""

from __future__ import annotations

from collections import OrderedDict

from memtape.schemas.codec import body_of_capture
from memtape.schemas.errors import NotFound
from memtape.schemas.events import Captured
from memtape.schemas.log import Log

HELD, HELD_CHARS = 8_192, 4_000_000
"""Bodies, and their characters, held in memory: the last put or read."""
PAGE_SLOTS, FEW_SLOTS = 256, 8
"""Slots read at once by a sequential reader, and by a random read.

A random read is for example of a recall's old results: a whole page for each would take most of a fold, and
evict the latest bodies.
"""


class LoggedBodies:
    """The `Bodies` of a partition of a log. Raises `NotFound` for a body erased since the state was made."""

    def __init__(self, log: Log, partition: int) -> None:
        self._log = log
        self._partition = partition
        self._held: OrderedDict[int, Captured] = OrderedDict()
        self._chars = 0
        self._read_to = 0

    def put(self, offset: int, body: Captured) -> None:
        """See `Bodies.put`."""
        before = self._held.pop(offset, None)
        self._chars += len(body.text) - (len(before.text) if before is not None else 0)
        self._held[offset] = body
        while len(self._held) > HELD or self._chars > HELD_CHARS:
            self._chars -= len(self._held.popitem(last=False)[1].text)

    def at(self, offset: int) -> Captured:
        """See `Bodies.at`."""
        wanted = self._held.get(offset)
        if wanted is not None:
            self._held.move_to_end(offset)
            return wanted
        reads_on = self._read_to <= offset < self._read_to + PAGE_SLOTS
        slots = self._log.read(self._partition, offset, PAGE_SLOTS if reads_on else FEW_SLOTS)
        self._read_to = offset + len(slots)
        for slot in slots:
            body = body_of_capture(slot.payload)
            if body is not None:
                self.put(slot.offset, body)
            if slot.offset == offset:
                wanted = body
        if wanted is None:
            raise NotFound("Something that is asked for has been erased just now.", "Ask again.")
        return wanted

    def kept(self) -> dict[int, Captured]:
        """See `Bodies.kept`."""
        return {}
