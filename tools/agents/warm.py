"""A running MCP server answers hooks at once, since a process of their own would need a second to load LanceDB.

The server listens on a socket of the home, `serving/<pid>.sock`, which only the owner can open; one line of JSON asks
and one answers. A hook asks whichever server is there and goes on without an answer where none comes in time.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from memtape.schemas.placeholders import head_of

FOLDER = "serving"
MAX_ADDRESS_BYTES = 100
"""A socket's path has at most 104 to 108 bytes."""
MAX_LINE_BYTES = 1024 * 1024
SERVED_WAIT_S = 5
PROMPT_CHARS = 2_000
"""So much of a prompt is searched for."""

Asked = dict[str, str]


def ask(home: Path, asked: Asked, wait_s: float) -> str:
    """Return what a server of this home answers within `wait_s`, nothing where none does.

    Asked are `scope`, `session` and `actor`, and a `prompt`, whose secrets are out of it; without one, the context of a
    start.
    """
    deadline = time.monotonic() + wait_s
    line = orjson.dumps(asked | {"prompt": head_of(asked.get("prompt", ""), PROMPT_CHARS)}) + b"\n"
    for path in _addresses(home):
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            break
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
                asking.settimeout(left_s)
                asking.connect(str(path))
                asking.sendall(line)
                answered = orjson.loads(_line(asking, deadline))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)  # Its server has died.
        except (OSError, ValueError):
            continue
        else:
            return answered if isinstance(answered, str) else ""
    return ""


class Warm:
    """Listens for hooks as long as a server lives. Where no socket can be made, hooks do without."""

    def __init__(
        self, home: Path, answer: Callable[[dict[str, Any]], str], after: Callable[[dict[str, Any]], None]
    ) -> None:
        self._answer = answer
        self._after = after
        self.path = home / FOLDER / f"{os.getpid()}.sock"
        self._listening: socket.socket | None = None

    def start(self) -> None:
        """Listen from now on, in a thread of its own."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if len(os.fsencode(self.path)) > MAX_ADDRESS_BYTES:
                return
            self.path.unlink(missing_ok=True)
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listening.bind(str(self.path))
            listening.listen(16)
        except OSError:
            return
        self._listening = listening
        threading.Thread(target=self._serve, args=(listening,), name="warm", daemon=True).start()

    def stop(self) -> None:
        """Stop listening."""
        if self._listening is not None:
            self._listening.close()
            self.path.unlink(missing_ok=True)

    def _serve(self, listening: socket.socket) -> None:
        while True:
            try:
                asking, _ = listening.accept()
            except OSError:
                return
            try:
                with asking:
                    asking.settimeout(SERVED_WAIT_S)
                    asked = orjson.loads(_line(asking, time.monotonic() + SERVED_WAIT_S))
                    asking.sendall(orjson.dumps(self._answer(asked)) + b"\n")
                self._after(asked)
            except Exception:  # Whoever asked has gone or asked nonsense; the next is served.
                continue


def _addresses(home: Path) -> list[Path]:
    try:
        found = [(path.stat().st_mtime_ns, path) for path in (home / FOLDER).glob("*.sock")]
    except OSError:
        return []
    return [path for _, path in sorted(found, reverse=True)]


def _line(talking: socket.socket, deadline: float) -> bytes:
    data = bytearray()
    while not data.endswith(b"\n"):
        talking.settimeout(max(deadline - time.monotonic(), 0.001))
        part = talking.recv(65_536)
        if not part or len(data) > MAX_LINE_BYTES:
            raise ValueError("cut short")
        data += part
    return bytes(data)
