"""The wire to the one server of a home: its socket, and lines over it.

The server (`agents.server`) listens on `serving/server.sock`, which its owner alone can open. A caller sends
one line of JSON with the version of the program and one of the fields `hook` (`agents.handing`), `mcp`
(`agents.forwarding`) or `vector` (`query.recorded_vectors`). The answer `null` declines. Of `socket` the file
takes the compiled part, and of Memtape nothing: a hook that the server takes loads this file and `handing`
alone.
"""

from __future__ import annotations

import os
import time
from _socket import AF_UNIX, SOCK_STREAM
from _socket import socket as Socket

FOLDER = "serving"
MAX_ADDRESS_BYTES = 100
"""A socket's path has at most 104 to 108 bytes."""
MAX_LINE_BYTES = 1024 * 1024
DECLINED = b"null\n"
PREFIXES = ("MEMTAPE_", "GIT_")
NAMES = ("HOME", "LOGNAME", "PATH", "TMPDIR", "USER", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
_OF_GIT = ("ASKPASS", "EDITOR", "PAGER", "SEQUENCE_EDITOR", "TERMINAL_PROMPT")
OTHERS_NAMES = ("MEMTAPE_HOME", *(f"GIT_{name}" for name in _OF_GIT))
"""The home is named in the caller's own words, and the rest is for people at a terminal."""


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
