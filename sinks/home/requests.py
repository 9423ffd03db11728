"""Requests of other processes to the projector of a home: a file for the request, one for the reply.

The asker writes `<id>.json` and reads `<id>.reply` at any time; the projector rewrites the reply while it
works, each time whole, and removes the request at the end.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import uuid_utils

from memtape.sinks.home.folders import read_json, write_whole


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How far the projector is; `error` and `result` are only there when it is `finished`."""

    phase: str
    done: int
    total: int
    finished: bool = False
    error: str | None = None
    hint: str | None = None
    result: str | None = None


class Requests:
    """The folder of questions and answers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def ask(self, verb: str) -> str:
        """Put a question and return its id."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        id = str(uuid_utils.uuid7())
        write_whole(self._folder / f"{id}.json", msgspec.json.encode(verb))
        return id

    def waiting(self) -> list[str]:
        """Return the ids of the questions that are not answered, oldest first."""
        return sorted(path.stem for path in self._folder.glob("*.json") if path.is_file())

    def read(self, id: str) -> str:
        """Return the verb that is asked for, "unreadable" for one that cannot be read or was taken back."""
        return read_json(self._folder / f"{id}.json", str) or "unreadable"

    def reply(self, id: str, reply: Reply) -> None:
        """Answer, or say how far the answer is."""
        write_whole(self._folder / f"{id}.reply", msgspec.json.encode(reply))
        if reply.finished:
            (self._folder / f"{id}.json").unlink(missing_ok=True)

    def answer(self, id: str) -> Reply | None:
        """Return the answer to a request, None before the answer."""
        return read_json(self._folder / f"{id}.reply", Reply)

    def forget(self, id: str) -> None:
        """Take question and answer away."""
        for suffix in ("json", "reply"):
            (self._folder / f"{id}.{suffix}").unlink(missing_ok=True)
