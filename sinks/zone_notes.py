"""What is noted of the zones of one scope's pages: which were read, what they said then, and what was wrong with them.

The notes only save time: whatever is lost of them is found again. They count for one log, as it was when they were
written.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from memtape.schemas.log import Log, strayed, trail_of
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Home, write_whole
from memtape.sinks.page_files import Stamp

NO_FILE: Stamp = (0, 0, 0)


class PageNote(msgspec.Struct, frozen=True):
    """A page as it was read: its `stamp`, a digest of its zone (empty where none was read), the ids of what it `said`.

    `problems` say what of it could not be taken, a sentence each.
    """

    stamp: Stamp
    zone: str = ""
    said: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class _Kept(msgspec.Struct):
    log_id: str
    end: int
    trail: str
    pages: dict[str, PageNote]


class ZoneNotes:
    """The notes of one scope. Whoever writes them holds the right to import into the home."""

    def __init__(self, home: Home, scope: str) -> None:
        self._scope = scope
        self._path = home.vault_notes / "zones" / f"{home.scope_folder(scope).relative_to(home.vault)}.json"

    def read(self, log: Log) -> dict[str, PageNote] | None:
        """Return the note of each page, None where they are lost or not of the log as it is."""
        kept = _read(self._path)
        if kept is None or kept.log_id != log.log_id:
            return None
        return None if strayed(log, partition_of(self._scope, log.partitions), kept.end, kept.trail) else kept.pages

    def write(self, log: Log, pages: dict[str, PageNote]) -> None:
        """Write the notes, whole or not at all."""
        number = partition_of(self._scope, log.partitions)
        end = log.ends()[number]
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(self._path, msgspec.json.encode(_Kept(log.log_id, end, trail_of(log, number, end), pages)))


def zone_problems(home: Home) -> list[str]:
    """Return what is wrong with the zones of a home, a sentence each."""
    files = sorted((home.vault_notes / "zones").rglob("*.json"))
    notes = (note for file in files if (kept := _read(file)) is not None for note in kept.pages.values())
    return [problem for note in notes for problem in note.problems]


def _read(path: Path) -> _Kept | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Kept)
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
