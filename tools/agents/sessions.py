"""Sessions of hosts, as hooks leave them in `serving/`: which is a host's latest, and when each was told a
context.

A host tells its session ids to hooks, not to servers. Both are children of the host: a hook leaves the id in
`<process of the host>.session`, where the server of the same host finds it. A start leaves its time in a file
named by a digest of the session, so that a resumed session gets only the news since then.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from memtape.sinks.home.folders import write_whole
from memtape.tools.keep.wire import FOLDER

KEPT_S = 30 * 86_400
"""A session that is resumed later is told all."""
SHELLS = ("sh", "bash", "dash", "zsh", "fish", "ksh")
MAX_SHELLS = 4


def tell_session(home: Path, scope: str, session: str, host: int | None = None) -> None:
    """Leave the id of a project's session for the server of a host. Never raises.

    `host` is the pid of the hook's host, by default the parent of this process.
    """
    _leave(home, _of_host(host), [scope, session])


def told_session(home: Path, scope: str, host: int | None = None) -> str | None:
    """Return the host's id of its latest session, None where no hook gave one for the project.

    `host` is the pid of the host, by default the parent of this process.
    """
    left = _left(home, _of_host(host))
    return left[1] or None if isinstance(left, list) and left[0] == scope else None


def end_session(home: Path) -> None:
    """Forget the id of a session that has ended. Never raises."""
    _forget(home, _of_host())


def told_at(home: Path, scope: str, session: str) -> int | None:
    """Return the time of a session's last start, in microseconds; None if none is known."""
    left = _left(home, _of_start(scope, session))
    return left if isinstance(left, int) else None


def note_told(home: Path, scope: str, session: str, at_us: int) -> None:
    """Record that a session got its context as of a time in microseconds. Never raises."""
    _leave(home, _of_start(scope, session), at_us)


def forget_told(home: Path, scope: str, session: str) -> None:
    """Forget the start of a session: the next prompt gets the whole context. Never raises."""
    _forget(home, _of_start(scope, session))


def _leave(home: Path, name: str, value: object) -> None:
    folder = home / FOLDER
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(folder / name, orjson.dumps(value))
        for path in folder.iterdir():
            if path.suffix in (".session", ".told") and time.time() - path.stat().st_mtime > KEPT_S:
                path.unlink(missing_ok=True)


def _forget(home: Path, name: str) -> None:
    with suppress(OSError):
        (home / FOLDER / name).unlink(missing_ok=True)


def _left(home: Path, name: str) -> Any:
    with suppress(OSError, ValueError):
        return orjson.loads((home / FOLDER / name).read_bytes())


def _of_start(scope: str, session: str) -> str:
    digest = blake2b(f"{scope}\n{session}".encode("utf-8", "replace"), digest_size=16)
    return f"{digest.hexdigest()}.told"


def _of_host(host: int | None = None) -> str:
    """Return the name of the file for the host that has started this process or a hook, itself or by a shell.

    Where the system tells when a process has started, no later one has the same.
    """
    pid, started = os.getppid() if host is None else host, "0"
    with suppress(OSError, IndexError, ValueError):
        for _ in range(MAX_SHELLS):
            name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
            fields = rest.split()
            started = fields[19]
            if name not in SHELLS:
                break
            pid = int(fields[1])
    return f"{pid}-{started}.session"
