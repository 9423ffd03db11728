"""Changes of a page by its file: the new fields of front matter beside the fields written before, and their events.

A file of the tree and a file of an imported folder make their events here, under ids that follow from what they say.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from memtape.schemas.events import CHILD, NO_EDIT, Edited, Event, Linked, refs_of_edit
from memtape.schemas.ids import ID_PATTERN, ROOT, derived_id, root_id
from memtape.schemas.rows import TreePage
from memtape.schemas.visible import one_line
from memtape.sinks.logs.admission import check_admissible
from memtape.sinks.page_reading import Fields
from memtape.state.core.scope import Scope
from memtape.state.subjects.pages import Page
from memtape.state.views.tree_pages import page_of
from memtape.tools.capture.lines import Line
from memtape.tools.capture.writing import Writer, now_us

Links = tuple[tuple[str, str], ...]
PageChange = tuple[Edited, tuple[Linked, ...]]
"""An edit, and the links that were made or ended."""


class PageEvents:
    """Makes the events of files of pages, from one source, in a scope."""

    def __init__(self, writer: Writer, scope: str, source: str) -> None:
        self._writer, self._scope, self._source = writer, scope, source

    def captured(self, text: str, slug: str, native: str, modified_ns: int) -> Event:
        """Return the capture of a page's text. Raises `InvalidEvent` and `Denied`."""
        at = min(modified_ns // 1_000, now_us())
        line = Line(text=text, kind="page", path=slug if slug not in ("", ROOT) else None, source=self._source,
                    native_id=native, scope=self._scope, at=at)  # fmt: skip
        (event,) = self._writer.events_of(line, {})
        check_admissible(event)
        return event

    def made(self, body: Edited | Linked, native: str) -> Event | None:
        """Return the event of an edit or a link, None for an edit that changes nothing. Raises `InvalidEvent`."""
        if isinstance(body, Edited) and replace(body, id="") == NO_EDIT:
            return None
        type, refs = ("edited", refs_of_edit(body)) if isinstance(body, Edited) else ("linked", ())
        id = derived_id(type, self._scope, self._source, native)
        event = self._writer.made(type, body, self._scope, refs, id)
        check_admissible(event)
        return event


def changes_of(written: TreePage | None, fields: Fields, scope: Scope) -> PageChange:
    """Return the changes of front matter against the written page; `written` is None for a new page.

    A removed name ends a person's edit; a value taken from the text by Memtape is no change.
    """
    row = None if written is None else written.row
    if written is None or row is None:
        edit = replace(
            NO_EDIT,
            title=fields.title or None,
            summary=fields.summary or None,
            hints=fields.hints or None,
            refs=fields.refs or None,
            rest=fields.rest or None,
        )
        return edit, _links((), fields.links, "", scope)
    page = page_of(scope, row.id)
    assert page is not None
    edit = replace(
        NO_EDIT,
        title=_said(fields.title, row.title, page, "title"),
        summary=_said(fields.summary, row.summary, page, "summary"),
        hints=_listed(fields.hints, row.hints),
        refs=_listed(fields.refs, row.refs),
        rest=None if fields.rest.strip("\n") == written.rest.strip("\n") else fields.rest,
        slug=fields.slug if fields.slug and fields.slug != row.slug and row.slug != ROOT else None,
    )
    before = [(CHILD, it.name) for it in written.children] + [(it.relation, it.name) for it in written.edges]
    before.sort(key=lambda link: link[0] != CHILD)
    return edit, _links(tuple(before), fields.links, row.id, scope)


def target_of(scope: Scope, link: Linked) -> Page | None:
    """Return the page where a link leads, None where there is none."""
    if not scope.pages.by_birth:
        return None
    return page_of(scope, link.to) if link.to is not None else scope.pages.at(link.slug or "")


def _said(now: str | None, before: str, page: Page, name: str) -> str | None:
    """Return a text that a person set or removed (empty), None if unchanged."""
    if now is None or not now.strip():
        return "" if page.told(name, "") else None
    return None if one_line(now) == one_line(before) else now


def _listed(now: tuple[str, ...] | None, before: tuple[str, ...]) -> tuple[str, ...] | None:
    return None if tuple(map(one_line, now or ())) == tuple(map(one_line, before)) else now or ()


def _links(before: Links, now: Links, id: str, scope: Scope) -> tuple[Linked, ...]:
    """Return the ended and the new links; reordered children are linked again from the first moved one."""
    had, has = dict.fromkeys(before), dict.fromkeys(now)
    kept_before, kept_now = [it for it in had if it in has], [it for it in has if it in had]
    ended, begun = [it for it in had if it not in has], [it for it in has if it not in had]
    children = [it for it in kept_before if it[0] == CHILD], [it for it in kept_now if it[0] == CHILD]
    if children[0] != children[1]:
        same = next(n for n, pair in enumerate(zip(*children, strict=True)) if pair[0] != pair[1])
        ended += children[0][same:]
        begun = [*children[1][same:], *begun]
    said = [(it, False) for it in ended] + [(it, True) for it in begun]
    return tuple(_link(id, relation, name, scope, on=on) for (relation, name), on in said)


def _link(id: str, relation: str, name: str, scope: Scope, *, on: bool) -> Linked:
    if name == ROOT:
        return Linked(id=id, on=on, relation=relation, slug=None, to=root_id(scope.name))
    is_id = re.match(ID_PATTERN, name) is not None
    return Linked(id=id, on=on, relation=relation, slug=None if is_id else name, to=name if is_id else None)
