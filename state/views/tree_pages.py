"""Tree pages as values: the row of each, with title, summary and place in the tree, and its links.

A page's text is the row of a memory. No function is recursive: a tree may be a chain of all pages.
"""

from __future__ import annotations

from collections.abc import Iterator

from memtape.schemas.events import CHILD, SYSTEM
from memtape.schemas.ids import ROOT
from memtape.schemas.patterns import lazy
from memtape.schemas.rows import ListedPage, PageEdge, PageEnd, PageRow, made_from
from memtape.schemas.visible import one_line
from memtape.state.core.scope import Scope
from memtape.state.subjects.pages import Link, Page
from memtape.state.text.markdown import without_markup
from memtape.state.text.reading import read

PAGES = "pages"
TOLD_CHILDREN = 500
"""Children listed with their summaries in the index of a page; the rest is listed by name."""


def path_of(slug: str) -> str:
    """Return the path of the file of a slug, in the folder of its scope."""
    return f"{PAGES}/{slug}.md"


def name_of(page: Page | PageRow) -> str:
    """Return the name of a page, also used in files: its slug, or its id if it has none."""
    return page.slug or page.id


def ends_of(scope: Scope, page: Page) -> tuple[PageEnd, ...]:
    """Return the far ends of a page's links, but for children that exist."""
    pairs = _linked(scope, page)
    return tuple(
        PageEnd(it.relation, name_of(end) if end else str(it.to), end is not None) for it, end in pairs
    )


def sources_of(scope: Scope, page: Page) -> tuple[PageEnd, ...]:
    """Return the living pages that lead to a page."""
    pairs = scope.pages.sources(page)
    return tuple(PageEnd(it.relation, name_of(source), True) for it, source in pairs if source.lives)


def listed(scope: Scope, page: Page) -> Iterator[ListedPage]:
    """Yield the pages below a page, the first of them with their summaries."""
    for number, child in enumerate(children_of(scope, page)):
        named = ListedPage(name_of(child), child.is_node, number < TOLD_CHILDREN)
        if named.told:
            title, summary = title_of(scope, child), summary_of(scope, child)
            named = named._replace(title=title, summary=summary, hints=child.told("hints", ()))
        yield named


TITLE_CHARS, SUMMARY_CHARS = 120, 240
"""Maximum characters of a title and a summary derived from a text."""
READ_CHARS = 4_000  # Characters of a text read for title and summary.

_HEADING = lazy(r"(?m)^ {0,3}#{1,6}[ \t]+(\S.*)$")


def page_row(scope: Scope, id: str) -> PageRow | None:
    """Return the row of a version id's page; None without a page, or without a living version."""
    page = page_of(scope, id)
    if page is None or not page.lives:
        return None
    by_seq = scope.captures.by_seq
    spoken, first = by_seq.get(page.standing.current), by_seq.get(page.birth)
    by = SYSTEM if spoken is None else spoken.actor
    return made_from(
        PageRow,
        page,
        by,
        key=f"{scope.name}/{page.id}",
        scope=scope.name,
        title=title_of(scope, page),
        summary=summary_of(scope, page),
        hints=page.told("hints", ()),
        refs=page.told("refs", ()),
        children=tuple(child.id for child in children_of(scope, page)),
        parents=tuple(it.id for link, it in scope.pages.sources(page) if link.relation == CHILD and it.lives),
        edges=tuple(
            PageEdge(link.relation, other.id if other else None, "" if other else str(link.to))
            for link, other in _linked(scope, page)
        ),
        version=None if spoken is None else spoken.id,
        beside=tuple(by_seq[seq].id for seq in page.standing.beside),
        versions=len(page.versions),
        actor=by.name,
        at=spoken.at if spoken else 0,
        first_at=first.at if first else 0,
    )


def page_ids(scope: Scope) -> Iterator[str]:
    """Yield the ids of the pages that have a row."""
    return (page.id for page in scope.pages.by_birth.values() if page.lives)


def page_of(scope: Scope, id: str) -> Page | None:
    """Return the page that the id of the root, or of any version, names."""
    seq = scope.captures.seq_of(id)
    page = scope.pages.at(ROOT) if seq is None else scope.pages.of(seq)
    return page if page is not None and (seq is not None or page.id == id) else None


def title_of(scope: Scope, page: Page) -> str:
    """Return the title of a page: as given, else its first heading, else its slug."""
    if given := page.told("title", ""):
        return str(given)
    found = _HEADING.search(text_of(scope, page)[:READ_CHARS])
    heading = without_markup(found[1].rstrip("# \t")) if found else ""
    return one_line(heading, TITLE_CHARS) or page.slug


def summary_of(scope: Scope, page: Page) -> str:
    """Return a page's summary: as given, else its first sentence except headings."""
    if given := page.told("summary", ""):
        return str(given)
    text = _HEADING.sub("", text_of(scope, page)[:READ_CHARS])
    said = next((line for it in read(text).said if (line := without_markup(it).strip())), "")
    return one_line(said, SUMMARY_CHARS)


def text_of(scope: Scope, page: Page) -> str:
    """Return the text of a page's current version, empty for none."""
    spoken = scope.captures.by_seq.get(page.standing.current)
    return "" if spoken is None else scope.captures.body(spoken).text


def children_of(scope: Scope, page: Page) -> Iterator[Page]:
    """Yield the living pages below a page, in the order of their links."""
    found = (scope.pages.end(link) for link in page.links.values() if link.relation == CHILD)
    return (child for child in found if child is not None and child.lives)


def _linked(scope: Scope, page: Page) -> Iterator[tuple[Link, Page | None]]:
    """Yield the links of a page with their pages, None for one not yet written; no existing children."""
    for link in page.links.values():
        other = scope.pages.end(link)
        if other is None or (link.relation != CHILD and other.lives):
            yield link, other


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
