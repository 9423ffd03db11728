"""A folder of Markdown as pages of the tree: a slug for each file, front matter, links to other files.

At a second import a changed file is the next version of its page, based on the last imported version: edits
by people since then become a diverged version. People's other changes of a page stay, and no page is removed.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote

import msgspec
from markdown_it import MarkdownIt
from msgspec.structs import replace

from memtape.schemas.errors import Denied, InvalidEvent, MemtapeError
from memtape.schemas.events import CHILD, MAX_TEXT_BYTES, Edited, Event, Linked
from memtape.schemas.ids import derived_id, is_slug, root_id, slug_of
from memtape.schemas.patterns import lazy
from memtape.sinks.page_reading import Fields, PageFile, page_file
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.pages import Page
from memtape.state.views.tree_pages import READ_CHARS
from memtape.tools.capture.documents import headings
from memtape.tools.capture.writing import Writer
from memtape.tools.importing.records import ImportProblem
from memtape.tools.keep.states import scope_now
from memtape.tools.keep.tree_files import PageEvents, changes_of

SOURCE = "page-folder"
"""The source of an imported page; its native id has slug, digest of the file, and the version before."""
BATCH_EVENTS = 500
TOO_LONG = (
    f"More than {MAX_TEXT_BYTES // 1024} KiB under one heading, which no page holds. Give it more headings,"
    " or take it as a document: memtape import FILE"
)
DEEPEST = 6
"""The deepest level of headings."""
NODES = ("index.md", "readme.md")
"""The names of a folder's own page; the first existing one counts."""
_ENDING = ".md"
_HEADING = lazy(r"(?m)^ {0,3}#{1,6}[ \t]")
_WIKI = lazy(r"!?\[\[([^\[\]|#\n]*)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
OnProgress = Callable[[int], None]


class PagesTaken(msgspec.Struct, kw_only=True):
    """The result of a folder's import: slugs of new pages and new versions, the number of unchanged files.

    `edges` counts links between pages, of which `waiting` lead to no page yet. `gone` are pages without their
    file; they stay.
    """

    scope: str
    top: str
    dry_run: bool
    new: list[str] = []
    versions: list[str] = []
    unchanged: int = 0
    edges: int = 0
    waiting: int = 0
    gone: list[str] = []
    problems: list[ImportProblem] = []


class _FolderFile(NamedTuple):
    """A file of the imported folder: the path in the folder, slug and bytes."""

    path: str
    slug: str
    data: bytes


class _ImportedFile(NamedTuple):
    """The log's state of an imported file: the page, its last imported version, and the version before."""

    page: Page
    last: Capture
    before: Capture | None


class PageFolder:
    """A folder for the import into a writer's scope."""

    def __init__(self, writer: Writer, folder: Path, *, dry_run: bool = False) -> None:
        self._writer, self._folder, self._dry_run = writer, folder, dry_run
        self._name = writer.scope if dry_run else writer.made_scope()
        self._layout, self._maker = layout_of(folder), PageEvents(writer, self._name, SOURCE)
        self._events: list[Event] = []
        self._taken = PagesTaken(scope=self._name, top=self._layout.top, dry_run=dry_run)

    @property
    def files(self) -> int:
        """The number of files."""
        return len(self._layout.slugs)

    def take(self, on_progress: OnProgress = lambda done: None) -> PagesTaken:
        """Import the folder, and return the result; `on_progress` is called for each file."""
        if not self.files:
            raise MemtapeError(f"{self._folder} has no Markdown.", "Name a folder with .md files.")
        self._scope = scope_now(self._writer.home, self._writer.log, self._name) or Scope(self._name)
        self._known = dict[str, _ImportedFile]()  # By the slug of the page's birth.
        for page in self._scope.pages.by_birth.values():
            captures = (self._scope.captures.by_seq[seq] for seq in page.versions)
            own = [(it, it.own.path) for it in captures if it.own is not None and it.own.source == SOURCE]
            if own and own[0][1]:
                self._known[own[0][1]] = _ImportedFile(page, own[-1][0], own[-2][0] if own[1:] else None)
        self._ids = {slug: old.page.id for slug, old in self._known.items()}
        for path, slug in self._layout.slugs.items():
            self._take(path, slug)
            if len(self._events) >= BATCH_EVENTS:
                self._append()
            on_progress(1)
        self._append()
        top, there = self._layout.top, self._layout.above
        gone = (slug for slug, old in self._known.items() if old.page.lives and slug not in there)
        self._taken.gone += (slug for slug in gone if slug == top or slug.startswith(f"{top}/"))
        return self._taken

    def _take_parts(self, file: _FolderFile, level: int = 2) -> None:
        """Take a long text as a page, with one below it for each heading; a long part likewise."""
        (_, first), *rest = parts_of(file.data, level)
        parts = [(file.slug, first)]
        for title, part in rest:
            slug = slug_of(f"{file.slug}/{slug_of(title).replace('/', '-')}")
            while slug in self._layout.above:  # Two headings may say the same.
                slug = slug_of(f"{slug}-2")
            self._layout.above[slug] = file.slug
            parts.append((slug, part))
        for slug, data in parts:
            if len(data) > MAX_TEXT_BYTES and level < DEEPEST and slug != file.slug:
                self._take_parts(_FolderFile(file.path, slug, data), level + 1)
            else:
                self._take(file.path, slug, data)

    def _take(self, path: str, slug: str, data: bytes | None = None) -> None:
        """Make the events of one file; none if its page is unchanged or protected."""
        old, pages = self._known.get(slug), self._scope.pages
        try:
            self._writer.redactor.check_path(str(self._folder / path))
            file = _FolderFile(path, slug, (self._folder / path).read_bytes() if data is None else data)
            if data is None and len(file.data) > MAX_TEXT_BYTES:
                self._take_parts(file)
                return
            if old is None and pages.by_birth and pages.at(slug) is not None:
                told = f"The page {slug} is there and was not imported; it stays as it is."
                raise InvalidEvent("invalid", told, "$")
            if old is not None and not old.page.lives:
                raise InvalidEvent("invalid", f"Its page was forgotten: memtape restore {old.page.id}", "$")
            native = _native(file, old.before if old is not None else None)
            if old is not None and old.last.id == derived_id("captured", self._name, SOURCE, native):
                self._taken.unchanged += 1
                return
            self._events += self._said(file, old)
        except (OSError, Denied, InvalidEvent) as error:
            self._tell(path, str(error))

    def _said(self, file: _FolderFile, old: _ImportedFile | None) -> list[Event]:
        """Return the events of a new or changed file. Raises the errors of the writer."""
        read = page_file(file.data)
        if read.fields is None and read.problems and read.text is not None:
            # Front matter that is no YAML stays a part of the text.
            self._tell(file.path, f"{read.problems[0]}; it was taken as a part of the text")
            read = read._replace(text=file.data.decode("utf-8-sig").replace("\r\n", "\n").strip("\n"))
        elif read.problems:
            self._tell(file.path, "; ".join(read.problems))
        if read.text is None or not read.text.strip():
            raise InvalidEvent("invalid", "It has no text that could be taken.", "$")
        if len(read.text.encode()) > MAX_TEXT_BYTES:
            raise InvalidEvent("too_large", TOO_LONG, "$")
        last = old.last if old is not None else None
        slug, native = old.page.slug if old is not None else file.slug, _native(file, last)
        modified = (self._folder / file.path).stat().st_mtime_ns
        captured = self._maker.captured(read.text, slug, native, modified)
        self._ids.setdefault(file.slug, captured.id)
        links = self._links(file, read, old)
        made: list[Edited | Linked] = [self._edit(file, read, old, captured), *links]
        events = [self._maker.made(body, f"{captured.id}#{number}") for number, body in enumerate(made)]
        begun = [link for link in links if link.on and link.id == self._ids[file.slug]]
        self._taken.edges += len(begun)
        self._taken.waiting += sum(bool(it.slug) and it.slug not in self._layout.above for it in begun)
        (self._taken.new if old is None else self._taken.versions).append(file.slug)
        return [captured, *(event for event in events if event is not None)]

    def _edit(self, file: _FolderFile, read: PageFile, old: _ImportedFile | None, by: Event) -> Edited:
        """Return the page fields from front matter; fields edited since the last import keep their value."""
        given, _ = changes_of(None, read.fields or Fields(), self._scope)
        if old is None:
            has_title = given.title is not None or _HEADING.search((read.text or "")[:READ_CHARS]) is not None
            return replace(given, id=by.id, title=given.title if has_title else Path(file.path).stem)
        for name, before in old.page.given.items():
            if before.seq > old.last.seq + 1 or getattr(given, name) == before.value:
                given = replace(given, **{name: None})
        return replace(given, id=old.page.id, by=by.id, base=old.last.id)

    def _links(self, file: _FolderFile, read: PageFile, old: _ImportedFile | None) -> list[Linked]:
        """Return the links that a file begins or ends: from its parent, its front matter and its text.

        A link ended by a person since the last import stays ended; a link made by a person stays.
        """
        above = self._layout.above
        links = [self._link(above[file.slug], CHILD, file.slug)] if old is None else []
        _, said = changes_of(None, read.fields or Fields(), self._scope)
        now = [(link.relation, link.slug or link.to or "") for link in said]
        named = links_in(read.text or "", file.path, self._layout)
        now += [("related", slug) for slug in named if above.get(slug) != file.slug]
        last = self._scope.captures.body(old.last).text if old is not None else ""
        before = links_in(last, file.path, self._layout)
        has = dict[tuple[str, str], None]()  # Where the page leads, by relation and slug.
        for link in old.page.links.values() if old is not None else ():
            end = self._scope.pages.end(link)
            has[link.relation, str(link.to) if end is None else end.slug] = None
        for relation, slug in dict.fromkeys(now):
            was_ended = relation == "related" and slug in before and (relation, slug) not in has
            if slug not in (file.slug, above[file.slug]) and (relation, slug) not in has and not was_ended:
                links.append(self._link(file.slug, relation, slug))
        ended = [slug for slug in before if ("related", slug) not in now and ("related", slug) in has]
        return links + [self._link(file.slug, "related", slug, on=False) for slug in ended]

    def _link(self, source: str, relation: str, target: str, *, on: bool = True) -> Linked:
        """Return a link between pages by their slugs; of the root the slug is empty."""
        to = self._ids.get(target) or (None if is_slug(target) else target)
        id = self._ids.get(source, root_id(self._name))
        return Linked(id=id, on=on, relation=relation, slug=None if to else target, to=to)

    def _tell(self, path: str, reason: str) -> None:
        self._taken.problems.append(ImportProblem(path, "", reason))

    def _append(self) -> None:
        if self._events and not self._dry_run:
            self._writer.log.append(self._events)
        self._events = []


def _native(file: _FolderFile, before: Capture | None) -> str:
    digest = blake2b(file.data, digest_size=16).hexdigest()
    return f"{file.slug}#{digest}#{before.id if before is not None else ''}"


class Layout(NamedTuple):
    """The slug of each file by path, and the parent's slug by slug, empty below the root.

    `top` is the common beginning of all slugs.
    """

    top: str
    slugs: dict[str, str]
    above: dict[str, str]


def layout_of(folder: Path) -> Layout:
    """Return how the Markdown of a folder stands as pages. A page's parent comes before the page."""
    top, paths = slug_of(folder.resolve().name or "pages").replace("/", "-"), list[str]()
    for place, folders, files in os.walk(folder):  # Hidden files and folders and links are left out.
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        found = [name for name in files if name.lower().endswith(_ENDING) and not name.startswith(".")]
        own = (Path(place) / name for name in sorted(found, key=lambda name: (_rank(name), name)))
        paths += (path.relative_to(folder).as_posix() for path in own if not path.is_symlink())
    slugs, nodes, above = slugs_of(top, paths), dict[PurePath, str](), dict[str, str]()
    for path, slug in slugs.items():
        within = PurePosixPath(path).parent
        above[slug] = next((nodes[it] for it in (within, *within.parents) if it in nodes), "")
        if _rank(PurePosixPath(path).name) < len(NODES):
            nodes.setdefault(within, slug)
    return Layout(top, slugs, above)


def slugs_of(top: str, paths: list[str]) -> dict[str, str]:
    """Return the slug of each file by its path; no two files share a slug."""
    slugs = dict[str, str]()  # By slug, the path.
    for path in paths:
        place, _, name = f"{top}/{path}".rpartition("/")
        stem = name[: -len(_ENDING)]
        slug = slug_of(place) if _rank(name) < len(NODES) else ""
        slug = slug if slug and slug not in slugs else slug_of(f"{place}/{stem}")
        if slug in slugs:
            mark = blake2b(path.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
            slug = slug_of(f"{slug.rpartition('/')[0]}/{slug_of(stem)[:60].rpartition('/')[2]}-{mark}")
        slugs[slug] = path
    return {path: slug for slug, path in slugs.items()}


def _rank(name: str) -> int:
    return NODES.index(name.lower()) if name.lower() in NODES else len(NODES)


def parts_of(data: bytes, level: int = 2) -> list[tuple[str, bytes]]:
    """Return the part before the first heading of a level, then each such heading with all below it.

    A part is the heading's text, empty for the first part, and the bytes. Joined, the parts are the page.
    """
    text = data.decode("utf-8", "surrogateescape")
    found = [(0, ""), *((start, title) for start, of, title in headings(text) if of == level)]
    ends = [*(start for start, _ in found[1:]), len(text)]
    parts = ((title, text[start:end]) for (start, title), end in zip(found, ends, strict=True))
    return [(title, part.encode("utf-8", "surrogateescape")) for title, part in parts]


def links_in(text: str, path: str, layout: Layout) -> list[str]:
    """Return the slugs linked from a file's text, each once and in order.

    `path` is the file's path in the folder. A missing file has the slug it would have; links out of the
    folder are skipped.
    """
    found = list[str | None]()
    for token in MarkdownIt("commonmark").parse(text):
        inner = token.children or []
        links = [it for it in inner if it.type == "link_open"]
        found += [_by_path(str(it.attrs.get("href", "")), path, layout) for it in links]
        said = "".join(it.content for it in inner if it.type in ("text", "softbreak"))
        found += [_by_name(name.strip(), layout) for name in _WIKI.findall(said) if name.strip()]
    return [slug for slug in dict.fromkeys(found) if slug and slug != layout.slugs.get(path)]


def _by_path(address: str, path: str, layout: Layout) -> str | None:
    place = unquote(address.partition("#")[0].partition("?")[0])
    if not place.endswith(_ENDING) or re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|/", place):
        return None
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), place))
    if target.startswith("../"):
        return None
    return layout.slugs.get(target) or _would_be(target, layout)


def _by_name(name: str, layout: Layout) -> str | None:
    """Return the slug of a wiki link's file: by its path, else by its name, the shortest path first."""
    wanted = name.removesuffix(_ENDING).casefold()
    named = {path: path.removesuffix(_ENDING).casefold() for path in layout.slugs}
    alike = [path for path, name in named.items() if posixpath.basename(name) == posixpath.basename(wanted)]
    if alike:
        return layout.slugs[min(alike, key=lambda path: (named[path] != wanted, path.count("/"), path))]
    return _would_be(f"{name.removesuffix(_ENDING)}{_ENDING}", layout)


def _would_be(target: str, layout: Layout) -> str:
    return slug_of(f"{layout.top}/{target.removesuffix(_ENDING)}")
