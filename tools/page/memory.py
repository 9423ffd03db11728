"""The clients of a page, one for each visited scope; one request at a time uses a client."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from memtape.schemas.errors import LogGone
from memtape.schemas.scopes import GLOBAL
from memtape.tools.capture.profiles import opened_home
from memtape.tools.client import Client

ResultT = TypeVar("ResultT")

SCOPES_S = 10.0
MAX_CLIENTS = 4
"""A client keeps its scope's texts ready; the one that was not used for longest is closed."""


class PageMemory:
    """A home for the page of its owner. The page begins in `scope`."""

    def __init__(self, home: Path, scope: str) -> None:
        self.home = opened_home(home).path
        self.scope = scope
        self._lock = threading.Lock()
        self._clients: dict[str, Client] = {}
        self._scopes: tuple[float, list[str]] = (0.0, [])

    def do(self, scope: str, action: Callable[[Client], ResultT]) -> ResultT:
        """Return the result of an action on the client of a scope. Raises `MemtapeError`."""
        with self._lock:
            client = self._clients.pop(scope, None) or self._opened(scope)
            self._clients[scope] = client  # The last used stands last.
            try:
                return action(client)
            except LogGone:
                self._close()
                raise
            finally:
                while len(self._clients) > MAX_CLIENTS:
                    self._clients.pop(next(iter(self._clients))).close()

    def _opened(self, scope: str) -> Client:
        if not self.home.is_dir():
            raise LogGone(f"The home {self.home} is gone.", "End this page. Another home has another one.")
        # Only an operator decides what all projects share.
        client = Client(self.home, scope=scope, origin="operator" if scope == GLOBAL else "user", wakes=False)
        client.door = "page"
        return client

    def scopes(self) -> list[str]:
        """Return the scopes of the home, that of the page first; looked up anew after `SCOPES_S`."""
        read_at, known = self._scopes
        if not known or time.monotonic() - read_at > SCOPES_S:
            known = self.do(self.scope, lambda client: [self.scope, GLOBAL, *client.status().scopes])
            self._scopes = (time.monotonic(), list(dict.fromkeys(known)))
        return self._scopes[1]

    def close(self) -> None:
        """Close every client."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        while self._clients:
            self._clients.popitem()[1].close()
