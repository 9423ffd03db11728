"""`embedding.json` of a home: below which offset of each partition no text waits for a vector, by embedder.

It is a cache. Where it is missing, damaged or of another log, the embed worker reads the log from its beginning.
"""

from __future__ import annotations

import msgspec

from memtape.sinks.home.folders import Home, write_whole


class _File(msgspec.Struct, frozen=True):
    log_id: str
    offsets: dict[str, list[int]]


class EmbeddingMarks:
    """The marks of one log in a home."""

    def __init__(self, home: Home, log_id: str, partitions: int) -> None:
        self._path = home.embedding_path
        self._log_id = log_id
        self._partitions = partitions

    def read(self, embedder: str) -> list[int] | None:
        """Return the marks of an embedder, None where nothing is known."""
        offsets = self._known().get(embedder)
        return offsets if offsets is not None and len(offsets) == self._partitions else None

    def write(self, embedder: str, offsets: list[int]) -> None:
        """Keep the marks of an embedder beside those of others."""
        known = self._known()
        if known.get(embedder) != offsets:
            write_whole(self._path, msgspec.json.encode(_File(self._log_id, known | {embedder: offsets})))

    def _known(self) -> dict[str, list[int]]:
        try:
            file = msgspec.json.decode(self._path.read_bytes(), type=_File)
        except (OSError, msgspec.MsgspecError):
            return {}
        return file.offsets if file.log_id == self._log_id else {}
