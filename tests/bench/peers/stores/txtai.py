"""txtai: an embeddings database with content and its own hybrid search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from txtai import Embeddings

from bench.peers.store import Found, Store, Text


class Txtai(Store):
    """An index in memory, which `save` writes to the folder; `add` saves, since otherwise nothing is kept."""

    package = "txtai"

    def __init__(self, folder: Path, url: str, model: str) -> None:
        super().__init__(folder, url, model)

        def transform(texts: list[str]) -> object:
            return self.embed(texts)

        own = {"method": "external", "transform": transform, "content": True, "hybrid": True}
        self._index, self._path = Embeddings(own), str(folder / "index")
        if Path(self._path).exists():
            self._index.load(self._path, config={"transform": transform})

    def add(self, texts: Sequence[Text]) -> None:
        self._index.upsert([(text.key, text.text, None) for text in texts])
        self._save()

    def _save(self) -> None:
        transform, self._index.config["transform"] = self._index.config["transform"], None
        self._index.save(self._path)
        self._index.config["transform"] = transform

    def search(self, question: str, limit: int = 10) -> list[Found]:
        return [Found(one["text"]) for one in self._index.search(question, limit)]

    def delete(self, key: str) -> None:
        self._index.delete([key])
        self._save()

    def close(self) -> None:
        self._index.close()
