"""A walk down the tree of pages, by titles and summaries. Nothing here reads a text or judges a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from memtape.schemas.ids import root_id
from memtape.schemas.rows import PageRow

BREADTH, DEPTH = 6, 6
"""How many pages a level is followed by at most, and how many levels (spec R4)."""
RowOf = Callable[[str], PageRow | None]
"""Returns the row of a page by its id, None for none: `OpenIndex.row`, or `page_row` of a state."""
Score = Callable[[PageRow], int]
"""The worth of a page for a walk, by title, summary and hints; 0 or less ends the walk there."""


class Visited(NamedTuple):
    """A page reached by a walk: its depth, the pages from the root (itself last), and its worth."""

    row: PageRow
    depth: int
    path: tuple[str, ...]
    score: int


def walk(
    row_of: RowOf, scope: str, score: Score, breadth: int = BREADTH, depth: int = DEPTH
) -> list[Visited]:  # fmt: skip
    """Return the pages below the root of a scope reached by a walk, level by level, the best of each first.

    Of all children of a level's pages the best go on, at most `breadth`, each once; among equals those linked
    first. A page is visited only once, so that a circle ends.
    """
    root = row_of(root_id(scope))
    if root is None:
        return []
    seen = {root.id: None}
    front, visited = [Visited(root, 0, (root.id,), 0)], list[Visited]()
    for level in range(1, depth + 1):
        reached: dict[str, Visited] = {}
        for above in front:
            for id in above.row.children:
                row = row_of(id) if id not in seen and id not in reached else None
                if row is not None and (worth := score(row)) > 0:
                    reached[id] = Visited(row, level, (*above.path, id), worth)
        front = sorted(reached.values(), key=lambda it: -it.score)[:breadth]
        seen |= dict.fromkeys(it.row.id for it in front)
        visited += front
    return visited
