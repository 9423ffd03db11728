"""The searches that a shadow retriever answers too, and the comparison of retrievers by used memories.

Nothing here asks or reads anything. Shares are answers and never state.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple


def is_chosen(recall_id: str, percent: int) -> bool:
    """Return whether a search is in a sample of `percent`, by its id; a larger one contains a smaller."""
    return int.from_bytes(blake2b(recall_id.encode(), digest_size=8).digest(), "big") % 100 < percent


class Judged(NamedTuple):
    """The used results of a search, found first by the shadow alone (`won`) or the active retriever alone."""

    won: tuple[str, ...]
    lost: tuple[str, ...]


def judged(used: Sequence[str], active: Sequence[str], shadow: Sequence[str], cut: int) -> Judged:
    """Return which retriever found the used ids among its first `cut` results, in the order of `used`."""
    its, theirs = frozenset(shadow[:cut]), frozenset(active[:cut])
    found = dict.fromkeys(used)
    won = tuple(id for id in found if id in its and id not in theirs)
    return Judged(won, tuple(id for id in found if id in theirs and id not in its))
