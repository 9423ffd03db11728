"""Walks down the tree of pages, by titles and summaries, and its drawing. No text is read, no page judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import NamedTuple

import msgspec

from memtape.schemas.ids import ROOT, root_id
from memtape.schemas.rows import PageRow
from memtape.state.views.tree_pages import name_of

BREADTH, DEPTH = 6, 6
"""How many pages a level is followed by at most, and how many levels (spec R4)."""
RowOf = Callable[[str], PageRow | None]
"""Returns the row of a page by its id, None for none: `OpenIndex.row`, or `page_row` of a state."""
Score = Callable[[PageRow], int]
"""The worth of a page for a walk, by title, summary and hints; 0 or less ends the walk there."""


class Visited(NamedTuple):
    """A page reached by a walk: the ids of the pages from the root (itself last), and its worth."""

    row: PageRow
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
    front, visited = [Visited(root, (root.id,), 0)], list[Visited]()
    for _ in range(depth):
        reached: dict[str, Visited] = {}
        for above in front:
            for id in above.row.children:
                row = row_of(id) if id not in seen and id not in reached else None
                if row is not None and (worth := score(row)) > 0:
                    reached[id] = Visited(row, (*above.path, id), worth)
        front = sorted(reached.values(), key=lambda it: -it.score)[:breadth]
        seen |= dict.fromkeys(it.row.id for it in front)
        visited += front
    return visited


class TreeNode(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the drawn tree, with the pages below it; `more` counts pages below that are not drawn.

    `again` marks a page that was drawn before with all its children. `versions` counts the current versions:
    one unless diverged.
    """

    name: str
    id: str
    title: str
    versions: int
    again: bool
    more: int
    children: tuple[TreeNode, ...]


class DrawnTree(msgspec.Struct, frozen=True, kw_only=True):
    """The tree of a scope below a page, the pages without a parent, and the number of pages."""

    scope: str
    top: TreeNode | None
    loose: tuple[TreeNode, ...]
    pages: int


def drawn(scope: str, rows: Mapping[str, PageRow], top: str, depth: int, limit: int) -> DrawnTree:
    """Return the tree below the page `top`, an id, so many levels deep; `rows` has all living pages by id.

    At most `limit` pages are drawn below one, and of those without a parent, which stand beside the root.
    Without the page `top` there is no tree.
    """
    if top not in rows:
        return DrawnTree(scope=scope, top=None, loose=(), pages=0)
    known = dict[str, None]()
    node = _node(rows, rows[top], depth, limit, known)
    parentless = (row for row in rows.values() if row.slug != ROOT and not row.parents)
    loose = islice(sorted(parentless, key=name_of), limit) if rows[top].slug == ROOT else ()
    nodes = tuple(_node(rows, row, depth - 1, limit, known) for row in loose)
    count = sum(row.slug != ROOT for row in rows.values())
    return DrawnTree(scope=scope, top=node, loose=nodes, pages=count)


def _node(
    rows: Mapping[str, PageRow], row: PageRow, depth: int, limit: int, known: dict[str, None]
) -> TreeNode:
    again, children = row.id in known, [rows[id] for id in row.children if id in rows]
    known[row.id] = None
    below = [] if again or depth <= 0 else children[:limit]
    return TreeNode(
        name=name_of(row),
        id=row.id,
        title=row.title,
        versions=1 + len(row.beside),
        again=again,
        more=0 if again else len(children) - len(below),
        children=tuple(_node(rows, child, depth - 1, limit, known) for child in below),
    )
