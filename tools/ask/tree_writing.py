"""Changes of the tree: pages are written, edited, moved or linked; changes against its form are refused.

Each change is put on the log at once or not at all. `state/subjects/pages.py` decides the meaning of a
change.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import CHILD, EDGES, MAX_TEXT_BYTES, NO_EDIT, Edited, Event, Linked, refs_of_edit
from memtape.schemas.slugs import ROOT, SEGMENT_CHARS, SLUG_CHARS, is_slug, root_id, slug_of
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import TRUST
from memtape.state.subjects.pages import NOBODY, Page
from memtape.state.tree.checking import TreeProblem, check
from memtape.state.views.tree_pages import name_of, way_down
from memtape.tools.ask.naming import state_of
from memtape.tools.ask.tree import meant, no_page
from memtape.tools.capture.lines import Line
from memtape.tools.capture.pausing import check_storing
from memtape.tools.capture.writing import Writer


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


class TreeWriting:
    """The page changes available to a writer in a scope."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def new(self, slug: str, text: str, fields: Edited = NO_EDIT, *, under: str | None = None) -> Written:
        """Write a page below `under`, by default the page whose slug begins the new slug, else the root.

        Raises `MemtapeError` for an invalid or taken slug, and for an empty or too long text.
        """
        check_slug(slug)
        _check_text(text)
        name = self._writer.made_scope()
        scope = self._state()
        if scope is not None and (taken := scope.pages.at(slug)) is not None and taken.lives:
            raise MemtapeError(f"The page {slug} is there already.", f"`memtape tree edit {slug}` changes it.")
        parent = self._above(scope, slug) if under is None else meant(self._known(scope, under), under).id
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
        scope = self._known(self._state(), name)
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
        scope = self._known(self._state(), name)
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
        scope = self._known(self._state(), name)
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
        scope = self._state()
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

    def _state(self) -> Scope | None:
        return state_of(self._writer, self._writer.scope)

    def _known(self, scope: Scope | None, name: str) -> Scope:
        if scope is None or not scope.pages.by_birth:
            raise no_page(self._writer.scope, name)
        return scope

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
        scope = self._state()
        assert scope is not None
        return replace(written(scope, meant(scope, id)), redacted=redacted or {})


def written(scope: Scope, page: Page) -> Written:
    """Return how a page stands after something was done to it."""
    parents = (source for link, source in scope.pages.sources(page) if link.relation == CHILD and source.lives)
    return Written(
        id=page.id,
        slug=page.slug,
        scope=scope.name,
        version=current_version(scope, page),
        beside=len(page.standing.beside),
        under=next((name_of(it) for it in parents), None),
    )


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
