"""What a server has ready for hooks: the texts of the scopes that agents work in, read again behind their backs.

A hook waits for a fraction of a second. So it is answered out of what was made ready before, by a thread of its own,
while another thread projects and reads. Neither waits for a tool that an agent has called.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memtape.schemas.errors import LogGone, MemtapeError
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.tools.agents.errors import note_error
from memtape.tools.agents.hook_hosts import CONTEXT_TOKENS
from memtape.tools.agents.warm import Asked
from memtape.tools.client import Client

MAX_SCOPES = 4
"""The texts of so many scopes are kept ready; the one that was not asked for longest is given up."""
READY_WAIT_S = 60.0
"""Hooks give up long before; what is read is there for the next."""
CLOSE_WAIT_S = 2.0
_ACTOR = "memtape"
"""Who reads and projects; nothing is captured under this name."""


class Offer(NamedTuple):
    """What a hook may put before an agent; `shown` puts on the log that it did."""

    text: str
    shown: Callable[[], None] = lambda: None


class Ready:
    """Answers hooks, from any thread."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._asking = threading.Lock()
        self._changed = threading.Condition()
        self._due: dict[str | Path, None] = {}
        self._clients: dict[str, Client] = {}
        self._worker: threading.Thread | None = None
        self._closed = False

    def offer(self, asked: Asked) -> Offer:
        """Return the context of a start, or what a prompt surely needs."""
        if not asked["prompt"]:
            with self._client(asked) as client:
                return Offer(client.context(CONTEXT_TOKENS, as_is=True).text)
        from memtape.tools.agents.offering import offered

        settings = local_settings(Home(self._home))
        if not settings.prompt_recall:
            return Offer("")
        ready = self._of(asked["scope"])
        try:
            with self._asking:
                text, answer = offered(ready, asked["prompt"], asked["session"], settings.prompt_recall_chars)
        except LogGone:
            self.forget()
            raise

        def shown() -> None:
            if answer.results:
                with self._client(asked) as client:
                    client.handed_out(asked["prompt"], answer)

        return Offer(text, shown)

    def refresh(self, project: str | Path) -> None:
        """Have a project, by its scope or a folder, read and projected; nobody waits for it."""
        with self._changed:
            if self._closed:
                return
            self._due[project] = None
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="ready", daemon=True)
                self._worker.start()
            self._changed.notify_all()

    def lend(self, client: Client) -> None:
        """Give a client that has read nothing yet what is ready of its scope."""
        with self._changed:
            ready = self._clients.get(client.scope)
        if ready is not None:
            client.take_over(ready)

    def forget(self) -> None:
        """Give up all that is ready, since the log that it was read from is gone."""
        with self._asking, self._changed:
            while self._clients:
                self._clients.popitem()[1].close()

    def close(self) -> bool:
        """Stop, and return whether nothing is being read or projected any more, which cannot be interrupted."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._worker is not None:
            self._worker.join(CLOSE_WAIT_S)
            if self._worker.is_alive():
                return False
        self.forget()
        return True

    def _client(self, asked: Asked) -> Client:
        """Return a client for who asks."""
        session = asked["session"] or None
        return Client(self._home, scope=asked["scope"], actor=asked["actor"], origin="agent", session=session)

    def _of(self, scope: str) -> Client:
        """Return the client that has a scope ready, as soon as it is. Raises `MemtapeError` where it is not in time.

        Whoever asks holds `_asking` while using it.
        """
        if scope not in self._clients:
            self.refresh(scope)
        with self._changed:
            self._changed.wait_for(lambda: scope in self._clients or self._closed, READY_WAIT_S)
            client = self._clients.pop(scope, None)
            if client is None:
                raise MemtapeError("A scope was not ready in time.", "Ask again.")
            self._clients[scope] = client  # The last used stands last.
        return client

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._due or self._closed)
                if self._closed:
                    return
                project = next(iter(self._due))
                del self._due[project]
            try:
                self._make(project)
            except Exception as error:
                note_error(self._home, "server: getting ready", error)

    def _make(self, project: str | Path) -> None:
        """Project what is pending, read what there is and hand it to the client that answers."""
        scope, folder = (None, project) if isinstance(project, Path) else (project, None)
        with Client(self._home, scope=scope, folder=folder, actor=_ACTOR) as client:
            scope = client.scope
            with self._changed:
                answering = self._clients.get(scope)
            if answering is not None:
                client.take_over(answering)  # What has not changed is not read again.
            client.catch_up()
            client.prepare()
            if answering is None:
                answering = Client(self._home, scope=scope, actor=_ACTOR)
            with self._asking:
                answering.take_over(client)
        with self._asking, self._changed:
            self._clients[scope] = answering
            while len(self._clients) > MAX_SCOPES:
                self._clients.pop(next(iter(self._clients))).close()
            self._changed.notify_all()
