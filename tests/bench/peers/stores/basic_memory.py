"""Basic Memory: Markdown notes are the truth, and SQLite is the index. Each text is a note of its own.

One text goes through the tool `write_note`; many are written as files, which the command `reindex` reads.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from bench.peers.store import Found, Store, Text

PREFIX = "BASIC_MEMORY_"


class BasicMemory(Store):
    """A project of notes, asked through the functions of the product's MCP tools."""

    package = "basic-memory"

    def __init__(self, folder: Path, url: str, model: str) -> None:
        super().__init__(folder, url, model)
        self._notes, self._database = folder / "notes", folder / "own"
        self._notes.mkdir(exist_ok=True)
        endpoint = {
            "PROVIDER": "openai",
            "MODEL": model,
            "API_BASE": url,
            "API_KEY": "none",
            "DIMENSIONS": "384",
        }
        own = {"HOME": str(self._notes), "CONFIG_DIR": str(self._database), "LOG_LEVEL": "CRITICAL"}
        os.environ |= {f"{PREFIX}SEMANTIC_EMBEDDING_{name}": value for name, value in endpoint.items()}
        os.environ |= {f"{PREFIX}{name}": value for name, value in own.items()}
        os.environ |= {"HOME": str(folder), "LOGFIRE_IGNORE_NO_CONFIG": "1"}
        from loguru import logger

        logger.remove()
        from basic_memory.mcp import tools

        self._tools, self._loop = tools, asyncio.new_event_loop()

    def add(self, texts: Sequence[Text]) -> None:
        if len(texts) == 1:
            (text,) = texts
            said = {"title": text.key, "content": text.text, "directory": ""}
            self._do(self._tools.write_note(**said, overwrite=True, output_format="json"))
            return
        for text in texts:
            self._notes.joinpath(f"{text.key}.md").write_text(text.text)
        self._command("reindex")

    def search(self, question: str, limit: int = 10) -> list[Found]:
        asked = {"query": question, "page_size": limit, "output_format": "json"}
        answer = self._do(self._tools.search_notes(**asked))
        if isinstance(answer, str):
            raise OSError(answer.splitlines()[0])
        return [Found(one["content"].strip()) for one in answer["results"]]

    def delete(self, key: str) -> None:
        self._do(self._tools.delete_note(key))

    def rebuild(self) -> None:
        for path in self._database.glob("memory.db*"):
            path.unlink()
        self._command("reindex")

    def close(self) -> None:
        self._loop.run_until_complete(asyncio.sleep(0.5))  # It indexes in tasks behind the answer.

    def _command(self, *words: str) -> None:
        command = [str(Path(sys.executable).with_name("basic-memory")), *words]
        subprocess.run(command, check=True, capture_output=True)

    def _do(self, call: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(call)
