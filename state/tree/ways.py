"""Ways down the tree from a page to another. No function is recursive: a tree may be a chain of all pages."""

from __future__ import annotations

from memtape.state.core.scope import Scope
from memtape.state.subjects.page import Page
from memtape.state.views.page_rows import children_of


def way_down(scope: Scope, top: Page, end: Page) -> list[Page]:
    """Return the pages from `top` down to `end`, both included; empty if `end` is not below `top`."""
    above: dict[int, Page | None] = {top.birth: None}
    waiting = [top]
    for page in waiting:
        if page is end:
            way = [page]
            while (before := above[way[-1].birth]) is not None:
                way.append(before)
            return way[::-1]
        for child in children_of(scope, page):
            if child.birth not in above:
                above[child.birth] = page
                waiting.append(child)
    return []
