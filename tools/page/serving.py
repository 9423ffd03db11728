"""Serving the page: its address with the token, and the server on loopback until Ctrl-C or SIGTERM."""

from __future__ import annotations

import socket
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path

import anyio
import uvicorn

from memtape.tools.agents.mcp.server import listen
from memtape.tools.page.app import PageApp, page_app
from memtape.tools.page.entry import PageEntry
from memtape.tools.page.memory import PageMemory


class Serving:
    """A listening page. `address` admits its holder, is written nowhere, and expires with the process."""

    def __init__(self, home: Path, scope: str, port: int) -> None:
        self._listening: socket.socket = listen(port)
        self.port: int = self._listening.getsockname()[1]
        self._entry = PageEntry(self.port)
        self._memory = PageMemory(home, scope)
        self._page = PageApp(self._memory)
        app = page_app(self._page, self._entry)
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, server_header=False))

    @property
    def address(self) -> str:
        """The first address, which becomes a cookie."""
        return self._entry.address

    def serve(self, *, open_browser: bool = False) -> None:
        """Answer until Ctrl-C, SIGTERM or `stop`."""
        if open_browser:
            opening = self._entry.make_opening().as_uri()
            # Some browsers keep who opens them waiting until they are closed.
            threading.Thread(target=webbrowser.open, args=(opening,), daemon=True).start()
        try:
            with suppress(KeyboardInterrupt):
                anyio.run(self._server.serve, [self._listening])
        finally:
            self._entry.end_opening()
            self._page.close()
            self._memory.close()

    def stop(self) -> None:
        """End `serve`, running in another thread, after the open requests."""
        self._server.should_exit = True
