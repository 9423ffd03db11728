"""Edits of the tree's files as events: changed texts and front matter, renamed, new and deleted files.

Files are read before pages are written. A file is compared with Memtape's last version of it: only the
person's changes are appended. All changes of a file are appended at once, under ids derived from its content;
after that the file may be replaced. Unusable files are kept beside, and reported.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

from msgspec.structs import replace

from memtape.flows.workers.worker import Worker
from memtape.schemas.errors import Denied, InvalidEvent
from memtape.schemas.events import CHILD, NO_EDIT, Edited, Event, Linked, refs_of_edit
from memtape.schemas.ids import ID_PATTERN, ROOT, derived_id, digest_of, root_id, slug_of
from memtape.schemas.log import Log
from memtape.schemas.private import without_private
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.schemas.visible import one_line
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.admission import check_admissible
from memtape.sinks.page_files import TREE_FOLDER, PageBytes, PageNote, Stamp
from memtape.sinks.page_reading import Fields, PageFile, page_file
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.subjects.pages import Page
from memtape.state.views.page_markdown import body_of, index_of
from memtape.state.views.tree_pages import (
    children_of,
    ends_of,
    name_of,
    page_of,
    page_row,
    path_of,
    text_of,
    way_down,
)
from memtape.tools.capture.writing import Line, now_us
from memtape.tools.keep.edited_files import EditedFiles
from memtape.tools.keep.states import state_at

SOURCE = "pages"
"""The source of what was captured from a file of the tree."""
NO_OPERATOR = "only operators write to global, so that nothing was taken from it"
GIVES_WAY: Stamp = (0, 0, 0)
"""The stamp of no file, for a file that was kept beside: put back unchanged, it has its earlier stamp."""
LOST_VERSION = "the log lacks the text that stood there, since it is not as it was when that was written"
TAKEN_NAME = "its name would be {slug}.md, which something has; give it another name"

Links = tuple[tuple[str, str], ...]
PageChange = tuple[Edited, tuple[Linked, ...]]
"""An edit, and the links that were made or ended."""


def changes_of(page: Page | None, fields: Fields, scope: Scope) -> PageChange:
    """Return the changes of front matter against the written page; `page` is None for a new page.

    A removed name ends a person's edit; a value taken from the text by Memtape is no change.
    """
    row = None if page is None else page_row(scope, page.id)
    title, summary, hints, refs = (row.title, row.summary, row.hints, row.refs) if row else ("", "", (), ())
    links, rest, slug = list[tuple[str, str]](), "", None
    if page is not None and row is not None:
        rest, ends = page.told("rest", "").strip("\n"), ends_of(scope, page)
        links = [(CHILD, name_of(child)) for child in children_of(scope, page)]
        links += sorted(((it.relation, it.name) for it in ends), key=lambda it: it[0] != CHILD)
        slug = fields.slug if fields.slug and fields.slug != row.slug and row.slug != ROOT else None
    edit = replace(
        NO_EDIT, title=_said(fields.title, title, page, "title"), slug=slug,
        summary=_said(fields.summary, summary, page, "summary"),
        hints=_listed(fields.hints, hints), refs=_listed(fields.refs, refs),
        rest=None if fields.rest.strip("\n") == rest else fields.rest,
    )  # fmt: skip
    return edit, _links(tuple(links), fields.links, "" if row is None else row.id, scope)


def _said(now: str | None, before: str, page: Page | None, name: str) -> str | None:
    """Return a text that a person set or removed (empty), None if unchanged."""
    if now is None or not now.strip():
        return "" if page is not None and page.told(name, "") else None
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


class PageEdit(NamedTuple):
    """A file that a person changed or made: its path, given name, slug, stamp, bytes and parsed content.

    `problems` grows by the parts that cannot be taken, a clause each.
    """

    path: str
    given: str
    slug: str
    stamp: Stamp
    data: bytes
    read: PageFile
    problems: list[str]


class TreeFiles(EditedFiles):
    """The files of the tree of one scope, as they are read once."""

    def __init__(self, worker: Worker, home: Home, log: Log, scope: str, stamps: dict[str, Stamp]) -> None:
        super().__init__(worker, home, log, scope, stamps, TREE_FOLDER)
        self._number = partition_of(scope, log.partitions)
        self._known = self._files.known()
        self._again = False

    def _read(self, path: str, page: PageBytes, before: PageNote | None) -> dict[str, PageNote]:
        if not self._files.is_read(path, page.data, self._known):
            return self._taken(path, page.stamp, page.data)
        if self._notes.is_strayed and self._is_lost(page_file(page.data).version):
            # The author of the lost text cannot be told from a file, so nothing of the file is appended.
            told = self._told(path, LOST_VERSION, self._files.keep_beside(path, page.data))
            return {path: PageNote(GIVES_WAY, texts=1, problems=(told,))}
        folder = self._home.scope_folder(self._scope)
        problems = before.problems if before is not None else ()  # They last while the file kept beside does.
        still = (it for it in problems if any((folder / name).exists() for name in it.split('"')[1::2]))
        return {path: PageNote(page.stamp, texts=1, problems=tuple(still))}

    def _end(self) -> None:
        """Tell of deleted files, and have the files written again that nothing else writes."""
        for path in self._known:
            if not path.startswith(f"{TREE_FOLDER}/") or path in self._stamps or not self._now.pages.by_birth:
                continue
            page = self._now.pages.at(path.removeprefix(f"{TREE_FOLDER}/").removesuffix(".md"))
            if page is not None and page.lives:
                self._again = True
                then = f"`memtape forget {page.id}` hides a page."
                self._worker.note(f"{self._name(path)} was deleted and is written again; {then}")
        if self._again:
            self._vault.uncover(self._number)

    @cached_property
    def _before(self) -> Scope:
        """The state from which the files were written."""
        mark = self._vault.mark(self._scope)
        end = self._log.ends()[self._number]
        return self._state(end if mark is None else min(mark.offset, end))

    @cached_property
    def _now(self) -> Scope:
        """The state at the end of the log."""
        return self._state(self._log.ends()[self._number])

    def _state(self, offset: int) -> Scope:
        state: Partition = state_at(self._log, self._home.current(), self._number, offset)
        return state.scopes.get(self._scope) or Scope(self._scope)

    def _is_lost(self, version: str | None) -> bool:
        """Whether a version that a file was written from is not on the log, as after an older backup."""
        return version is not None and version not in self._log.known(self._scope, [version])

    def _taken(self, path: str, stamp: Stamp, data: bytes) -> dict[str, PageNote]:
        """Append the changes of one file, let the written page replace the file, and return the note."""
        slug = path.removeprefix(f"{TREE_FOLDER}/").removesuffix(".md")
        page = self._page_of(slug, data)
        wanted, given = slug_of(slug) if slug != ROOT else slug, path
        if wanted != slug and self._scope != GLOBAL:
            if not self._files.rename(path, path_of(wanted)):
                return {path: PageNote(stamp, problems=(self._told(path, TAKEN_NAME.format(slug=wanted)),))}
            path, slug = path_of(wanted), wanted
        index, events = None if page is None else index_of(self._before, page), list[Event]()
        read = page_file(data, index)
        problems = [NO_OPERATOR] if self._scope == GLOBAL else list(read.problems)
        edit = PageEdit(path, given, slug, stamp, data, read, problems)
        if page is not None and self._scope != GLOBAL:
            events = self._changed(edit, page)
        elif self._scope != GLOBAL:
            events = self._born(edit)
        if page is None and not events:  # It is no page, and stays as it is.
            return {path: PageNote(stamp, problems=tuple(self._told(path, it) for it in problems))}
        beside = self._files.keep_beside(path, data) if problems else ""
        known = self._log.known(self._scope, [event.id for event in events])
        new = [event for event in events if event.id not in known]
        if new:
            self._log.append(new)
            self._worker.done += 1
            self.__dict__.pop("_now", None)
        else:
            self._again = True  # Nothing follows that would write the file anew.
        self._files.taken(path, data)
        told = tuple(self._told(path, it, beside) for it in problems)
        return {path: PageNote(GIVES_WAY if beside else stamp, texts=1, problems=told)}

    def _page_of(self, slug: str, data: bytes) -> Page | None:
        """Return the living page of a file, None for a new page.

        A file with the id of a page whose own file is gone was renamed.
        """
        before, id = self._before, page_file(data).id
        page = before.pages.at(slug) if before.pages.by_birth else None
        if page is None or not page.lives:
            page = page_of(before, id) if id is not None and before.pages.by_birth else None
            page = page if page is not None and path_of(page.slug) not in self._stamps else None
        return page if page is not None and page.lives else None

    def _born(self, edit: PageEdit) -> list[Event]:
        """Return the events of a new page: its text, front matter and place."""
        text = edit.read.text
        if text is None or not text.strip():
            edit.problems.extend(["it has no text; nothing was taken from it"] if text is not None else [])
            return []
        captured = self._captured(edit, text, edit.slug, f"{edit.slug}#{self._offset}#{_digest(text)}")
        if captured is None:
            return []
        change, links = changes_of(None, edit.read.fields or Fields(), self._before)
        change = replace(change, id=captured.id)
        if edit.given != edit.path and change.title is None and not text.startswith("# "):
            change = replace(change, title=edit.given.rpartition("/")[2].removesuffix(".md"))
        parent, above = root_id(self._scope), edit.slug
        while "/" in above:  # The page with the longest slug that this one begins with.
            above = above.rpartition("/")[0]
            page = self._now.pages.at(above)
            if page is not None and page.lives:
                parent = page.id
                break
        child = Linked(id=parent, on=True, relation=CHILD, slug=None, to=captured.id)
        return [captured, *self._made(edit, [change, child, *(replace(it, id=captured.id) for it in links)])]

    def _changed(self, edit: PageEdit, page: Page) -> list[Event]:
        """Return the events of a person's changes to the file of a living page, or its name."""
        read, row, events = edit.read, page_row(self._before, page.id), list[Event]()
        assert row is not None
        is_lost = self._is_lost(read.version)
        base = row.version if is_lost else read.version or row.version
        is_other = read.changed or is_lost
        shown = body_of(text_of(self._before, page), row.origin).strip("\n").rstrip()
        is_changed = read.text is not None and is_other and read.text.strip("\n").rstrip() != shown
        if read.text is not None and is_changed and not read.text.strip():  # An empty text hides nothing.
            if page.slug != ROOT:
                edit.problems.append(f"its text was taken away; `memtape forget {page.id}` hides a page")
        elif read.text is not None and is_changed:
            captured = self._captured(edit, read.text, page.slug, f"{page.id}#{base}#{_digest(read.text)}")
            if captured is not None:
                by = replace(NO_EDIT, id=page.id, by=captured.id, base=base)
                events += [captured, *self._made(edit, [by])]
        change, links = NO_EDIT, tuple[Linked, ...]()
        if read.fields is not None and not read.fields.problems:
            change, links = changes_of(page, read.fields, self._before)
        if edit.slug != page.slug and page.slug != ROOT:
            change = replace(change, slug=edit.slug)
        return events + self._made(edit, [replace(change, id=page.id), *links])

    def _captured(self, edit: PageEdit, text: str, slug: str, native: str) -> Event | None:
        """Return the capture of a text, None for a text unfit for the log."""
        try:
            at, path = min(edit.stamp[2] // 1_000, now_us()), slug if slug != ROOT else None
            line = Line(text=text, kind="page", path=path, source=SOURCE, native_id=native,
                        scope=self._scope, at=at)  # fmt: skip
            (event,) = self._writer.events_of(line, {})
            check_admissible(event)
        except (InvalidEvent, Denied) as error:
            hint = getattr(error, "hint", "")
            edit.problems.append(f"its text was not taken: {one_line(str(error))} {hint}".strip())
            return None
        if without_private(text) != text:
            edit.problems.append("its private part was left out")
        return event

    def _made(self, edit: PageEdit, bodies: list[Edited | Linked]) -> list[Event]:
        """Return the events of bodies that say something and may stand on the log."""
        events = []
        for number, body in enumerate(bodies):
            if why := self._refused(body):
                edit.problems.append(why)
                continue
            if isinstance(body, Edited) and replace(body, id="") == NO_EDIT:
                continue
            by = "by" if isinstance(body, Edited) and body.by is not None else ""
            of = f"{bodies[0].id}#{edit.slug}#{self._offset}#{_digest(edit.data)}#{number}#{by}"
            try:
                type, refs = ("edited", refs_of_edit(body)) if isinstance(body, Edited) else ("linked", ())
                id = derived_id(type, self._scope, SOURCE, of)
                event = self._writer.made(type, body, self._scope, refs, id)
                check_admissible(event)
                events.append(event)
            except InvalidEvent as error:
                edit.problems.append(one_line(str(error)))
        return events

    def _refused(self, body: Edited | Linked) -> str:
        """Return why an edit or a link may not be made, nothing where it may."""
        scope = self._now
        if isinstance(body, Edited) and body.slug is not None and scope.pages.by_birth:
            taken = scope.pages.at(body.slug)
            is_other = taken is not None and taken.lives and taken is not page_of(scope, body.id)
            told = f"its slug {one_line(body.slug, 80)} is that of another page, and was not taken"
            return told if is_other else ""
        if not isinstance(body, Linked) or not body.on or not scope.pages.by_birth:
            return ""
        page = page_of(scope, body.id)
        target = page_of(scope, body.to) if body.to is not None else scope.pages.at(body.slug or "")
        if target is None or page is None:
            return ""
        name = target.slug or target.id
        if target is page:
            return f"it names itself as {body.relation}, which was not taken"
        if body.relation == CHILD and way_down(scope, target, page):
            return f"it would stand below itself with {name} as its child, which was not taken"
        return ""

    @property
    def _offset(self) -> int:
        mark = self._vault.mark(self._scope)
        return 0 if mark is None else mark.offset

    def _told(self, path: str, problem: str, beside: str = "") -> str:
        kept = f' The file as it was is kept as "{beside}": mend that, put it in its place, or delete it.'
        return f"{self._name(path)}: {problem}.{kept if beside else ''}"


def _digest(said: str | bytes) -> str:
    return digest_of(said if isinstance(said, bytes) else said.encode("utf-8", "replace"))
