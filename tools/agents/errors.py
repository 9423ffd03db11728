"""Errors while serving agents: a short file in the home, shown by `memtape agents doctor`.

Hooks and servers must not disturb an agent, so their errors come here. No captured text is kept: only the
place and kind of an error, and the sentence of Memtape's own errors. Without a home the line goes to the
user's state folder, read by the doctor of any other home.
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
LOST_NAME = "agents.lost"
"""An empty file, which also goes onto a full disk: an error was met and could not be written."""
LOST = "an error was met that could not be written down, as on a full disk"
MAX_BYTES = 256 * 1024


def homeless() -> Path:
    """Return the folder of errors about missing homes."""
    from platformdirs import user_state_path

    return user_state_path("memtape", appauthor=False)


def note_error(home: Path, where: str, error: BaseException) -> None:
    """Append a line about an error, where anything is kept.

    Never raises: where not even a line can be written, that is remembered.
    """
    folder = home
    if keeps_nothing(home):
        return
    try:
        told = f"{one_line(where, 60)}  {_told(error)}"
        if not home.is_dir():
            folder, told = homeless(), f"{told}  [{home}]"
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _recover(folder)
        from memtape.tools.capture.secrets.redaction import Redactor

        redactor = Redactor(Home(home, make=False), keeps_key=False)
        _append(folder, time.time_ns(), redactor.text(told))
        if folder is home:
            note(home, [("error", "mcp" if where.startswith("mcp") else "hook", "", 1)])
    except Exception:
        with suppress(OSError):
            (folder / LOST_NAME).touch(mode=0o600)


def latest_errors(home: Path, count: int, since: int = 0) -> list[str]:
    """Return the last recorded errors since a time, oldest first, of this home and of missing homes."""
    lines: list[str] = []
    for folder in (homeless(), home):
        with suppress(OSError):
            _recover(folder)
        with suppress(OSError), (folder / ERRORS_NAME).open(encoding="utf-8", errors="replace") as file:
            lines += [line.rstrip("\n") for line in file]
    lines.sort(key=lambda line: line.partition(" ")[0])
    return [line for line in lines if line >= format_time(since)][-count:]


def _recover(home: Path) -> None:
    """Record a lost error once the disk has room again."""
    lost = home / LOST_NAME
    if lost.exists():
        _append(home, lost.stat().st_mtime_ns, LOST)
        lost.unlink(missing_ok=True)


def _append(home: Path, at_ns: int, told: str) -> None:
    path = home / ERRORS_NAME
    if path.exists() and path.stat().st_size > MAX_BYTES:
        path.replace(path.with_suffix(".log.1"))
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as file:
        file.write(f"{format_time(at_ns // 1_000)}  {told}\n")


def _told(error: BaseException) -> str:
    name = type(error).__name__
    if isinstance(error, InvalidEvent):
        return f"{name}: {error.reason}"
    if isinstance(error, OSError):  # Without the name of the file.
        return f"{name}: {error.strerror or 'no more is known'}"
    if isinstance(error, MemtapeError):
        return f"{name}: {one_line(str(error), 300)}"
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return name
    return f"{name} at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
