"""The view *tree*: the pages of a scope as they stand below each other. The text of a page is one click away."""

from __future__ import annotations

from typing import Any

from memtape.schemas.rows import PageRow
from memtape.schemas.slugs import root_id
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery

MOST_LINES = 2_000
MOST_DEPTH = 12


def tree(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the tree from its root down, and the pages without a parent."""
    rows = {row.id: row for row in client.pages(as_of=asked.as_of)}
    root = rows.get(root_id(asked.scope))
    lines = [] if root is None else _below(root, rows)
    drawn = {row.id for _, row, _ in lines}
    loose = [row for row in rows.values() if row is not root and row.id not in drawn and row.version is not None]
    return {
        "lines": lines[:MOST_LINES],
        "more": max(len(lines) - MOST_LINES, 0),
        "loose": loose[:MOST_LINES],
        "pages": sum(row.version is not None for row in rows.values()),
        "titles": {row.id: row.title for row in rows.values()},
    }


def _below(root: PageRow, rows: dict[str, PageRow]) -> list[tuple[int, PageRow, bool]]:
    """Return the pages below a page in drawing order: depth, row, and whether the page was drawn before.

    The children of a page are drawn once.
    """
    lines, seen = list[tuple[int, PageRow, bool]](), {root.id}
    waiting = [(0, id) for id in reversed(root.children)]
    while waiting:
        depth, id = waiting.pop()
        row = rows.get(id)
        if row is None:
            continue
        lines.append((depth, row, id in seen))
        if id not in seen and depth < MOST_DEPTH:
            waiting += [(depth + 1, child) for child in reversed(row.children)]
        seen.add(id)
    return lines
