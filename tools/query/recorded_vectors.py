"""Where a search has its vectors from: of texts from the views, of the question from an embedder.

The server of the home is asked first, which has its model loaded (13 ms instead of 200): one line of JSON
over the server's socket asks, and one answers with the components of the vector, or null. Else this machine's
embedder is opened when the first question is asked of texts that have vectors, once for the process. Where it
is another one than the log's, or does not answer, the search goes by words, and says so.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from memtape import __version__
from memtape.flows.embed.choice import choose_embedder
from memtape.flows.embed.embedder import Embedder
from memtape.schemas.embedding import FLOOR
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError, NotEmbedded
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.state.index.vectors import TextVectors, joined_rows
from memtape.state.vectors.recorded import quantised
from memtape.tools.keep.wire import connected, read_line
from memtape.tools.query.found import ScopeTexts

WAIT_S = 0.3
"""So long a server has: a process that loads the model itself takes as long."""


def served_vector(home: Path, embedder: str, text: str) -> NDArray[np.int16] | None:
    """Return a question's quantised vector by the embedder of a key, None where no server answers in time."""
    asked = orjson.dumps({"vector": text, "embedder": embedder, "version": __version__}) + b"\n"
    deadline = time.monotonic() + WAIT_S
    with suppress(OSError, ValueError, TypeError, OverflowError):
        with closing(connected(str(home), asked, deadline)) as talking:
            numbers = orjson.loads(read_line(talking, deadline))
        return None if numbers is None else np.array(numbers, np.int16)
    return None


def vector_line(vector: NDArray[np.int16] | None) -> bytes:
    """Return the answer line of a server."""
    return orjson.dumps(None if vector is None else vector.tolist()) + b"\n"


ASK_AGAIN_S = 60
"""So long after an embedder failed it is not asked again."""


class QueryEmbedders:
    """The open embedders of a process for questions, by home and key, for any thread.

    `is_server` says that the process is the server of a home, which asks no other process. Without
    `loads_slow` a model that takes seconds to load is not loaded: the process ends after one answer.
    """

    def __init__(self) -> None:
        self.is_server = False
        self.loads_slow = True
        self._opened: dict[tuple[str, str], tuple[Embedder, float]] = {}  # With the time of the last use.
        self._opening = threading.Lock()

    def embedder(self, home: Home, key: str) -> Embedder:
        """Return the embedder of a key. Raises `MemtapeError` if it is missing here or fails to answer."""
        with self._opening:
            embedder, _ = self._opened.get((str(home.path), key)) or (_open(home, key, self.loads_slow), 0)
            self._opened[str(home.path), key] = embedder, time.monotonic()
            return embedder

    @contextmanager
    def for_one_answer(self) -> Iterator[None]:
        """Answer in a process that ends afterwards: load no model that takes seconds."""
        self.loads_slow = False
        try:
            yield
        finally:
            self.loads_slow = True

    def drop(self, home: Home, key: str) -> None:
        """Close an embedder that may have changed."""
        with self._opening:
            self._opened.pop((str(home.path), key), None)

    def drop_idle(self, idle_s: float) -> None:
        """Close embedders without a use for `idle_s` seconds."""
        with self._opening:
            before = time.monotonic() - idle_s
            self._opened = {name: it for name, it in self._opened.items() if it[1] > before}


EMBEDDERS = QueryEmbedders()


def _open(home: Home, key: str, loads_slow: bool) -> Embedder:
    options = local_settings(home).embedder
    opened = choose_embedder(options, key != FLOOR, brief=True, loads_slow=loads_slow)
    if opened.embedder is None:
        raise EmbedderUnavailable(opened.resolved.warning)
    if opened.key != key:
        told = f"This machine does not have the embedder {key}, by which the texts were embedded."
        raise MemtapeError(told)
    return opened.embedder


class RecordedVectors:
    """The `Dense` of one home. `note` is the reason for a missing vector of the last question, else empty.

    With `only` the vectors are those of one embedder, whichever decides on the log.
    """

    def __init__(self, home: Home, only: str = "") -> None:
        self._home, self._only, self.note = home, only, ""
        self._failed_at: float | None = None

    def of_query(self, text: str, embedder: str) -> NDArray[np.int16] | None:
        """Return the vector of a question under the embedder of a key, None where this machine has it not."""
        if self._failed_at is not None and time.monotonic() - self._failed_at < ASK_AGAIN_S:
            return None
        embedder = self._only or embedder
        vector = None if EMBEDDERS.is_server else served_vector(self._home.path, embedder, text)
        try:
            if vector is None:
                packed = quantised(EMBEDDERS.embedder(self._home, embedder).embed_query(text))
                vector = np.frombuffer(packed, dtype="<i2").astype(np.int16)
        except MemtapeError as error:
            self.note = f"{error} Found by words alone."
            if not isinstance(error, NotEmbedded):
                self._failed_at = time.monotonic()
            if not isinstance(error, NotEmbedded | EmbedderUnavailable):
                EMBEDDERS.drop(self._home, embedder)
            return None
        self._failed_at, self.note = None, ""
        return vector

    def of_texts(self, found: ScopeTexts, embedder: str) -> TextVectors | None:
        """Return the index's vectors of a scope's searchable texts, None without any.

        Raises `MemtapeError` where texts have no vector of the `only` embedder.
        """
        segments = found.opened.vectors_of(self._only or embedder)
        if not segments:
            if self._only and found.texts.size:
                told = f"No text has a vector under {self._only} yet."
                raise MemtapeError(told, "`memtape run --once` makes them.")
            return None
        return TextVectors([part for part, _ in segments], joined_rows(found.texts.whole("spoken"), segments))
