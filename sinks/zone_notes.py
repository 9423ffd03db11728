"""The notes about the zones of one scope's pages: each page as last read, and the problems of its zone.

The notes only save time: lost ones are found again. They are valid for one log, as it was at their writing,
and hold no words of a zone.
"""

from __future__ import annotations

import msgspec

from memtape.schemas.log import Log, strayed, trail_of
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Home, make_folder, read_json, write_whole
from memtape.sinks.page_files import TREE_FOLDER, Stamp


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
    """The notes of one scope, of its pages or its tree's files (`of`). A writer holds the right to import."""

    def __init__(self, home: Home, scope: str, of: str = "") -> None:
        self._scope = scope
        self._path = home.zones / of / f"{home.scope_folder(scope).relative_to(home.vault)}.json"

    def read(self, log: Log) -> dict[str, PageNote]:
        """Return the note of each page; none if lost, or not of the log as it is."""
        kept = read_json(self._path, _ScopeNotes)
        return {} if kept is None or self._strayed(kept, log) else kept.pages

    def strayed(self, log: Log) -> bool:
        """Return whether texts of pages may be lost, since the log differs from the one at their reading."""
        kept = read_json(self._path, _ScopeNotes)
        has_texts = kept is not None and any(note.texts for note in kept.pages.values())
        return kept is not None and has_texts and self._strayed(kept, log)

    def _strayed(self, kept: _ScopeNotes, log: Log) -> bool:
        number = partition_of(self._scope, log.partitions)
        return kept.log_id != log.log_id or bool(strayed(log, number, kept.end, kept.trail))

    def write(self, log: Log, pages: dict[str, PageNote]) -> None:
        """Write the notes, whole or not at all."""
        number = partition_of(self._scope, log.partitions)
        end = log.ends()[number]
        make_folder(self._path.parent)
        kept = _ScopeNotes(log.log_id, end, trail_of(log, number, end), pages)
        write_whole(self._path, msgspec.json.encode(kept))


def forget_lost(home: Home) -> None:
    """Drop the notes of deleted files, whose names the log may no longer know.

    The caller holds the right to import into the home.
    """
    for file in home.zones.rglob("*.json"):
        place = file.relative_to(home.zones).with_suffix("")
        folder = home.vault / (place.relative_to(TREE_FOLDER) if place.parts[0] == TREE_FOLDER else place)
        if (kept := read_json(file, _ScopeNotes)) is None:
            continue
        pages = {path: note for path, note in kept.pages.items() if (folder / path).exists()}
        if len(pages) < len(kept.pages):
            kept.pages = pages
            write_whole(file, msgspec.json.encode(kept), durable=True)


def zone_problems(home: Home) -> list[str]:
    """Return the problems of a home's zones, a sentence each."""
    kept = (found for file in sorted(home.zones.rglob("*.json")) if (found := read_json(file, _ScopeNotes)) is not None)
    return [problem for found in kept for note in found.pages.values() for problem in note.problems]
