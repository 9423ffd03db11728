"""Folding by recorded vectors: a family's living memories under one embedder, found exactly by cosine in integers.

Two texts are one memory if they differ in form alone, or if their vectors are similar and both say the same in other
words: they have one form of paraphrases, or the same words and classes (`restating`). If their vectors are similar and
the texts differ in one value, the later revises the earlier. Which memories there are is kept in `memories`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.state.fold.paraphrase import Form
from memtape.state.fold.restating import restates
from memtape.state.fold.revision import MOST_ASKED, gives_another_value
from memtape.state.fold.rule import NEW, How, Verdict
from memtape.state.fold.specifics import Specifics, specifics
from memtape.state.fold.wordings import Wordings
from memtape.state.vectors.floor import SIMILARITY_ONE, in_order, similarity
from memtape.state.vectors.recorded import recorded

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Rows = NDArray[np.intp]


class _Said(NamedTuple):
    """What a memory is compared by."""

    text: str
    vector: bytes
    specifics: Specifics


class DenseCandidates:
    """The canonical texts of a family's living memories that have a vector.

    Dots are float32 products of integers whose sums stay below 2^24, hence exact in any order and batch. One against
    10,000 vectors of 384 dimensions takes some 2 milliseconds; `expect` asks many at once, for a tenth of that.
    """

    def __init__(self) -> None:
        self._said: dict[int, _Said] = {}
        self._row_of: dict[int, int] = {}
        self._births: list[int] = []
        self._free: list[int] = []
        self._alike: dict[Form, list[int]] = {}
        self._wordings = Wordings()
        self._matrix: Floats = np.zeros((0, 0), dtype=np.float32)
        self._squares: Ints = np.zeros(0, dtype=np.int64)
        self._orders: Ints = np.zeros(0, dtype=np.int64)
        self._expected: dict[bytes, Floats] = {}
        self._touched: dict[int, None] = {}

    def put(self, birth: int, text: str, vector: bytes, name: int) -> None:
        """Make `text` the canonical text of the memory `birth`, whose name is the seq `name`."""
        said = self._said.get(birth)
        if said is not None and (said.text, said.vector) == (text, vector):
            self._orders[self._row_of[birth]] = name
            return
        self.drop(birth)
        said = self._said[birth] = _Said(text, vector, specifics(text))
        self._alike.setdefault(said.specifics.form, []).append(birth)
        self._wordings.put(birth, said.specifics.wording)
        values = recorded(vector)
        row = self._free.pop() if self._free else self._grow(len(values))
        self._births[row] = birth
        self._row_of[birth] = row
        self._matrix[row] = values
        self._squares[row] = _square(values)
        self._orders[row] = name
        self._touched[row] = None

    def drop(self, birth: int) -> None:
        """Take a memory out; nothing happens if it is not there."""
        said = self._said.pop(birth, None)
        if said is None:
            return
        self._wordings.drop(birth)
        alike = self._alike[said.specifics.form]
        alike.remove(birth)
        if not alike:
            del self._alike[said.specifics.form]
        row = self._row_of.pop(birth)
        self._matrix[row] = 0
        self._squares[row] = 0
        self._free.append(row)
        self._touched[row] = None

    def expect(self, vectors: Sequence[bytes]) -> None:
        """Compare vectors that are about to be judged in one product; what is judged comes out the same without it."""
        count = len(self._births)
        self._touched = {}
        self._expected = {}
        if count and len(vectors) > 1:
            dots = np.stack([recorded(vector) for vector in vectors]) @ self._matrix[:count].T
            self._expected = dict(zip(vectors, dots, strict=True))

    def judge(self, text: str, vector: bytes, cosine_hundredths: int) -> Verdict:
        """Return the verdict on a text that no memory of the family holds to the letter.

        What differs in form alone folds whatever the vectors. Else similar is dot > 0 and
        dot^2 * 10^4 >= T^2 * |a|^2 * |b|^2, which fits 64 bits. Fold beats revision, then the greatest
        dot^2 // |b|^2, then the earliest name. Of many similar texts the most similar are asked; what has the form of
        the text is found besides.
        """
        if not self._row_of:
            return NEW
        own = specifics(text)
        same = self._wordings.earliest(own.wording, self._name_of)
        if same is not None:
            return Verdict("similar", same, SIMILARITY_ONE)
        values = recorded(vector)
        square = _square(values)
        dots = self._dots(vector, values)
        squares = self._squares[: len(dots)]
        reaching = (dots > 0) & (dots * dots * 10_000 >= squares * (cosine_hundredths**2 * square))
        nearest = in_order(np.flatnonzero(reaching), dots, squares, self._orders)[:MOST_ASKED].tolist()
        how, row = self._found(text, own, nearest, reaching, lambda rows: in_order(rows, dots, squares, self._orders))
        if row < 0:
            return NEW
        return Verdict(how, self._births[row], similarity(int(dots[row]), square, int(squares[row])))

    def _found(
        self,
        text: str,
        own: Specifics,
        nearest: list[int],
        reaching: NDArray[np.bool_],
        ordered: Callable[[Rows], Rows],
    ) -> tuple[How, int]:
        """Return the row that a text folds with, else the one that it revises, else -1."""
        said = [self._said[self._births[row]] for row in nearest]
        for row, other in zip(nearest, said, strict=True):
            if own.form == other.specifics.form != () or restates(other.text, text):
                return "similar", row
        alike = (self._row_of[birth] for birth in (self._alike.get(own.form, ()) if own.form else ()))
        for row in ordered(np.array([row for row in alike if reaching[row]], dtype=np.intp))[:1].tolist():
            return "similar", row
        for row, other in zip(nearest, said, strict=True):
            if gives_another_value(other.specifics.wording.key, own.wording.key):
                return "revision", row
        return "new", -1

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
