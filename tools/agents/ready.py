"""Texts that a server keeps loaded for hooks, by scope, reloaded in the background.

A hook waits for a fraction of a second. Its answer comes from the loaded texts, with the newest events laid
over them, while another thread projects and reads. No hook waits for that thread, nor for a tool called by an
agent. Hooks of one scope are answered one after another: the first loads for all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtape.schemas.errors import LogGone
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.tools.agents.errors import note_error
from memtape.tools.agents.hook_hosts import CONTEXT_TOKENS, note_of
from memtape.tools.agents.warm import Asked
from memtape.tools.client import Client

if TYPE_CHECKING:
    from memtape.tools.ask.context import ProjectContext

MAX_SCOPES = 8
"""The texts of so many scopes are kept ready; the one that was not asked for longest is given up."""
CLOSE_WAIT_S = 2.0
_ACTOR = "memtape"
"""The actor of reading and projecting; nothing is captured under this name."""


class HookOffer(NamedTuple):
    """Text for an agent, and a `note` for the person; `shown` appends that the agent got the text."""

    text: str
    shown: Callable[[], None] = lambda: None
    note: str = ""


class _HeldClient:
    """A client with the loaded texts of one scope, opened at its first use, used by one hook at a time."""

    def __init__(self, home: Path, scope: str) -> None:
        self._home = home
        self._scope = scope
        self._using = threading.Lock()
        self._client: Client | None = None

    @contextmanager
    def used(self) -> Iterator[Client]:
        """Lock and yield the client; the first use opens the client."""
        with self._using:
            if self._client is None:
                self._client = Client(self._home, scope=self._scope, actor=_ACTOR)
            yield self._client

    def lend(self, client: Client) -> None:
        """Share loaded texts with `client`; takes no lock."""
        if (ready := self._client) is not None:
            client.take_over(ready)

    def keep(self, client: Client) -> bool:
        """Share the texts loaded by another client; return whether the lock was free."""
        if not self._using.acquire(blocking=False):
            return False
        try:
            if self._client is None:
                self._client = Client(self._home, scope=self._scope, actor=_ACTOR)
            self._client.take_over(client)
            return True
        finally:
            self._using.release()

    def close(self) -> None:
        """Close the client after its current use; the next use opens another."""
        with self._using:
            client, self._client = self._client, None
        if client is not None:
            client.close()


class HookResponder:
    """Answers hooks, from any thread. With `small`, other processes do all projecting."""

    def __init__(self, home: Path, *, small: bool = False) -> None:
        self._home = home
        self._small = small
        self._changed = threading.Condition()
        self._due: dict[str | Path, None] = {}
        self._told: list[Asked] = []
        self._held: dict[str, _HeldClient] = {}
        self._worker: threading.Thread | None = None
        self._closed = False

    def offer(self, asked: Asked) -> HookOffer:
        """Return the context of a start, or the sure memories for a prompt."""
        settings = local_settings(Home(self._home))
        if asked["prompt"] and not settings.prompt_recall:
            return HookOffer("")
        from memtape.tools.agents.offering import offered, tokens_of

        try:
            with self._of(asked["scope"]).used() as client:
                client.session = asked["session"] or None
                if not asked["prompt"]:
                    since = int(asked["since"]) if "since" in asked else None
                    context = client.context(CONTEXT_TOKENS, as_is=True, since=since)
                    note = note_of(len(context.ids), context.tokens)
                    return HookOffer(context.text, self._of_start(asked, context), note if settings.shown else "")
                text, answer = offered(client, asked["prompt"], asked["session"], settings.prompt_recall_chars)
        except LogGone:
            self.forget()
            raise

        def shown() -> None:
            if answer.results:
                with self._client(asked) as client:
                    client.handed_out(asked["prompt"], answer, tokens_of(text))

        note = note_of(len(answer.results), tokens_of(text))
        return HookOffer(text, shown, note if settings.shown else "")

    def _of_start(self, asked: Asked, context: ProjectContext) -> Callable[[], None]:
        """Return a function that appends the recall of a start's context."""

        def shown() -> None:
            with self._client(asked) as client:
                client.handed_start(context)

        return shown

    def refresh(self, project: str | Path) -> None:
        """Queue a project, by scope or folder, for reading and projecting; return at once."""
        with self._changed:
            if self._closed:
                return
            self._due[project] = None
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="ready", daemon=True)
                self._worker.start()
            self._changed.notify_all()

    def after(self, asked: Asked) -> None:
        """Queue a hook's transcript for reading and its project for projecting; return at once."""
        if asked.get("transcript") and asked.get("action") in ("start", "answer", "subagent"):
            with self._changed:
                self._told.append(asked)
        self.refresh(asked["scope"])

    @contextmanager
    def lent(self, client: Client) -> Iterator[None]:
        """Lend the loaded texts of its scope to a client during the block; keep here the texts that the
        client loads.
        """
        self._lend(client)
        yield
        if client.has_read and self._of(client.scope).keep(client):
            client.let_go()

    def _lend(self, client: Client) -> None:
        if self._small:
            client.reader.small = True
        with self._changed:
            held = self._held.get(client.scope)
        if held is not None:
            held.lend(client)

    def forget(self) -> None:
        """Drop all loaded texts after their log was removed."""
        with self._changed:
            gone, self._held = self._held, {}
        for held in gone.values():
            held.close()

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
        """Return a client for the caller."""
        session = asked["session"] or None
        return Client(self._home, scope=asked["scope"], actor=asked["actor"], origin="agent", session=session)

    def _of(self, scope: str) -> _HeldClient:
        """Return the cached client of a scope; the first user fills it."""
        gone = None
        with self._changed:
            held = self._held.pop(scope, None) or _HeldClient(self._home, scope)
            self._held[scope] = held  # The last used stands last.
            if len(self._held) > MAX_SCOPES:
                gone = self._held.pop(next(iter(self._held)))
        if gone is not None:
            gone.close()
        return held

    def _work(self) -> None:
        # What a first hook would load and compile.
        from memtape.tools.capture.secrets.redaction import Redactor

        Redactor(Home(self._home, make=False)).text("The port of staging is 5433, said Ada.")
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._due or self._closed)
                if self._closed:
                    return
                project = next(iter(self._due))
                del self._due[project]
                told, self._told = self._told, []
            for asked in told:
                self._take_up(asked)
            try:
                self._make(project)
            except Exception as error:
                note_error(self._home, "server: getting ready", error)

    def _take_up(self, asked: Asked) -> None:
        """Read the new part of a session's transcript; at a start also those of interrupted sessions."""
        from memtape.tools.agents.transcripts import cut_off, of_session, take_up

        transcript = Path(asked["transcript"])
        try:
            if asked["action"] == "start":
                paths = cut_off(self._home, asked["scope"], transcript)
            else:
                paths = of_session(transcript, asked["agent_transcript"])
            if paths:
                take_up(self._home, asked["host"], Path(asked["folder"]), paths)
        except Exception as error:
            note_error(self._home, "server: taking up a transcript", error)

    def _make(self, project: str | Path) -> None:
        """Project the pending events of a project, and load its texts."""
        scope, folder = (None, project) if isinstance(project, Path) else (project, None)
        with Client(self._home, scope=scope, folder=folder, actor=_ACTOR) as client:
            self._lend(client)  # What has not changed is not read again.
            client.catch_up()
            client.prepare()
            with self._of(client.scope).used() as answering:
                answering.take_over(client)
