"""The ranked documents, as plain values."""

from __future__ import annotations

from typing import NamedTuple


class Document(NamedTuple):
    """A ranked document. `turn` marks a turn in a `session`, `answers` a turn by an assistant.

    `at` is in microseconds UTC, and so is `ages_from`, None for a text that does not age. `uses` is the
    number of uses, `hot` the recent uses, on any scale from 0 on. `confidence` is 1 without contrary
    evidence. `neighbours` are ids of others with the weights of their edges, 1 for a full one. `kind` and
    `id` order equals.
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
