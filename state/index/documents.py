"""The ranked documents, as plain values."""

from __future__ import annotations

from typing import NamedTuple


class Document(NamedTuple):
    """What is ranked. `turn` marks something said in a `session`, `answers` that an assistant said it.

    `at` is in microseconds UTC, and so is `ages_from`, None for what does not age. `uses` is how often it was used,
    `hot` how much lately, on any scale from 0 on. `confidence` is 1 for what nothing speaks against. `neighbours` are
    ids of others with the weights of the edges to them, 1 for a full one. `kind` and `id` order equals.
    """

    text: str
    session: str | None
    speaker: str
    turn: bool
    answers: bool
    at: int
    kind: str = ""
    id: str = ""
    ages_from: int | None = None
    uses: int = 0
    hot: float = 0
    confidence: float = 1
    neighbours: tuple[tuple[str, float], ...] = ()

    def asks(self) -> bool:
        """Return whether the text ends as a question."""
        return self.text.rstrip().endswith("?")
