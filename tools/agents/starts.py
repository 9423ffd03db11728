"""Times of context starts by session: a resumed session gets only the news since its last start.

A start leaves an empty file in `serving/`, named by a digest of the session; the file's time is the time of
the start. Without a file, as on another machine, a session gets the whole context.
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
    """Return the time of a session's last start, in microseconds; None if none is known."""
    try:
        return _mark(home, scope, session).stat().st_mtime_ns // 1_000
    except OSError:
        return None


def note_told(home: Path, scope: str, session: str, at_us: int) -> None:
    """Record that a session got its context as of a time in microseconds. Never raises."""
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
    """Forget the start of a session: the next prompt gets the whole context. Never raises."""
    with suppress(OSError):
        _mark(home, scope, session).unlink(missing_ok=True)


def _mark(home: Path, scope: str, session: str) -> Path:
    name = blake2b(f"{scope}\n{session}".encode("utf-8", "replace"), digest_size=16).hexdigest()
    return home / FOLDER / f"{name}.told"
