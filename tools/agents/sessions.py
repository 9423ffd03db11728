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
from pathlib import Path
from typing import Any

import orjson

from memtape.schemas.ids import digest_of
from memtape.sinks.home.files import write_whole
from memtape.tools.keep.wire import FOLDER

KEPT_S = 30 * 86_400
"""A session that is resumed later is told all."""
SHELLS = ("sh", "bash", "dash", "zsh", "fish", "ksh")
MAX_SHELLS = 4


class SessionNote:
    """A note that hooks leave about a session, in a file of its own. Nothing here raises."""

    def __init__(self, home: Path, name: str) -> None:
        self._path = home / FOLDER / name

    def leave(self, value: object) -> None:
        """Write the note; old notes go."""
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._path, orjson.dumps(value))
            for path in self._path.parent.iterdir():
                if path.suffix in (".session", ".told") and time.time() - path.stat().st_mtime > KEPT_S:
                    path.unlink(missing_ok=True)

    def read(self) -> Any:
        """Return the noted value, None without a note."""
        with suppress(OSError, ValueError):
            return orjson.loads(self._path.read_bytes())

    def forget(self) -> None:
        """Delete the note."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def start_of(home: Path, scope: str, session: str) -> SessionNote:
    """Return the note of the time (us) at which a session got its context last.

    Without a note the next prompt gets the whole context.
    """
    said = f"{scope}\n{session}".encode("utf-8", "replace")
    return SessionNote(home, f"{digest_of(said)}.told")


def latest_of(home: Path, host: int | None = None) -> SessionNote:
    """Return the note of a host's latest session: its scope, and the host's id of it.

    `host` is the pid of the host, by default the parent of this process; a host may have started that, or a
    hook, by a shell. Where the system tells when a process has started, no later one has the same note.
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
    return SessionNote(home, f"{pid}-{started}.session")
