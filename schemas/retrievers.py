"""The names of retrievers, which encode their recipes, and the states of a retriever or embedder.

Retrievers are in `tools/ask`; their states are in the settings of a log.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from memtape.schemas.errors import MemtapeError
from memtape.schemas.lanes import LANES, Lane

State = Literal["active", "shadow", "off", "deprecated"]
"""*active* answers. *shadow* runs beside the active one and is never shown. *off* and *deprecated* do nothing
more; earlier results of a deprecated one are still reported.
"""
STATES: tuple[State, ...] = get_args(State)

Ranks = Literal["memtape", "bm25", "dense", "rrf"]
"""The ordinary search, plain BM25, cosine alone, and reciprocal rank fusion of these two."""
RANKS: tuple[Ranks, ...] = get_args(Ranks)
ORDINARY: Ranks = "memtape"
"""The retriever that answers."""
MAX_NAME_CHARS = 180
"""A name of this length, with its prefix, fits among the lanes of a recall."""

_WITHOUT, _WITH = " without ", " with "


class Recipe(NamedTuple):
    """The parts of a retriever: ranking, lanes left out, and key of its embedder, empty for the log's.

    Only the ordinary ranking takes lanes and embedder.
    """

    ranks: Ranks
    without: tuple[Lane, ...] = ()
    embedder: str = ""

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes of this retriever: all lanes without those in `without`."""
        return tuple(lane for lane in LANES if lane not in self.without)

    @property
    def name(self) -> str:
        """The retriever's only name. `recipe_of` makes the recipe of the name again."""
        less = _WITHOUT + ", ".join(self.without) if self.without else ""
        return self.ranks + less + (_WITH + self.embedder if self.embedder else "")


def recipe_of(name: str) -> Recipe:
    """Return the recipe of a name: `bm25`, `memtape without hot, edges`, `memtape with KEY` and so on.

    Raises `MemtapeError` for an unknown name.
    """
    head, _, embedder = name.partition(_WITH)
    ranks, _, lanes = head.partition(_WITHOUT)
    named = [lane.strip() for lane in lanes.split(",")] if lanes else []
    found = next((known for known in RANKS if known == ranks.strip()), None)
    left_out = tuple(lane for lane in LANES if lane in named)
    is_said = found is not None and len(left_out) == len(named) < len(LANES) and len(name) <= MAX_NAME_CHARS
    if found is None or not is_said or (found != ORDINARY and (left_out or embedder)):
        raise MemtapeError(
            f"There is no retriever {name[:MAX_NAME_CHARS]!r}.",
            f"There are {', '.join(RANKS)}, `memtape without LANE, LANE` (of {', '.join(LANES)}), and "
            "`memtape with KEY` of an embedder that `memtape admin retriever list` tells.",
        )
    return Recipe(found, left_out, embedder.strip())
