"""The only server of a home, left behind by a hook or a host's session, with a loaded search for the next.

The server answers hooks and serves the sessions of hosts (`reaching`, `mcp.sessions`). A lock admits at most
one per home. It holds no other lock, and leaves projecting to child processes. It ends by itself: without a
session and after a time without hooks, when its home or socket is gone, or when the setting says so.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from memtape.schemas.errors import Locked
from memtape.sinks.home.folders import Home
from memtape.tools.agents import hooks
from memtape.tools.agents.errors import note_error
from memtape.tools.agents.hook_hosts import HookInput, read
from memtape.tools.agents.listening import Warm
from memtape.tools.agents.ready import HookResponder
from memtape.tools.agents.taking import about
from memtape.tools.agents.turn import HookCall
from memtape.tools.agents.warm import Asked
from memtape.tools.ask.recorded_vectors import EMBEDDERS

STAY_S = 20 * 60
"""So long after the last hook or session it ends. The time that a machine sleeps does not count."""
LOOK_S = 15.0
"""Idle check interval (s)."""
IDLE_S = 10 * 60
"""So long after the last question its model is let go."""
LOCK_WAIT_S = 1.0
"""The wait for the lock, since checks for a running server hold it for an instant."""
M_ARENA_MAX = -8
"""The number of that option in glibc's `malloc.h`."""


def stay(host: str, home: Path, data: bytes) -> None:
    """Serve a home until it is unused; first read the project of the starting hook, if any."""
    if not hooks.may_leave_server(home):
        return
    lock = Home(home, make=False).hook_server_lock()
    try:
        lock.acquire(LOCK_WAIT_S)
    except (Locked, OSError):  # Another answers, or the home is gone.
        return
    try:
        _share_heap()
        _answer(home, read(host, data) if data else None)
    except Exception as error:
        note_error(home, "server of hooks", error)
    finally:
        lock.release()


def _share_heap() -> None:
    """Let all threads have one heap, where the C library can: those of ten sessions would keep ten, half empty."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def _give_back() -> None:
    """Return unused heap to the system, where the C library can: a fold leaves some megabytes."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _answer(home: Path, told: HookInput | None) -> None:
    ready = HookResponder(home, small=True)
    use = _Use()
    asked_of: dict[str, None] = {}

    def after(asked: Asked) -> None:
        use.note()
        asked_of[asked["scope"]] = None
        ready.after(asked)

    def serve(told: dict[str, Any], talking: socket.socket) -> None:
        with use.held():
            _serve(ready, home, told, talking)

    warm = Warm(home, ready.offer, after, serve)

    def end(*_: object) -> None:
        warm.stop()
        os._exit(0)  # Whatever is being projected can be cut short at any point, and is done again.

    signal.signal(signal.SIGTERM, end)
    EMBEDDERS.is_server = True
    warm.start()
    if told is not None and told.folder:
        _begin(ready, home, told)
    while not use.is_over() and warm.path.exists() and hooks.may_leave_server(home):
        time.sleep(LOOK_S)
        EMBEDDERS.drop_idle(IDLE_S)
        _give_back()
        while asked_of:  # What came too soon after a projector was left to the next.
            ready.refresh(asked_of.popitem()[0])
    warm.stop()
    ready.close()


def _begin(ready: HookResponder, home: Path, told: HookInput) -> None:
    """Do the deferred work of a hook that left this server: read the project, take up transcripts."""
    try:
        turn = HookCall(told, home, b"", alone=False)
        with turn.client() as client:
            ready.after(hooks.asked_by(client) | about(turn))
    except Exception as error:
        note_error(home, "server: what left it", error)


class _Use:
    """Use of a server: the count of open sessions and the time of the last use."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._sessions = 0
        self._last = time.monotonic()

    def note(self) -> None:
        """Set the time of the last use to now."""
        self._last = time.monotonic()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Count a session during the block."""
        with self._changing:
            self._sessions += 1
        try:
            yield
        finally:
            with self._changing:
                self._sessions -= 1
                self.note()

    def is_over(self) -> bool:
        """Whether no session is open and the last use was `STAY_S` ago or more."""
        with self._changing:
            return not self._sessions and time.monotonic() - self._last >= STAY_S


def _serve(ready: HookResponder, home: Path, told: dict[str, Any], talking: socket.socket) -> None:
    try:
        from memtape.tools.agents.mcp.sessions import serve  # The SDK is loaded for who needs it.

        serve(ready, home, told, talking)
    except Exception as error:
        if not _has_gone(talking):
            note_error(home, "server: a session", error)


def _has_gone(talking: socket.socket) -> bool:
    """Whether the other side has closed; unsent answers are no error then."""
    try:
        talking.setblocking(False)
        return not talking.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
