"""Errors while serving agents: a short file in the home, shown by `memtape agents doctor`.

Hooks and servers must not disturb an agent, so their errors come here. No captured text is kept: only the
place and kind of an error, and the sentence of Memtape's own errors.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from memtape.schemas.errors import InvalidEvent, MemtapeError
from memtape.schemas.times import format_time
from memtape.schemas.visible import one_line
from memtape.sinks.home.counts import note
from memtape.sinks.home.folders import Home
from memtape.tools.capture.profiles import keeps_nothing

ERRORS_NAME = "agents.log"
MAX_BYTES = 256 * 1024


def note_error(home: Path, where: str, error: BaseException) -> None:
    """Append a line about an error, where a home is there and keeps anything. Never raises."""
    with suppress(Exception):
        if keeps_nothing(home) or not home.is_dir():
            return
        from memtape.tools.capture.secrets.redaction import Redactor

        redactor = Redactor(Home(home, make=False), keeps_key=False)
        told = redactor.text(f"{one_line(where, 60)}  {_told(error)}")
        path = home / ERRORS_NAME
        if path.exists() and path.stat().st_size > MAX_BYTES:
            path.replace(path.with_suffix(".log.1"))
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as file:
            file.write(f"{format_time(time.time_ns() // 1_000)}  {told}\n")
        note(home, [("error", "mcp" if where.startswith("mcp") else "hook", "", 1)])


def latest_errors(home: Path, count: int, since: int = 0) -> list[str]:
    """Return the last recorded errors since a time, oldest first."""
    with suppress(OSError), (home / ERRORS_NAME).open(encoding="utf-8", errors="replace") as file:
        return [line.rstrip("\n") for line in file if line >= format_time(since)][-count:]
    return []


def _told(error: BaseException) -> str:
    name = type(error).__name__
    if isinstance(error, InvalidEvent):
        return f"{name}: {error.reason}"
    if isinstance(error, OSError):  # Without the name of the file.
        return f"{name}: {error.strerror or 'no more is known'}"
    if isinstance(error, MemtapeError):
        return f"{name}: {one_line(str(error), 300)}"
    import traceback  # A hook that meets no error has no time for it.

    frames = traceback.extract_tb(error.__traceback__)
    return f"{name} at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else name
