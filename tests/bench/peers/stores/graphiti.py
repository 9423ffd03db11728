"""Graphiti over Kuzu, which needs no server; asked for one episode without a key."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from graphiti_core import Graphiti
from graphiti_core.driver.kuzu_driver import KuzuDriver

from bench.peers.store import Store, Text


class GraphitiStore(Store):
    """A graph in a file. Each episode is read by a language model, OpenAI's by default."""

    package = "graphiti-core"

    def __init__(self, folder: Path, url: str, model: str) -> None:
        super().__init__(folder, url, model)
        os.environ.pop("OPENAI_API_KEY", None)
        os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
        self._loop = asyncio.new_event_loop()
        self._graph = Graphiti(graph_driver=KuzuDriver(db=str(folder / "graph.kuzu")))

    def add(self, texts: Sequence[Text]) -> None:
        for text in texts:
            now = datetime.now(timezone.utc)
            self._loop.run_until_complete(self._graph.add_episode(text.key, text.text, "a text", now))
