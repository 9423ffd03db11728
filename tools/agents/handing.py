"""Handing a hook over to a server of its home, which has everything loaded that a hook needs.

A hook that a server takes imports this file and nothing else of Memtape. Of `socket` and `json` the file
takes the compiled parts, since importing the rest takes as long as Python takes to start. The server's part
is in `taking`; a hook without a server does all by itself (`hooks`).

Both sides speak a line at a time. The hook sends its input. The server announces the id of the capture, and
the answer for the host. The hook says that it waits, and only then the server captures. So the hook knows the
id of a possible capture, and repeats it under the same id where the server says no more.
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
MAX_INPUT_BYTES = 16 * 1024 * 1024
LARGE_BYTES = 256 * 1024
"""No host waits for a longer input: reading it and removing its secrets takes about half a second."""
HAND_WAIT_S = 0.5
"""A server without an announcement by then is too busy; afterwards it has as long to capture."""
ALONE_TIMES = 10
"""The detached process waits this many times as long as a host."""
MAX_LINE_BYTES = 1024 * 1024
GO, DONE, SHOWN, NOT_MINE = b"go\n", b"done\n", b"shown\n", b"null\n"
PREFIXES = ("MEMTAPE_", "GIT_")
NAMES = ("HOME", "LOGNAME", "PATH", "TMPDIR", "USER", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
OTHERS_NAMES = ("MEMTAPE_HOME", "GIT_ASKPASS", "GIT_EDITOR", "GIT_PAGER", "GIT_SEQUENCE_EDITOR", "GIT_TERMINAL_PROMPT")
"""The home is named in the hook's own words, and the rest is for people at a terminal."""


class Handed:
    """The progress of a hook with the servers of its home.

    `done`: a server has done all. `late`: a server took too long to announce its work; nothing is captured
    then. `taken`: a server announced its work and was told to go on. `native` is the native id of its
    possible capture, empty for none, and `told` its answer for the host.
    """

    def __init__(self) -> None:
        self.done = self.late = self.taken = False
        self.native = ""
        self.told = b""


def hand_over(host: str, home: str, data: bytes, *, alone: bool = False) -> Handed:
    """Hand a hook's input to a server of the home, and print the server's answer for the host.

    With `alone` no host waits: nothing is printed, and the wait for the server is longer.
    """
    handed = Handed()
    paths = addresses(home) if len(data) <= LARGE_BYTES else []
    if not paths:
        return handed
    try:
        line = _told(host, data.decode(), os.getcwd(), alone)
    except (OSError, ValueError):  # The folder is gone, or what was told is no text.
        return handed
    wait_s = HAND_WAIT_S * ALONE_TIMES if alone else HAND_WAIT_S
    deadline = time.monotonic() + wait_s
    for path in paths:
        talking = Socket(AF_UNIX, SOCK_STREAM)
        try:
            _hand(talking, path, line, deadline, wait_s, handed)
        except ConnectionRefusedError:
            discard(path)
        except TimeoutError:
            handed.late = True
        except (OSError, ValueError):
            pass
        finally:
            talking.close()
        if handed.done or handed.late or handed.taken:
            break
    return handed


def _told(host: str, told: str, folder: str, alone: bool) -> bytes:
    """Return a hook's request to a server, a line of JSON."""
    given = {"hook": host, "told": told, "folder": folder, "version": __version__}
    texts = ", ".join(f"{quoted(name)}: {quoted(value)}" for name, value in given.items())
    variables = ", ".join(f"{quoted(name)}: {quoted(value)}" for name, value in environment().items())
    who = f'"host": {os.getppid()}, "began_ns": {STARTED_NS}, "alone": {"true" if alone else "false"}'
    return f'{{{texts}, {who}, "environment": {{{variables}}}}}\n'.encode()


def _hand(talking: Socket, path: str, line: bytes, deadline: float, wait_s: float, handed: Handed) -> None:
    talking.settimeout(max(deadline - time.monotonic(), 0.001))
    talking.connect(path)
    talking.sendall(line)
    offered = read_line(talking, deadline).decode()
    if offered.encode() == NOT_MINE:
        return
    if not offered.startswith('"'):
        raise ValueError("no offer")
    handed.native, end = scanstring(offered, 1)
    handed.told = scanstring(offered, end + 1)[0].encode()
    handed.taken = True
    talking.sendall(GO)
    handed.done = read_line(talking, time.monotonic() + wait_s) == DONE
    if handed.done:
        tell(handed.told)
        talking.sendall(SHOWN)


def environment() -> dict[str, str]:
    """Return the environment variables with an effect on captures: content, home, author, project."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in NAMES or (name.startswith(PREFIXES) and name not in OTHERS_NAMES)
    }


def addresses(home: str) -> list[str]:
    """Return the sockets of a home's servers, the latest first."""
    found = []
    try:
        with os.scandir(os.path.join(home, FOLDER)) as entries:
            found = [(entry.stat().st_mtime_ns, entry.path) for entry in entries if entry.name.endswith(".sock")]
    except OSError:
        pass
    return [path for _, path in sorted(found, reverse=True)]


def discard(path: str) -> None:
    """Delete the socket of a server that has died."""
    try:
        os.unlink(path)
    except OSError:  # Another was faster.
        return


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


def tell(answered: bytes) -> None:
    """Write an answer to the host on stdout."""
    while answered:
        answered = answered[os.write(1, answered) :]
