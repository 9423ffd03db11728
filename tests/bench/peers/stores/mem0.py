"""mem0 as installed: Qdrant in a folder, texts taken as they are (`infer=False`), since no model is asked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from bench.peers.store import Found, Store, Text

USER = "peers"


class Mem0(Store):
    """One user's memories. A client for a language model is made, with no key, and never called."""

    package = "mem0ai"

    def __init__(self, folder: Path, url: str, model: str) -> None:
        super().__init__(folder, url, model)
        os.environ |= {"MEM0_DIR": str(folder / "own"), "MEM0_TELEMETRY": "False"}
        from mem0 import Memory

        endpoint = {"model": model, "openai_base_url": url, "api_key": "none", "embedding_dims": 384}
        qdrant = {"path": str(folder / "qdrant"), "embedding_model_dims": 384, "on_disk": True}
        self._memory = Memory.from_config(
            {
                "embedder": {"provider": "openai", "config": endpoint},
                "vector_store": {"provider": "qdrant", "config": qdrant},
                "llm": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": url}},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._ids: dict[str, str] = {}

    def add(self, texts: Sequence[Text]) -> None:
        said = [{"role": "user", "content": text.text} for text in texts]
        made = self._memory.add(said, user_id=USER, infer=False)["results"]
        self._ids |= {text.key: one["id"] for text, one in zip(texts, made, strict=True)}

    def search(self, question: str, limit: int = 10) -> list[Found]:
        found = self._memory.search(question, filters={"user_id": USER}, top_k=limit)["results"]
        return [Found(one["memory"]) for one in found]

    def delete(self, key: str) -> None:
        self._memory.delete(self._ids[key])

    def close(self) -> None:
        self._memory.vector_store.client.close()
        self._memory.close()
