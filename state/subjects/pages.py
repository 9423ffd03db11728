"""Pages: the versions of each page, its slug, its place in the tree, and its links.

A page is known inside by the seq of its first capture (`birth`), outside by the id of that capture. The root
has no capture of its own. The current version of a page is shown, and the versions beside it; all others are
hidden as withdrawn texts are. Rendering and checks of the tree are elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memtape.schemas import events
from memtape.schemas.events import Event
from memtape.schemas.ids import ROOT, is_slug, root_id
from memtape.schemas.rows import Change, Context
from memtape.state.subjects.captures import TRUST, Capture
from memtape.state.subjects.tombstones import HasTombstones

ROOT_BIRTH = -1  # The birth of the root of every scope.
NOBODY = -1  # No version: of a page without a living version, or of an unnamed base.


class PageStep(msgspec.Struct, frozen=True, gc=False):
    """A step of a page: the capture `seq` becomes its text, by an author who saw the version `base`."""

    seq: int
    base: int
    trust: int


class PageVersions(msgspec.Struct, frozen=True):
    """The current version of a page, its trust, and the versions beside it, earliest first."""

    current: int = NOBODY
    trust: int = 0
    beside: tuple[int, ...] = ()


class PageField(msgspec.Struct, frozen=True):
    """A field of a page set by the event `seq`, and the trust of its actor."""

    value: str | tuple[str, ...]
    trust: int
    seq: int


class Link(msgspec.Struct):
    """A link of a page with its relation, to the page of the birth `to`, or to the slug of no page."""

    relation: str
    to: int | str
    trust: int


class Page(msgspec.Struct):
    """A page. `links` are by the seqs of their events; `steps` name its versions, perhaps one twice."""

    birth: int
    id: str
    steps: list[PageStep]
    given: dict[str, PageField]
    links: dict[int, Link]
    standing: PageVersions = PageVersions()

    @property
    def slug(self) -> str:
        """The page's slug, empty if the page has no place."""
        return ROOT if self.birth == ROOT_BIRTH else str(self.told("slug", ""))

    @property
    def lives(self) -> bool:
        """Return whether it has a text, as the root needs none."""
        return self.birth == ROOT_BIRTH or self.standing.current >= 0

    @property
    def is_node(self) -> bool:
        """Return whether the page has children."""
        return any(link.relation == events.CHILD for link in self.links.values())

    @property
    def versions(self) -> list[int]:
        """The seqs of its captures, each once, in the order in which they became its text."""
        return list(dict.fromkeys(step.seq for step in self.steps))

    def told(self, name: str, otherwise: Any) -> Any:
        """Return a field that an edit set, else `otherwise`."""
        given = self.given.get(name)
        return otherwise if given is None else given.value


def next_standing(standing: PageVersions, step: PageStep, base: int) -> PageVersions:
    """Return the standing after a step; `base` is the seq of the version that the author saw, or `NOBODY`.

    A step with less trust than the current version goes beside it. A step based on the current version clears
    the versions beside it; a step based on an older version leaves both.
    """
    current, beside = standing.current, standing.beside
    if current == NOBODY:
        return PageVersions(step.seq, step.trust, ())
    if step.seq == current:
        if step.trust < standing.trust:
            return standing
        return PageVersions(current, step.trust, () if base == current else beside)
    beside = tuple(seq for seq in beside if seq not in (step.seq, base))
    if step.trust < standing.trust:
        return PageVersions(current, standing.trust, (*beside, step.seq))
    if base == current:
        beside = ()
    elif base != NOBODY:
        beside = (*beside, current)
    return PageVersions(step.seq, step.trust, beside)


FIELDS = ("slug", "title", "summary", "hints", "refs", "rest")
"""The fields of a page that an edit may set, the place first."""


class Pages(msgspec.Struct, dict=True, array_like=True):
    """The pages of a scope in order of their first event; an empty state holds no root either.

    All but `by_birth` follows from it: `slugs` and `of_capture` lead to births, `numbers` to a link by its
    page, relation and end, and `into` has by an end the links to it, each with the birth of its page: by the
    birth of a page, or by a slug that waits for a page.
    """

    by_birth: dict[int, Page] = {}

    def __post_init__(self) -> None:
        self.slugs: dict[str, int] = {}
        self.of_capture: dict[int, int] = {}
        self.numbers: dict[tuple[int, str, int | str], int] = {}
        self.into: dict[int | str, dict[int, int]] = {}

    def of(self, seq: int) -> Page | None:
        """Return the page of a version's capture."""
        birth = self.of_capture.get(seq)
        return None if birth is None else self.by_birth[birth]

    def at(self, slug: str) -> Page | None:
        """Return the page of a slug, the root included."""
        birth = ROOT_BIRTH if slug == ROOT else self.slugs.get(slug)
        return None if birth is None else self.by_birth.get(birth)

    def end(self, link: Link) -> Page | None:
        """Return the page that a link leads to, None if no page has the slug."""
        return self.by_birth[link.to] if isinstance(link.to, int) else None

    def sources(self, page: Page) -> Iterator[tuple[Link, Page]]:
        """Yield the links that lead to a page, each with its page, the earliest first."""
        for number, birth in sorted(self.into.get(page.birth, {}).items()):
            source = self.by_birth[birth]
            yield source.links[number], source


def evolve(state: Pages, event: Event, context: Context[HasTombstones]) -> list[Change]:
    """Apply a page's text, an edit, a link, or hiding and showing; return the changed rows and files.

    Versions hidden or shown by the event become `flipped`.
    """
    work = _Work(state, context, TRUST[event.actor.origin])
    match event.body:
        case events.Captured(kind="page"):
            work.capture()
        case events.Edited() as edited:
            work.edit(edited)
        case events.Linked(relation=relation) as linked if relation not in events.OF_MEMORIES:
            work.link(linked)
        case events.Forgotten() | events.Restored() | events.Withdrawn() if state.by_birth:
            seqs = (capture.seq for capture in context.of.captures.found(event.body.ids))
            for birth in dict.fromkeys(state.of_capture[seq] for seq in seqs if seq in state.of_capture):
                work.look(state.by_birth[birth])
        case _:
            return []
    # A capture hidden and shown again by one event is not recorded.
    known = dict.fromkeys(context.flipped)
    context.flipped = [seq for seq in (*known, *work.flipped) if (seq in known) is not (seq in work.flipped)]
    return [
        *(Change("pages", context.scope, state.by_birth[birth].id) for birth in work.rows),
        *(Change("files", context.scope, slug) for slug in work.files if slug),
    ]


class _Work:
    """The changes of one event to the pages of a scope; `trust` is the trust of the event's actor.

    `rows` are the births of the pages whose rows changed, and `files` the slugs of changed files.
    """

    def __init__(self, state: Pages, context: Context[HasTombstones], trust: int) -> None:
        self.state, self.context, self.of, self.trust = state, context, context.of, trust
        self.rows: dict[int, None] = {}
        self.files: dict[str, None] = {}
        self.flipped: dict[int, None] = {}

    def capture(self) -> None:
        """A page with a slug is the next version of the page of that slug, or a new one."""
        capture = self.of.captures.by_seq[self.context.seq]
        slug = None if capture.own is None else capture.own.path
        if slug is None or not is_slug(slug) or not _is_page(capture):
            return
        page = self.state.at(slug)
        if page is not None:
            self._add(page, PageStep(capture.seq, NOBODY, self.trust))
            return
        page = self._page(capture.seq)
        self._place(page, slug)

    def edit(self, body: events.Edited) -> None:
        """Apply edited fields, then the text. A field set with more trust than the actor's stays."""
        birth = self._birth(body.id)
        if birth is None:
            return
        page = self._page(birth)
        for name in FIELDS:
            value, given = getattr(body, name), page.given.get(name)
            if value is None or (given is not None and self.trust < given.trust):
                continue
            if name == "slug":
                self._place(page, value)
                continue
            page.given[name] = PageField(value, self.trust, self.context.seq)
            self._seen(page)
        seen = None if body.base is None else self.of.captures.get(body.base)
        is_own = seen is not None and self.state.of_capture.get(seen.seq) == page.birth
        base = seen.seq if seen is not None and is_own else NOBODY
        if body.by is None:
            if base == page.standing.current != NOBODY:
                self._add(page, PageStep(base, base, self.trust))
            return
        capture = self.of.captures.get(body.by)
        if capture is None or not _is_page(capture):
            return
        if self.state.of_capture.setdefault(capture.seq, page.birth) != page.birth:
            return  # It is the text of another page.
        step, last = PageStep(capture.seq, base, self.trust), page.steps[-1] if page.steps else None
        is_again = last is not None and last.seq == step.seq and last.base == NOBODY != base
        if last is not None and is_again and self.trust >= last.trust:
            page.steps[-1] = step  # The version that it was written upon is told after it.
            self.look(page)
        else:
            self._add(page, step)

    def link(self, body: events.Linked) -> None:
        """Let a page lead to another, or to a slug, or end that."""
        birth, to = self._birth(body.id), body.slug if body.to is None else self._birth(body.to)
        if birth is None or to is None:
            return
        if isinstance(to, str) and (there := self.state.at(to)) is not None:
            to = there.birth
        number = self.state.numbers.get((birth, body.relation, to))
        if number is None and body.on:
            if isinstance(to, int):
                self._page(to)
            link = Link(body.relation, to, self.trust)
            self._changed_links(self._page(birth), self.context.seq, link, on=True)
        elif number is not None:
            page = self.state.by_birth[birth]
            link = page.links[number]
            if body.on:
                link.trust = max(link.trust, self.trust)
            elif self.trust >= link.trust:
                self._changed_links(page, number, link, on=False)

    def look(self, page: Page) -> None:
        """Update the shown versions of a page with hidden, shown or other steps."""
        self._show(page, self._after(PageVersions(), page.steps), page.versions)

    def _after(self, standing: PageVersions, steps: list[PageStep]) -> PageVersions:
        """Return the standing after the steps whose versions are neither forgotten nor withdrawn."""
        by_seq, hides = self.of.captures.by_seq, self.of.tombstones.hides
        for step in steps:
            if not hides(by_seq[step.seq]):
                is_known = step.base != NOBODY and not hides(by_seq[step.base])
                standing = next_standing(standing, step, step.base if is_known else NOBODY)
        return standing

    def _add(self, page: Page, step: PageStep) -> None:
        page.steps.append(step)
        self.state.of_capture[step.seq] = page.birth
        self.rows[page.birth] = None
        shown = [page.standing.current, *page.standing.beside, step.seq]
        self._show(page, self._after(page.standing, [step]), shown)

    def _show(self, page: Page, standing: PageVersions, among: list[int]) -> None:
        """Show these versions of a page, and hide the other versions among `among`."""
        did_live, before = page.lives, page.standing
        page.standing = standing
        shown = dict.fromkeys((standing.current, *standing.beside))
        for seq in dict.fromkeys((*among, *shown)):
            capture = self.of.captures.by_seq.get(seq)
            if capture is not None and capture.hidden is not (seq not in shown):
                capture.hidden = seq not in shown
                self.flipped[seq] = None
        if did_live is not page.lives:
            self._moved(page)
        elif standing != before:
            self._seen(page)

    def _place(self, page: Page, slug: str) -> None:
        """Give a page a slug, unless another living page has it; links waiting for the slug lead there."""
        holder = self.state.at(slug)
        if page.birth == ROOT_BIRTH or (holder is not None and holder is not page and holder.lives):
            return
        if holder is not page:
            if holder is not None:
                self._moved(holder)
                del holder.given["slug"]
            self._moved(page)
            self.state.slugs.pop(page.slug, None)
            self.state.slugs[slug] = page.birth
            page.given["slug"] = PageField(slug, self.trust, self.context.seq)
            # Links that waited for the slug lead to the page, one of each relation and source.
            for number, birth in self.state.into.pop(slug, {}).items():
                source = self.state.by_birth[birth]
                link = source.links[number]
                del self.state.numbers[birth, link.relation, link.to]
                self.rows[birth] = None
                known = self.state.numbers.setdefault((birth, link.relation, page.birth), number)
                if known != number:
                    source.links[known].trust = max(source.links[known].trust, link.trust)
                    del source.links[number]
                    continue
                link.to = page.birth
                self.state.into.setdefault(page.birth, {})[number] = birth
            self._moved(page)
        page.given["slug"] = PageField(slug, self.trust, self.context.seq)

    def _changed_links(self, page: Page, number: int, link: Link, *, on: bool) -> None:
        was_node = page.is_node
        if on:
            page.links[number] = link
            _know_link(self.state, page, number, link)
        else:
            del page.links[number], self.state.numbers[page.birth, link.relation, link.to]
            del self.state.into[link.to][number]
        self.rows[page.birth] = None
        if page.is_node is not was_node:
            self._seen(page)
        if (target := self.state.end(link)) is not None:
            self.files[target.slug] = None
            if link.relation == events.CHILD:
                self.rows[target.birth] = None

    def _seen(self, page: Page) -> None:
        """Record a changed page; the indexes with the page change too."""
        self.rows[page.birth] = None
        for link, source in self.state.sources(page):
            if link.relation == events.CHILD:
                self.files[source.slug] = None

    def _moved(self, page: Page) -> None:
        """Record that a page was made, removed or moved, with all pages linked to or from the page."""
        sources = (source for _, source in self.state.sources(page))
        for other in (page, *sources, *filter(None, map(self.state.end, page.links.values()))):
            self.rows[other.birth] = None
            self.files[other.slug] = None

    def _birth(self, id: str) -> int | None:
        """Return the birth of an id's page, even of a page without events so far; None for no page."""
        if id == root_id(self.context.scope):
            return ROOT_BIRTH
        capture = self.of.captures.get(id)
        if capture is None:
            return None
        return self.state.of_capture.get(capture.seq, capture.seq if _is_page(capture) else None)

    def _page(self, birth: int) -> Page:
        """Return the page of a birth, created at its first event; the root is created with the first page."""
        found = self.state.by_birth.get(birth)
        if found is not None:
            return found
        if birth == ROOT_BIRTH:
            page = self.state.by_birth[birth] = Page(birth, root_id(self.context.scope), [], {}, {})
            self.rows[birth] = None
            return page
        self._page(ROOT_BIRTH)
        capture = self.of.captures.by_seq[birth]
        page = self.state.by_birth[birth] = Page(birth, capture.id, [], {}, {})
        self._add(page, PageStep(birth, NOBODY, TRUST[capture.actor.origin]))
        return page


def rebuild(state: Pages, of: object) -> None:
    """Make the indexes that follow from the pages."""
    for page in state.by_birth.values():
        state.of_capture |= dict.fromkeys(page.versions, page.birth)
        if "slug" in page.given:
            state.slugs[page.slug] = page.birth
        for number, link in page.links.items():
            _know_link(state, page, number, link)


def _know_link(state: Pages, page: Page, number: int, link: Link) -> None:
    state.numbers[page.birth, link.relation, link.to] = number
    state.into.setdefault(link.to, {})[number] = page.birth


def _is_page(capture: Capture) -> bool:
    """Return whether a capture may be a page: one part of a longer text is none."""
    part = None if capture.own is None else capture.own.part
    return capture.kind == "page" and (part is None or part.count == 1)
