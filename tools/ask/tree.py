"""The tree of pages: the tree below a page, one page with all its facts, the page of a name, and changes of pages.

Pages are read from the folded state, which has the latest events. A change against the form of the tree is refused; any
other is put on the log at once. `state/subjects/pages.py` decides the meaning of a change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import msgspec
from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import CHILD, EDGES, MAX_TEXT_BYTES, NO_EDIT, Edited, Event, Linked, Origin, refs_of_edit
from memtape.schemas.ids import ROOT, SEGMENT_CHARS, SLUG_CHARS, is_slug, root_id, slug_of
from memtape.schemas.rows import ListedPage, PageEnd, PageRow
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import TRUST
from memtape.state.subjects.pages import NOBODY, Page
from memtape.state.tree.checking import TreeProblem, check
from memtape.state.views.tree_pages import (
    backlinks_of,
    edges_of,
    listed_of,
    name_of,
    page_ids,
    page_of,
    page_row,
    text_of,
    way_down,
)
from memtape.tools.ask.naming import LEAST_CHARS, begun_by, state_of
from memtape.tools.capture.lines import Line
from memtape.tools.capture.profiles import check_storing
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


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a page: its id, slug, scope and version, and the number of diverged versions.

    `redacted` counts the removed secrets by kind.
    """

    id: str
    slug: str
    scope: str
    version: str | None
    beside: int = 0
    under: str | None = None
    redacted: dict[str, int] = {}


class LinkSaid(msgspec.Struct, frozen=True, kw_only=True):
    """A link that was made or ended; `is_there` says whether the target page exists."""

    source: str
    relation: str
    target: str
    is_there: bool
    on: bool


class Tree:
    """The pages of a writer's scope, and their changes."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

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
        scope = self.state()
        rows = (page_row(scope, id) for id in page_ids(scope)) if scope is not None else ()
        return {row.id: row for row in rows if row is not None}

    def state(self) -> Scope | None:
        """Return the state of the scope at the end of the log."""
        return state_of(self._writer, self._writer.scope)

    def folded(self, name: str) -> Scope:
        """Return the state of a scope in which a page is looked for. Raises `NotFound` where it has none."""
        scope = self.state()
        if scope is None or not scope.pages.by_birth:
            raise no_page(self._writer.scope, name)
        return scope

    def new(self, slug: str, text: str, fields: Edited = NO_EDIT, *, under: str | None = None) -> Written:
        """Write a page below `under`, by default the page whose slug begins the new slug, else the root.

        Raises `MemtapeError` for an invalid or taken slug, and for an empty or too long text.
        """
        check_slug(slug)
        _check_text(text)
        name = self._writer.made_scope()
        scope = self.state()
        if scope is not None and (taken := scope.pages.at(slug)) is not None and taken.lives:
            raise MemtapeError(f"The page {slug} is there already.", f"`memtape tree edit {slug}` changes it.")
        parent = self._above(scope, slug) if under is None else meant(self.folded(under), under).id
        before = dict(self._writer.redactor.counts)
        (capture,) = self._writer.events_of(Line(text=text, kind="page", path=slug, scope=name), {})
        events = [capture, *self._edits(replace(fields, id=capture.id), name)]
        events.append(self._linked(name, parent, CHILD, to=capture.id))
        counts = {kind: n - before.get(kind, 0) for kind, n in self._writer.redactor.counts.items()}
        self._writer.log.append(events)
        return self._written(capture.id, redacted={kind: n for kind, n in counts.items() if n})

    def edit(self, name: str, text: str | None = None, fields: Edited = NO_EDIT) -> Written:
        """Give a page another text, title or the like; None changes nothing. `base` is the version last seen.

        Where `base` is no longer the current version both stand. Raises `NotFound`, and `MemtapeError` where
        nothing would change, or for the text of a root that nobody has written.
        """
        check_storing(self._writer.home.path, lambda: self._writer.scope)
        if text is not None:
            _check_text(text)
        scope = self.folded(name)
        page = meant(scope, name)
        self._check_trust(page, fields, "title", "summary", "hints", "refs")
        edit, events = replace(fields, id=page.id), list[Event]()
        if text is not None:
            path = None if page.slug == ROOT else page.slug or None
            events = self._writer.events_of(Line(text=text, kind="page", path=path, scope=scope.name), {})
            edit = replace(edit, by=events[0].id, base=fields.base or current_version(scope, page))
        edits = self._edits(edit, scope.name)
        if not edits:
            raise MemtapeError("Nothing was given that would change the page.", "Give a text, or --title and the like.")
        self._writer.log.append([*events, *edits])
        return self._written(page.id)

    def move(self, name: str, slug: str | None = None, *, under: str | None = None) -> Written:
        """Give a page another slug, or put it below another page and below that alone, or both.

        Raises `NotFound`, and `MemtapeError` for the root, for an invalid slug, for another page's slug, and
        where the page would be below itself.
        """
        scope = self.folded(name)
        page = meant(scope, name)
        if page.slug == ROOT:
            raise MemtapeError("The root stays where it is.", "Move a page below it.")
        if slug is None and under is None:
            raise MemtapeError("Nothing was said of where to.", "Give a slug, or --under with a page.")
        events: list[Event] = []
        if slug is not None and slug != page.slug:
            check_slug(slug)
            taken = scope.pages.at(slug)
            if taken is not None and taken.lives:
                raise MemtapeError(f"The page {slug} is there already.", "Give another slug.")
            edit = replace(NO_EDIT, id=page.id, slug=slug)
            self._check_trust(page, edit, "slug")
            events += self._edits(edit, scope.name)
        if under is not None:
            events += self._moved_under(scope, page, meant(scope, under))
        if not events:
            raise MemtapeError(f"{name_of(page)} stands there already.", "`memtape tree` draws where each page stands.")
        self._writer.log.append(events)
        return self._written(page.id)

    def link(self, name: str, to: str, relation: str = "related", *, undo: bool = False) -> LinkSaid:
        """Link a page to another, or to a slug without a page yet; with `undo` end the link.

        Raises `NotFound`, and `MemtapeError` for a page that names itself, a circle, an unknown relation, and
        a link that exists already, or with `undo` does not exist.
        """
        if relation not in EDGES:
            raise MemtapeError(f"{relation[:40]} is no relation of pages.", f"There are {', '.join(EDGES)}.")
        scope = self.folded(name)
        page = meant(scope, name)
        target = self._target(scope, to)
        here, there = name_of(page), to if target is None else name_of(target)
        if target is page:
            raise MemtapeError(f"{here} would lead to itself.", "Name another page.")
        found = scope.pages.numbers.get((page.birth, relation, there if target is None else target.birth))
        if (found is not None) is not undo:
            said = f"leads to {there} as {relation}"
            told = (
                f"{here} {said} already." if found is not None else f"{here} does not {said.replace('leads', 'lead')}."
            )
            raise MemtapeError(told, f"`memtape tree show {here}` has where it leads.")
        if undo and found is not None and page.links[found].trust > self._trust:
            raise MemtapeError(f"Somebody who is trusted more made this link of {here}.", "The user can end it.")
        if relation == CHILD and target is not None and not undo:
            check_circle(scope, page, target)
        slug, id = (there, None) if target is None else (None, target.id)
        self._writer.log.append([self._linked(scope.name, page.id, relation, to=id, slug=slug, on=not undo)])
        return LinkSaid(source=here, relation=relation, target=there, is_there=target is not None, on=not undo)

    def problems(self) -> list[TreeProblem]:
        """Return the problems of the tree, with the events that would mend them."""
        scope = self.state()
        return [] if scope is None else check(scope)

    def mend(self, problems: Sequence[TreeProblem]) -> list[TreeProblem]:
        """Append the events that mend problems, in one batch; return the remaining problems.

        A link by a more trusted author stays, and its problem too.
        """
        name = self._writer.scope
        events = [self._writer.made("linked", body, name) for problem in problems for body in problem.fix]
        if events:
            self._writer.log.append(events)
        return self.problems()

    @property
    def _trust(self) -> int:
        return TRUST[self._writer.actor.origin]

    def _above(self, scope: Scope | None, slug: str) -> str:
        """Return the id of the page above a new slug: the page of the slug's longest existing prefix, else
        the root.
        """
        while scope is not None and "/" in slug:
            slug = slug.rpartition("/")[0]
            if (page := scope.pages.at(slug)) is not None and page.lives:
                return page.id
        return root_id(self._writer.scope)

    def _target(self, scope: Scope, to: str) -> Page | None:
        """Return the page where a link is to lead, None of a slug that no page has."""
        if is_slug(to) and ((page := scope.pages.at(to)) is None or not page.lives):
            try:
                return meant(scope, to)  # It may be the id of a page.
            except MemtapeError:
                return None
        return meant(scope, to)

    def _moved_under(self, scope: Scope, page: Page, parent: Page) -> list[Event]:
        """Return the ended links and the new link of a page moved below another."""
        above = [(link, source) for link, source in scope.pages.sources(page) if link.relation == CHILD]
        if not any(source is parent for _, source in above):
            check_circle(scope, parent, page)
        begins = [] if any(source is parent for _, source in above) else [parent.id]
        ends = [source.id for link, source in above if source is not parent and link.trust <= self._trust]
        return [
            *(self._linked(scope.name, id, CHILD, to=page.id) for id in begins),
            *(self._linked(scope.name, id, CHILD, to=page.id, on=False) for id in ends),
        ]

    def _edits(self, edit: Edited, scope: str) -> list[Event]:
        """Return the event of an edit; none for an edit without changes."""
        if replace(edit, id="") == NO_EDIT:
            return []
        return [self._writer.made("edited", edit, scope, refs_of_edit(edit))]

    def _linked(
        self, scope: str, id: str, relation: str, *, to: str | None = None, slug: str | None = None, on: bool = True
    ) -> Event:
        return self._writer.made("linked", Linked(id=id, on=on, relation=relation, slug=slug, to=to), scope)

    def _check_trust(self, page: Page, edit: Edited, *names: str) -> None:
        """Raise `MemtapeError` where a more trusted author set a field to be changed."""
        for name in names:
            before = page.given.get(name)
            if getattr(edit, name) is not None and before is not None and before.trust > self._trust:
                raise MemtapeError(
                    f"Somebody who is trusted more gave {name_of(page)} its {name}.", "The user can change it."
                )

    def _written(self, id: str, redacted: dict[str, int] | None = None) -> Written:
        """Return how a page stands after something was done to it."""
        scope = self.folded(id)
        page = meant(scope, id)
        parents = (source for link, source in scope.pages.sources(page) if link.relation == CHILD and source.lives)
        return Written(
            id=page.id,
            slug=page.slug,
            scope=scope.name,
            version=current_version(scope, page),
            beside=len(page.standing.beside),
            under=next((name_of(it) for it in parents), None),
            redacted=redacted or {},
        )


def meant(scope: Scope, name: str) -> Page:
    """Return the living page that a slug or an id means, or the beginning of an id. Raises `NotFound`."""
    page = scope.pages.at(name) if is_slug(name) or name == ROOT else None
    if page is None or not page.lives:
        page = page_of(scope, name)
    if page is None and len(name) >= LEAST_CHARS:
        by_seq = scope.captures.by_seq
        birth = begun_by(name, ((by_seq[seq].id, birth) for seq, birth in scope.pages.of_capture.items()))
        page = None if birth is None else scope.pages.by_birth[birth]
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


def current_version(scope: Scope, page: Page) -> str | None:
    """Return the id of the version that speaks for a page, None of a root without a text."""
    seq = page.standing.current
    return None if seq == NOBODY else scope.captures.by_seq[seq].id


def check_slug(slug: str) -> None:
    """Raise `MemtapeError` with a suggestion where `slug` is not a valid slug."""
    if is_slug(slug):
        return
    if slug == ROOT:
        raise MemtapeError(
            f"{ROOT} is the root, which is there by itself.", f"`memtape tree edit {ROOT}` gives it a text."
        )
    told = "A slug is segments of a-z, 0-9, _ and -, joined by /"
    long = len(slug) > SLUG_CHARS or any(len(part) > SEGMENT_CHARS for part in slug.split("/"))
    if long:
        told = (
            f"A slug has at most {SLUG_CHARS} characters, and {SEGMENT_CHARS} between two /; this one has {len(slug)}"
        )
    raise MemtapeError(f"{told}.", f"`{slug_of(slug)}` would do.")


def _check_text(text: str) -> None:
    if not text.strip():
        raise MemtapeError("A page says something, and this text is empty.", "`memtape forget` hides a page.")
    if (size := len(text.encode("utf-8", "replace"))) > MAX_TEXT_BYTES:
        told = f"The text has {size:,} bytes, and a page at most {MAX_TEXT_BYTES:,}."
        raise MemtapeError(told, "Write parts of it as pages below it.")


def check_circle(scope: Scope, parent: Page, child: Page) -> None:
    """Raise `MemtapeError` where a page would stand below itself."""
    if parent is child:
        raise MemtapeError(f"{name_of(parent)} would stand below itself.", "Name another page.")
    if way := way_down(scope, child, parent):
        told = " > ".join(name_of(page) for page in way)
        raise MemtapeError(
            f"{name_of(child)} would stand below itself: {told} already.",
            f"`memtape tree link {name_of(way[-2])} {name_of(parent)} --as child --undo` ends that first.",
        )
