"""Serving the page: its address with the token, and the server on loopback until Ctrl-C or SIGTERM."""

from __future__ import annotations

import secrets
import socket
import tempfile
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path

import anyio
import uvicorn

from memtape.tools.agents.mcp.server import LOOPBACK, listen
from memtape.tools.page.app import Page, page_app
from memtape.tools.page.guard import TOKEN_KEY
from memtape.tools.page.memory import PageMemory

TOKEN_BYTES = 32


class Serving:
    """One page that listens. `address` lets its holder in; it ends with the process and is written nowhere."""

    def __init__(self, home: Path, scope: str, port: int) -> None:
        self._listening: socket.socket = listen(port)
        self.port: int = self._listening.getsockname()[1]
        self._token = secrets.token_urlsafe(TOKEN_BYTES)
        self._code = secrets.token_urlsafe(TOKEN_BYTES)
        self._memory = PageMemory(home, scope)
        self._page = Page(self._memory)
        app = page_app(self._page, self.port, self._token, self._code)
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, server_header=False))

    @property
    def address(self) -> str:
        """The first address, which becomes a cookie."""
        return f"http://{LOOPBACK}:{self.port}/?{TOKEN_KEY}={self._token}"

    def serve(self, *, open_browser: bool = False) -> None:
        """Answer until Ctrl-C, SIGTERM or `stop`."""
        opening = self.make_opening() if open_browser else None
        if opening is not None:
            # Some browsers keep who opens them waiting until they are closed.
            threading.Thread(target=webbrowser.open, args=(opening.as_uri(),), daemon=True).start()
        try:
            with suppress(KeyboardInterrupt):
                anyio.run(self._server.serve, [self._listening])
        finally:
            if opening is not None:
                opening.unlink(missing_ok=True)
            self._page.close()
            self._memory.close()

    def make_opening(self) -> Path:
        """Write a file (0600) that leads to the page by a code for one use, and return its path.

        The arguments of a browser's process are readable by every user of a machine: they name the file alone.
        """
        number, path = tempfile.mkstemp(prefix="memtape-page-", suffix=".html")
        with open(number, "w", encoding="ascii") as file:
            address = f"http://{LOOPBACK}:{self.port}/?{TOKEN_KEY}={self._code}"
            file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={address}">\n')
        return Path(path)

    def stop(self) -> None:
        """Have `serve`, in another thread, answer what was asked and return."""
        self._server.should_exit = True
