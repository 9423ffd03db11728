"""The ids of a log without an index: the ids of a partition, with its erasures and settings, up to an offset.

A topic can only be read from an offset on. So a home keeps a file for each partition, and a process reads the
file and then the slots behind its offset. A process that has read many of them writes a longer file. The file
is a cache: if it is lost, damaged, of another log, of a history that the log does not hold, or of a Memtape
that may read other events, the partition is read from its beginning. It holds ids, scopes and offsets, and no
text of a body.

The format: a magic line, a line with the digest of the rest, and msgpack.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import msgspec

from memtape import __version__
from memtape.schemas.codec import event_of
from memtape.schemas.events import EVENT_TYPES, version_of
from memtape.schemas.ids import digest_of, id_bytes
from memtape.schemas.log import Log, Slot, slots_between, trail_of
from memtape.sinks.home.folders import UNFINISHED, write_whole

MAGIC = b"memtape known ids 2\n"
LEAST_SLOTS = 100
SHARE = 1_000
"""A file is written after this many slots behind the last one, or this share of all, if greater.

A slot costs some 50 us to read again, and a file some 0.2 us to write for each id.
"""

_TYPES = {name: bytes([number]) for number, name in enumerate(EVENT_TYPES)}
_MADE_BY = f"{__version__} " + ",".join(f"{name}={version_of(name)}" for name in EVENT_TYPES)
"""The writer of a file. A newer Memtape may read an event that an older one could not, and the reverse."""
_HEX = re.compile(r"[0-9a-f]*\Z")

_Kept = list[tuple[int, bytes]]
"""Slots of one partition, by their offset and payload."""


class _IdsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a file: its log, the log's trail before the offset, the slots stored whole, and the ids.

    A key of `ids` is an id, the number of its scope and that of its type; its value is the offset of the
    first such event.
    """

    made_by: str
    log_id: str
    partition: int
    offset: int
    trail: str
    scopes: list[str]
    settings: _Kept
    erased: _Kept
    ids: dict[bytes, int]


class KnownIds:
    """The ids of one partition, as far as read. Not for several threads at once; processes share the file.

    `folder` has the files; with None nothing is stored beyond this process.
    """

    def __init__(self, partition: int, folder: Path | None) -> None:
        self._partition = partition
        self._path = folder / f"p{partition:02}" if folder is not None else None
        self._is_open = self._path is None
        self._offset = self._written = 0
        self._scopes: dict[str, int] = {}
        self._ids: dict[bytes, int] = {}
        self.settings: list[Slot] = []
        """The slots of all `configured` events."""
        self.erased: list[Slot] = []
        """The slots of the `erased` events with a first use of their id in their scope."""

    def read_on(self, log: Log, end: int) -> None:
        """Read the slots up to `end`: at first from the file's offset, later from the last end."""
        if not self._is_open:
            self._open(log, end)
            self._is_open = True
        for slot in slots_between(log, self._partition, self._offset, end):
            event = event_of(slot.payload)
            if event is not None and event.scope is not None:
                key = _key(event.id, self._scopes.setdefault(event.scope, len(self._scopes)))
                if event.type == "erased" and self._first(key) is None:
                    self.erased.append(slot)
                self._ids.setdefault(key + _TYPES[event.type], slot.offset)
            elif event is not None and event.type == "configured":
                self.settings.append(slot)
            self._offset = slot.offset + 1
        if self._offset - self._written >= max(LEAST_SLOTS, self._offset // SHARE):
            self._written = self._offset
            if self._path is not None:
                self._write(self._path, log)

    def first(self, scope: str, id: str) -> int | None:
        """Return the offset of the first event of an id in a scope, None for an unused id."""
        number = self._scopes.get(scope)
        return None if number is None else self._first(_key(id, number))

    def beginning(self, start: str, scopes: Sequence[str], types: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield (id, scope) of the events that `Log.matching` means, without an order; some of them twice."""
        digits = start.replace("-", "")
        if not _HEX.match(digits):
            return
        first, names = bytes.fromhex(digits[: len(digits) // 2 * 2]), list(self._scopes)
        meant = [_TYPES[type] for type in types if type in _TYPES]
        for key in self._ids:
            if not key.startswith(first) or (types and key[20:] not in meant):
                continue
            id, scope = str(UUID(bytes=key[:16])), names[int.from_bytes(key[16:20], "big")]
            if id.startswith(start) and (not scopes or scope in scopes):
                yield id, scope

    def _first(self, key: bytes) -> int | None:
        found = (self._ids.get(key + type) for type in _TYPES.values())
        return min((offset for offset in found if offset is not None), default=None)

    def _open(self, log: Log, end: int) -> None:
        """Start at the file's offset, if the file matches the log as it is now."""
        assert self._path is not None
        try:
            kept = _unpacked(self._path.read_bytes())
        except (OSError, ValueError):
            return
        if (kept.made_by, kept.log_id, kept.partition) != (_MADE_BY, log.log_id, self._partition):
            return
        if kept.offset > end or trail_of(log, self._partition, kept.offset) != kept.trail:
            return
        self._offset = self._written = kept.offset
        self._scopes, self._ids = {scope: number for number, scope in enumerate(kept.scopes)}, kept.ids
        self.settings, self.erased = self._slots(kept.settings), self._slots(kept.erased)

    def _slots(self, kept: _Kept) -> list[Slot]:
        return [Slot(self._partition, offset, payload) for offset, payload in kept]

    def _write(self, path: Path, log: Log) -> None:
        """Write the file, whole or not at all. A home that takes none only costs the next process time."""
        kept = _IdsFile(
            made_by=_MADE_BY,
            log_id=log.log_id,
            partition=self._partition,
            offset=self._offset,
            trail=trail_of(log, self._partition, self._offset),
            scopes=list(self._scopes),
            settings=[(slot.offset, slot.payload) for slot in self.settings],
            erased=[(slot.offset, slot.payload) for slot in self.erased],
            ids=self._ids,
        )
        data = msgspec.msgpack.encode(kept)
        # Any process may write, and each into a file of its own.
        unfinished = path.with_name(f".{path.name}-{threading.get_native_id()}{UNFINISHED}")
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            write_whole(path, b"".join((MAGIC, digest_of(data).encode(), b"\n", data)), unfinished=unfinished)
        except OSError:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)


def said_in(data: bytes) -> bytes:
    """Return the searchable content of a file: names of scopes and slots; all bytes of a damaged one."""
    try:
        kept = _unpacked(data)
    except ValueError:
        return data
    slots = (*kept.settings, *kept.erased)
    return b"\n".join((*(scope.encode() for scope in kept.scopes), *(payload for _, payload in slots)))


def _unpacked(data: bytes) -> _IdsFile:
    """Return the content of a file's bytes. Raises `ValueError` where they are damaged."""
    magic, digest, data = data.split(b"\n", 2)
    if magic + b"\n" != MAGIC or digest != digest_of(data).encode():
        raise ValueError("The bytes do not match their digest.")
    return msgspec.msgpack.decode(data, type=_IdsFile)  # Another Memtape may write other fields.


def _key(id: str, scope: int) -> bytes:
    return id_bytes(id) + scope.to_bytes(4, "big")
