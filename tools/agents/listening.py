"""The socket for hooks and sessions of hosts: `serving/<pid>.sock`, accessible to the owner alone.

The answers are elsewhere: searches in `ready`, handed-over hooks in `taking`, vectors for other processes'
questions in `ask.served_vectors`, sessions in `mcp.sessions`.
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
from typing import Any

import orjson

from memtape import __version__
from memtape.schemas.variables import SESSION_VARIABLE
from memtape.sinks.home.folders import Home
from memtape.sinks.home.pauses import stores_nothing
from memtape.tools.agents.handing import FOLDER, MAX_ADDRESS_BYTES, NOT_MINE, SHOWN, read_line
from memtape.tools.agents.taking import is_as_here, take
from memtape.tools.agents.warm import Asked, Offered
from memtape.tools.capture.profiles import keeps_nothing, stands_apart

SERVED_WAIT_S = 5
BACKLOG = 64

Sessions = Callable[[dict[str, Any], socket.socket], None]
"""Serves a session of a host, described by its first line, until the host closes it."""


class Warm:
    """Listens for hooks as long as a server lives. Without a possible socket, hooks do without.

    Each hook has its own thread, so that none waits for another, and nothing waits for the work `after` its
    answer. Without `sessions` no session of a host is taken.
    """

    def __init__(
        self,
        home: Path,
        answer: Callable[[Asked], Offered],
        after: Callable[[Asked], None],
        sessions: Sessions | None = None,
    ) -> None:
        self._home = home
        self._answer = answer
        self._after = after
        self._sessions = sessions
        self.path = home / FOLDER / f"{os.getpid()}.sock"
        self._listening: socket.socket | None = None

    def start(self) -> None:
        """Start listening, in a thread.

        The server of a run that stores nothing, or has a profile of its own, hears no hooks: hooks of other
        runs are stored by their own settings.
        """
        if stores_nothing() or stands_apart(self._home):
            return
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if len(os.fsencode(self.path)) > MAX_ADDRESS_BYTES:
                return
            # It takes its name when it listens: who is refused takes the server for dead.
            growing = self.path.with_suffix(".new")
            growing.unlink(missing_ok=True)
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listening.bind(str(growing))
            listening.listen(BACKLOG)
            growing.replace(self.path)
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
        """Serve one hook or session; its end or nonsense at any time is no error."""
        with suppress(Exception), asking:
            asking.settimeout(SERVED_WAIT_S)
            asked = orjson.loads(read_line(asking, time.monotonic() + SERVED_WAIT_S))
            if keeps_nothing(self._home):  # The settings say so by now.
                return asking.sendall(NOT_MINE)
            if "hook" in asked:
                if (took := take(self._home, asked, self._answer, partial(_exchange, asking))) is not None:
                    self._after(took)
                return
            if "mcp" in asked:
                return self._take_session(asked["mcp"], asking)
            if asked["version"] != __version__:
                return  # Else the hooks of a later version would keep this server.
            if "vector" in asked:
                return asking.sendall(self._vector(asked["vector"], asked["embedder"]))
            try:
                offered = self._answer(asked)
                # A hook says so, or closes, when it has captured its prompt, which is then read with all else.
                if _exchange(asking, orjson.dumps([offered.text, offered.note]) + b"\n") == SHOWN:
                    offered.shown()
            finally:
                self._after(asked)

    def _vector(self, text: str, embedder: str) -> bytes:
        """Return the line with a question's vector."""
        from memtape.tools.ask.recorded_vectors import RecordedVectors
        from memtape.tools.ask.served_vectors import vector_line

        return vector_line(RecordedVectors(Home(self._home, make=False)).of_query(text, embedder))

    def _take_session(self, told: dict[str, Any], asking: socket.socket) -> None:
        if self._sessions is None or not is_as_here(told, apart_from=SESSION_VARIABLE):
            asking.sendall(NOT_MINE)
        else:
            self._sessions(told, asking)


def _exchange(talking: socket.socket, line: bytes) -> bytes:
    """Say a line and return the line that is answered, empty where none is."""
    try:
        talking.sendall(line)
        return read_line(talking, time.monotonic() + SERVED_WAIT_S)
    except (OSError, ValueError):
        return b""
