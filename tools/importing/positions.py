"""The read position of each file. Positions only save time: ids keep an import from adding a thing twice.

A position holds for one log and one way of naming scopes, and for a file with the same beginning. Where the
log is not the one of the positions, every file is read again. No text is kept here, nor the name of a file;
of a parser's state only the needs of later rows.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import msgspec

from memtape.schemas.ids import digest_of
from memtape.schemas.log import Log, strayed, trail_of
from memtape.sinks.home.files import write_whole
from memtape.sinks.home.folders import Home
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.capture.writing import Said

RULES = 1
"""Raised when parsers take texts that they skipped before, so that everything is read again."""
PROBE_BYTES = 4_096


class FilePosition(msgspec.Struct, frozen=True):
    """The read position in a file (`offset`), its size and time then, a partial digest, the parser's state.

    For a file that is read whole, `said` has the ids of its texts by scope. `folder` is the key of the named
    folder. `file` identifies a renamed file: its device and inode.
    """

    offset: int
    size: int
    modified: int
    digest: str
    state: dict[str, Any]
    said: dict[str, list[str]] = {}
    folder: str = ""
    file: tuple[int, int] = (0, 0)


_UNREAD = FilePosition(offset=0, size=0, modified=-1, digest="", state={})

_Kept = tuple[int, str, list[tuple[int, str]], dict[str, FilePosition]]
"""`RULES`, the log's id, where each partition ended then and its trail there, and the positions."""


class Positions:
    """The positions of a home. A file that cannot be read counts as none."""

    def __init__(self, home: Home, log: Log, scope: str | None, redactor: Redactor) -> None:
        self._path, self._log, self._redactor = home.imports_path, log, redactor
        self._prefix = f"{scope or ''}\n"
        self._kept: dict[str, FilePosition] = {}
        with suppress(OSError, msgspec.MsgspecError, ValueError):
            rules, log_id, ends, kept = msgspec.json.decode(self._path.read_bytes(), type=_Kept)
            if (rules, log_id, len(ends)) == (RULES, log.log_id, log.partitions):
                lost = any(strayed(log, number, *end) for number, end in enumerate(ends))
                self._kept = {} if lost else kept

    def of(self, path: Path) -> FilePosition:
        """Return the position of a file, that before its first byte for a new file."""
        return self._kept.get(self.key(path), _UNREAD)

    def unchanged(self, path: Path, status: os.stat_result) -> FilePosition | None:
        """Return the position of a file that was read to its end and is unchanged since then."""
        kept = self.of(path)
        is_same = (kept.size, kept.modified) == (status.st_size, status.st_mtime_ns)
        return kept if is_same and kept.offset == kept.size else None

    def resume(self, path: Path, file: IO[bytes]) -> tuple[int, dict[str, Any]] | None:
        """Return the offset and state to resume a file that only grew; None for any other file."""
        kept = self.of(path)
        is_longer = kept.size <= os.fstat(file.fileno()).st_size
        if kept.offset and is_longer and digest(file, kept.offset) == kept.digest:
            return kept.offset, msgspec.json.decode(msgspec.json.encode(kept.state))
        return None

    def gone(self, named: Path, keys: Container[str]) -> dict[str, FilePosition]:
        """Return, by key, the positions of missing files: of `named` itself, and of files read in the folder
        `named`.

        `keys` has the keys of all existing files.
        """
        key = self.key(named)
        found = {name: kept for name, kept in self._kept.items() if kept.folder == key and name not in keys}
        if key in self._kept and not named.exists():
            found[key] = self._kept[key]
        return found

    def moved(self, files: Mapping[str, FilePosition]) -> list[str]:
        """Return the old keys of renamed files, or of a renamed folder's: the same file with a same text."""
        ids = {new.file: {id for _, id in _texts([new])} for new in files.values() if new.said}
        others = ((key, kept) for key, kept in self._kept.items() if key not in files and kept.file in ids)
        return [key for key, kept in others if not ids[kept.file].isdisjoint(id for _, id in _texts([kept]))]

    def differences(self, files: Mapping[str, FilePosition | None]) -> tuple[Said, Said]:
        """Return the texts that no file says once these positions count, None for a file that is gone, and
        the texts that a file did not say before.
        """
        old = dict.fromkeys(_texts(self._kept.get(key) for key in files))
        new = dict.fromkeys(_texts(files.values()))
        gone = [text for text in old if text not in new]
        stay = set(_texts(kept for key, kept in self._kept.items() if key not in files)) if gone else ()
        come = [text for text in new if text not in old]
        return _by_scope([text for text in gone if text not in stay]), _by_scope(come)

    def put(self, files: Mapping[str, FilePosition | None]) -> None:
        """Remember positions, and forget those that are None, or have a secret in their state.

        Where they cannot be written the next import reads more, and that is all.
        """
        for key, position in files.items():
            state = "" if position is None else msgspec.json.encode(position.state).decode()
            if position is not None and self._redactor.name(state) == state:
                self._kept[key] = position
            else:
                self._kept.pop(key, None)
        ends = [(end, trail_of(self._log, number, end)) for number, end in enumerate(self._log.ends())]
        data = msgspec.json.encode((RULES, self._log.log_id, ends, self._kept))
        with suppress(OSError):
            write_whole(self._path, data)
            self._path.chmod(0o600)

    def key(self, path: Path) -> str:
        """Return the key of a file or folder: a digest that hides the name."""
        return digest_of(os.fsencode(self._prefix + os.fspath(path.resolve())))


def digest(file: IO[bytes], offset: int) -> str:
    """Return a digest of the first bytes of a file and of those before an offset."""
    file.seek(0)
    head = file.read(min(PROBE_BYTES, offset))
    file.seek(max(0, offset - PROBE_BYTES))
    return digest_of(head + file.read(min(PROBE_BYTES, offset)))


def _texts(positions: Iterable[FilePosition | None]) -> Iterator[tuple[str, str]]:
    """Yield scope and id of the texts of files."""
    said = (position.said for position in positions if position is not None)
    return ((scope, id) for its in said for scope, ids in its.items() for id in ids)


def _by_scope(texts: list[tuple[str, str]]) -> Said:
    return {scope: [id for of, id in texts if of == scope] for scope in dict.fromkeys(of for of, _ in texts)}
