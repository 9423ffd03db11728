"""Which files of the vault are ours, and how they are written among those of people, of which none is ever lost.

Each scope has a list of the files that were written for it, with their digests, in a folder of the vault that Obsidian
does not show. What is not on the list belongs to somebody. What is on it with other bytes was changed by somebody, and
is kept under another name before the page is written anew. What a page says is not decided here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import count
from pathlib import Path

import msgspec

from memtape.schemas.scopes import GLOBAL
from memtape.sinks.home.folders import UNFINISHED, Home, write_whole

WATERMARK_FILE = "watermark.json"
PAGE_FOLDERS = ("memories", "logs")

_LISTS = "pages"
_KEPT = re.compile(r" \(yours( \d+)?\)(\.\w+)?\Z")
_LEFT = re.compile(rf"\.(MEMORY|\d+|\d{{4}}-\d\d-\d\d(\.\d+)?)\.md{re.escape(UNFINISHED)}\Z")
_SOMEBODYS = object()

Digests = dict[str, list[str]]
"""By path in the folder of a scope: the digest of a file's bytes, and of what it had before while it is written."""


class ScopeFiles:
    """The files of one scope. Whoever writes holds the right to the views of the scope's partition."""

    def __init__(self, home: Home, scope: str) -> None:
        self._vault = home.vault
        self._folder = home.scope_folder(scope)
        place = self._folder.relative_to(self._vault)
        lists = home.vault_notes / _LISTS
        self._list_path = lists / f"{place}.json"
        self._unfinished = lists / place.parent / f".{place.name}.page{UNFINISHED}"

    def listed(self) -> Digests:
        """Return the files that are ours; of a list that is lost or damaged nothing is."""
        try:
            return msgspec.json.decode(self._list_path.read_bytes(), type=Digests)
        except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
            return {}

    def read(self) -> dict[str, bytes]:
        """Return the bytes of every file that is ours, changed or not, and of what has the place of a page."""
        places = [self._folder.glob("*.md"), *(self._folder.glob(f"{name}/*.md") for name in PAGE_FOLDERS)]
        paths = {path.relative_to(self._folder).as_posix() for found in places for path in found}
        looked = ((path, self._look(path)) for path in sorted(paths | self.listed().keys()))
        return {path: data for path, data in looked if isinstance(data, bytes)}

    def is_ours(self, path: str) -> bool:
        """Whether a file is on the list and as it was written."""
        digests, data = self.listed().get(path), self._look(path)
        return digests is not None and isinstance(data, bytes) and _digest(data) in digests

    def adopt(self, files: Mapping[str, bytes]) -> None:
        """List the files that have the bytes which they would be given: they were written before there was a list."""
        if not self._list_path.exists():
            self._remove_unlisted_unfinished()
        found = {path: [_digest(data)] for path, data in files.items() if data and self._look(path) == data}
        self._write_list(self.listed() | found)

    def lay(self, files: Mapping[str, bytes]) -> None:
        """Write files, and remove those that get no bytes if they are ours.

        The list names both digests of a file before anything of it is touched, so that a kill at any time leaves
        nothing of ours that could be taken for somebody's.
        """
        listed = self.listed()
        due = [path for path, data in files.items() if self._is_due(path, data, listed)]
        laid = {path: data for path, data in listed.items() if files.get(path) != b""}
        laid |= {path: [_digest(data)] for path, data in files.items() if data}
        if due:
            both = {path: [*laid.get(path, ()), *listed.get(path, ())] for path in due}
            self._write_list(listed | laid | both)
            for path in due:
                self._put(path, files[path], both[path])
        self._write_list(laid)

    def _is_due(self, path: str, data: bytes, listed: Digests) -> bool:
        there = self._look(path)
        return there != data if data else path in listed and there is not None

    def _put(self, path: str, data: bytes, ours: list[str]) -> None:
        """Write or remove one file. What stands there is looked at again, as late as can be."""
        file = self._folder / path
        in_the_way = self._in_the_way(file)
        if in_the_way is not None:
            if not data:
                return
            _keep(in_the_way)
        there = self._look(path)
        # Bytes of zero are what a machine leaves that lost its power, and nothing that anybody has written.
        if there is not None and not (isinstance(there, bytes) and (not there.strip(b"\0") or _digest(there) in ours)):
            _keep(file)
        if data:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(file, data, unfinished=self._unfinished)
        else:
            file.unlink(missing_ok=True)

    def _look(self, path: str) -> bytes | object | None:
        """Return the bytes of a file, None where nothing is, `_SOMEBODYS` for what no page can be."""
        file = self._folder / path
        if self._in_the_way(file) is not None:
            return None
        try:
            return file.read_bytes() if file.is_file() and not file.is_symlink() else _there(file)
        except FileNotFoundError:
            return None
        except PermissionError:
            return _SOMEBODYS

    def _in_the_way(self, file: Path) -> Path | None:
        """Return what should be a folder above a file and is none: links are never followed out of the vault."""
        above = [self._vault / part for part in file.relative_to(self._vault).parents][-2::-1]
        return next((path for path in above if path.is_symlink() or (path.exists() and not path.is_dir())), None)

    def _write_list(self, digests: Digests) -> None:
        if digests == self.listed() and (digests or not self._list_path.exists()):
            return
        if not digests:
            self._list_path.unlink(missing_ok=True)
            return
        self._list_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(self._list_path, msgspec.json.encode(digests, order="deterministic"), durable=True)

    def _remove_unlisted_unfinished(self) -> None:
        """Remove what killed projectors left half written when they still did so beside the pages."""
        for folder in (self._folder, *(self._folder / name for name in PAGE_FOLDERS)):
            if self._in_the_way(folder / "page") is None and folder.is_dir():
                for path in folder.iterdir():
                    if _LEFT.match(path.name) or path.name == f".{WATERMARK_FILE}{UNFINISHED}":
                        path.unlink(missing_ok=True)


def listed_places(home: Home) -> list[str]:
    """Return the folders, as paths in the vault, for which there is a list of files."""
    lists = home.vault_notes / _LISTS
    return sorted(path.relative_to(lists).as_posix().removesuffix(".json") for path in lists.rglob("*.json"))


def kept(home: Home) -> list[str]:
    """Return the files and folders, as paths in the home, that were kept since a page had to have their name."""
    projects = home.vault / "projects"
    scopes = [home.scope_folder(GLOBAL), *_entries(projects)]
    folders = [home.vault, projects, *scopes, *(scope / name for scope in scopes for name in PAGE_FOLDERS)]
    names = (path for folder in folders for path in _entries(folder) if _KEPT.search(path.name))
    return sorted(path.relative_to(home.path).as_posix() for path in names)


def kept_beside(names: Sequence[str]) -> str:
    """Return the sentence that says what was kept."""
    first = f'"{names[0]}"'
    if len(names) == 1:
        return f"A page that was not as Memtape wrote it is kept as {first}; whose it is may delete it."
    return f"{len(names):,} pages that were not as Memtape wrote them are kept, the first as {first}."


def _keep(path: Path) -> None:
    """Give something of somebody's a name beside, which nothing has yet."""
    names = (f"{path.stem} (yours{'' if number == 1 else f' {number}'}){path.suffix}" for number in count(1))
    free = next(name for name in names if not _there(path.with_name(name)))
    with suppress(FileNotFoundError):  # Somebody may take it away just now.
        path.rename(path.with_name(free))


def _there(path: Path) -> object | None:
    return _SOMEBODYS if path.is_symlink() or path.exists() else None


def _entries(folder: Path) -> Iterator[Path]:
    return folder.iterdir() if folder.is_dir() and not folder.is_symlink() else iter(())


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
