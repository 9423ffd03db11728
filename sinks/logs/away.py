"""The log of a home on Kafka while the broker is away: captures go to the home's spool."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from memtape.schemas.errors import LogAway, UnknownOutcome
from memtape.schemas.events import Captured, Event
from memtape.schemas.log import Position
from memtape.schemas.settings import Settings
from memtape.schemas.visible import many
from memtape.sinks.logs.kafka import DEADLINE_S, KafkaLog
from memtape.sinks.logs.spool import Spool

AGAIN_S = 2.0


class SpoolingLog(KafkaLog):
    """A log on Kafka that keeps captures in the spool of a home while its broker does not confirm them."""

    def __init__(self, url: str, spool: Spool, ids: Path, settings: Settings) -> None:
        self._spool = spool
        self._is_open = False
        # A broker with spooled captures was away a moment ago: the next caller should not wait long.
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
        told = f" {many(waiting, 'capture waits', 'captures wait')} in the spool until it answers." if waiting else ""
        error = LogAway(str(self._error), self._error.hint + told)
        error.spooled = waiting
        raise error


def _are_captures(events: Sequence[Event]) -> bool:
    return bool(events) and all(isinstance(event.body, Captured) for event in events)
