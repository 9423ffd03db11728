"""The fold rule: whether a new long-term text is one of the memories that are there, revises one, or is new.

Here the lexical floor decides: texts fold if they differ in form alone, and revise if they differ in one value. Under
recorded vectors `dense` decides. Which memories there are is kept in `memories`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from memtape.schemas.settings import Settings
from memtape.state.fold.keys import Keys
from memtape.state.fold.near_verbatim import Tokens
from memtape.state.fold.revision import MOST_ASKED, gives_another_value
from memtape.state.fold.specifics import specifics
from memtape.state.text.normal import content_key
from memtape.state.vectors.floor import SIMILARITY_ONE, Columns, Vector, floor_vector

How = Literal["new", "same", "similar", "echo", "revision", "unfolded", "waiting", "decided"]


class Verdict(NamedTuple):
    """The relation of a text to the memory `birth` (-1 for a new one), and its similarity."""

    how: How
    birth: int = -1
    similarity: int = 0


NEW = Verdict("new")
WAITING = Verdict("waiting")
"""The text stands by itself until its vector has come; it is then found to be new or not."""


_DIMS, _VALUES = "<u2", "<i2"


class ComparisonForms(NamedTuple):
    """The forms of a text used in comparisons: its near-verbatim key, and its floor vector as bytes."""

    form: Tokens
    dims: bytes
    values: bytes
    square: int


class Candidates:
    """The canonical texts of a family's living memories, found by their form and by similarity."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._forms = Keys()
        self._columns = Columns()

    def put(self, birth: int, text: str, name: int, known: ComparisonForms | None = None) -> None:
        """Make `text` the canonical text of the memory `birth`, with the name `name` (a seq).

        A `known` reading saves reading the text, which takes most of the time.
        """
        if self._texts.get(birth) == text:
            self._columns.reorder(birth, name)
            return
        self._texts[birth] = text
        self._forms.put(birth, specifics(text).form if known is None else known.form)
        self._columns.put(birth, floor_vector(content_key(text)) if known is None else _vector(known), name)

    def readings(self) -> Iterator[tuple[int, ComparisonForms]]:
        """Yield the births of the memories with the reading of each canonical text."""
        for birth in self._texts:
            vector = self._columns.vector_of(birth)
            dims, values = vector.dims.astype(_DIMS).tobytes(), vector.values.astype(_VALUES).tobytes()
            yield birth, ComparisonForms(self._forms.of(birth), dims, values, vector.square)

    def drop(self, birth: int) -> None:
        """Take a memory out, because nothing of it lives."""
        if self._texts.pop(birth, None) is not None:
            self._forms.drop(birth)
            self._columns.drop(birth)

    def judge(self, text: str, settings: Settings, name_of: Callable[[int], int]) -> Verdict:
        """Return the verdict on a text that no memory of the family holds to the letter.

        Fold beats revision, then the highest similarity, then the earliest name (`name_of` a birth).
        """
        own = specifics(text).form
        same = self._forms.earliest(own, name_of)
        if same is not None:
            return Verdict("similar", same, SIMILARITY_ONE)
        vector = floor_vector(content_key(text))
        for birth, how in self._columns.nearest(vector, settings.revision_cosine_hundredths, MOST_ASKED):
            if gives_another_value(self._forms.of(birth), own):
                return Verdict("revision", birth, how)
        return NEW


def judge_same(births: Iterable[int], name_of: Callable[[int], int]) -> Verdict:
    """Return the verdict on a text that these memories hold to the letter, by normalised text."""
    return Verdict("same", min(births, key=name_of), SIMILARITY_ONE)


def _vector(known: ComparisonForms) -> Vector:
    dims, values = np.frombuffer(known.dims, _DIMS), np.frombuffer(known.values, _VALUES)
    return Vector(dims.astype(np.intp), values.astype(np.int16), known.square)
