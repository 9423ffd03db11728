"""Edits of the tree's files as events: changed texts and front matter, renamed, new and deleted files.

Files are read before pages are written. A file is compared with Memtape's last version of it: only the
person's changes are appended. All changes of a file are appended at once, under ids derived from its content;
after that the file may be replaced. Unusable files are kept beside, and reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from msgspec.structs import replace

from memtape.flows.workers.worker import Worker
from memtape.schemas.errors import Denied, InvalidEvent
from memtape.schemas.events import CHILD, NO_EDIT, Edited, Event, Linked
from memtape.schemas.ids import ROOT, digest_of, root_id, slug_of
from memtape.schemas.log import Log
from memtape.schemas.private import without_private
from memtape.schemas.rows import TreePage
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.schemas.visible import one_line
from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import TREE_FOLDER, PageBytes, PageNote, Stamp
from memtape.sinks.page_markdown import body_of, index_of
from memtape.sinks.page_reading import Fields, PageFile, page_file
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.subjects.pages import Page
from memtape.state.views.tree_pages import page_of, path_of, tree_page, way_down
from memtape.tools.keep.edited_files import EditedFiles
from memtape.tools.keep.page_changes import PageEvents, changes_of, target_of
from memtape.tools.keep.states import state_at

SOURCE = "pages"
"""The source of what was captured from a file of the tree."""
NO_OPERATOR = "only operators write to global, so that nothing was taken from it"
GIVES_WAY: Stamp = (0, 0, 0)
"""The stamp of no file, for a file that was kept beside: put back unchanged, it has its earlier stamp."""
LOST_VERSION = "the log does not have the text that stood there, since it is not as it was when that was written"
TAKEN_NAME = "its name would be {slug}.md, which something has; give it another name"


class _Due(NamedTuple):
    """A file that a person changed or made: its path, given name, stamp, bytes and parsed content."""

    path: str
    given: str
    stamp: Stamp
    data: bytes
    read: PageFile


class TreeFiles(EditedFiles):
    """The files of the tree of one scope, as they are read once."""

    def __init__(self, worker: Worker, home: Home, log: Log, scope: str) -> None:
        super().__init__(worker, home, log, scope, TREE_FOLDER)
        self._number = partition_of(scope, log.partitions)
        self._known, self._strayed = self._files.known(), self._notes.strayed(log)
        self._events = PageEvents(self._writer, scope, SOURCE)
        self._again = False

    def _read(
        self, path: str, page: PageBytes, before: PageNote | None, stamps: dict[str, Stamp]
    ) -> dict[str, PageNote]:
        if not self._files.is_read(path, page.data, self._known):
            return self._taken(path, page.stamp, page.data, stamps)
        lost = self._kept_lost(path, page.data) if self._strayed else ()
        return {path: PageNote(GIVES_WAY if lost else page.stamp, texts=1, problems=lost or self._still(before))}

    def _end(self, stamps: dict[str, Stamp]) -> None:
        for path in self._known:
            if path.startswith(f"{TREE_FOLDER}/") and path not in stamps:
                self._tell_deleted(path)
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

    def _kept_lost(self, path: str, data: bytes) -> tuple[str, ...]:
        """Save a file's lost version beside it after the log went back, as to an older backup; return the
        messages.

        The author of the lost text cannot be told from a file, so nothing of the file is appended.
        """
        if not self._is_lost(page_file(data).version):
            return ()
        return (self._told(path, LOST_VERSION, self._files.keep_beside(path, data)),)

    def _is_lost(self, version: str | None) -> bool:
        """Whether a version that a file was written from is not on the log."""
        return version is not None and version not in self._log.known(self._scope, [version])

    def _still(self, before: PageNote | None) -> tuple[str, ...]:
        """Return the problems of a file saved beside, while the saved file exists."""
        told = before.problems if before is not None else ()
        folder = self._home.scope_folder(self._scope)
        return tuple(it for it in told if any((folder / name).exists() for name in _quoted(it)))

    def _taken(self, path: str, stamp: Stamp, data: bytes, stamps: dict[str, Stamp]) -> dict[str, PageNote]:
        """Append the changes of one file, let the written page replace the file, and return the note."""
        slug = path.removeprefix(f"{TREE_FOLDER}/").removesuffix(".md")
        page, written = self._page_of(path, slug, data, stamps)
        wanted, given = slug_of(slug) if slug != ROOT else slug, path
        if wanted != slug and self._scope != GLOBAL:
            if not self._files.rename(path, path_of(wanted)):
                return {path: PageNote(stamp, problems=(self._told(path, TAKEN_NAME.format(slug=wanted)),))}
            path, slug = path_of(wanted), wanted
        due = _Due(path, given, stamp, data, page_file(data, None if written is None else index_of(written)))
        problems, events = list(due.read.problems), list[Event]()
        if self._scope == GLOBAL:
            problems = [NO_OPERATOR]
        elif page is None or written is None:
            events = self._born(due, slug, problems)
        else:
            events = self._changed(due, slug, page, written, problems)
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

    def _page_of(
        self, path: str, slug: str, data: bytes, stamps: dict[str, Stamp]
    ) -> tuple[Page | None, TreePage | None]:
        """Return the page of a file, and Memtape's last version of it; none for a new page.

        A file with the id of a page whose own file is gone was renamed.
        """
        before, id = self._before, page_file(data).id
        if not before.pages.by_birth:
            return None, None
        page = before.pages.at(slug)
        named = page_of(before, id) if id is not None else None
        is_renamed = named is not None and named is not page and path_of(named.slug) not in stamps
        if is_renamed and (page is None or not page.lives):
            page = named
        if page is None or not page.lives:
            return None, None
        return page, tree_page(before, path_of(page.slug))

    def _born(self, due: _Due, slug: str, problems: list[str]) -> list[Event]:
        """Return the events of a new page: its text, front matter and place."""
        text = due.read.text
        if text is None or not text.strip():
            problems += ["it has no text; nothing was taken from it"] if text is not None else []
            return []
        native = f"{slug}#{self._offset}#{_digest(text)}"
        captured = self._captured(due, text, slug, native, problems)
        if captured is None:
            return []
        fields = due.read.fields
        edit, links = changes_of(None, fields or Fields(), self._before)
        edit = replace(edit, id=captured.id)
        if due.given != due.path and edit.title is None and not text.startswith("# "):
            edit = replace(edit, title=due.given.rpartition("/")[2].removesuffix(".md"))
        parent = next(self._above(slug), root_id(self._scope))
        bodies: list[Edited | Linked] = [edit, Linked(id=parent, on=True, relation=CHILD, slug=None, to=captured.id)]
        bodies += [replace(link, id=captured.id) for link in links]
        return [captured, *self._made(due, bodies, slug, problems)]

    def _changed(self, due: _Due, slug: str, page: Page, written: TreePage, problems: list[str]) -> list[Event]:
        """Return the events of a person's changes to a page's file or its name."""
        read, row, events = due.read, written.row, list[Event]()
        assert row is not None
        is_lost = self._is_lost(read.version)
        base = row.version if is_lost else read.version or row.version
        is_other = read.changed or is_lost
        is_changed = is_other and read.text is not None and _body(read.text) != _body(_shown(written))
        if read.text is not None and is_changed and _says(read.text, page, problems):
            native = f"{page.id}#{base}#{_digest(read.text)}"
            captured = self._captured(due, read.text, page.slug, native, problems)
            if captured is not None:
                by = replace(NO_EDIT, id=page.id, by=captured.id, base=base)
                events += [captured, *self._made(due, [by], slug, problems)]
        usable = read.fields if read.fields is not None and not read.fields.problems else None
        edit, links = (NO_EDIT, ()) if usable is None else changes_of(written, usable, self._before)
        if slug != page.slug and page.slug != ROOT:
            edit = replace(edit, slug=slug)
        return events + self._made(due, [replace(edit, id=page.id), *links], slug, problems)

    def _captured(self, due: _Due, text: str, slug: str, native: str, problems: list[str]) -> Event | None:
        """Return the capture of a text, None for a text unfit for the log."""
        try:
            event = self._events.captured(text, slug, native, due.stamp[2])
        except (InvalidEvent, Denied) as error:
            problems.append(f"its text was not taken: {one_line(str(error))} {getattr(error, 'hint', '')}".strip())
            return None
        if without_private(text) != text:
            problems.append("its private part was left out")
        return event

    def _made(self, due: _Due, bodies: list[Edited | Linked], slug: str, problems: list[str]) -> list[Event]:
        """Return the events of bodies that say something and may stand on the log."""
        events = []
        for number, body in enumerate(bodies):
            if why := self._refused(body):
                problems.append(why)
                continue
            is_text = isinstance(body, Edited) and body.by is not None
            of = f"{bodies[0].id}#{slug}#{self._offset}#{_digest(due.data)}#{number}#{'by' if is_text else ''}"
            try:
                events.append(self._events.made(body, of))
            except InvalidEvent as error:
                problems.append(one_line(str(error)))
        return [event for event in events if event is not None]

    def _refused(self, body: Edited | Linked) -> str:
        """Return why an edit or a link may not be made, nothing where it may."""
        scope = self._now
        if isinstance(body, Edited) and body.slug is not None and scope.pages.by_birth:
            taken = scope.pages.at(body.slug)
            is_other = taken is not None and taken.lives and taken is not page_of(scope, body.id)
            return f"its slug {one_line(body.slug, 80)} is that of another page, and was not taken" if is_other else ""
        if not isinstance(body, Linked) or not body.on or not scope.pages.by_birth:
            return ""
        page, target = page_of(scope, body.id), target_of(scope, body)
        if target is None or page is None:
            return ""
        name = target.slug or target.id
        if target is page:
            return f"it names itself as {body.relation}, which was not taken"
        if body.relation == CHILD and way_down(scope, target, page):
            return f"it would stand below itself with {name} as its child, which was not taken"
        return ""

    def _above(self, slug: str) -> Iterator[str]:
        """Yield the ids of the pages whose slug is a prefix of the slug, the longest first."""
        while "/" in slug:
            slug = slug.rpartition("/")[0]
            page = self._now.pages.at(slug)
            if page is not None and page.lives:
                yield page.id

    def _tell_deleted(self, path: str) -> None:
        slug = path.removeprefix(f"{TREE_FOLDER}/").removesuffix(".md")
        page = self._now.pages.at(slug) if self._now.pages.by_birth else None
        if page is None or not page.lives:
            return
        self._again = True
        self._worker.note(
            f"{self._name(path)} was deleted and is written again; `memtape forget {page.id}` hides a page."
        )

    @property
    def _offset(self) -> int:
        mark = self._vault.mark(self._scope)
        return 0 if mark is None else mark.offset

    def _told(self, path: str, problem: str, beside: str = "") -> str:
        kept = f' The file as it was is kept as "{beside}": mend that, put it in the place of the page, or delete it.'
        return f"{self._name(path)}: {problem}.{kept if beside else ''}"


def _shown(written: TreePage) -> str:
    """Return a page's text as in its file."""
    assert written.row is not None
    return body_of(written.text, written.row.origin)


def _body(text: str) -> str:
    return text.strip("\n").rstrip()


def _says(text: str, page: Page, problems: list[str]) -> bool:
    """Whether a text may be a page's; an empty one hides nothing."""
    if text.strip() or page.slug == ROOT:
        return bool(text.strip())
    problems.append(f"its text was taken away; `memtape forget {page.id}` hides a page")
    return False


def _quoted(told: str) -> list[str]:
    return told.split('"')[1::2]


def _digest(said: str | bytes) -> str:
    return digest_of(said if isinstance(said, bytes) else said.encode("utf-8", "replace"))
