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
from memtape.schemas.ids import SHORT_CHARS, digest_of, id_bytes
from memtape.schemas.log import Log, Slot, slots_between, trail_of
from memtape.sinks.home.files import UNFINISHED, write_whole

MAGIC = b"memtape known ids 3\n"
LEAST_SLOTS = 100
SHARE = 1_000
"""A file is written after this many slots behind the last one, or this share of all, if greater.

A slot costs some 50 us to read again, and a file some 0.2 us to write for each id.
"""

_TYPES = {name: bytes([number]) for number, name in enumerate(EVENT_TYPES)}
_MADE_BY = f"{__version__} " + ",".join(f"{name}={version_of(name)}" for name in EVENT_TYPES)
"""The writer of a file. A newer Memtape may read an event that an older one could not, and the reverse."""
_HEX = re.compile(r"[0-9a-f]*\Z")


class Kept(msgspec.Struct, forbid_unknown_fields=True):
    """What is known of the slots before `offset`, as in the file; `trail` is the log's before `offset`.

    A key of `ids` is an id, the number of its scope and that of its type; its value is the offset of the
    first such event. `settings` are the slots of all `configured` events, `erased` those of the `erased`
    events with a first use of their id in their scope.
    """

    made_by: str
    partition: int
    log_id: str = ""
    offset: int = 0
    trail: str = ""
    scopes: dict[str, int] = {}
    settings: list[Slot] = []
    erased: list[Slot] = []
    ids: dict[bytes, int] = {}


class KnownIds:
    """The ids of one partition, as far as read. Not for several threads at once; processes share the file.

    `folder` has the files; with None nothing is stored beyond this process.
    """

    def __init__(self, partition: int, folder: Path | None) -> None:
        self.kept = Kept(_MADE_BY, partition)
        self._path = folder / f"p{partition:02}" if folder is not None else None
        self._is_open = self._path is None
        self._written = 0

    def read_on(self, log: Log, end: int) -> None:
        """Read the slots up to `end`: at first from the file's offset, later from the last end."""
        if not self._is_open:
            self._open(log, end)
            self._is_open = True
        kept = self.kept
        for slot in slots_between(log, kept.partition, kept.offset, end):
            event = event_of(slot.payload)
            if event is not None and event.scope is not None:
                key = _key(event.id, kept.scopes.setdefault(event.scope, len(kept.scopes)))
                if event.type == "erased" and self._first(key) is None:
                    kept.erased.append(slot)
                kept.ids.setdefault(key + _TYPES[event.type], slot.offset)
            elif event is not None and event.type == "configured":
                kept.settings.append(slot)
            kept.offset = slot.offset + 1
        if kept.offset - self._written >= max(LEAST_SLOTS, kept.offset // SHARE):
            self._written = kept.offset
            if self._path is not None:
                self._write(self._path, log)

    def first(self, scope: str, id: str) -> int | None:
        """Return the offset of the first event of an id in a scope, None for an unused id."""
        number = self.kept.scopes.get(scope)
        return None if number is None else self._first(_key(id, number))

    def matching(self, part: str, scopes: Sequence[str], types: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield (id, scope) of the events that `Log.matching` means, without an order; some of them twice."""
        digits = part.replace("-", "")
        if not _HEX.match(digits):
            return
        first, names = bytes.fromhex(digits[: len(digits) // 2 * 2]), list(self.kept.scopes)
        is_short = len(part) == len(digits) == SHORT_CHARS
        meant = [_TYPES[type] for type in types if type in _TYPES]
        for key in self.kept.ids:
            is_end = is_short and key[:16].endswith(first)
            if not (is_end or key.startswith(first)) or (types and key[20:] not in meant):
                continue
            id, scope = str(UUID(bytes=key[:16])), names[int.from_bytes(key[16:20], "big")]
            if (is_end or id.startswith(part)) and (not scopes or scope in scopes):
                yield id, scope

    def _first(self, key: bytes) -> int | None:
        found = (self.kept.ids.get(key + type) for type in _TYPES.values())
        return min((offset for offset in found if offset is not None), default=None)

    def _open(self, log: Log, end: int) -> None:
        """Go on from the file, if the file matches the log as it is now."""
        assert self._path is not None
        try:
            found = _unpacked(self._path.read_bytes())
        except (OSError, ValueError):
            return
        if (found.made_by, found.log_id, found.partition) != (_MADE_BY, log.log_id, self.kept.partition):
            return
        if found.offset <= end and trail_of(log, found.partition, found.offset) == found.trail:
            self.kept, self._written = found, found.offset

    def _write(self, path: Path, log: Log) -> None:
        """Write the file, whole or not at all. A home that takes none only costs the next process time."""
        self.kept.log_id, self.kept.trail = log.log_id, trail_of(log, self.kept.partition, self.kept.offset)
        data = msgspec.msgpack.encode(self.kept)
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
    return b"\n".join((*map(str.encode, kept.scopes), *(slot.payload for slot in slots)))


def _unpacked(data: bytes) -> Kept:
    """Return the content of a file's bytes. Raises `ValueError` where they are damaged."""
    magic, digest, data = data.split(b"\n", 2)
    if magic + b"\n" != MAGIC or digest != digest_of(data).encode():
        raise ValueError("The bytes do not match their digest.")
    return msgspec.msgpack.decode(data, type=Kept)  # Another Memtape may write other fields.


def _key(id: str, scope: int) -> bytes:
    return id_bytes(id) + scope.to_bytes(4, "big")
