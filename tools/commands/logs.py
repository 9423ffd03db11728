"""The options by which a command tells events of operation on stderr, a line each, as JSON or text.

Which events there are stands in `tools/keep/operations.py`; none has a text of a memory or a question.
"""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click
import orjson

from memtape.schemas.times import format_time

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

LEVELS = ("debug", "info", "warning", "error")


class _Lines(logging.Formatter):
    """Writes a record as one line: when, at which level, what, and its facts."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Return the line. Of a record that is no event of ours its logger's name is told, and not what it says."""
        facts: dict[str, int | str] | None = getattr(record, "facts", None)
        known = facts is not None
        event = record.getMessage() if known else "other"
        told = facts if facts is not None else {"logger": record.name}
        head = {"at": format_time(int(record.created * 1_000_000)), "level": record.levelname.lower(), "event": event}
        if self._as_json:
            return orjson.dumps(head | told).decode()
        return " ".join([*head.values(), *(f"{name}={value}" for name, value in told.items())])


def with_log(command: CommandT) -> CommandT:
    """Give a command `--log-format` and `--log-level`, either of which has it tell events of operation on stderr.

    The command is told by `logs` whether it does.
    """

    @functools.wraps(command)
    def wrapped(log_format: str | None, log_level: str | None, **kwargs: Any) -> Any:
        if log_format is None and log_level is None:
            return command(logs=False, **kwargs)
        logger, handler = logging.getLogger("memtape"), logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Lines(as_json=log_format == "json"))
        before = logger.level, logger.propagate
        logger.addHandler(handler)
        logger.setLevel((log_level or "info").upper())
        logger.propagate = False
        try:
            return command(logs=True, **kwargs)
        finally:
            logger.removeHandler(handler)
            logger.level, logger.propagate = before

    for option in (
        click.option("--log-level", type=click.Choice(LEVELS), help="From which level on; by default info."),
        click.option(
            "--log-format",
            type=click.Choice(("json", "text")),
            help="Tell events of operation on stderr, a line each.",
        ),
    ):
        wrapped = option(wrapped)
    return cast(CommandT, wrapped)
