"""The process of a hook: it hands the host's input to the server of its home, and always ends with exit code 0.

A hook that the server takes imports this file, `keep.wire` and nothing else of Memtape. Of `json` the file takes the
compiled parts, since importing the rest takes as long as Python takes to start. Without a server a hook does all by
itself (`hooks`), and leaves a server behind.

The hook sends its input. The server announces the id of the capture, and the answer for the host. The hook says that
it waits, and only then the server captures. So the hook knows the id of a possible capture, and repeats the capture
under the same id where the server says no more.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from _json import encode_basestring_ascii as quoted
from _json import scanstring

from memtape import STARTED_NS, __version__
from memtape.tools.keep.wire import connected, environment, read_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

MAX_INPUT_BYTES = 16 * 1024 * 1024
LARGE_BYTES = 256 * 1024
"""No host waits for a longer input: reading it and removing its secrets takes about half a second."""
HAND_WAIT_S = 0.5
"""A server without an announcement by then is too busy; afterwards it has as long to capture."""
ALONE_TIMES = 10
"""The detached process waits this many times as long as a host."""
GO, DONE = b"go\n", b"done\n"
LATE_WAIT_S = 60.0
"""The longest wait for earlier late work: one slow process must not keep all the rest from capturing."""
TURNS = ("prompt", "answer", "act", "retell")


class Announced:
    """A server's work for a hook: the native id of its capture, empty for none, its answer, and whether all is done."""

    def __init__(self, native: str, told: bytes) -> None:
        self.native = native
        self.told = told
        self.done = False


def hand_over(host: str, home: str, data: bytes, *, alone: bool = False) -> Announced | None:
    """Hand a hook's input to the server of a home, and print its answer for the host.

    Returns None where no server has told the hook to go on: nothing is captured then. With `alone` no host waits, and
    the wait for the server is longer.
    """
    wait_s = HAND_WAIT_S * ALONE_TIMES if alone else HAND_WAIT_S
    deadline, announced, talking = time.monotonic() + wait_s, None, None
    try:
        if len(data) > LARGE_BYTES:
            return None
        talking = connected(home, _request(host, data.decode(), os.getcwd(), alone), deadline)
        line = read_line(talking, deadline).decode()
        if line.startswith('"'):
            native, end = scanstring(line, 1)
            announced = Announced(native, scanstring(line, end + 1)[0].encode())
            talking.sendall(GO)
            announced.done = read_line(talking, time.monotonic() + wait_s) == DONE
    except (OSError, ValueError):  # No server, none in time, no text, or the folder is gone.
        pass
    finally:
        if talking is not None:
            talking.close()
    if announced is not None and announced.done:
        tell(announced.told)
    return announced


def _request(host: str, told: str, folder: str, alone: bool) -> bytes:
    """Return a hook's request to a server, a line of JSON."""
    given = {"hook": host, "told": told, "folder": folder, "version": __version__}
    texts = ", ".join(f"{quoted(name)}: {quoted(value)}" for name, value in given.items())
    variables = ", ".join(f"{quoted(name)}: {quoted(value)}" for name, value in environment().items())
    who = f'"host": {os.getppid()}, "began_ns": {STARTED_NS}, "alone": {"true" if alone else "false"}'
    return f'{{{texts}, {who}, "environment": {{{variables}}}}}\n'.encode()


def tell(answered: bytes) -> None:
    """Write an answer to the host on stdout."""
    while answered:
        answered = answered[os.write(1, answered) :]


def serve_hook(host: str, home: str | None, *, alone: bool = False, stay: bool = False, distill: str = "") -> NoReturn:
    """Run a hook, stay as a server, or distil the flush at `partition:offset`; then end the process."""
    try:
        if alone:
            serve_late(host, home, _told())
        elif stay or distill:
            _stay_or_distill(host, home, distill)
        else:
            # The process is over before anything that it holds could be worth collecting.
            gc.disable()
            _serve(host, home, _told())
    except BaseException:
        pass
    # Nothing is left to be flushed or joined, and nothing at the interpreter's end may change the exit code.
    os._exit(0)


def _told() -> bytes:
    return sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)


def _serve(host: str, home: str | None, data: bytes) -> None:
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


def serve_late(host: str, home: str | None, data: bytes) -> None:
    """Do the deferred work of a hook, after earlier late work, by a server if one is up. Raises only if killed.

    On a loaded machine many hooks are late at once, and each leaves a process. The turn waits in the process's
    memory, since nothing may be written before its secrets are removed. Waiting processes therefore import hardly
    anything, and one works at a time. Work of seconds, as the end of a session, does not delay captures of turns.
    """
    from contextlib import suppress
    from pathlib import Path

    from memtape.schemas.errors import Locked
    from memtape.sinks.home.folders import Home, default_home
    from memtape.tools.agents.hosts import SERVED, read

    place, action = Path(home) if home else default_home(), None
    with suppress(ValueError):
        told = read(host, data)
        action = told.action if told is not None else None
    lock = Home(place, make=False).late_lock("turn" if action in TURNS else "session")
    with suppress(Locked, OSError):  # The home may be gone, which is noted below.
        lock.acquire(LATE_WAIT_S)
    # A server waits for no transcript in which an answer is written late, as Copilot CLI does.
    is_served = action in SERVED and host != "copilot"
    announced = hand_over(host, str(place), data, alone=True) if is_served else None
    if announced is None or not announced.done:
        from memtape.tools.agents import hooks

        hooks.run(host, Path(home) if home else None, data, alone=True, announced=announced)


def _stay_or_distill(host: str, home: str | None, distill: str) -> None:
    from pathlib import Path

    if distill:
        from memtape.tools.agents import hooks

        hooks.distill(Path(home) if home else None, distill)
    elif home is not None:
        from memtape.tools.agents.server import stay

        stay(host, Path(home), _told())
