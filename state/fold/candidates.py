"""The fold rule: whether a new long-term text is one of the memories that are there, or is new.

Two texts are one memory if they differ in form alone. Under an embedder they are also one if their vectors
are similar and their specifics agree (`specifics`). Which memories there are is kept in `memories`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from memtape.state.fold.near_verbatim import Specifics, Tokens, specifics
from memtape.state.text.reading import read
from memtape.state.vectors.recorded import SIMILARITY_ONE, recorded, similarity

How = Literal["new", "same", "similar", "echo", "unfolded", "waiting", "decided"]


class Match(NamedTuple):
    """The relation of a text to the memory `birth` (-1 for a new one), and its similarity."""

    how: How
    birth: int = -1
    similarity: int = 0


NEW = Match("new")
WAITING = Match("waiting")
"""The text stands by itself until its vector has come; it is then found to be new or not."""


class _Said(NamedTuple):
    """The data by which a memory is compared."""

    own: Specifics
    vector: bytes
    name: int


class Candidates:
    """The canonical texts of a family's living memories, by their specifics; vectors are optional."""

    def __init__(self) -> None:
        self._said: dict[int, _Said] = {}
        self._births: dict[Tokens, dict[int, None]] = {}

    def put(self, birth: int, text: str, name: int, vector: bytes = b"") -> None:
        """Make `text` the canonical text of the memory `birth`, with the name `name` (a seq)."""
        self.drop(birth)
        own = specifics(read(text))
        self._said[birth] = _Said(own, vector, name)
        self._births.setdefault(own.kept, {})[birth] = None

    def drop(self, birth: int) -> None:
        """Remove a memory, if present."""
        said = self._said.pop(birth, None)
        if said is not None:
            births = self._births[said.own.kept]
            del births[birth]
            if not births:
                del self._births[said.own.kept]

    def judge(self, text: str, vector: bytes = b"", cosine_hundredths: int = 100) -> Match:
        """Return the match of a text that no memory of the family holds to the letter.

        A text that differs in form alone folds whatever the vectors. Otherwise similar is dot > 0 and dot^2 *
        10^4 >= T^2 * |a|^2 * |b|^2, in integers. The greatest dot^2 // |b|^2 wins, then the earliest name.
        """
        own = specifics(read(text))
        alike = [(birth, self._said[birth]) for birth in self._births.get(own.kept, ())]
        same = [(said.name, birth) for birth, said in alike if said.own.form == own.form]
        if same:
            return Match("similar", min(same)[1], SIMILARITY_ONE)
        found = list[tuple[int, int, int, int]]()
        square = _dot(vector, vector) if vector and alike else 0
        for birth, said in alike if vector else ():
            if not said.vector:
                continue
            dot, other = _dot(vector, said.vector), _dot(said.vector, said.vector)
            if dot > 0 and dot * dot * 10_000 >= cosine_hundredths**2 * square * other:
                found.append((-(dot * dot // other), said.name, birth, similarity(dot, square, other)))
        return Match("similar", *min(found)[2:]) if found else NEW


def _dot(a: bytes, b: bytes) -> int:
    """Return the product of two recorded vectors: an integer below 2^22, exact in any order of sums."""
    return int(recorded(a) @ recorded(b))
