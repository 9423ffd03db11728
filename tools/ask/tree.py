"""Reading the tree of pages: the tree below a page, one page with all its facts, and the page of a name.

The tree is drawn from the rows of the views if they are up to date for the scope, else from the folded state:
it always has the latest events. One page is shown from the folded state. `tree_writing.py` changes the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

import msgspec

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import Origin
from memtape.schemas.rows import ListedPage, PageEnd, PageRow
from memtape.schemas.slugs import ROOT, is_slug, root_id
from memtape.state.core.scope import Scope
from memtape.state.subjects.pages import Page
from memtape.state.views.tree_pages import (
    backlinks_of,
    edges_of,
    listed_of,
    name_of,
    page_ids,
    page_of,
    page_row,
    text_of,
)
from memtape.tools.ask.naming import LEAST_CHARS, state_of
from memtape.tools.capture.writing import Writer

DEPTH, PER_PAGE = 6, 50
"""The default size of the drawn tree: pages down, and child pages of each page."""
MOST_DEPTH = 100
REF_CHARS = 300


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


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a page and its status: current, diverged, or earlier."""

    id: str
    at: int
    actor: str
    origin: Origin
    stands: str


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """A reference of a page: a file, a URL or an id, with the text of a visible memory."""

    name: str
    text: str


class PageShown(msgspec.Struct, frozen=True, kw_only=True):
    """A page with its text, the pages below and above it, its links and backlinks, and its versions.

    `rest` is front matter unknown to Memtape. The latest version comes first.
    """

    row: PageRow
    text: str
    rest: str
    below: tuple[ListedPage, ...]
    edges: tuple[PageEnd, ...]
    backlinks: tuple[PageEnd, ...]
    references: tuple[Reference, ...]
    history: tuple[Version, ...]


class ListedNode(msgspec.Struct, frozen=True, kw_only=True):
    """A page in a list of all."""

    name: str
    id: str
    title: str
    summary: str
    children: int


class Tree:
    """The pages of a caller's scope. `fresh` gives their rows, None where the views are behind."""

    def __init__(self, writer: Writer, fresh: Callable[[], list[PageRow] | None]) -> None:
        self._writer = writer
        self._fresh = fresh

    def draw(self, name: str = ROOT, depth: int = DEPTH, per_page: int = PER_PAGE) -> DrawnTree:
        """Return the tree from a page down, and from the root also the pages that stand below none, by their slugs.

        Raises `NotFound`.
        """
        rows = self._rows()
        if not rows and name == ROOT:
            return DrawnTree(scope=self._writer.scope, top=None, loose=(), pages=0)
        by_slug = {row.slug: row for row in rows.values() if row.slug}
        top = by_slug.get(name) or rows.get(name) or rows[meant(self.folded(name), name).id]
        known = dict[str, None]()
        drawn = _node(rows, top, depth, per_page, known)
        parentless = (row for row in rows.values() if row.slug != ROOT and not row.parents)
        loose = islice(sorted(parentless, key=name_of), per_page) if top.slug == ROOT else ()
        nodes = tuple(_node(rows, row, depth - 1, per_page, known) for row in loose)
        return DrawnTree(
            scope=self._writer.scope, top=drawn, loose=nodes, pages=sum(row.slug != ROOT for row in rows.values())
        )

    def show(self, name: str) -> PageShown:
        """Return a page whole. Raises `NotFound`."""
        scope = self.folded(name)
        page = meant(scope, name)
        row = page_row(scope, page.id)
        assert row is not None
        return PageShown(
            row=row,
            text=text_of(scope, page),
            rest=str(page.told("rest", "")),
            below=tuple(listed_of(scope, page)),
            edges=tuple(edges_of(scope, page)),
            backlinks=tuple(backlinks_of(scope, page)),
            references=tuple(Reference(name=ref, text=_told(scope, ref)) for ref in row.refs),
            history=tuple(_history(scope, page)),
        )

    def listed(self) -> list[ListedNode]:
        """Return all pages by their slugs."""
        found = (
            ListedNode(name=name_of(it), id=it.id, title=it.title, summary=it.summary, children=len(it.children))
            for it in self._rows().values()
        )
        return sorted(found, key=lambda it: it.name)

    def _rows(self) -> dict[str, PageRow]:
        """Return the rows of all pages that live, the root included, by id."""
        rows = self._fresh()
        if rows is None:
            scope = self.state()
            made = (page_row(scope, id) for id in page_ids(scope)) if scope is not None else ()
            rows = [row for row in made if row is not None]
        return {row.id: row for row in rows}

    def state(self) -> Scope | None:
        """Return the state of the scope at the end of the log."""
        return state_of(self._writer, self._writer.scope)

    def folded(self, name: str) -> Scope:
        """Return the state of a scope in which a page is looked for. Raises `NotFound` where it has none."""
        scope = self.state()
        if scope is None or not scope.pages.by_birth:
            raise no_page(self._writer.scope, name)
        return scope


def meant(scope: Scope, name: str) -> Page:
    """Return the living page that a slug or an id means, or the beginning of an id. Raises `NotFound`."""
    page = scope.pages.at(name) if is_slug(name) or name == ROOT else None
    if page is None or not page.lives:
        page = page_of(scope, name)
    if page is None and len(name) >= LEAST_CHARS:
        by_seq = scope.captures.by_seq
        found = {scope.pages.of_capture[seq]: None for seq in scope.pages.of_capture if by_seq[seq].id.startswith(name)}
        if len(found) > 1:
            raise MemtapeError(f"{name} is the beginning of several ids.", "Give more of the one that is meant.")
        page = next((scope.pages.by_birth[birth] for birth in found), None)
        if root_id(scope.name).startswith(name):
            page = scope.pages.at(ROOT)
    if page is None or not page.lives:
        raise no_page(scope.name, name)
    return page


def no_page(scope: str, name: str) -> NotFound:
    """Return the error of a name that no page has."""
    return NotFound(f"{scope} has no page {name[:80]}.", "`memtape tree list` has all; `memtape tree new` writes one.")


def _node(rows: Mapping[str, PageRow], row: PageRow, depth: int, per_page: int, known: dict[str, None]) -> TreeNode:
    again, children = row.id in known, [rows[id] for id in row.children if id in rows]
    known[row.id] = None
    below = [] if again or depth <= 0 else children[:per_page]
    return TreeNode(
        name=name_of(row),
        id=row.id,
        title=row.title,
        versions=1 + len(row.beside),
        again=again,
        more=0 if again else len(children) - len(below),
        children=tuple(_node(rows, child, depth - 1, per_page, known) for child in below),
    )


def _told(scope: Scope, ref: str) -> str:
    """Return the text of a captured id that is shown, empty of anything else."""
    capture = scope.captures.get(ref)
    memory = scope.memory_of(ref)
    if memory is not None and memory.canonical >= 0:
        capture = scope.captures.by_seq[memory.canonical]
    return "" if capture is None or capture.hidden else scope.captures.body(capture).text[:REF_CHARS]


def _history(scope: Scope, page: Page) -> Iterator[Version]:
    for seq in reversed(page.versions):
        capture, standing = scope.captures.by_seq[seq], page.standing
        stands = "current" if seq == standing.current else "beside" if seq in standing.beside else "before"
        actor = capture.actor
        yield Version(id=capture.id, at=capture.at, actor=actor.name, origin=actor.origin, stands=stands)
