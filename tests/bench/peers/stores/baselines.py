"""What everybody can build in an hour: BM25 by rank-bm25, cosine by numpy, and their fusion. In memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from bench.peers.store import Found, Store, Text

POOL = 100
FUSION_K = 60
"""The constant of Cormack, Clarke and Büttcher (SIGIR 2009)."""


def words(text: str) -> list[str]:
    """Return the lower-case words."""
    return re.findall(r"\w+", text.lower())


class Listed(Store):
    """Texts in a dictionary by key; whatever ranks them is made anew after a change."""

    has_files = False

    def __init__(self, folder: Path, url: str, model: str) -> None:
        super().__init__(folder, url, model)
        self._texts: dict[str, str] = {}
        self._is_new = True

    def add(self, texts: Sequence[Text]) -> None:
        self._texts |= {text.key: text.text for text in texts}
        self._is_new = True

    def delete(self, key: str) -> None:
        del self._texts[key]
        self._is_new = True

    def search(self, question: str, limit: int = 10) -> list[Found]:
        self.settle()
        if not (listed := list(self._texts.values())):
            return []
        return [Found(listed[place]) for place in self.ranks(question)[:limit]]

    def settle(self) -> None:
        if self._is_new and self._texts:
            self.index(list(self._texts.values()))
            self._is_new = False

    def index(self, listed: list[str]) -> None:
        """Make ready to rank these texts."""
        raise NotImplementedError

    def ranks(self, question: str) -> list[int]:
        """Return places of texts, best first."""
        raise NotImplementedError


class Bm25(Listed):
    """BM25Okapi as it comes, over lower-case words."""

    package = "rank-bm25"

    def index(self, listed: list[str]) -> None:
        self._bm25 = BM25Okapi([words(text) or [""] for text in listed])

    def ranks(self, question: str) -> list[int]:
        scores = self._bm25.get_scores(words(question))
        return [int(place) for place in np.argsort(-scores, kind="stable")[:POOL] if scores[place] > 0]


class Cosine(Listed):
    """Dot products of unit vectors; each text is embedded once."""

    package = "numpy"

    def __init__(self, folder: Path, url: str, model: str) -> None:
        super().__init__(folder, url, model)
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def index(self, listed: list[str]) -> None:
        new = [text for text in dict.fromkeys(listed) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, self.embed(new), strict=True))
        self._all = np.stack([self._vectors[text] for text in listed])

    def ranks(self, question: str) -> list[int]:
        scores = self._all @ self.embed([question])[0]
        return np.argsort(-scores, kind="stable")[:POOL].tolist()


class Fusion(Bm25):
    """Reciprocal rank fusion of both."""

    def __init__(self, folder: Path, url: str, model: str) -> None:
        super().__init__(folder, url, model)
        self._cosine = Cosine(folder, url, model)

    def index(self, listed: list[str]) -> None:
        super().index(listed)
        self._cosine.index(listed)

    def ranks(self, question: str) -> list[int]:
        sums: dict[int, float] = {}
        for ranked in (super().ranks(question), self._cosine.ranks(question)):
            for rank, place in enumerate(ranked, 1):
                sums[place] = sums.get(place, 0.0) + 1 / (FUSION_K + rank)
        return sorted(sums, key=lambda place: (-sums[place], place))
