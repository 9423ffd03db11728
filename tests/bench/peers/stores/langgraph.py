"""The stores of LangGraph, with an index over the field `text`."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from bench.peers.store import Found, Store, Text

NAMESPACE = ("texts",)


class InMemory(Store):
    """`InMemoryStore`: its documents say that data is lost with the process."""

    package = "langgraph-checkpoint"
    has_files = False

    def __init__(self, folder: Path, url: str, model: str) -> None:
        super().__init__(folder, url, model)
        index = {"dims": 384, "embed": lambda texts: self.embed(texts).tolist(), "fields": ["text"]}
        self._store: Any = self.made(index)

    def made(self, index: Any) -> Any:
        """Return the open store."""
        return InMemoryStore(index=index)

    def add(self, texts: Sequence[Text]) -> None:
        self._store.batch([PutOp(NAMESPACE, text.key, {"text": text.text}) for text in texts])

    def search(self, question: str, limit: int = 10) -> list[Found]:
        return [
            Found(item.value["text"]) for item in self._store.search(NAMESPACE, query=question, limit=limit)
        ]

    def delete(self, key: str) -> None:
        self._store.delete(NAMESPACE, key)


class Sqlite(InMemory):
    """`SqliteStore`, opened as its `from_conn_string` opens it."""

    package = "langgraph-checkpoint-sqlite"
    has_files = True

    def made(self, index: Any) -> Any:
        path = str(self.folder / "store.db")
        self._line = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        store = SqliteStore(self._line, index=index)
        store.setup()
        return store

    def close(self) -> None:
        self._line.close()
