"""The only server of a home: it answers hooks, serves the sessions of hosts, and keeps what they need loaded.

A hook or a host's session leaves it behind (`forwarding`). A lock admits at most one per home. The server
holds no other lock, and leaves projecting to child processes. It ends by itself: without a session and after
a time without hooks, which is short where the home holds nothing; when its home or socket is gone; or when
the setting says so. The wire is in `keep.wire`.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from memtape import __version__
from memtape.schemas.errors import Locked
from memtape.schemas.variables import HOOKS_OFF, HOOKS_VARIABLE, SESSION_VARIABLE
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.opening import holds_nothing
from memtape.tools.agents import hooks
from memtape.tools.agents.errors import note_error
from memtape.tools.agents.forwarding import may_stay
from memtape.tools.agents.hosts import HOSTS, SERVED, read
from memtape.tools.agents.ready import HookResponder
from memtape.tools.agents.turn import HookCall, in_form
from memtape.tools.capture.profiles import keeps_nothing
from memtape.tools.keep.wire import DECLINED, DONE, GO, address, environment, read_line
from memtape.tools.query.recorded_vectors import EMBEDDERS, RecordedVectors, vector_line

STAY_S = 20 * 60
"""So long after the last hook or session it ends. The time that a machine sleeps does not count."""
EMPTY_S = 15.0
"""So long in a home that holds nothing: whoever left it may be about to capture."""
LOOK_S = 15.0
"""Idle check interval (s)."""
IDLE_S = 10 * 60
"""So long after the last question its model is let go."""
LOCK_WAIT_S = 1.0
"""The wait for the lock, since checks for a running server hold it for an instant."""
SERVED_WAIT_S = 5
BACKLOG = 64
M_ARENA_MAX = -8
"""The number of that option in glibc's `malloc.h`."""


def stay(host: str, home: Path, data: bytes) -> None:
    """Serve a home until it is unused; first read the project of the starting hook, if any."""
    lock = Home(home, make=False).lock("hook-server")
    try:
        if not may_stay(home):
            return
        lock.acquire(LOCK_WAIT_S)
    except (Locked, OSError, ValueError):  # Another answers, or the home is gone.
        return
    try:
        # One heap for all threads: those of ten sessions would keep ten, half empty.
        _heap("mallopt", M_ARENA_MAX, 1)
        EMBEDDERS.is_server = True
        server = Server(home, HookResponder(home, small=True))

        def end(*_: object) -> None:
            server.stop()
            os._exit(0)  # Whatever is being projected can be cut short at any point, and is done again.

        signal.signal(signal.SIGTERM, end)
        server.listen()
        if data:
            server.begin(host, data)
        while not server.is_over() and server.path.exists() and may_stay(home):
            time.sleep(LOOK_S)
            EMBEDDERS.drop_idle(IDLE_S)
            _heap("malloc_trim", 0)  # A fold leaves some megabytes.
            server.refresh()
        server.stop()
        server.ready.close()
    except Exception as error:
        note_error(home, "server of hooks", error)
    finally:
        lock.release()


def _heap(name: str, *given: int) -> None:
    """Call a function of the C library that manages the heap, where there is one."""
    with suppress(OSError, AttributeError):
        getattr(ctypes.CDLL(None), name)(*given)


class Server:
    """Listens for hooks and sessions, each with a thread of its own, so that none waits for another."""

    def __init__(self, home: Path, ready: HookResponder) -> None:
        self.home, self.ready = home, ready
        self.path = Path(address(str(home)))
        self._listening: socket.socket | None = None
        self._sessions: set[socket.socket] = set()
        self._last = time.monotonic()
        self._is_empty = True
        self._asked_of: dict[str, None] = {}

    def listen(self) -> None:
        """Start listening, in a thread. Raises `OSError`."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # It takes its name when it listens: who is refused takes the server for dead.
        growing = self.path.with_suffix(".new")
        growing.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(str(growing))
        listening.listen(BACKLOG)
        growing.replace(self.path)
        self._listening = listening

        def accept() -> None:
            with suppress(OSError):
                while True:
                    args = listening.accept()[:1]
                    threading.Thread(target=self._talk, args=args, name="server-caller", daemon=True).start()

        threading.Thread(target=accept, name="server", daemon=True).start()

    def stop(self) -> None:
        """Stop listening."""
        if self._listening is not None:
            self._listening.close()
        with suppress(OSError):  # A signal may come when the socket is there and nobody has noted it yet.
            self.path.unlink(missing_ok=True)

    def is_over(self) -> bool:
        """Whether no session is open, and the last use was `STAY_S` ago, or `EMPTY_S` in an empty home."""
        idle_s = time.monotonic() - self._last
        if self._sessions or idle_s < min(EMPTY_S, STAY_S):
            return False
        self._is_empty = self._is_empty and holds_nothing(Home(self.home, make=False))
        return idle_s >= STAY_S or self._is_empty

    def refresh(self) -> None:
        """Project again what hooks asked of: what came too soon after a projector was left to the next."""
        while self._asked_of:
            self.ready.refresh(self._asked_of.popitem()[0])

    def begin(self, host: str, data: bytes) -> None:
        """Do the deferred work of a hook that left this server: read the project, take up transcripts."""
        try:
            told = read(host, data)
            if told is not None and told.folder:
                turn = HookCall(told, self.home, b"", alone=False)
                with turn.client() as client:
                    self.ready.after(turn, client.scope)
        except Exception as error:
            note_error(self.home, "server: what left it", error)

    def _talk(self, talking: socket.socket) -> None:
        """Serve one caller; its end or nonsense at any time is no error."""
        with suppress(Exception), talking:
            talking.settimeout(SERVED_WAIT_S)
            asked = orjson.loads(read_line(talking, time.monotonic() + SERVED_WAIT_S))
            if keeps_nothing(self.home):  # The settings say so by now.
                talking.sendall(DECLINED)
            elif "hook" in asked:
                self._take_hook(asked, talking)
            elif "mcp" in asked:
                self._take_session(asked["mcp"], talking)
            elif asked["version"] == __version__:
                vectors = RecordedVectors(Home(self.home, make=False))
                talking.sendall(vector_line(vectors.of_query(asked["vector"], asked["embedder"])))

    def _take_session(self, told: dict[str, Any], talking: socket.socket) -> None:
        if not is_as_here(told, apart_from=SESSION_VARIABLE):
            return talking.sendall(DECLINED)
        self._sessions.add(talking)
        try:
            from memtape.tools.agents.mcp.server import serve_session  # The SDK is loaded for who needs it.

            serve_session(self.ready, self.home, told, talking)
        except Exception as error:
            with suppress(OSError):  # Unsent answers are no error where the other side has closed.
                talking.setblocking(False)
                try:
                    has_gone = not talking.recv(1, socket.MSG_PEEK)
                except BlockingIOError:
                    has_gone = False
                if not has_gone:
                    note_error(self.home, "server: a session", error)
        finally:
            self._last = time.monotonic()
            self._sessions.discard(talking)

    def _take_hook(self, asked: dict[str, Any], talking: socket.socket) -> None:
        """Do the work of a hook, or decline.

        Errors raised before the hook has heard of the capture are met and noted by the hook itself.
        """
        data, is_off = asked["told"].encode(), os.environ.get(HOOKS_VARIABLE) == HOOKS_OFF
        told = read(asked["hook"], data) if is_as_here(asked) and not is_off else None
        if told is None or told.action not in SERVED:
            return talking.sendall(DECLINED)
        place, parent, alone = Path(asked["folder"]), int(asked["host"]), asked["alone"] is True
        turn = HookCall(told, self.home, data, alone, began_in=place, parent=parent)
        text = turn.text
        if HOSTS[told.host].writes_late and told.action == "answer" and not turn.told.text:
            return talking.sendall(DECLINED)  # An answer that stands nowhere yet: the hook can wait for it.
        with turn.client() as client:
            native = ""
            if text:
                client.made_scope()
                native = hooks.native_of(turn, client, text) or ""
                if not native:  # Where the server failed, the hook could not capture it under the same id.
                    return talking.sendall(DECLINED)
            offer = hooks.offer_to(turn, client, self.ready.offer)
            if _go(talking, native, in_form(turn, offer.text, offer.note)):
                if native:
                    hooks.capture(turn, client, text, native)
                with suppress(OSError):
                    talking.sendall(DONE)
                offer.record(client)
            if not turn.alone:
                hooks.note_time(self.home, asked["began_ns"])
            self._last = time.monotonic()
            self._asked_of[client.scope] = None
            self.ready.after(turn, client.scope)


def is_as_here(asked: dict[str, Any], apart_from: str = "") -> bool:
    """Whether the caller has this version and an equivalent environment.

    The variable `apart_from` may differ.
    """
    theirs, own = dict(asked["environment"]), environment()
    for each in (theirs, own):
        each.pop(apart_from, None)
    # The places searched for programs differ from terminal to terminal; of the programs only git is called.
    gits = [shutil.which("git", path=each.pop("PATH", "")) for each in (theirs, own)]
    return asked["version"] == __version__ and theirs == own and gits[0] == gits[1]


def _go(talking: socket.socket, native: str, told: bytes) -> bool:
    """Announce a capture and an answer to a hook; return whether the hook waits for both."""
    with suppress(OSError, ValueError):
        talking.sendall(orjson.dumps(native) + orjson.dumps(told.decode()) + b"\n")
        return read_line(talking, time.monotonic() + SERVED_WAIT_S) == GO
    return False
