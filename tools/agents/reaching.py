"""Reaching the one server of a home, for a session of a host: where it listens, and its start where there is none.

Only the least of the standard library is imported here, as in `forwarding`. The server is the process that holds the
home's `hook-server.lock` (`staying`); no other takes sessions.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from memtape.schemas.variables import (
    HOOKS_ALONE,
    HOOKS_OFF,
    HOOKS_VARIABLE,
    NO_PERSIST,
    PROD,
    PROFILE_VARIABLE,
    SESSION_VARIABLE,
)
from memtape.sinks.home.folders import Home
from memtape.tools.agents.handing import FOLDER, MAX_ADDRESS_BYTES, discard, read_line
from memtape.tools.keep.starting import start_one

START_WAIT_S = 10.0
"""So long a server may take to listen and to take a session; it loads the SDK for the first."""
LOOK_S = 0.02
CUT_WAIT_S, MAX_CUTS = 0.1, 5
"""A killed server may be met before its lock is free. One that cuts this many sessions cannot serve any."""


class ServerLink:
    """A connection to a server; `reads` names the read-only tools."""

    def __init__(self, talking: socket.socket, reads: list[str]) -> None:
        self._talking = talking
        self._data = bytearray()
        self.reads = reads

    def send(self, line: bytes) -> None:
        """Send a line; a lost server is noticed by the reader."""
        with suppress(OSError):
            self._talking.sendall(line)

    def lines(self) -> Iterator[bytes]:
        """Yield whole lines until the server closes; an incomplete last line is dropped."""
        while True:
            end = self._data.find(b"\n") + 1
            while not end:
                try:
                    part = self._talking.recv(65_536)
                except OSError:
                    part = b""
                if not part:
                    return
                end = (found := part.find(b"\n") + 1) and found + len(self._data)
                self._data += part
            line = bytes(self._data[:end])
            del self._data[:end]
            yield line

    def finish(self) -> None:
        """Say that no further line comes."""
        with suppress(OSError):
            self._talking.shutdown(socket.SHUT_WR)


def reached(home: str, line: bytes) -> ServerLink | None:
    """Return a connection to the server of a home that has taken a session, started where there was none; else None."""
    if not os.path.isdir(home) or len(os.fsencode(_socket(home, 1234567))) > MAX_ADDRESS_BYTES:
        return None
    deadline, cuts = time.monotonic() + START_WAIT_S, 0
    lock, started = Home(Path(home), make=False).hook_server_lock(), None
    while time.monotonic() < deadline and cuts < MAX_CUTS:
        holder = lock.holder()
        if holder is not None and os.path.exists(path := _socket(home, holder)):
            try:
                return _taken(path, line, deadline)
            except ConnectionRefusedError:
                discard(path)  # It has died.
            except (OSError, ValueError):
                cuts += 1  # It is dying, or cannot serve.
                time.sleep(CUT_WAIT_S)
        elif holder is None and (started is None or started.poll() is not None):
            if (started is not None and not started.returncode) or not _may_start(home):
                return None  # It found that it may not stay.
            started = _start(home)  # None where another has started one that does not listen yet.
        time.sleep(LOOK_S)
    return None


def _socket(home: str, pid: int) -> str:
    return os.path.join(home, FOLDER, f"{pid}.sock")


def _taken(path: str, line: bytes, deadline: float) -> ServerLink | None:
    """Return a connection to a server that takes the session, None if it declines.

    Raises `OSError` and `ValueError` without an answer.
    """
    talking = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        talking.settimeout(max(deadline - time.monotonic(), LOOK_S))
        talking.connect(path)
        talking.sendall(line)
        reads = json.loads(read_line(talking, deadline))
        if reads is not None:
            talking.settimeout(None)
            return ServerLink(talking, reads)
    except BaseException:
        talking.close()
        raise
    talking.close()
    return None


def _may_start(home: str) -> bool:
    """Whether a server may be started, as `hooks.may_leave_server` says it."""
    if os.environ.get(HOOKS_VARIABLE) in (HOOKS_ALONE, HOOKS_OFF):
        return False
    named = os.environ.get(PROFILE_VARIABLE) or ""
    try:
        with open(os.path.join(home, "settings.toml"), "rb") as file:
            text = file.read()
    except FileNotFoundError:
        return named in ("", PROD)
    if b"hook_server" not in text and b"profile" not in text:
        return named in ("", PROD)
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    settings = tomllib.loads(text.decode())
    own = settings.get("profile", PROD)
    return settings.get("hook_server") is not False and named in ("", own) and own != NO_PERSIST


def _start(home: str) -> subprocess.Popen[bytes] | None:
    environment = {name: value for name, value in os.environ.items() if name != SESSION_VARIABLE}
    return start_server(Path(home), "claude", environment)


def start_server(
    home: Path, host: str, environment: dict[str, str] | None = None, data: bytes = b""
) -> subprocess.Popen[bytes] | None:
    """Start a home's server, with a hook's input as its first work; None while another is being started."""
    words = ["hook", "--host", host, "--stay", "--home", str(home)]
    return start_one(Home(home, make=False).start_lock("server"), words, environment, data)
