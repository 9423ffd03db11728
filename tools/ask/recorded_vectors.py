"""Where a search has its vectors from: of texts from the views, of the question from this machine's embedder.

The embedder is opened when the first question is asked of texts that have vectors. Where it is another one than the
log's, or does not answer, the search goes by words, and says so.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from memtape.flows.embed.embedder import Embedder
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError, NotEmbedded
from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Home
from memtape.state.index.vectors import TextVectors, joined_rows
from memtape.state.vectors.recorded import quantised
from memtape.tools.ask.found import Found

ASK_AGAIN_S = 60
"""So long after an embedder failed it is not asked again."""


class RecordedVectors:
    """The `Dense` of one home. `note` says why the last question had no vector; nothing where it had one."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._embedder: Embedder | None = None
        self._key = ""
        self._failed_at: float | None = None
        self.note = ""

    def of_query(self, text: str, embedder: str) -> NDArray[np.int16] | None:
        """Return the vector of a question under the embedder of a key, None where this machine has it not."""
        if self._failed_at is not None and time.monotonic() - self._failed_at < ASK_AGAIN_S:
            return None
        try:
            self._open(embedder)
            if self._key != embedder:
                raise MemtapeError(
                    f"This machine does not have the embedder {embedder}, by which the texts were embedded."
                )
            assert self._embedder is not None
            vector = quantised(self._embedder.embed_query(text))
        except NotEmbedded as error:
            self.note = f"{error} Found by words alone."
            return None
        except MemtapeError as error:
            self._failed_at = time.monotonic()
            if not isinstance(error, EmbedderUnavailable):
                self._embedder = None  # It may be another than it was.
            self.note = f"{error} Found by words alone."
            return None
        self._failed_at, self.note = None, ""
        return np.frombuffer(vector, dtype="<i2").astype(np.int16)

    def of_texts(self, found: Found, embedder: str) -> TextVectors | None:
        """Return the vectors that the index has of what can be found in a scope, None where it has none."""
        segments = found.opened.vectors_of(embedder)
        if not segments:
            return None
        return TextVectors([part for part, _ in segments], joined_rows(found.texts.whole("spoken"), segments))

    def _open(self, embedder: str) -> None:
        from memtape.tools.keep.embedding import open_embedder

        if self._embedder is None or self._key != embedder:
            opened = open_embedder(self._home, Settings(embedder=embedder), brief=True)
            self._embedder, self._key = opened.embedder, opened.key
            if self._embedder is None:
                raise EmbedderUnavailable(opened.resolved.warning)
