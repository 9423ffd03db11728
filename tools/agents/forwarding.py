"""`memtape mcp` over stdin and stdout: a process that forwards lines between a host and a home's only server.

It imports the least of the standard library, and nothing of the server. The server is the one for hooks
(`staying`), and is started if missing (`reaching`). Where the server refuses a session nothing was read yet,
and the command serves by itself: for another version or environment, under `hook_server = false`, or where a
path is too long for a socket.

A session outlives its server. After its end another is found or started, else a process for this session
alone, and gets the first handshake again. Unanswered read-only requests are repeated once. Any other request
is answered with an error, since its outcome is unknown. The host's answers to questions of the lost server
are dropped.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any, NoReturn

from memtape import __version__
from memtape.schemas.variables import SESSION_VARIABLE
from memtape.sinks.home.folders import default_home
from memtape.tools.agents.handing import environment
from memtape.tools.agents.reaching import ServerLink, reached
from memtape.tools.keep.starting import python_of

END_WAIT_S = 2.0
"""After the host closes its end, answers in progress are cut short after this time."""
TRIES, PAUSE_S = 5, 0.5
"""So many servers may go one after another without an answer; then the session ends. Before each it waits a little
longer: the last server is the session's own, and where servers are killed, ten sessions should not start ten."""
OPTIONS = ("--home", "--scope", "--actor")
LOST = -32_603
LOST_WORDS = (
    "The server of this memory went away before it answered. Whether the call was done is not known: look before you"
    " call again."
)


def forward(words: list[str]) -> None:
    """Serve a host by the home's server and end the process; where none takes the session return, with nothing read."""
    if len(words) % 2 or not set(words[::2]) <= {*OPTIONS}:
        return
    asked = dict(zip(words[::2], words[1::2], strict=True))
    if asked.get("--scope") == "":  # The command refuses it.
        return
    home = os.path.abspath(asked.get("--home") or default_home())
    try:
        line = _introduction(asked)
        link = reached(home, line)
    except (OSError, ValueError):  # The folder is gone, or the home cannot be read.
        return
    if link is not None:
        signal.signal(signal.SIGTERM, _end)
        signal.signal(signal.SIGINT, _end)
        HostSession(home, line, words, link).run()


def _introduction(asked: dict[str, str]) -> bytes:
    """Return the first line of a connection: the folder, host, version, environment and options that
    `sessions` needs.
    """
    told = environment()
    session = told.pop(SESSION_VARIABLE, "")
    here = {"folder": os.getcwd(), "host": os.getppid(), "version": __version__, "environment": told}
    named = {"session": session, "scope": asked.get("--scope"), "actor": asked.get("--actor")}
    return json.dumps({"mcp": here | named}).encode() + b"\n"


class HostSession:
    """A host's session: a thread forwards the host's lines, another the server's lines."""

    def __init__(self, home: str, line: bytes, words: list[str], link: ServerLink) -> None:
        self._home = home
        self._line = line
        self._words = words
        self._link = link
        self._lock = threading.Lock()
        self._handshake: list[bytes] = []
        self._waiting: dict[Any, tuple[bytes, dict[str, Any]]] = {}
        self._again: set[Any] = set()
        self._asked: set[Any] = set()
        self._tries = 0
        self._over = False

    def run(self) -> NoReturn:
        """Hand on until the host or every server has gone; then end the process."""
        threading.Thread(target=self._hear, name="host", daemon=True).start()
        try:
            while True:
                for line in self._link.lines():
                    self._answered(line)
                if self._over:
                    os._exit(0)
                self._reconnect()
        except BrokenPipeError:  # The host has gone.
            os._exit(0)
        finally:
            os._exit(1)

    def _hear(self) -> None:
        with suppress(OSError):
            for line in sys.stdin.buffer:
                self._heard(line)
        with self._lock:
            self._over = True
            self._link.finish()
        time.sleep(END_WAIT_S)
        os._exit(0)

    def _heard(self, line: bytes) -> None:
        """Forward a line of the host; keep the lines that a new server would need."""
        message = _read(line)
        method, id = message.get("method"), message.get("id")
        with self._lock:
            link = self._link
            if method is not None and id is not None:
                self._waiting[id] = line, message
            elif method is None and id is not None and id not in self._asked:
                return
            if method == "initialize":
                self._handshake = [line]
            elif method == "notifications/initialized":
                self._handshake.append(line)
        # Outside of the lock: a server may read no more until what it says is read.
        link.send(line)

    def _answered(self, line: bytes) -> None:
        """Forward a line of the server to the host."""
        message = _read(line)
        id = message.get("id")
        with self._lock:
            if id is not None and "method" in message:
                self._asked.add(id)
            elif id is not None:
                self._waiting.pop(id, None)
                self._again.discard(id)
                self._tries = 0
        _tell(line)

    def _reconnect(self) -> None:
        """Go on with another server."""
        time.sleep(PAUSE_S * self._tries)
        with self._lock:
            self._tries += 1
            if self._tries > TRIES:
                self._give_up(list(self._waiting))
                os._exit(1)
            reads = self._link.reads
            self._link = self._other() or ServerLink(_own(self._words), reads)
            self._asked.clear()
            self._give_up([id for id, (_, message) in self._waiting.items() if not self._may_repeat(id, message)])
            if self._handshake:
                self._shake_hands()
            for id, (line, message) in self._waiting.items():
                if message["method"] != "initialize":
                    self._again.add(id)
                    self._link.send(line)

    def _other(self) -> ServerLink | None:
        """Return a connection to the home's server; where servers go one after another the last try is without."""
        with suppress(OSError, ValueError):
            return reached(self._home, self._line) if self._tries < TRIES else None
        return None

    def _may_repeat(self, id: Any, message: dict[str, Any]) -> bool:
        if message["method"] == "initialize":
            return True
        tool = (message.get("params") or {}).get("name")
        return id not in self._again and (message["method"] != "tools/call" or tool in self._link.reads)

    def _shake_hands(self) -> None:
        """Repeat the handshake to a new server; forward its answer unless the host already has one."""
        first, *rest = self._handshake
        id = _read(first).get("id")
        self._link.send(first)
        for line in self._link.lines():
            answered = _read(line).get("id") == id
            if not answered or self._waiting.pop(id, None) is not None:
                _tell(line)
            if answered:
                break
        for line in rest:
            self._link.send(line)

    def _give_up(self, ids: list[Any]) -> None:
        """Answer requests with an error."""
        for id in ids:
            del self._waiting[id]
            error = {"code": LOST, "message": LOST_WORDS}
            _tell(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode() + b"\n")


def _own(words: list[str]) -> socket.socket:
    """Start a server for this session and its host alone; return the connection."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [*python_of(), "mcp", *words, "--for", str(os.getppid())]
        subprocess.Popen(command, stdin=theirs.fileno(), stdout=theirs.fileno())
    return ours


def _read(line: bytes) -> dict[str, Any]:
    """Return a message, empty where a line is none, or is nested too deeply to read: the server answers the line."""
    with suppress(ValueError, RecursionError):
        message = json.loads(line)
        if isinstance(message, dict) and not isinstance(message.get("id"), (dict, list)):
            return message
    return {}


def _tell(line: bytes) -> None:
    while line:
        line = line[os.write(1, line) :]


def _end(*_: object) -> NoReturn:
    os._exit(0)
