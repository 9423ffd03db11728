"""The lanes of a search, marks among the lanes of an unasked or a shadow's recall, and names of retrievers.

`state/ranking/lanes.py` says what each lane does. The name of a retriever encodes its recipe. Retrievers are
in `tools/measure`; their states are in the settings of a log.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple, get_args

from memtape.schemas.errors import MemtapeError

Lane = Literal["sparse", "dense", "hot", "fresh", "edges"]
LANES: tuple[Lane, ...] = get_args(Lane)

Unasked = Literal["start", "prompt"]
"""The reasons for memories given to an agent unasked for: a start's context, or a prompt's sure results."""
UNASKED: tuple[Unasked, ...] = get_args(Unasked)
_TOKENS = "tokens:"

MOST_LOOKS = 3  # Maximum looks of a deep search (spec R4).

SHADOW = "shadow"  # The mark of a shadow's recall: its results were shown to no session.
_RETRIEVER, _TOOK, _FAILED = "retriever:", "took_us:", "failed"


def unasked_lanes(by: Unasked, tokens: int) -> tuple[str, ...]:
    """Return the lanes of a recall unasked for: the giver's name, and the given text's length in tokens."""
    return by, f"{_TOKENS}{tokens}"


def unasked_by(lanes: Collection[str]) -> Unasked | None:
    """Return the giver of a recall unasked for, by its lanes; None for a search."""
    return next((by for by in UNASKED if by in lanes), None)


def tokens_given(lanes: Collection[str]) -> int | None:
    """Return the number of tokens given to an agent with a recall, None if not counted."""
    told = _told(lanes, _TOKENS)
    return int(told) if told.isdecimal() and told.isascii() else None


class ShadowLanes(NamedTuple):
    """Content of a shadow's lanes: retriever, duration in microseconds, and whether the retriever failed."""

    retriever: str
    took_us: int = 0
    failed: bool = False


def shadow_lanes(told: ShadowLanes) -> tuple[str, ...]:
    """Return the lanes of a shadow's recall."""
    return SHADOW, _RETRIEVER + told.retriever, _FAILED if told.failed else f"{_TOOK}{told.took_us}"


def shadow_of(lanes: Collection[str]) -> ShadowLanes | None:
    """Return the content of a shadow's lanes, None for a recall whose results were shown."""
    if SHADOW not in lanes:
        return None
    took = _told(lanes, _TOOK)
    took_us = int(took) if took.isdecimal() and took.isascii() else 0
    return ShadowLanes(_told(lanes, _RETRIEVER), took_us, _FAILED in lanes)


def _told(lanes: Collection[str], what: str) -> str:
    return next((lane[len(what) :] for lane in lanes if lane.startswith(what)), "")


State = Literal["active", "shadow", "off", "deprecated"]
"""*active* answers. *shadow* runs beside the active one and is never shown. *off* and *deprecated* do nothing
more; earlier results of a deprecated one are still reported.
"""

Ranks = Literal["memtape", "bm25", "dense", "rrf"]
"""The ordinary search, plain BM25, cosine alone, and reciprocal rank fusion of these two."""
RANKS: tuple[Ranks, ...] = get_args(Ranks)
ORDINARY: Ranks = "memtape"  # The retriever that answers.
MAX_NAME_CHARS = 180  # A name of this length, with its prefix, fits among the lanes of a recall.

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
