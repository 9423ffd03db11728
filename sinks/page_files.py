"""The files of the vault written by Memtape, among files of people, none of which is ever lost.

Each scope has a list of its written files, with their digests, in a folder of the vault that Obsidian does
not show. A file not on the list is a person's. A listed file with other bytes was changed by a person, and is
kept under another name before the page is rewritten. The zone of people in a page (`sinks/zones.py`) is left
out of its digest, and is put back to the byte at each rewrite. For a tree page the zone is its text: it is
replaced unless a person has changed it, and then the whole file waits until it was read (`taken`). The
content of a page is decided elsewhere.

Notes about the zones (`ZoneNotes`) only save time: lost ones are found again. They are valid for one log, as
it was at their writing, and hold no words of a zone.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

import msgspec

from memtape.schemas.ids import digest_of
from memtape.schemas.log import Log, strayed, trail_of
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.sinks.home.files import UNFINISHED, make_folder, read_json, write_whole
from memtape.sinks.home.folders import Home
from memtape.sinks.zones import is_untouched, joined, parts, was_changed

WATERMARK_FILE = "watermark.json"
PAGE_FOLDERS = ("memories", "logs", "summaries")
TREE_FOLDER = "pages"
"""Where the files of the tree are, in folders of their own, beside files of people."""

LISTS, _TAKEN = "pages", "taken"
"""Folders of notes about the vault: the list of files of each scope, and the captured versions of pages."""
_PAGE = re.compile(
    r"(MEMORY|essentials|threads|recent|archive|conflicts)\.md|memories/\d{3,}\.md|logs/\d{4}-\d\d-\d\d(\.\d+)?\.md"
    r"|summaries/\d{4}-\d\d-\d\d-[a-z]+-[a-z]+-[0-9a-f-]{36}\.md"
)
_KEPT = re.compile(r" \(yours( \d+)?\)(\.\w+)?\Z")

Digests = dict[str, list[str]]
"""By path in the folder of a scope: the digest of a file's bytes, and of its earlier bytes during a write."""
Stamp = tuple[int, int, int]
"""Inode, size and time of change (ns) of a file; a save changes the stamp."""
_UNKNOWN = (0, 0, 0)  # The stamp of a file that may not be looked at.


class PageBytes(NamedTuple):
    """The bytes of a page file, and its stamp (inode, size, mtime), which changes with each save."""

    data: bytes
    stamp: Stamp


class ScopeFiles:
    """The files of one scope. A writer holds the right to the views of the scope's partition."""

    def __init__(self, home: Home, scope: str) -> None:
        self._vault = home.vault
        self._folder = home.scope_folder(scope)
        place = self._folder.relative_to(self._vault)
        lists = home.vault_notes / LISTS
        self._list_path = lists / f"{place}.json"
        self._taken_path = home.vault_notes / _TAKEN / f"{place}.json"
        self._new = lists / place.parent / f".{place.name}.page{UNFINISHED}"

    def listed(self) -> Digests:
        """Return the files that are ours; of a list that is lost or damaged nothing is."""
        return read_json(self._list_path, Digests) or {}

    def read(self) -> dict[str, bytes]:
        """Return the bytes of every listed file, changed or not, and of any other file at a page's place.

        The zones of people are left out, and so are pages with nothing else.
        """
        places = [self._folder.glob("*.md"), *(self._folder.glob(f"{name}/*.md") for name in PAGE_FOLDERS)]
        paths = {path.relative_to(self._folder).as_posix() for found in places for path in found}
        looked = ((path, self._seen(path)[0]) for path in sorted(paths | self.listed().keys()))
        found = ((path, _ours(data)) for path, data in looked if data is not None)
        return {path: data for path, data in found if data is not None}

    def stamps(self) -> dict[str, Stamp]:
        """Return by path the stamp of each file with the name of a page."""
        folders = [self._folder / name for name in ("", *PAGE_FOLDERS)]
        return self._stamps(folders, lambda path: _PAGE.fullmatch(path) is not None)

    def page(self, path: str) -> PageBytes | None:
        """Return a page with its zone, None without a readable file."""
        data, stamp = self._seen(path)
        return PageBytes(data, stamp) if data is not None and stamp is not None else None

    def is_ours(self, path: str) -> bool:
        """Return whether a file is listed and as written, apart from its zone."""
        digests, (data, _) = self.listed().get(path), self._seen(path)
        return digests is not None and data is not None and digest_of(_ours(data) or b"") in digests

    def adopt(self, files: Mapping[str, bytes]) -> None:
        """List the files that have the bytes which they would be given: the list that named them is gone."""
        looked = ((path, self._seen(path)[0]) for path, data in files.items() if data)
        ours = {path: _ours(there) for path, there in looked if there is not None}
        found = {path: [digest_of(data)] for path, data in ours.items() if data == files[path]}
        self._write_list(self.listed() | found)

    def lay(self, files: Mapping[str, bytes], zones: Mapping[str, bytes] | None = None) -> None:
        """Write files, and remove listed files that get no bytes. An existing zone stays.

        `zones` has by path the zone for a page without one. The list gets both digests of a file before the
        file is touched, so that after a kill at any time no file written here is taken for a person's.
        """
        listed, known, zones = self.listed(), self.known(), zones or {}
        files = dict(files)
        for path in [path for path in files if path.startswith(f"{TREE_FOLDER}/")]:
            there, _ = self._seen(path)
            if there is not None and _is_unread(there, known.get(path, ())):
                del files[path]  # It holds a person's text that is not captured yet.
        due = [path for path, data in files.items() if self._is_due(path, data, zones.get(path), known)]
        laid = {path: data for path, data in listed.items() if files.get(path) != b""}
        laid |= {path: [digest_of(data)] for path, data in files.items() if data}
        if due:
            both = {path: [*laid.get(path, ()), *known.get(path, ())] for path in due}
            self._write_list(listed | laid | both)
            for path in due:
                self._put(path, files[path], zones.get(path), both[path], known.get(path, ()))
        self._write_list(laid)

    def tree_stamps(self) -> dict[str, Stamp]:
        """Return by path the stamp of every Markdown file of the tree, except hidden and kept ones."""

        def is_page(path: str) -> bool:
            name = path.rpartition("/")[2]
            return name.endswith(".md") and not name.startswith(".") and not _KEPT.search(name)

        return self._stamps(_folders(self._folder / TREE_FOLDER), is_page)

    def _stamps(self, folders: Iterable[Path], is_page: Callable[[str], bool]) -> dict[str, Stamp]:
        """Return by path in the scope's folder, in order, the stamp of each page in these folders."""
        found: dict[str, Stamp] = {}
        for folder in folders:
            for file in _entries(folder) if self._in_the_way(folder / "page") is None else ():
                path = file.relative_to(self._folder).as_posix()
                with suppress(FileNotFoundError):
                    if is_page(path) and stat.S_ISREG((status := file.lstat()).st_mode):
                        found[path] = _stamp(status)
        return dict(sorted(found.items()))

    def is_read(self, path: str, data: bytes, ours: Digests) -> bool:
        """Return whether a tree file is as written, or its content was captured; `ours` is `known`."""
        return not _is_unread(data, ours.get(path, ()), new=True)

    def known(self) -> Digests:
        """Return by path the digests of the files written by Memtape, and of versions captured from files."""
        listed = self.listed()
        taken = {path: [*listed.get(path, ()), *digests] for path, digests in self._taken().items()}
        return listed | taken

    def taken(self, path: str, data: bytes) -> None:
        """Note that the log holds a person's version of a tree page, so that the file may be overwritten.

        Only the reader of pages writes these notes; the writer of pages, which may run at the same time,
        never does.
        """
        there = {name: digests for name, digests in self._taken().items() if (self._folder / name).exists()}
        make_folder(self._taken_path.parent)
        whole = msgspec.json.encode(there | {path: [digest_of(data)]}, order="deterministic")
        write_whole(self._taken_path, whole, durable=True)

    def keep_beside(self, path: str, data: bytes) -> str:
        """Save a file's content under another name beside it, and return the new path."""
        file = self._folder / path
        if file.read_bytes() != data:
            raise FileNotFoundError(file)  # A person has saved the file just now, and it is read again.
        return _kept_copy(file, data).relative_to(self._folder).as_posix()

    def rename(self, path: str, to: str) -> bool:
        """Rename a person's file to a free name; False if the name is taken."""
        file, other = self._folder / path, self._folder / to
        if other.exists() or other.is_symlink() or self._in_the_way(other) is not None:
            return False
        make_folder(other.parent)
        file.rename(other)
        return True

    def _taken(self) -> Digests:
        return read_json(self._taken_path, Digests) or {}

    def _is_due(self, path: str, data: bytes, zone: bytes | None, listed: Digests) -> bool:
        there, stamp = self._seen(path)
        if not data:
            return path in listed and stamp is not None
        found = parts(there) if there is not None else None
        if there is None or found is None or found.ours != data:
            return True
        if zone is None or zone == found.zone:
            return False
        return found.zone is None or was_changed(found) is False or digest_of(there) in listed.get(path, ())

    def _put(self, path: str, data: bytes, zone: bytes | None, ours: list[str], known: Sequence[str]) -> None:
        """Write or remove one file, which had one of the `known` digests before.

        The present file is read again as late as possible.
        """
        file = self._folder / path
        in_the_way = self._in_the_way(file)
        if in_the_way is not None:
            if not data:
                return
            _keep(in_the_way)
        make_folder(file.parent)
        while not self._lay(path, data, zone, ours, known):
            pass  # Somebody has saved it just now.

    def _lay(self, path: str, data: bytes, new: bytes | None, ours: list[str], known: Sequence[str]) -> bool:
        """Write or remove one page file; keep foreign versions. Return False if the file has changed."""
        file, is_tree = self._folder / path, path.startswith(f"{TREE_FOLDER}/")
        there, stamp = seen = self._seen(path)
        found = parts(there) if there is not None else None
        # A file of zeros is left by a power failure, and was written by no person.
        is_ours = there is not None and not there.strip(b"\0")
        is_taken = there is not None and digest_of(there) in ours
        if found is not None and not is_ours:
            is_ours = is_taken or not found.ours or digest_of(found.ours) in ours
        if is_tree and there is not None and _is_unread(there, known):
            return True
        if there is not None and not is_ours and found is not None and found.zone is not None:
            _kept_copy(file, there)
        elif stamp is not None and not is_ours:
            _keep(file)
            seen = self._seen(path)
        zone = found.zone if found is not None else None
        if found is not None and (was_changed(found) is False or (is_taken and is_tree)):
            zone = None
        if not data and (zone is None or is_untouched(zone)):
            if self._seen(path) != seen:
                return False
            file.unlink(missing_ok=True)
            for folder in Path(path).parents[:-2]:  # Those of the tree go where they are empty.
                with suppress(OSError):
                    (self._folder / folder).rmdir()
            return True
        zone = zone if zone is not None else new
        whole = data if zone is None else joined(data, zone)
        with _watched(file if seen[1] is not None else None) as before:
            if not write_whole(file, whole, unfinished=self._new, unless=lambda: self._seen(path) != seen):
                return False
            late = before()
        if late is not None and late != there:
            _free_name(file).write_bytes(late)
        return True

    def _seen(self, path: str) -> tuple[bytes | None, Stamp | None]:
        """Return the bytes of a file, None for those of no page, and its stamp, None for no file."""
        file, stamp = self._folder / path, None
        if self._in_the_way(file) is not None:
            return None, None
        try:
            status = file.lstat()
            stamp = _stamp(status)
            return file.read_bytes() if stat.S_ISREG(status.st_mode) else None, stamp
        except (FileNotFoundError, NotADirectoryError):
            return None, None
        except PermissionError:
            return None, stamp or _UNKNOWN

    def _in_the_way(self, file: Path) -> Path | None:
        """Return the obstacle in place of a folder above a file: links out of the vault are not followed."""
        above = [self._vault / part for part in file.relative_to(self._vault).parents][-2::-1]
        is_no_folder = (path for path in above if path.is_symlink() or (path.exists() and not path.is_dir()))
        return next(is_no_folder, None)

    def _write_list(self, digests: Digests) -> None:
        if digests == self.listed() and (digests or not self._list_path.exists()):
            return
        if not digests:
            self._list_path.unlink(missing_ok=True)
            return
        make_folder(self._list_path.parent)
        write_whole(self._list_path, msgspec.json.encode(digests, order="deterministic"), durable=True)


class PageNote(msgspec.Struct, frozen=True):
    """A page as last read: its stamp, its number of `texts`, and its unusable parts, a sentence each."""

    stamp: Stamp
    texts: int = 0
    problems: tuple[str, ...] = ()


class _ScopeNotes(msgspec.Struct):
    """The notes of a scope's pages, and where its partition of the log ended when a zone was last taken."""

    log_id: str
    end: int
    trail: str
    pages: dict[str, PageNote]


class ZoneNotes:
    """The notes of one scope, of its pages or its tree's files (`of`). A writer holds the right to import.

    `pages` has the note of each page; none if lost, or not of the log as it is. `is_strayed` says whether
    texts of pages may be lost, since the log differs from the one at their reading.
    """

    def __init__(self, home: Home, log: Log, scope: str, of: str = "") -> None:
        self._log, self._number = log, partition_of(scope, log.partitions)
        self._path = home.zones / of / f"{home.scope_folder(scope).relative_to(home.vault)}.json"
        kept = read_json(self._path, _ScopeNotes) or _ScopeNotes(log.log_id, 0, "", {})
        is_other = bool(kept.pages) and (
            kept.log_id != log.log_id or bool(strayed(log, self._number, kept.end, kept.trail))
        )
        self.pages = {} if is_other else kept.pages
        self.is_strayed = is_other and any(note.texts for note in kept.pages.values())

    def write(self, pages: dict[str, PageNote]) -> None:
        """Write the notes, whole or not at all."""
        end = self._log.ends()[self._number]
        make_folder(self._path.parent)
        kept = _ScopeNotes(self._log.log_id, end, trail_of(self._log, self._number, end), pages)
        write_whole(self._path, msgspec.json.encode(kept))


def forget_lost(home: Home) -> None:
    """Drop the notes about deleted files, whose names the log may no longer know.

    The caller holds the right to import into the home.
    """
    for file in (home.vault_notes / _TAKEN).rglob("*.json"):
        folder = home.vault / file.relative_to(home.vault_notes / _TAKEN).with_suffix("")
        taken = read_json(file, Digests) or {}
        _write_lessened(file, taken, {path: its for path, its in taken.items() if (folder / path).exists()})
    for file in home.zones.rglob("*.json"):
        place = file.relative_to(home.zones).with_suffix("")
        folder = home.vault / (place.relative_to(TREE_FOLDER) if place.parts[0] == TREE_FOLDER else place)
        if (noted := read_json(file, _ScopeNotes)) is not None:
            pages = {path: note for path, note in noted.pages.items() if (folder / path).exists()}
            _write_lessened(file, noted, msgspec.structs.replace(noted, pages=pages))


def _write_lessened(file: Path, before: object, after: object) -> None:
    if before != after:
        write_whole(file, msgspec.json.encode(after, order="deterministic"), durable=True)


def zone_problems(home: Home) -> list[str]:
    """Return the problems of a home's zones, a sentence each."""
    noted = (read_json(file, _ScopeNotes) for file in sorted(home.zones.rglob("*.json")))
    pages = (note for notes in noted if notes is not None for note in notes.pages.values())
    return [problem for note in pages for problem in note.problems]


def kept(home: Home) -> list[str]:
    """Return the files and folders, as paths in the home, that were kept where a page took their name."""
    projects = home.vault / "projects"
    scopes = [home.scope_folder(GLOBAL), *_entries(projects)]
    folders = [home.vault, projects, *scopes, *(scope / name for scope in scopes for name in PAGE_FOLDERS)]
    folders += [folder for scope in scopes for folder in _folders(scope / TREE_FOLDER)]
    names = (path for folder in folders for path in _entries(folder) if _KEPT.search(path.name))
    return sorted(path.relative_to(home.path).as_posix() for path in names)


def kept_beside(names: Sequence[str]) -> str:
    """Return the sentence that names the pages kept beside Memtape's."""
    first = f'"{names[0]}"'
    if len(names) == 1:
        return f"A page that was not as Memtape wrote it is kept as {first}; whose it is may delete it."
    return f"{len(names):,} pages that were not as Memtape wrote them are kept, the first as {first}."


def _keep(path: Path) -> None:
    """Rename a person's file to a free name beside it."""
    with suppress(FileNotFoundError):  # Somebody may take it away just now.
        path.rename(_free_name(path))


def _kept_copy(path: Path, data: bytes) -> Path:
    """Return a file beside that says the same, else give the file a second name beside.

    The first name is lost as a page takes it, and not before, so that no kill takes a zone off its page.
    """
    for other in _entries(path.parent):
        is_kept = other.name.startswith(path.stem) and _KEPT.search(other.name) is not None
        if is_kept and other.is_file() and not other.is_symlink() and other.read_bytes() == data:
            return other
    name = _free_name(path)
    try:
        os.link(path, name, follow_symlinks=False)
    except OSError:  # Some file systems have no second names.
        name.write_bytes(data)
    return name


def _free_name(path: Path) -> Path:
    """Return a name beside, which nothing has yet."""
    names = (f"{path.stem} (yours{'' if number == 1 else f' {number}'}){path.suffix}" for number in count(1))
    return path.with_name(next(name for name in names if not os.path.lexists(path.with_name(name))))


@contextmanager
def _watched(path: Path | None) -> Iterator[Callable[[], bytes | None]]:
    """Hold a file open that will be replaced; yield a function that returns its bytes at a later time.

    An editor that saves in place writes to its open file, even after the name points to another file.
    """
    try:
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
        number = None if path is None else os.open(path, flags)
    except OSError:
        number = None
    if number is None:
        yield lambda: None
        return
    with os.fdopen(number, "rb") as file:
        yield file.read


def _folders(folder: Path) -> Iterator[Path]:
    """Yield a folder and all below it, but for links."""
    rest = [folder]
    for one in rest:
        yield one
        rest += [path for path in _entries(one) if path.is_dir() and not path.is_symlink()]


def _is_unread(data: bytes, ours: Sequence[str], *, new: bool = False) -> bool:
    """Return whether a person changed a tree file and the change is not captured yet.

    For a file not written by Memtape, `new` is the answer. A file of zeros, left by a power failure, counts
    as unchanged.
    """
    if not data.strip(b"\0") or digest_of(data) in ours:
        return False
    found = parts(data)
    if not ours:
        return new
    return found is None or was_changed(found) is True or digest_of(found.ours) not in ours


def _ours(data: bytes) -> bytes | None:
    """Return a page's bytes without its zone, None for none; all bytes if the zone marks are damaged."""
    found = parts(data)
    return data if found is None else found.ours if found.ours or found.zone is None else None


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns


def _entries(folder: Path) -> Iterator[Path]:
    return folder.iterdir() if folder.is_dir() and not folder.is_symlink() else iter(())
