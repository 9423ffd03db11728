"""The server of hooks that a hook leaves behind where it found none, so that the next ones need not load a search.

There is at most one in a home, which a lock tells. It holds no other lock but while it projects, as any reader does,
and ends by itself: when no hook came for some time, when its home or its socket is gone, or when the setting says so.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from memtape.schemas.errors import Locked
from memtape.sinks.home.folders import Home
from memtape.tools.agents import hooks
from memtape.tools.agents.errors import note_error
from memtape.tools.agents.hook_hosts import Told, read
from memtape.tools.agents.listening import Warm
from memtape.tools.agents.ready import Ready
from memtape.tools.agents.warm import Asked

STAY_S = 20 * 60
"""So long after the last hook it ends. The time that a machine sleeps does not count."""
LOOK_S = 15.0
"""So often it looks whether it should end."""


def stay(host: str, home: Path, data: bytes) -> None:
    """Answer the hooks of a home until nobody needs that any more; first read the project that a hook was told of."""
    lock = Home(home, make=False).hook_server_lock()
    try:
        lock.acquire(0)
    except (Locked, OSError):  # Another answers, or the home is gone.
        return
    try:
        _answer(home, read(host, data))
    except Exception as error:
        note_error(home, "server of hooks", error)
    finally:
        lock.release()


def _answer(home: Path, told: Told | None) -> None:
    ready = Ready(home)
    last = time.monotonic()

    def after(asked: Asked) -> None:
        nonlocal last
        last = time.monotonic()
        ready.after(asked)

    warm = Warm(home, ready.offer, after)

    def end(*_: object) -> None:
        warm.stop()
        os._exit(0)  # Whatever is being projected can be cut short at any point, and is done again.

    signal.signal(signal.SIGTERM, end)
    warm.start()
    if told is not None and told.folder:
        ready.refresh(Path(told.folder))
    while time.monotonic() - last < STAY_S and warm.path.exists() and hooks.may_leave_server(home):
        time.sleep(LOOK_S)
    warm.stop()
    ready.close()
