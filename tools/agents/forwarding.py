"""`memtape agents mcp` over stdin and stdout: a process that forwards lines between a host and a home's
server.

It imports the least of the standard library, and nothing of the server. The server is the one for hooks
(`server`), the process that holds the home's `hook-server.lock`; `start_server` starts it for hooks too.
Where the server declines a session nothing was read yet, and the command serves by itself: for another
version or environment, or where a path is too long for a socket.

A session outlives its server. After its end another is found or started, and gets the first handshake again,
and the unanswered requests that only read. Any other is answered with an error, since its outcome is unknown.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from memtape import __version__
from memtape.schemas.variables import (
    HOOKS_ALONE,
    HOOKS_OFF,
    HOOKS_VARIABLE,
    NO_PERSIST,
    PROD,
    PROFILE_VARIABLE,
    SESSION_VARIABLE,
)
from memtape.schemas.visible import visible
from memtape.sinks.home.folders import Home, default_home
from memtape.tools.keep import wire
from memtape.tools.keep.starting import start_one

if TYPE_CHECKING:
    from socket import SocketType

START_WAIT_S = 10.0
"""So long a server may take to listen and to take a new session; then the command serves by itself."""
RESTART_WAIT_S = 60.0
"""So long one may take that goes on with a session, else that ends: hosts wait no longer for an answer."""
LOOK_S = 0.05
END_WAIT_S = 2.0
"""After the host closes its end, answers in progress are cut short after this time."""
TRIES, PAUSE_S = 5, 0.5
"""So many servers may go without an answer; then the session ends. Before each it waits a little longer:
where servers are killed, ten sessions should not start ten."""
READS = ("search_", "get_", "list_", "read_")
"""How the names of tools begin that only read."""
OPTIONS = ("--home", "--scope", "--actor")
LOST = -32_603
LOST_WORDS = (
    "The server of this memory went away before it answered. Whether the call was done is not known: look"
    " before you call again."
)


def forward(words: list[str]) -> None:
    """Serve a host by the home's server and end the process; return, with nothing read, if none takes it."""
    if len(words) % 2 or not set(words[::2]) <= {*OPTIONS}:
        return
    asked = dict(zip(words[::2], words[1::2], strict=True))
    if asked.get("--scope") == "":  # The command refuses it.
        return
    home = os.path.abspath(asked.get("--home") or default_home())
    try:
        told = wire.environment()
        session = told.pop(SESSION_VARIABLE, "")
        here = {"folder": os.getcwd(), "host": os.getppid(), "version": __version__, "environment": told}
        named = {"session": session, "scope": asked.get("--scope"), "actor": asked.get("--actor")}
        line = json.dumps({"mcp": here | named}).encode() + b"\n"
        link = reached(home, line)
    except (OSError, ValueError):  # The folder is gone, or the home cannot be read.
        return
    if link is not None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: os._exit(0))
        HostSession(home, line, link).run()


def reached(home: str, line: bytes, wait_s: float = START_WAIT_S) -> SocketType | None:
    """Return a connection to a home's server that took a session, started if there was none; else None."""
    if not os.path.isdir(home) or not may_stay(Path(home)):
        return None
    deadline, started = time.monotonic() + wait_s, None
    lock = Home(Path(home), make=False).lock("hook-server")
    while time.monotonic() < deadline:
        with suppress(OSError, ValueError):  # None listens, or it is dying.
            talking = wire.connected(home, line, deadline)
            if wire.read_line(talking, deadline) == wire.DECLINED:
                return None
            talking.settimeout(None)
            return talking
        if lock.holder() is None and (started is None or started.poll() is not None):
            if started is not None and not started.returncode:
                return None  # It found that it may not stay.
            own = {name: value for name, value in os.environ.items() if name != SESSION_VARIABLE}
            started = start_server(Path(home), environment=own)  # None where another has started one.
            if started is not None and sys.stderr.isatty():
                tell_of_server(started.pid)
        time.sleep(LOOK_S)
    return None


def may_stay(home: Path) -> bool:
    """Whether a server may serve this home. Raises `ValueError` for bad settings.

    None may under `MEMTAPE_HOOKS=alone`, as where a test counts processes, for a run that names another
    profile than the home has, nor where a path is too long for a socket.
    """
    if os.environ.get(HOOKS_VARIABLE) in (HOOKS_ALONE, HOOKS_OFF):
        return False
    if len(os.fsencode(wire.address(str(home.absolute())))) > wire.MAX_ADDRESS_BYTES:
        return False
    named = os.environ.get(PROFILE_VARIABLE) or ""
    try:
        text = Home(home, make=False).settings_path.read_bytes()
    except FileNotFoundError:
        text = b""
    if b"profile" not in text:  # The reader of settings need not be loaded.
        return named in ("", PROD)
    import msgspec

    own = msgspec.toml.decode(text).get("profile", PROD)
    return named in ("", own) and own != NO_PERSIST


def start_server(
    home: Path, host: str = "claude", environment: dict[str, str] | None = None, data: bytes = b""
) -> subprocess.Popen[bytes] | None:
    """Start a home's server, with a hook's input as its first work; None while another is being started."""
    words = ["agents", "hook", "--host", host, "--stay", "--home", str(home)]
    return start_one(Home(home, make=False).start_lock("server"), words, environment, data)


def tell_of_server(pid: int) -> None:
    """Say on stderr that a server goes on when this process has ended."""
    ends = f"It ends 20 minutes after its last use; `kill {pid}` ends it now."
    sys.stderr.write(visible(f"The server of this home is process {pid}. {ends}") + "\n")


class HostSession:
    """A host's session: a thread forwards the host's lines, another the server's lines."""

    def __init__(self, home: str, line: bytes, link: SocketType) -> None:
        self._home, self._line, self._link = home, line, link
        self._lock = threading.Lock()
        self._handshake: list[bytes] = []
        self._waiting: dict[Any, bytes] = {}
        self._tries, self._over = 0, False

    def run(self) -> NoReturn:
        """Hand on until the host or every server has gone; then end the process."""
        threading.Thread(target=self._hear, name="host", daemon=True).start()
        try:
            while not self._over:
                for line in _lines(self._link):
                    self._answered(line)
                if not self._over:
                    self._reconnect()
            os._exit(0)
        except BrokenPipeError:  # The host has gone.
            os._exit(0)
        finally:
            os._exit(1)

    def _hear(self) -> None:
        with suppress(OSError):
            for line in sys.stdin.buffer:
                self._heard(line)
        if self._lock.acquire(timeout=END_WAIT_S):  # Else the session still waits for a server.
            with suppress(OSError):
                self._over = True
                self._link.shutdown(1)  # No further line comes.
            self._lock.release()
        time.sleep(END_WAIT_S)
        os._exit(0)

    def _heard(self, line: bytes) -> None:
        """Forward a line of the host; keep the lines that a new server would need."""
        message = _read(line)
        method, id = message.get("method"), message.get("id")
        with self._lock:
            link = self._link
            if method is not None and id is not None:
                self._waiting[id] = line
            if method in ("initialize", "notifications/initialized"):
                self._handshake = [line] if method == "initialize" else [*self._handshake, line]
        # Outside of the lock: a server may read no more until what it says is read.
        _send(link, line)

    def _answered(self, line: bytes) -> None:
        message = _read(line)
        if "method" not in message and message.get("id") is not None:
            with self._lock:
                self._waiting.pop(message["id"], None)
                self._tries = 0
        wire.tell(line)

    def _reconnect(self) -> None:
        time.sleep(PAUSE_S * self._tries)
        with self._lock:
            self._tries += 1
            with suppress(OSError, ValueError):
                link = reached(self._home, self._line, RESTART_WAIT_S) if self._tries <= TRIES else None
                if link is not None:
                    self._link = link
                    self._shake_hands()
                    self._give_up([id for id, line in self._waiting.items() if not _only_reads(line)])
                    for line in self._waiting.values():
                        _send(link, line)
                    return
            self._give_up(list(self._waiting))
            os._exit(1)

    def _shake_hands(self) -> None:
        """Repeat the handshake to a new server; forward its answer unless the host already has one."""
        if not self._handshake:
            return
        first, *rest = self._handshake
        id = _read(first).get("id")
        _send(self._link, first)
        answered = next((line for line in _lines(self._link) if _read(line).get("id") == id), b"")
        if self._waiting.pop(id, None) is not None:
            wire.tell(answered)
        for line in rest:
            _send(self._link, line)

    def _give_up(self, ids: list[Any]) -> None:
        for id in ids:
            del self._waiting[id]
            error = {"code": LOST, "message": LOST_WORDS}
            wire.tell(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode() + b"\n")


def _send(link: SocketType, line: bytes) -> None:
    with suppress(OSError):  # A lost server is noticed by the reader.
        link.sendall(line)


def _lines(link: SocketType) -> Iterator[bytes]:
    """Yield whole lines until the server closes; an incomplete last line is dropped."""
    held = b""
    with suppress(OSError):
        while part := link.recv(65_536):
            *whole, held = (held + part).split(b"\n") if b"\n" in part else (held + part,)
            yield from (line + b"\n" for line in whole)


def _read(line: bytes) -> dict[str, Any]:
    """Return a message, empty for any other line, or one nested too deeply: the server answers that."""
    with suppress(ValueError, RecursionError):
        message = json.loads(line)
        if isinstance(message, dict) and not isinstance(message.get("id"), (dict, list)):
            return message
    return {}


def _only_reads(line: bytes) -> bool:
    """Whether a request may be repeated: a call of a tool that only reads, or no call of a tool."""
    message = _read(line)
    tool = (message.get("params") or {}).get("name")
    return message.get("method") != "tools/call" or str(tool).startswith(READS)
