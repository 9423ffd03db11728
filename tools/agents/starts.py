"""When a session was last told of its memory, so that one which is resumed is told what is new since then.

A start leaves an empty file in `serving/`, whose name is a digest of the session and whose time is that of the start.
Where none is, or it was left on another machine, a session is told all.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from memtape.tools.agents.handing import FOLDER

KEPT_DAYS = 30
"""A session that is resumed later is told all."""


def told_at(home: Path, scope: str, session: str) -> int | None:
    """Return when a session was last told a start, in microseconds; None where it was not, or nobody knows."""
    try:
        return _mark(home, scope, session).stat().st_mtime_ns // 1_000
    except OSError:
        return None


def note_told(home: Path, scope: str, session: str, at_us: int) -> None:
    """Note that a session was told what there was at a time in microseconds. Never raises."""
    mark = _mark(home, scope, session)
    with suppress(OSError):
        mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mark.touch(mode=0o600)
        os.utime(mark, ns=(at_us * 1_000, at_us * 1_000))
        oldest = time.time() - KEPT_DAYS * 86_400
        for path in mark.parent.glob("*.told"):
            if path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)


def forget_told(home: Path, scope: str, session: str) -> None:
    """Forget that a session got its context: its next prompt gets the whole context. Never raises."""
    with suppress(OSError):
        _mark(home, scope, session).unlink(missing_ok=True)


def _mark(home: Path, scope: str, session: str) -> Path:
    name = blake2b(f"{scope}\n{session}".encode("utf-8", "replace"), digest_size=16).hexdigest()
    return home / FOLDER / f"{name}.told"
