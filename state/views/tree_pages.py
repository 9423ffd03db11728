"""Files of tree pages, as values: a page's text, its children, its links, and the links to it."""

from __future__ import annotations

from collections.abc import Iterator

from memtape.schemas.events import CHILD
from memtape.schemas.rows import Beside, ListedPage, PageEnd, PageRow, TreePage
from memtape.state.core.scope import Scope
from memtape.state.subjects.page import NOWHERE, Page
from memtape.state.views.page_rows import children_of, page_of, page_row, summary_of, text_of, title_of

PAGES = "pages"
TOLD_CHILDREN = 500
"""Children listed with their summaries in the index of a page; the rest is listed by name."""


def path_of(slug: str) -> str:
    """Return the path of the file of a slug, in the folder of its scope."""
    return f"{PAGES}/{slug}.md"


def path_of_id(scope: Scope, id: str) -> Iterator[str]:
    """Yield the path of the file of a page; a page without a slug has none."""
    page = page_of(scope, id)
    if page is not None and page.slug:
        yield path_of(page.slug)


def tree_page(scope: Scope, path: str) -> TreePage:
    """Return the file at a path, as it is now."""
    page = scope.pages.at(path.removeprefix(f"{PAGES}/").removesuffix(".md"))
    row = None if page is None else page_row(scope, page.id)
    if page is None or row is None:
        return TreePage(scope=scope.name, path=path, row=None)
    return TreePage(
        scope=scope.name,
        path=path,
        row=row,
        text=text_of(scope, page),
        rest=page.told("rest", ""),
        children=tuple(listed_of(scope, page)),
        edges=tuple(edges_of(scope, page)),
        backlinks=tuple(backlinks_of(scope, page)),
        beside=tuple(_beside(scope, page)),
    )


def name_of(page: Page | PageRow) -> str:
    """Return the name of a page, also used in files: its slug, or its id if it has none."""
    return page.slug or page.id


def listed_of(scope: Scope, page: Page) -> Iterator[ListedPage]:
    """Yield the pages below a page, the first of them with their summaries."""
    for number, child in enumerate(children_of(scope, page)):
        named = ListedPage(name_of(child), child.is_node, number < TOLD_CHILDREN)
        if named.told:
            title, summary = title_of(scope, child), summary_of(scope, child)
            named = named._replace(title=title, summary=summary, hints=child.told("hints", ()))
        yield named


def edges_of(scope: Scope, page: Page) -> Iterator[PageEnd]:
    """Yield the links of a page, except children that exist."""
    for link in page.links.values():
        if link.to == NOWHERE:
            yield PageEnd(link.relation, link.slug, False)
        elif link.relation != CHILD and (other := scope.pages.by_birth[link.to]).lives:
            yield PageEnd(link.relation, name_of(other), True)


def backlinks_of(scope: Scope, page: Page) -> Iterator[PageEnd]:
    """Yield the links to a page."""
    for link, source in scope.pages.sources(page):
        if source.lives:
            yield PageEnd(link.relation, name_of(source), True)


def _beside(scope: Scope, page: Page) -> Iterator[Beside]:
    for seq in page.standing.beside:
        capture = scope.captures.by_seq[seq]
        text = scope.captures.body(capture).text
        yield Beside(capture.id, capture.actor.name, capture.actor.origin, capture.at, text)
