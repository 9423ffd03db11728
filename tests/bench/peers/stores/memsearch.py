"""memsearch: Markdown files are the truth, and Milvus Lite is the index. Each text is a file of its own."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

from memsearch import MemSearch

from bench.peers.store import Found, Store, Text


class MemSearchStore(Store):
    """A folder of notes. A text is acknowledged once its file is written and indexed."""

    package = "memsearch"

    def __init__(self, folder: Path, url: str, model: str) -> None:
        super().__init__(folder, url, model)
        self._notes, self._loop = folder / "notes", asyncio.new_event_loop()
        self._notes.mkdir(exist_ok=True)
        self._open()

    def _open(self) -> None:
        self._search = MemSearch(
            paths=[str(self._notes)],
            embedding_provider="openai",
            embedding_model=self.model,
            embedding_base_url=self.url,
            embedding_api_key="none",
            milvus_uri=str(self.folder / "milvus.db"),
        )

    def add(self, texts: Sequence[Text]) -> None:
        for text in texts:
            self._notes.joinpath(f"{text.key}.md").write_text(text.text)
        if len(texts) == 1:
            self._loop.run_until_complete(self._search.index_file(self._notes / f"{texts[0].key}.md"))
        else:
            self._index()

    def _index(self) -> None:
        report = self._loop.run_until_complete(self._search.index_with_report())
        if report.failed_files:
            raise OSError(f"{len(report.failed_files)} files failed: {report.failed_files[0].error}")

    def search(self, question: str, limit: int = 10) -> list[Found]:
        found = self._loop.run_until_complete(self._search.search(question, top_k=limit))
        return [Found(one["content"]) for one in found]

    def delete(self, key: str) -> None:
        self._notes.joinpath(f"{key}.md").unlink()
        self._index()

    def rebuild(self) -> None:
        self.close()
        for path in self.folder.glob("milvus.db*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self._open()
        self._index()

    def close(self) -> None:
        self._search.close()
