"""Requests of hooks to servers, and the session of a host that a server serves.

A request and its answer are one line of JSON each over the server's socket; a third line says that the agent
was shown the answer. A hook that was not taken over (`handing`) asks any server, and goes on without a timely
answer. A host tells its session ids to hooks, not to servers. Both are children of the host: a hook leaves
the id in `serving/<process of the host>.session`, where the server of the same host finds it.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import orjson

from memtape import __version__
from memtape.schemas.placeholders import head_of
from memtape.sinks.home.folders import write_whole
from memtape.tools.agents.handing import FOLDER, SHOWN, addresses, discard, read_line

PROMPT_CHARS = 2_000
"""So much of a prompt is searched for."""
KEPT_S = 24 * 60 * 60
"""A session's id is left anew at every prompt; that of a host which has died is deleted after a day."""
SHELLS = ("sh", "bash", "dash", "zsh", "fish", "ksh")
MAX_SHELLS = 4

Asked = dict[str, str]


class ServerAnswer:
    """A server's answer and a note for the person, both empty without a server.

    Close it once known whether the agent was shown the answer.
    """

    def __init__(self, text: str = "", note: str = "", asking: socket.socket | None = None) -> None:
        self.text = text
        self.note = note
        self._asking = asking

    @property
    def by_a_server(self) -> bool:
        """Whether a server has answered, even with nothing."""
        return self._asking is not None

    def shown(self) -> None:
        """Tell the server that the agent was shown the text."""
        if self._asking is not None and self.text:
            with suppress(OSError):
                self._asking.sendall(SHOWN)

    def __enter__(self) -> ServerAnswer:
        return self

    def __exit__(self, *_: object) -> None:
        if self._asking is not None:
            self._asking.close()


def ask(home: Path, asked: Asked, wait_s: float) -> ServerAnswer:
    """Return the answer of a server of this home within `wait_s` seconds, empty without a server.

    `asked` has `scope`, `session` and `actor`, and a `prompt` without secrets; without a prompt the answer is
    the context of a start, with `since` (microseconds) only its news since then.
    """
    deadline = time.monotonic() + wait_s
    line = (
        orjson.dumps(asked | {"prompt": head_of(asked.get("prompt", ""), PROMPT_CHARS), "version": __version__}) + b"\n"
    )
    for path in addresses(str(home)):
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            break
        asking = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            asking.settimeout(left_s)
            asking.connect(path)
            asking.sendall(line)
            text, note = orjson.loads(read_line(asking, deadline))
            if isinstance(text, str) and isinstance(note, str):
                return ServerAnswer(text, note, asking)
        except ConnectionRefusedError:
            discard(path)  # Its server has died.
        except (OSError, ValueError, TypeError):
            pass
        asking.close()
    return ServerAnswer()


def tell_session(home: Path, scope: str, session: str, host: int | None = None) -> None:
    """Leave the id of a project's session for the server of a host. Never raises.

    `host` is the pid of the hook's host, by default the parent of this process.
    """
    folder = home / FOLDER
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(folder / _of_host(host), orjson.dumps([scope, session]))
        for path in folder.glob("*.session"):
            if time.time() - path.stat().st_mtime > KEPT_S:
                path.unlink(missing_ok=True)


def told_session(home: Path, scope: str, host: int | None = None) -> str | None:
    """Return the host's id of its latest session, None where no hook gave one.

    `host` is the pid of the host, by default the parent of this process. A host may have sessions in several
    projects: a session of another project gives None.
    """
    try:
        project, session = orjson.loads((home / FOLDER / _of_host(host)).read_bytes())
    except (OSError, ValueError, TypeError):
        return None
    return session or None if project == scope else None


def end_session(home: Path) -> None:
    """Forget the id of a session that has ended. Never raises."""
    with suppress(OSError):
        (home / FOLDER / _of_host()).unlink(missing_ok=True)


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


class Offered(Protocol):
    """A server's answer, its note for the person, and the callback after the text was shown."""

    @property
    def text(self) -> str: ...

    @property
    def note(self) -> str: ...

    @property
    def shown(self) -> Callable[[], None]: ...
