"""Handing a hook over to the server of its home, which has everything loaded that a hook needs.

A hook that the server takes imports this file, `keep.wire` and nothing else of Memtape. Of `json` the file
takes the compiled parts, since importing the rest takes as long as Python takes to start. Without a server a
hook does all by itself (`hooks`).

The hook sends its input. The server announces the id of the capture, and the answer for the host. The hook
says that it waits, and only then the server captures. So the hook knows the id of a possible capture, and
repeats the capture under the same id where the server says no more.
"""

from __future__ import annotations

import os
import time
from _json import encode_basestring_ascii as quoted
from _json import scanstring

from memtape import STARTED_NS, __version__
from memtape.tools.keep.wire import connected, environment, read_line

MAX_INPUT_BYTES = 16 * 1024 * 1024
LARGE_BYTES = 256 * 1024
"""No host waits for a longer input: reading it and removing its secrets takes about half a second."""
HAND_WAIT_S = 0.5
"""A server without an announcement by then is too busy; afterwards it has as long to capture."""
ALONE_TIMES = 10
"""The detached process waits this many times as long as a host."""
GO, DONE = b"go\n", b"done\n"


class Announced:
    """A server's work for a hook: the native id of its capture, if any, its answer, and if all is done."""

    def __init__(self, native: str, told: bytes) -> None:
        self.native = native
        self.told = told
        self.done = False


def hand_over(host: str, home: str, data: bytes, *, alone: bool = False) -> Announced | None:
    """Hand a hook's input to the server of a home, and print its answer for the host.

    Returns None where no server has told the hook to go on: nothing is captured then. With `alone` no host
    waits, and the wait for the server is longer.
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
    given = {"hook": host, "told": told, "folder": folder, "version": __version__}
    texts = ", ".join(f"{quoted(name)}: {quoted(value)}" for name, value in given.items())
    variables = ", ".join(f"{quoted(name)}: {quoted(value)}" for name, value in environment().items())
    who = f'"host": {os.getppid()}, "began_ns": {STARTED_NS}, "alone": {"true" if alone else "false"}'
    return f'{{{texts}, {who}, "environment": {{{variables}}}}}\n'.encode()


def tell(answered: bytes) -> None:
    """Write an answer to the host on stdout."""
    while answered:
        answered = answered[os.write(1, answered) :]
