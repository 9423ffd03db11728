"""The contract of a compared product: what `run` asks of each, and what one may not offer.

No file that a product's own environment loads imports Memtape, so that each runs on its own libraries.
"""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

BATCH = 500


class Text(NamedTuple):
    """A text to remember, by a key. Only a store that is told so gets speaker, session and time."""

    key: str
    text: str
    speaker: str = ""
    session: str = ""
    at: int = 0


class Found(NamedTuple):
    """A found text, and whether the product itself marks the text as replaced."""

    text: str
    is_replaced: bool = False


class NotOffered(Exception):
    """The product has no call for this."""


class Store:
    """A product in one folder. `url` and `model` name an endpoint for embeddings in the form of OpenAI.

    A store is opened again by another instance on the same folder. `add` returns once the product has
    acknowledged the texts; `settle` once each text can be found by all that the product has.
    """

    package: ClassVar[str]
    """The distribution whose version is named."""
    has_files: ClassVar[bool] = True

    def __init__(self, folder: Path, url: str, model: str) -> None:
        self.folder, self.url, self.model = folder, url, model

    @classmethod
    def release(cls) -> str:
        """Return the name and the installed version of the distribution."""
        return f"{cls.package} {version(cls.package)}"

    def add(self, texts: Sequence[Text]) -> None:
        """Remember texts; a key that is there already means the same text again."""
        raise NotImplementedError

    def search(self, question: str, limit: int = 10) -> list[Found]:
        """Return the best texts for a question, best first."""
        raise NotImplementedError

    def delete(self, key: str) -> None:
        """Delete a text by the product's most thorough ordinary call."""
        raise NotOffered

    def settle(self) -> None:
        """Finish what the product otherwise does in the background."""

    def offer(self, prompt: str) -> list[Found]:
        """Return what an agent is given for a prompt, unasked; by default what a search returns."""
        return self.search(prompt)

    def moment(self) -> Any:
        """Return a name of the present state, for `search_at`."""
        raise NotOffered

    def search_at(self, question: str, moment: Any) -> list[Found]:
        """Search as of a moment."""
        raise NotOffered

    def rebuild(self) -> None:
        """Drop all that follows from what the product calls the truth, and make it again."""
        raise NotOffered

    def digest(self) -> str:
        """Return the product's own digest of what it would answer from."""
        raise NotOffered

    def close(self) -> None:
        """Close what is open."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of shape (texts, 384) from the endpoint. Raises `OSError` without an answer."""
        parts = [self._embedded(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        return np.concatenate(parts)

    def _embedded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        where = urlsplit(self.url)
        line = http.client.HTTPConnection(where.hostname or "", where.port, timeout=600)
        body = json.dumps({"model": self.model, "input": list(texts), "encoding_format": "base64"})
        line.request("POST", f"{where.path}/embeddings", body, {"Content-Type": "application/json"})
        answer = json.loads(line.getresponse().read())
        line.close()
        rows = [base64.b64decode(row["embedding"]) for row in answer["data"]]
        return np.frombuffer(b"".join(rows), dtype="<f4").reshape(len(texts), -1)
