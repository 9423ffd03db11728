"""Operations of a home's owners and servers, as log lines and as samples: names, numbers and kinds of errors.

No text of a memory, a question or a file comes here: `operation` takes numbers, and words of this program
alone.
"""

from __future__ import annotations

import logging
from typing import Literal, get_args

import orjson

from memtape.schemas.metrics import OnStep, Step
from memtape.schemas.times import format_time
from memtape.sinks.home.counts import note
from memtape.sinks.home.folders import Home

LOGGER = logging.getLogger("memtape")
LOGGER.addHandler(logging.NullHandler())

Routine = Literal["started", "serving", "stopped", "epoch", "snapshot", "rebuilt", "erased"]
Detail = Literal["folded", "answered"]
Doubt = Literal["locked", "noted"]
Breakdown = Literal["worker_failed", "flow_failed", "broken"]
Operation = Literal[Routine, "taken", "refused", Detail, Doubt, Breakdown]
LEVELS: dict[str, int] = dict.fromkeys(get_args(Detail), logging.DEBUG)
LEVELS |= dict.fromkeys(get_args(Doubt), logging.WARNING) | dict.fromkeys(get_args(Breakdown), logging.ERROR)
TOLD: dict[Step, Operation]
TOLD = {"fold": "folded", "write": "epoch", "snapshot": "snapshot", "rebuild": "rebuilt"}
"""The operation by which a finished step is told."""


def operation(name: Operation, **facts: int | str) -> None:
    """Tell an event of operation. Texts among the facts are words of this program, as a name of a worker."""
    LOGGER.log(LEVELS.get(name, logging.INFO), name, extra={"facts": facts})


def steps_of(home: Home) -> OnStep:
    """Return a callback that logs and samples the duration of a step."""

    def on_step(step: Step, partition: int, took_ns: int) -> None:
        note(home.path, [("step", step, "", took_ns // 1_000)])
        operation(TOLD[step], partition=partition, took_us=took_ns // 1_000)

    return on_step


def failure(home: Home, name: Operation, error: BaseException, **facts: int | str) -> None:
    """Count an error, and log its kind. The message is left out, since it may quote a memory."""
    note(home.path, [("error", "worker", "", 1)])
    operation(name, error=type(error).__name__, **facts)


class Lines(logging.Formatter):
    """Formats a record as one line: time, level, event and facts."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Return the line. A foreign record is reduced to its logger's name, without its message."""
        facts: dict[str, int | str] | None = getattr(record, "facts", None)
        known = facts is not None
        event = record.getMessage() if known else "other"
        told = facts if facts is not None else {"logger": record.name}
        at, level = format_time(int(record.created * 1_000_000)), record.levelname.lower()
        head = {"at": at, "level": level, "event": event}
        if self._as_json:
            return orjson.dumps(head | told).decode()
        return " ".join([*head.values(), *(f"{name}={value}" for name, value in told.items())])
