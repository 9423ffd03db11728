"""The spool of a home: captures kept while the broker is away, until it answers.

A line of the file is one batch of events, encoded and separated by tabs, in the order of their captures. A
line is durable before its capture is acknowledged, and deleted after the log has its events: an event
delivered twice has one id and counts once. Texts are stored as on a log, without secrets and private parts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from memtape.schemas.codec import decode
from memtape.schemas.errors import Locked, LogAway, UnknownOutcome
from memtape.schemas.events import Captured, Event
from memtape.schemas.log import SPOOLED, Log, Position, known_among
from memtape.schemas.settings import Settings
from memtape.schemas.visible import many
from memtape.sinks.home.folders import Home, private, write_whole
from memtape.sinks.logs.admission import check_admissible
from memtape.sinks.logs.kafka import DEADLINE_S, KafkaLog

BATCH_EVENTS = 500
AGAIN_S = 2.0
"""Time (s) for which an opener waits for a broker that was away a moment ago."""
Append = Callable[[Sequence[Event]], Sequence[Position]]


class Spool:
    """The spool of one home. Several processes may use it at once."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._path = home.spool_path

    def add(self, events: Sequence[Event]) -> list[Position]:
        """Keep events, all or none; return their positions once they are durable. Raises `InvalidEvent`."""
        payloads = [payload for _, payload in map(check_admissible, events)]
        with self._home.lock("spool"), open(self._path, "ab", opener=private) as file:
            whole = sum(map(len, self._lines()))
            file.truncate(whole)  # A line that was cut short was never acknowledged.
            file.write(b"\t".join(payloads) + b"\n")
            file.flush()
            os.fsync(file.fileno())
            if not whole:
                folder = os.open(self._path.parent, os.O_RDONLY)
                os.fsync(folder)
                os.close(folder)
        return [SPOOLED] * len(events)

    def count(self) -> int:
        """Return how many events wait."""
        return sum(line.count(b"\t") + 1 for line in self._lines())

    def deliver(self, append: Append, log: Log) -> int:
        """Append the spooled events to a log, in order, and return their number. Raises as `append`.

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
            while lines := self._lines():
                events: list[Event] = []
                taken = 0
                while taken < len(lines) and len(events) < BATCH_EVENTS:
                    events += map(decode, lines[taken].rstrip(b"\n").split(b"\t"))
                    taken += 1
                known = known_among(log, events)
                if new := [event for event in events if (event.scope, event.id) not in known]:
                    append(new)
                done += len(new)
                with self._home.lock("spool"):
                    rest = self._lines()[taken:]
                    if rest:
                        write_whole(self._path, b"".join(rest), durable=True)
                    else:
                        self._path.unlink()
        finally:
            delivering.release()
        return done

    def _lines(self) -> list[bytes]:
        try:
            lines = self._path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        return lines if not lines or lines[-1].endswith(b"\n") else lines[:-1]


class SpoolingLog(KafkaLog):
    """A log on Kafka that keeps captures in the spool of a home while its broker does not confirm them."""

    def __init__(self, url: str, spool: Spool, ids: Path, settings: Settings) -> None:
        self._spool = spool
        self._is_open = False
        super().__init__(url, None, settings, ids=ids, deadline_s=AGAIN_S if spool.count() else DEADLINE_S)
        self._deadline_s, self._is_open = DEADLINE_S, True
        self.deliver()

    def deliver(self) -> int:
        """Append the events of the spool and return their number."""
        return self._spool.deliver(super().append, self)

    def append(self, events: Sequence[Event]) -> list[Position]:
        """See `KafkaLog.append`. Spooled events are appended first."""
        try:
            if self._is_open:
                self.deliver()
            return super().append(events)
        except (LogAway, UnknownOutcome):
            if not _are_captures(events):
                raise
            return self._spool.add(events)


class AwayLog:
    """The log of a home without a reachable broker: spools captures, and raises `LogAway` otherwise."""

    def __init__(self, url: str, spool: Spool, error: LogAway) -> None:
        self.place = url
        self._spool = spool
        self._error = error

    def append(self, events: Sequence[Event]) -> list[Position]:
        """Keep captures in the spool. Raises `LogAway` for any other event."""
        return self._spool.add(events) if _are_captures(events) else self._refuse()

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def __getattr__(self, name: str) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        waiting = self._spool.count()
        waits = many(waiting, "capture waits", "captures wait")
        told = f" {waits} in the spool until it answers." if waiting else ""
        error = LogAway(str(self._error), self._error.hint + told)
        error.spooled = waiting
        raise error


def _are_captures(events: Sequence[Event]) -> bool:
    return bool(events) and all(isinstance(event.body, Captured) for event in events)
