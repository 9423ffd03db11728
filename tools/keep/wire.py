"""The wire to the one server of a home: its socket, lines over it, and the handing over of a hook.

The server (`agents.server`) listens on `serving/server.sock`, which its owner alone can open. A caller sends
one line of JSON with the version of the program and one of the fields `hook`, `mcp` (`agents.forwarding`) or
`vector` (`query.recorded_vectors`). The answer `null` declines.

A hook sends its input. The server announces the id of the capture, and the answer for the host. The hook says
that it waits, and only then the server captures. So the hook knows the id of a possible capture, and repeats
the capture under the same id where the server says no more. Without a server a hook does all by itself
(`agents.hooks`).

A hook that the server takes loads this file and nothing else of Memtape. Of `socket` and `json` the file
takes the compiled parts, since importing the rest takes as long as Python takes to start.
"""

from __future__ import annotations

import os
import time
from _json import encode_basestring_ascii as quoted
from _json import scanstring
from _socket import AF_UNIX, SOCK_STREAM
from _socket import socket as Socket

from memtape import STARTED_NS, __version__

FOLDER = "serving"
MAX_ADDRESS_BYTES = 100
"""A socket's path has at most 104 to 108 bytes."""
MAX_LINE_BYTES = 1024 * 1024
DECLINED = b"null\n"
PREFIXES = ("MEMTAPE_", "GIT_")
NAMES = ("HOME", "LOGNAME", "PATH", "TMPDIR", "USER", "XDG_CONFIG_HOME")
_OF_GIT = ("ASKPASS", "EDITOR", "PAGER", "SEQUENCE_EDITOR", "TERMINAL_PROMPT")
OTHERS_NAMES = ("MEMTAPE_HOME", *(f"GIT_{name}" for name in _OF_GIT))
"""The home is named in the caller's own words, and the rest is for people at a terminal."""
MAX_INPUT_BYTES = 16 * 1024 * 1024
LARGE_BYTES = 256 * 1024
"""No host waits for a longer input: reading it and removing its secrets takes about half a second."""
HAND_WAIT_S = 0.5
"""A server without an announcement by then is too busy; afterwards it has as long to capture."""
ALONE_TIMES = 10
"""The detached process waits this many times as long as a host."""
GO, DONE = b"go\n", b"done\n"


def address(home: str) -> str:
    """Return the path of the socket of a home's server."""
    return os.path.join(home, FOLDER, "server.sock")


def connected(home: str, line: bytes, deadline: float) -> Socket:
    """Return a connection to a home's server, which was sent a line. Raises `OSError` where none listens."""
    talking = Socket(AF_UNIX, SOCK_STREAM)
    try:
        talking.settimeout(max(deadline - time.monotonic(), 0.001))
        talking.connect(address(home))
        talking.sendall(line)
    except BaseException:
        talking.close()
        raise
    return talking


def read_line(talking: Socket, deadline: float) -> bytes:
    """Return the line that comes until then. Raises `OSError` and `ValueError` where none does."""
    data = bytearray()
    while not data.endswith(b"\n"):
        talking.settimeout(max(deadline - time.monotonic(), 0.001))
        part = talking.recv(65_536)
        if not part or len(data) > MAX_LINE_BYTES:
            raise ValueError("cut short")
        data += part
    return bytes(data)


def environment() -> dict[str, str]:
    """Return the environment variables with an effect on captures: content, home, author, project."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in NAMES or (name.startswith(PREFIXES) and name not in OTHERS_NAMES)
    }


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
        talking = connected(home, hook_line(host, data.decode(), os.getcwd(), alone), deadline)
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


def hook_line(host: str, told: str, folder: str, alone: bool) -> bytes:
    """Return the line of a hook's input."""
    given = {"hook": host, "told": told, "folder": folder, "version": __version__}
    texts = ", ".join(f"{quoted(name)}: {quoted(value)}" for name, value in given.items())
    variables = ", ".join(f"{quoted(name)}: {quoted(value)}" for name, value in environment().items())
    who = f'"host": {os.getppid()}, "began_ns": {STARTED_NS}, "alone": {"true" if alone else "false"}'
    return f'{{{texts}, {who}, "environment": {{{variables}}}}}\n'.encode()


def tell(answered: bytes) -> None:
    """Write an answer to the host on stdout."""
    while answered:
        answered = answered[os.write(1, answered) :]
