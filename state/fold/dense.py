"""Folding by recorded vectors: a family's living memories under one embedder, found exactly by cosine in integers.

Two texts are one memory if they differ in form alone, or if their vectors are similar and their specifics agree
(`specifics`). If their vectors are similar and the texts differ in one value, the later revises the earlier. Which
memories there are is kept in `memories`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.state.fold.keys import Keys
from memtape.state.fold.revision import MOST_ASKED, gives_another_value
from memtape.state.fold.rule import NEW, How, Verdict
from memtape.state.fold.specifics import specifics
from memtape.state.vectors.floor import SIMILARITY_ONE, in_order, similarity
from memtape.state.vectors.recorded import recorded

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


class _Said(NamedTuple):
    """The data by which a memory is compared."""

    text: str
    vector: bytes


class DenseCandidates:
    """The canonical texts with a vector of a family's living memories.

    Dots are float32 products of integers whose sums stay below 2^24, hence exact in any order and batch. One
    against 10,000 vectors of 384 dimensions takes some 2 milliseconds; `expect` asks many at once, for a
    tenth of that.
    """

    def __init__(self) -> None:
        self._said: dict[int, _Said] = {}
        self._row_of: dict[int, int] = {}
        self._births: list[int] = []
        self._free: list[int] = []
        self._forms = Keys()
        self._specifics = Keys()
        self._matrix: Floats = np.zeros((0, 0), dtype=np.float32)
        self._squares: Ints = np.zeros(0, dtype=np.int64)
        self._orders: Ints = np.zeros(0, dtype=np.int64)
        self._expected: dict[bytes, Floats] = {}
        self._touched: dict[int, None] = {}

    def put(self, birth: int, text: str, vector: bytes, name: int) -> None:
        """Make `text` the canonical text of the memory `birth`, with the name `name` (a seq)."""
        said = self._said.get(birth)
        if said is not None and (said.text, said.vector) == (text, vector):
            self._orders[self._row_of[birth]] = name
            return
        self.drop(birth)
        own = specifics(text)
        self._said[birth] = _Said(text, vector)
        self._forms.put(birth, own.form)
        self._specifics.put(birth, own.kept)
        values = recorded(vector)
        row = self._free.pop() if self._free else self._grow(len(values))
        self._births[row] = birth
        self._row_of[birth] = row
        self._matrix[row] = values
        self._squares[row] = _square(values)
        self._orders[row] = name
        self._touched[row] = None

    def drop(self, birth: int) -> None:
        """Remove a memory, if present."""
        if self._said.pop(birth, None) is None:
            return
        self._forms.drop(birth)
        self._specifics.drop(birth)
        row = self._row_of.pop(birth)
        self._matrix[row] = 0
        self._squares[row] = 0
        self._free.append(row)
        self._touched[row] = None

    def expect(self, vectors: Sequence[bytes]) -> None:
        """Compare vectors soon to be judged in one product; verdicts are the same without it."""
        count = len(self._births)
        self._touched = {}
        self._expected = {}
        if count and len(vectors) > 1:
            dots = np.stack([recorded(vector) for vector in vectors]) @ self._matrix[:count].T
            self._expected = dict(zip(vectors, dots, strict=True))

    def judge(self, text: str, vector: bytes, cosine_hundredths: int) -> Verdict:
        """Return the verdict on a text without an equal text in the family.

        A text that differs in form alone folds whatever the vectors. Otherwise similar is dot > 0 and dot^2 *
        10^4 >= T^2 * |a|^2 * |b|^2, which fits 64 bits. Fold beats revision, then the greatest dot^2 //
        |b|^2, then the earliest name. Of many similar texts only the most similar are checked for a revision.
        """
        if not self._row_of:
            return NEW
        own = specifics(text)
        same = self._forms.earliest(own.form, self._name_of)
        if same is not None:
            return Verdict("similar", same, SIMILARITY_ONE)
        values = recorded(vector)
        square = _square(values)
        dots = self._dots(vector, values)
        squares = self._squares[: len(dots)]
        reaching = (dots > 0) & (dots * dots * 10_000 >= squares * (cosine_hundredths**2 * square))
        alike = [row for birth in self._specifics.with_key(own.kept) if reaching[row := self._row_of[birth]]]
        how: How = "similar"
        rows = in_order(np.array(alike, dtype=np.intp), dots, squares, self._orders)[:1].tolist()
        if not rows:
            how = "revision"
            nearest = in_order(np.flatnonzero(reaching), dots, squares, self._orders)[:MOST_ASKED].tolist()
            rows = [row for row in nearest if gives_another_value(self._forms.of(self._births[row]), own.form)][:1]
        if not rows:
            return NEW
        return Verdict(how, self._births[rows[0]], similarity(int(dots[rows[0]]), square, int(squares[rows[0]])))

    def _name_of(self, birth: int) -> int:
        return int(self._orders[self._row_of[birth]])

    def _dots(self, vector: bytes, values: Floats) -> Ints:
        count = len(self._births)
        expected = self._expected.get(vector)
        if expected is None:
            return (self._matrix[:count] @ values).astype(np.int64)
        dots = np.zeros(count, dtype=np.float32)
        dots[: len(expected)] = expected
        if self._touched:
            touched = np.fromiter(self._touched, dtype=np.intp)
            dots[touched] = self._matrix[touched] @ values
        return dots.astype(np.int64)

    def _grow(self, dimensions: int) -> int:
        row = len(self._births)
        if row == len(self._matrix):
            rows = max(64, 2 * row)
            matrix = np.zeros((rows, dimensions), dtype=np.float32)
            matrix[:row] = self._matrix[:row] if row else 0
            self._matrix = matrix
            self._squares = np.resize(self._squares, rows) if row else np.zeros(rows, dtype=np.int64)
            self._orders = np.resize(self._orders, rows) if row else np.zeros(rows, dtype=np.int64)
        self._births.append(0)
        return row


def _square(values: Floats) -> int:
    return int(values @ values)
