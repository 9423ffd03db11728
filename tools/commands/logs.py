"""The options by which a command tells events of operation on stderr, a line each, as JSON or text.

Which events there are stands in `tools/keep/operations.py`; none has a text of a memory or a question.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

LEVELS = ("debug", "info", "warning", "error")


def with_log(command: CommandT) -> CommandT:
    """Give a command `--log-format` and `--log-level`, either of which has it tell events of operation on stderr.

    The command is told by `logs` whether it does.
    """

    @functools.wraps(command)
    def wrapped(log_format: str | None, log_level: str | None, **kwargs: Any) -> Any:
        if log_format is None and log_level is None:
            return command(logs=False, **kwargs)
        import logging  # A hook, which stands in a file with a server's command, has no time for it.

        from memtape.tools.keep.operations import LOGGER as logger
        from memtape.tools.keep.operations import Lines

        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(Lines(as_json=log_format == "json"))
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
