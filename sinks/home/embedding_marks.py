"""`embedding.json` of a home, by embedder: below which offset of each partition no text waits for a vector, and when
texts that had been given up were last tried again.
"""

from __future__ import annotations

import msgspec

from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home
from memtape.sinks.home.offset_marks import MarksFile, OffsetMarks

RETRY_EVERY_S = 24 * 3_600


class _EmbeddingFile(MarksFile, frozen=True):
    tried_again_s: dict[str, int] = msgspec.field(default_factory=dict)


class EmbeddingMarks(OffsetMarks):
    """The marks of one log in a home, by the keys of embedders."""

    form = _EmbeddingFile

    def __init__(self, home: Home, log: Log) -> None:
        super().__init__(home.embedding_path, log)

    def is_due(self, embedder: str, now_s: int) -> bool:
        """Return whether given-up texts are due for a retry: once a day, or if the last time is unknown."""
        last_s = self._tried_again().get(embedder)
        return last_s is None or not 0 <= now_s - last_s < RETRY_EVERY_S

    def given_up(self, embedder: str, now_s: int) -> None:
        """Note that a text was given up, a day from when the first of them is tried again."""
        if embedder not in self._tried_again():
            self.tried_again(embedder, now_s)

    def tried_again(self, embedder: str, now_s: int) -> None:
        """Note when texts that had been given up were tried again; 0 has it done now."""
        self._write(msgspec.structs.replace(self._known(), tried_again_s=self._tried_again() | {embedder: now_s}))

    def _tried_again(self) -> dict[str, int]:
        known = self._known()
        assert isinstance(known, _EmbeddingFile)
        return known.tried_again_s
