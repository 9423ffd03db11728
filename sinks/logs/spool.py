"""The spool of a home: captures kept while the broker is away, until it answers.

A line of the file is one batch of events, encoded and separated by tabs, in the order of their captures. A
line is durable before its capture is acknowledged, and deleted after the log has its events: an event
delivered twice has one id and counts once. Texts are stored as on a log, without secrets and private parts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from memtape.schemas.codec import decode, encode
from memtape.schemas.errors import Locked
from memtape.schemas.events import Event
from memtape.schemas.log import SPOOLED, Log, Position, known_among
from memtape.schemas.private import without_private_parts
from memtape.sinks.home.folders import Home, private, write_whole
from memtape.sinks.logs.admission import check_admissible

BATCH_EVENTS = 500
Append = Callable[[Sequence[Event]], Sequence[Position]]


class Spool:
    """The spool of one home. Several processes may use it at once."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._path = home.spool_path

    def add(self, events: Sequence[Event]) -> list[Position]:
        """Keep events, all or none, and return their positions once they are durable. Raises `InvalidEvent`."""
        payloads = []
        for event in events:
            payload = check_admissible(event)
            public = without_private_parts(event, payload)
            payloads.append(payload if public is None else encode(public))
        with self._home.lock("spool"), open(self._path, "ab", opener=private) as file:
            whole = sum(map(len, self._lines()))
            file.truncate(whole)  # A line that was cut short was never acknowledged.
            file.write(b"\t".join(payloads) + b"\n")
            file.flush()
            os.fsync(file.fileno())
            if not whole:
                _sync_folder(self._path.parent)
        return [SPOOLED] * len(events)

    def count(self) -> int:
        """Return how many events wait."""
        return sum(line.count(b"\t") + 1 for line in self._lines())

    def deliver(self, append: Append, log: Log) -> int:
        """Append the spooled events to a log, in order, and return their number; raises the errors of `append`.

        An id on the log is left out: its capture was stored, or erased since. Nothing is done while another
        process delivers.
        """
        if not self._path.exists():
            return 0
        done, delivering = 0, self._home.lock("spool-delivery")
        try:
            delivering.acquire(0)
        except Locked:
            return 0
        try:
            while batch := self._first():
                events = [decode(payload) for line in batch for payload in line.rstrip(b"\n").split(b"\t")]
                known = known_among(log, events)
                if new := [event for event in events if (event.scope, event.id) not in known]:
                    append(new)
                done += len(new)
                self._drop(len(batch))
        finally:
            delivering.release()
        return done

    def _first(self) -> list[bytes]:
        """Return the lines that are delivered next, some hundred events at most unless one line has more."""
        batch, events = [], 0
        for line in self._lines():
            batch.append(line)
            events += line.count(b"\t") + 1
            if events >= BATCH_EVENTS:
                break
        return batch

    def _drop(self, count: int) -> None:
        with self._home.lock("spool"):
            rest = self._lines()[count:]
            if rest:
                write_whole(self._path, b"".join(rest), durable=True)
            else:
                self._path.unlink()

    def _lines(self) -> list[bytes]:
        try:
            lines = self._path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        return lines if not lines or lines[-1].endswith(b"\n") else lines[:-1]


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
