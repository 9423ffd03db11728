"""Texts that a server keeps loaded for hooks, by scope, reloaded in the background.

A hook waits for a fraction of a second. Its answer comes from the loaded texts, with the newest events laid
over them, while another thread projects and reads. No hook waits for that thread, nor for a tool called by an
agent. Hooks of one scope are answered one after another: the first loads for all.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memtape.sinks.home.folders import Home
from memtape.tools.agents.errors import note_error
from memtape.tools.agents.offering import offer_memories, offer_start
from memtape.tools.agents.turn import HookCall, HookOffer
from memtape.tools.capture.native_ids import HOSTS
from memtape.tools.client import Client

if TYPE_CHECKING:
    from memtape.tools.query.retrieval import ReadyTexts  # LanceDB is loaded for who needs it.

MAX_SCOPES = 8
"""The texts of so many scopes are kept ready; the one that was not asked for longest is given up."""
CLOSE_WAIT_S = 2.0
_ACTOR = "memtape"
"""The actor of reading and projecting; nothing is captured under this name."""


class _ScopeTexts:
    """The loaded texts of a scope, and the right to load them for a hook."""

    def __init__(self) -> None:
        self.loading = threading.Lock()
        self.ready: ReadyTexts = {}


class HookResponder:
    """Answers hooks, from any thread. With `small`, other processes do all projecting."""

    def __init__(self, home: Path, *, small: bool = False) -> None:
        self._home, self._small, self._closed = home, small, False
        self._changed = threading.Condition()
        self._due: dict[str | Path, None] = {}
        self._told: list[tuple[HookCall, str]] = []
        self._texts: dict[str, _ScopeTexts] = {}
        self._worker: threading.Thread | None = None

    def offer(self, asking: Client, prompt: str, since: int | None = None) -> HookOffer:
        """Return the sure memories for a prompt, or without a prompt the context of a session's start."""
        with self._of(asking.scope).loading, self.lent(asking):
            return offer_memories(asking, prompt) if prompt else offer_start(asking, since)

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

    def after(self, turn: HookCall, scope: str) -> None:
        """Queue a hook's transcript for reading and its project for projecting; return at once."""
        told = turn.told
        if told.transcript and told.host in HOSTS and told.action in ("start", "answer", "subagent"):
            with self._changed:
                self._told.append((turn, scope))
        self.refresh(scope)

    @contextmanager
    def lent(self, client: Client) -> Iterator[None]:
        """Lend the loaded texts of its scope to a client in a block; keep those that the client loads."""
        texts = self._of(client.scope)
        if self._small:
            client.reader.small = True
        if texts.ready:
            client.reader.take_over(texts.ready)
        yield
        if "reader" in vars(client):  # A capture alone does not load it.
            texts.ready = texts.ready | client.reader.let_go()

    def close(self) -> bool:
        """Stop, and return whether all reading and projecting, which cannot be interrupted, is over."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._worker is not None:
            self._worker.join(CLOSE_WAIT_S)
        return self._worker is None or not self._worker.is_alive()

    def _of(self, scope: str) -> _ScopeTexts:
        with self._changed:
            texts = self._texts.pop(scope, None) or _ScopeTexts()
            self._texts[scope] = texts  # The last used stands last.
            if len(self._texts) > MAX_SCOPES:
                del self._texts[next(iter(self._texts))]
            return texts

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
            try:
                for turn, scope in told:
                    self._take_up(turn, scope)
                self._make(project)
            except Exception as error:
                note_error(self._home, "server: getting ready", error)

    def _take_up(self, turn: HookCall, scope: str) -> None:
        """Read the new part of a session's transcript; at a start also those of interrupted sessions."""
        from memtape.tools.agents.afterwards import cut_off, of_session, take_up

        transcript, of_agent = Path(turn.told.transcript), turn.told.agent_transcript
        is_start = turn.told.action == "start"
        paths = cut_off(self._home, scope, transcript) if is_start else of_session(transcript, of_agent)
        try:
            if paths:
                take_up(turn, paths)
        except Exception as error:
            note_error(self._home, "server: taking up a transcript", error)

    def _make(self, project: str | Path) -> None:
        scope, folder = (None, project) if isinstance(project, Path) else (project, None)
        with Client(self._home, scope=scope, folder=folder, actor=_ACTOR) as client, self.lent(client):
            client.catch_up()  # What has not changed is not read again.
            client.reader.reading(lambda views: views.prepare(client.scope))
