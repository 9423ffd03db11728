"""The process of a hook: it reads the host's input on stdin, and always ends with exit code 0.

It is started by the command `memtape agents hook`, and by the program for hooks that `connect` installs. Work
taken by a server is done at its reply. Everything else is imported only without a server.
"""

from __future__ import annotations

import gc
import os
import sys

from memtape.tools.keep.wire import MAX_INPUT_BYTES, hand_over, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

LATE_WAIT_S = 60.0
"""The longest wait for earlier late work: one slow process must not keep all the rest from capturing."""
TURNS = ("prompt", "answer", "retell")


def serve_hook(host: str, home: str | None, *, alone: bool, stay: bool, distill: str = "") -> NoReturn:
    """Run a hook, stay as a server, or distil the flush at `partition/offset`; then end the process."""
    try:
        data = b"" if distill else sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
        if alone:
            serve_late(host, home, data)
        elif stay or distill:
            _work_on(host, home, data, distill)
        else:
            # The process is over before anything that it holds could be worth collecting.
            gc.disable()
            _answer(host, home, data)
    except BaseException:
        pass
    # Nothing is left to be flushed or joined, and nothing at the interpreter's end may change the exit code.
    os._exit(0)


def _answer(host: str, home: str | None, data: bytes) -> None:
    announced = None if home is None else hand_over(host, home, data)
    if announced is not None and announced.done:
        return
    from pathlib import Path

    from memtape.tools.agents import hooks

    place = Path(home) if home else None
    tell(hooks.run(host, place, data, announced=announced))
    hooks.note_time(place)
    if announced is None:
        hooks.leave_server(host, place, data)


def _work_on(host: str, home: str | None, data: bytes, distill: str) -> None:
    from pathlib import Path

    if distill:
        from memtape.tools.agents import hooks

        hooks.distill(Path(home) if home else None, distill)
    elif home is not None:
        from memtape.tools.agents.server import stay

        stay(host, Path(home), data)


def serve_late(host: str, home: str | None, data: bytes) -> None:
    """Do the deferred work of a hook, after earlier late work, by a server if one is up. Raises only if
    killed.

    On a loaded machine many hooks are late at once, and each leaves a process. The turn waits in the
    process's memory, since nothing may be written before its secrets are removed. Waiting processes therefore
    import hardly anything, and one works at a time. Work of seconds, as the end of a session, does not delay
    captures of turns.
    """
    from contextlib import suppress
    from pathlib import Path

    from memtape.schemas.errors import Locked
    from memtape.sinks.home.folders import Home, default_home
    from memtape.tools.agents.hosts import HOSTS, SERVED, read

    place, action = Path(home) if home else default_home(), None
    with suppress(ValueError):
        told = read(host, data)
        action = told.action if told is not None else None
    lock = Home(place, make=False).lock("late-turn" if action in TURNS else "late-session")
    with suppress(Locked, OSError):  # The home may be gone, which is noted below.
        lock.acquire(LATE_WAIT_S)
    # A server waits for no transcript in which an answer is written late, as Copilot CLI does.
    is_served = action in SERVED and not HOSTS[host].writes_late
    announced = hand_over(host, str(place), data, alone=True) if is_served else None
    if announced is None or not announced.done:
        from memtape.tools.agents import hooks

        hooks.run(host, Path(home) if home else None, data, alone=True, announced=announced)
