"""The spool of a home: captures kept while the broker is away, until it answers.

A line of the file is one batch of events, encoded and separated by tabs, in the order of their captures. A
line is durable before its capture is acknowledged, and deleted after the log has its events: an event
delivered twice has one id and counts once. Texts are stored as on a log, without secrets and private parts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from memtape.schemas.codec import decode
from memtape.schemas.errors import Locked, LogAway, UnknownOutcome
from memtape.schemas.events import Captured, Event
from memtape.schemas.log import SPOOLED, Log, Position, known_among
from memtape.schemas.settings import Settings
from memtape.schemas.visible import many
from memtape.sinks.home.files import private, write_whole
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.admission import check_admissible
from memtape.sinks.logs.kafka import DEADLINE_S, KafkaLog
from memtape.sinks.logs.kafka_topic import parse_kafka_url

BATCH_EVENTS = 500
AGAIN_S = 2.0  # Time (s) for which an opener waits for a broker that was away a moment ago.
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
        done = 0
        if not self._path.exists():
            return done
        with suppress(Locked), self._home.lock("spool-delivery").held(0):
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
        return done

    def _lines(self) -> list[bytes]:
        try:
            lines = self._path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        return lines if not lines or lines[-1].endswith(b"\n") else lines[:-1]


class SpoolingLog:
    """The log of a home on Kafka: keeps captures in the spool while its broker does not confirm them.

    If the broker does not answer at the opening, anything else raises `LogAway`.
    """

    def __init__(self, url: str, home: Home, settings: Settings) -> None:
        self.place, self.user = url, parse_kafka_url(url).user
        self._spool = Spool(home)
        self._log: KafkaLog | None = None
        wait_s = AGAIN_S if self._spool.count() else DEADLINE_S
        try:
            log = KafkaLog(url, None, settings, ids=home.known_ids, deadline_s=wait_s)
            log.deadline_s = DEADLINE_S
            self._spool.deliver(log.append, log)
            self._log, self.place = log, log.place
        except LogAway as error:
            self._error = error

    def append(self, events: Sequence[Event]) -> list[Position]:
        """See `KafkaLog.append`. Spooled events are appended first."""
        try:
            self.deliver()
            return self._opened().append(events)
        except (LogAway, UnknownOutcome):
            if not events or not all(isinstance(event.body, Captured) for event in events):
                raise
            return self._spool.add(events)

    def deliver(self) -> int:
        """Append the events of the spool and return their number."""
        log = self._opened()
        return self._spool.deliver(log.append, log)

    @property
    def kafka(self) -> KafkaLog:
        """The log on the topic. Raises `LogAway`."""
        return self._opened()

    def close(self) -> None:
        """See `Log.close`."""
        if self._log is not None:
            self._log.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opened(), name)

    def _opened(self) -> KafkaLog:
        if self._log is not None:
            return self._log
        waiting = self._spool.count()
        waits = many(waiting, "capture waits", "captures wait")
        told = f" {waits} in the spool until it answers." if waiting else ""
        error = LogAway(str(self._error), self._error.hint + told)
        error.spooled = waiting
        raise error
