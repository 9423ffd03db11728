"""The Markdown vault: the pages of a home on disk, for people and for Obsidian.

The state makes the Markdown of a page. A page is written whole or not at all, and only when it changed
(`sinks/page_files.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from memtape.schemas.codec import canonical
from memtape.schemas.rows import ScopeMark, VaultPage
from memtape.schemas.scopes import GLOBAL, PROJECT_PREFIX
from memtape.sinks.home.files import make_folder, read_json, write_whole
from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import LISTS, WATERMARK_FILE, ScopeFiles
from memtape.sinks.zones import ZoneInPage, is_untouched, parts


class Vault:
    """The pages on disk of the scopes of one home."""

    def __init__(self, home: Home) -> None:
        self.home = home

    def write(self, pages: Iterable[VaultPage], marks: Iterable[ScopeMark]) -> None:
        """Write changed pages, remove empty pages, and write each scope's watermark after its pages."""
        pages = list(pages)
        zones: dict[str, dict[str, bytes]] = {}
        for page in pages:
            if page.zone is not None:
                zones.setdefault(page.scope, {})[page.path] = page.zone.encode()
        for scope, files in _files(pages, marks).items():
            ScopeFiles(self.home, scope).lay(files, zones.get(scope))

    def adopt(self, pages: Iterable[VaultPage], marks: Iterable[ScopeMark]) -> None:
        """List the files with the exact bytes of these pages as written, without writing a page."""
        for scope, files in _files(pages, marks).items():
            ScopeFiles(self.home, scope).adopt(files)

    def read(self, scope: str) -> dict[str, bytes]:
        """Return by path the bytes of a scope's pages, and of files at pages' places, without zones."""
        found = ScopeFiles(self.home, scope).read()
        found.pop(WATERMARK_FILE, None)
        return found

    def text_of(self, scope: str, path: str) -> str:
        """Return the text of a page that is there, without its zone; empty for none."""
        page = ScopeFiles(self.home, scope).page(path)
        its = None if page is None else parts(page.data)
        return "" if its is None else its.ours.decode(errors="replace")

    def listed(self, scope: str) -> list[str]:
        """Return the paths of the pages of a scope that are ours, whether they are there or not."""
        return [path for path in ScopeFiles(self.home, scope).listed() if path != WATERMARK_FILE]

    def prune(self, scope: str, paths: Collection[str]) -> None:
        """Remove the files that were written for a scope and are not among `paths`."""
        files = ScopeFiles(self.home, scope)
        files.lay({path: b"" for path in files.listed() if path not in paths})

    def scopes(self) -> list[str]:
        """Return the scopes for which there is a list of files."""
        lists = self.home.vault_notes / LISTS
        places = sorted(path.relative_to(lists).with_suffix("") for path in lists.rglob("*.json"))
        return [PROJECT_PREFIX + place.name if place.parent.name else GLOBAL for place in places]

    def is_ours(self, path: str) -> bool:
        """Return whether a file, as a path in the home, is a page as written, or a note about pages."""
        if path.split("/")[1:2] == [self.home.vault_notes.name]:
            return True
        scope, place = _scope_and_place(path)
        return scope is not None and ScopeFiles(self.home, scope).is_ours(place)

    def mark(self, scope: str) -> ScopeMark | None:
        """Return the mark up to which the pages of a scope are valid, None if missing or changed."""
        if not ScopeFiles(self.home, scope).is_ours(WATERMARK_FILE):
            return None
        return read_json(self.home.scope_folder(scope) / WATERMARK_FILE, ScopeMark)

    def zone_in(self, path: str) -> ZoneInPage | None:
        """Return the parts of a page, by its path in the home; None without a person's text in its zone."""
        scope, place = _scope_and_place(path)
        page = ScopeFiles(self.home, scope).page(place) if scope is not None and place else None
        found = parts(page.data) if page is not None else None
        if page is None or found is None or found.zone is None or is_untouched(found.zone):
            return None
        return ZoneInPage(found.ours, found.zone, 1 + page.data[: page.data.index(found.zone)].count(b"\n"))

    def covered(self, partition: int) -> int:
        """Return the offset up to which a partition's pages are known to be on disk, and on the lists."""
        try:
            return int(self._cover_path(partition).read_text())
        except (FileNotFoundError, ValueError):
            return 0

    def cover(self, partition: int, offset: int) -> None:
        """Note that a partition's pages are written up to `offset`. Without the note they are rewritten."""
        make_folder(self.home.vault_notes)
        write_whole(self._cover_path(partition), f"{offset}\n".encode())

    def uncover(self, partition: int) -> None:
        """Take the note back."""
        self._cover_path(partition).unlink(missing_ok=True)

    def _cover_path(self, partition: int) -> Path:
        return self.home.vault_notes / f"p{partition:02}"


def _scope_and_place(path: str) -> tuple[str | None, str]:
    """Return the scope of a file by its path in the home, None for a file of no scope, and its path there."""
    match path.split("/")[1:]:
        case ["global", *rest]:
            return GLOBAL, "/".join(rest)
        case ["projects", name, *rest]:
            return PROJECT_PREFIX + name, "/".join(rest)
    return None, ""


def _files(pages: Iterable[VaultPage], marks: Iterable[ScopeMark]) -> dict[str, dict[str, bytes]]:
    """Return the bytes of files by scope and path, empty for a page without content."""
    files: dict[str, dict[str, bytes]] = {}
    for page in pages:
        files.setdefault(page.scope, {})[page.path] = page.text.encode()
    for mark in marks:
        files.setdefault(mark.scope, {})[WATERMARK_FILE] = canonical(mark) + b"\n"
    return files
