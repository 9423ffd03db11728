"""The fold rule: whether a new long-term text is one of the memories that are there, revises one, or is new.

Here the lexical floor decides: texts fold if their sequences of content tokens are equal, and revise if their
vectors are similar. Under recorded vectors `dense` decides. Which memories there are is kept in `memories`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from memtape.schemas.settings import Settings
from memtape.state.text.normal import content_key
from memtape.state.vectors.floor import SIMILARITY_ONE, Columns, floor_vector

How = Literal["new", "same", "similar", "echo", "revision", "unfolded", "waiting", "decided"]


class Verdict(NamedTuple):
    """How a text relates to the memory `birth` (-1 where it is new), and how similar it is to it."""

    how: How
    birth: int = -1
    similarity: int = 0


NEW = Verdict("new")
WAITING = Verdict("waiting")
"""The text stands by itself until its vector has come; it is then found to be new or not."""


class Candidates:
    """The canonical texts of a family's living memories, found by content tokens and by similarity."""

    def __init__(self) -> None:
        self._births: dict[tuple[str, ...], list[int]] = {}
        self._tokens: dict[int, tuple[str, ...]] = {}
        self._columns = Columns()

    def put(self, birth: int, text: str, name: int) -> None:
        """Make `text` the canonical text of the memory `birth`, whose name is the seq `name`."""
        tokens = content_key(text)
        if self._tokens.get(birth) == tokens:
            self._columns.reorder(birth, name)
            return
        self.drop(birth)
        self._tokens[birth] = tokens
        self._births.setdefault(tokens, []).append(birth)
        self._columns.put(birth, floor_vector(tokens), name)

    def drop(self, birth: int) -> None:
        """Take a memory out, because nothing of it lives."""
        tokens = self._tokens.pop(birth, None)
        if tokens is not None:
            births = self._births[tokens]
            births.remove(birth)
            if not births:
                del self._births[tokens]
            self._columns.drop(birth)

    def judge(self, text: str, settings: Settings, name_of: Callable[[int], int]) -> Verdict:
        """Return the verdict on a text that no memory of the family holds to the letter.

        Fold beats revision, then the highest similarity, then the earliest name (`name_of` a birth).
        """
        tokens = content_key(text)
        equal = self._births.get(tokens) if tokens else None
        if equal:
            return Verdict("similar", min(equal, key=name_of), SIMILARITY_ONE)
        near = self._columns.nearest(floor_vector(tokens), settings.revision_cosine_hundredths)
        return NEW if near is None else Verdict("revision", *near)


def judge_same(births: Iterable[int], name_of: Callable[[int], int]) -> Verdict:
    """Return the verdict on a text that these memories hold to the letter, by normalised text."""
    return Verdict("same", min(births, key=name_of), SIMILARITY_ONE)
