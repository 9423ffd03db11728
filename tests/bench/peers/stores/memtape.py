"""Memtape as a program calls it: with texts alone, or with speaker and session; by words, or with vectors."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from bench.peers.store import Found, Store, Text
from bench.updates import is_marked
from memtape import Client, __version__
from memtape.tools.agents.offering import offered
from memtape.tools.capture.writing import Line
from memtape.tools.keep.erasing import plan

SCOPE = "project:peers"


class Memtape(Store):
    """A home of one project, with its own MiniLM, or the endpoint's other model."""

    package = "memtape"
    is_floor = False

    def __init__(self, folder: Path, url: str, model: str) -> None:
        super().__init__(folder, url, model)
        os.environ |= {"MEMTAPE_EMBED_URL": url, "MEMTAPE_EMBED_MODEL": model}
        choice = "floor" if self.is_floor else "local" if model == "minilm" else "http"
        is_new = not (folder / "settings.toml").exists()
        (folder / "settings.toml").write_text(f'catch_up = false\n[embedder]\nchoice = "{choice}"\n')
        if is_new and choice == "http":
            self.told("admin", "embedder", "set", choice)
        self._client = Client(folder, scope=SCOPE, origin="user")
        self._ids: dict[str, str] = {}

    @classmethod
    def release(cls) -> str:
        return f"memtape {__version__}"

    def add(self, texts: Sequence[Text]) -> None:
        made = self._client.capture_many([self.line(text) for text in texts])
        self._ids |= {text.key: one.id for text, one in zip(texts, made, strict=True)}

    def line(self, text: Text) -> Line:
        """Return what is captured of a text."""
        return Line(text=text.text)

    def search(self, question: str, limit: int = 10) -> list[Found]:
        return self._found(self._client.search(question, limit, quiet=True).results)

    def offer(self, prompt: str) -> list[Found]:
        return self._found(offered(self._client, prompt, "")[1].results)

    def delete(self, key: str) -> None:
        self._client.erase(plan(self._client.home, self._client.log, SCOPE, (self._ids[key],), only=False))

    def settle(self) -> None:
        self._client.project()
        waiting = not self.is_floor
        while waiting:
            self.told("run", "--once")
            waiting = self.told("admin", "embedder", "status")["waiting"] > 0

    def moment(self) -> Any:
        return time.time_ns() // 1_000

    def search_at(self, question: str, moment: Any) -> list[Found]:
        return self._found(self._client.search(question, as_of=moment).results)

    def rebuild(self) -> None:
        self.told("rebuild")

    def digest(self) -> str:
        return str(self.told("verify")["state_hash"])  # It replays the log, and fails where a row differs.

    def close(self) -> None:
        self._client.close()

    def told(self, *words: str) -> Any:
        """Return what a command answers. Raises `CalledProcessError` where it fails."""
        command = [sys.executable, "-m", "memtape", *words, "--home", str(self.folder), "--json"]
        return orjson.loads(subprocess.run(command, check=True, capture_output=True).stdout)

    def _found(self, results: Sequence[Any]) -> list[Found]:
        return [Found(one.text, is_marked(one)) for one in results]


class MemtapeFloor(Memtape):
    """The same by words alone."""

    is_floor = True


class MemtapeTurns(Memtape):
    """The same, told who spoke in which session: as hooks and imports capture."""

    def line(self, text: Text) -> Line:
        given = {"actor": text.speaker, "session": text.session, "at": text.at or None}
        return Line(text=text.text, kind="turn", origin="user", **given)


class MemtapeTurnsFloor(MemtapeTurns):
    """Turns, by words alone."""

    is_floor = True
