"""What went wrong while an agent was being served: one short file in the home, which `recollect doctor` shows.

Hooks and servers must not disturb an agent, so that their errors come here. Nothing of what was said is kept: the
place and the kind of an error, and the sentence of our own errors.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from recollect.schemas.errors import InvalidEvent, RecollectError
from recollect.schemas.times import format_time
from recollect.schemas.visible import one_line

ERRORS_NAME = "agents.log"
MAX_BYTES = 256 * 1024


def note_error(home: Path, where: str, error: BaseException) -> None:
    """Append a line about an error. Never raises: where nothing can be written, nothing is."""
    try:
        line = f"{format_time(time.time_ns() // 1_000)}  {one_line(where, 60)}  {_told(error)}\n"
        path = home / ERRORS_NAME
        if path.exists() and path.stat().st_size > MAX_BYTES:
            path.replace(path.with_suffix(".log.1"))
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as file:
            file.write(line)
    except (OSError, ValueError):
        pass


def latest_errors(home: Path, count: int) -> list[str]:
    """Return the last lines, oldest first."""
    try:
        with (home / ERRORS_NAME).open(encoding="utf-8", errors="replace") as file:
            return [line.rstrip("\n") for line in file.readlines()[-count:]]
    except OSError:
        return []


def _told(error: BaseException) -> str:
    name = type(error).__name__
    if isinstance(error, InvalidEvent):
        return f"{name}: {error.reason}"
    if isinstance(error, RecollectError | OSError):
        return f"{name}: {one_line(str(error), 300)}"
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return name
    return f"{name} at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
