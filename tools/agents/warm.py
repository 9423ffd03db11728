"""A running MCP server answers hooks at once: a process of their own loads libraries for some tenths of a second.

The server listens on a socket of the home, `serving/<pid>.sock`, which only the owner can open; one line of JSON asks
and one answers, and one more says that the answer was shown to the agent. A hook asks whichever server is there and
goes on without an answer where none comes in time.

A host gives its sessions ids that it tells its hooks and not its servers. Both are its children: a hook leaves the id
in `serving/<process of the host>.session`, where the server of the same host finds it.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Protocol

import orjson

from memtape.schemas.placeholders import head_of
from memtape.sinks.home.folders import write_whole
from memtape.tools.agents.handing import FOLDER, SHOWN, addresses, discard, read_line

MAX_ADDRESS_BYTES = 100
"""A socket's path has at most 104 to 108 bytes."""
SERVED_WAIT_S = 5
PROMPT_CHARS = 2_000
"""So much of a prompt is searched for."""
KEPT_S = 24 * 60 * 60
"""A session's id is left anew at every prompt; that of a host which has died is deleted after a day."""
SHELLS = ("sh", "bash", "dash", "zsh", "fish", "ksh")
MAX_SHELLS = 4

Asked = dict[str, str]


class Answered:
    """What a server answered, empty where none did. Close it once it is known whether the agent was shown it."""

    def __init__(self, text: str = "", asking: socket.socket | None = None) -> None:
        self.text = text
        self._asking = asking

    @property
    def by_a_server(self) -> bool:
        """Whether a server has answered, if only that there is nothing."""
        return self._asking is not None

    def shown(self) -> None:
        """Tell the server that the agent was shown it."""
        if self._asking is not None and self.text:
            with suppress(OSError):
                self._asking.sendall(SHOWN)

    def __enter__(self) -> Answered:
        return self

    def __exit__(self, *_: object) -> None:
        if self._asking is not None:
            self._asking.close()


def ask(home: Path, asked: Asked, wait_s: float) -> Answered:
    """Return what a server of this home answers within `wait_s`, nothing where none does.

    Asked are `scope`, `session` and `actor`, and a `prompt`, whose secrets are out of it; without one, the context of a
    start.
    """
    deadline = time.monotonic() + wait_s
    line = orjson.dumps(asked | {"prompt": head_of(asked.get("prompt", ""), PROMPT_CHARS)}) + b"\n"
    for path in addresses(str(home)):
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            break
        asking = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            asking.settimeout(left_s)
            asking.connect(path)
            asking.sendall(line)
            answered = orjson.loads(read_line(asking, deadline))
            if isinstance(answered, str):
                return Answered(answered, asking)
        except ConnectionRefusedError:
            discard(path)  # Its server has died.
        except (OSError, ValueError):
            pass
        asking.close()
    return Answered()


def tell_session(home: Path, scope: str, session: str, host: int | None = None) -> None:
    """Leave the id of a project's session for the server of a host. Never raises.

    `host` is the pid of what has started a hook, by default of what has started this process.
    """
    folder = home / FOLDER
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(folder / _of_host(host), orjson.dumps([scope, session]))
        for path in folder.glob("*.session"):
            if time.time() - path.stat().st_mtime > KEPT_S:
                path.unlink(missing_ok=True)


def told_session(home: Path, scope: str) -> str | None:
    """Return the id that the host which has started this process gives its latest session, None where no hook told it.

    A host may have sessions in several projects; that of another is not this one.
    """
    try:
        project, session = orjson.loads((home / FOLDER / _of_host()).read_bytes())
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
    """What a server answers, and what is done once it was shown."""

    @property
    def text(self) -> str: ...

    @property
    def shown(self) -> Callable[[], None]: ...


class Warm:
    """Listens for hooks as long as a server lives. Where no socket can be made, hooks do without.

    Each hook has a thread of its own, so that none waits for another, and `after` its answer nobody waits.
    """

    def __init__(self, home: Path, answer: Callable[[Asked], Offered], after: Callable[[Asked], None]) -> None:
        self._home = home
        self._answer = answer
        self._after = after
        self.path = home / FOLDER / f"{os.getpid()}.sock"
        self._listening: socket.socket | None = None

    def start(self) -> None:
        """Listen from now on, in a thread of its own."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if len(os.fsencode(self.path)) > MAX_ADDRESS_BYTES:
                return
            self.path.unlink(missing_ok=True)
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listening.bind(str(self.path))
            listening.listen(16)
        except OSError:
            return
        self._listening = listening
        threading.Thread(target=self._serve, args=(listening,), name="warm", daemon=True).start()

    def stop(self) -> None:
        """Stop listening."""
        if self._listening is not None:
            self._listening.close()
        with suppress(OSError):  # A signal may come when the socket is there and nobody has noted it yet.
            self.path.unlink(missing_ok=True)

    def _serve(self, listening: socket.socket) -> None:
        while True:
            try:
                asking, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(asking,), name="warm-hook", daemon=True).start()

    def _talk(self, asking: socket.socket) -> None:
        """Serve one hook, which may go at any time or ask nonsense."""
        with suppress(Exception), asking:
            asking.settimeout(SERVED_WAIT_S)
            asked = orjson.loads(read_line(asking, time.monotonic() + SERVED_WAIT_S))
            if "hook" in asked:
                from memtape.tools.agents.taking import take

                if (took := take(self._home, asked, self._answer, partial(_exchange, asking))) is not None:
                    self._after(took)
                return
            try:
                offered = self._answer(asked)
                # A hook says so, or closes, when it has captured its prompt, which is then read with all else.
                if _exchange(asking, orjson.dumps(offered.text) + b"\n") == SHOWN:
                    offered.shown()
            finally:
                self._after(asked)


def _exchange(talking: socket.socket, line: bytes) -> bytes:
    """Say a line and return the line that is answered, empty where none is."""
    try:
        talking.sendall(line)
        return read_line(talking, time.monotonic() + SERVED_WAIT_S)
    except (OSError, ValueError):
        return b""
