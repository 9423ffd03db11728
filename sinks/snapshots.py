"""Snapshot files: a partition's state at an offset, so that a start need not fold the log from its start.

The format: a magic line, a line of JSON, and the bytes of the state under a digest. Snapshots hold no code.
They are a cache: any doubtful one is deleted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import msgspec

from memtape.schemas.rows import Basis
from memtape.sinks.home.folders import Build, make_folder, write_whole

MAGIC = b"memtape snapshot 3\n"
KEPT = 2

_NAME = re.compile(r"^(\d{12})\.snapshot\Z")


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The basis of a snapshot, the log's trail before it, and blake2b-128 of the bytes behind this line."""

    log_id: str
    rules: str
    erased: int
    partition: int
    offset: int
    digest: str
    trail: str


class Snapshots:
    """The snapshots of one partition of one build. `doubts` has the reason for each discarded one."""

    def __init__(self, build: Build, partition: int, basis: Basis) -> None:
        self._folder = build.snapshots(partition)
        self._partition = partition
        self._basis = basis
        self.doubts: list[str] = []

    def write(self, offset: int, trail: str, data: bytes) -> None:
        """Keep the state before `offset`, durably, and of the older ones only the newest; none is left beyond it."""
        path = self._write(offset, trail, data)
        paths = self._paths()
        place = paths.index(path)
        for other in (*paths[:place], *paths[place + KEPT :]):  # One beyond may be of what the log held before.
            other.unlink(missing_ok=True)

    def _write(self, offset: int, trail: str, data: bytes) -> Path:
        make_folder(self._folder)
        path = self._folder / f"{offset:012}.snapshot"
        header = _Header(*self._basis, self._partition, offset, _digest(data), trail)
        write_whole(path, b"".join((MAGIC, msgspec.json.encode(header), b"\n", data)), durable=True)
        return path

    def newest(self, at_most: int, trail_at: Callable[[int], str]) -> bytes | None:
        """Return the state of the newest snapshot at or below an offset; doubtful ones are discarded on the way.

        `trail_at` says the trail of the log before an offset.
        """
        for path in self._paths():
            if int(path.name[:12]) <= at_most:
                data = self._read(path, trail_at)
                if data is not None:
                    return data
        return None

    def nearest(self, at_most: int) -> int:
        """Return the offset of the newest snapshot at or below an offset, by its name, 0 for none."""
        offsets = (int(path.name[:12]) for path in self._paths())
        return next((offset for offset in offsets if offset <= at_most), 0)

    def discard_others(self) -> None:
        """Discard all snapshots with another basis."""
        for path in self._paths():
            self._read(path)

    def _paths(self) -> list[Path]:
        """Return the snapshot files, newest first."""
        if not self._folder.is_dir():
            return []
        return sorted((path for path in self._folder.iterdir() if _NAME.match(path.name)), reverse=True)

    def _read(self, path: Path, trail_at: Callable[[int], str] | None = None) -> bytes | None:
        try:
            magic, line, data = path.read_bytes().split(b"\n", 2)
            header = msgspec.json.decode(line, type=_Header)
            expected = _Header(*self._basis, self._partition, int(path.name[:12]), _digest(data), header.trail)
            doubt = "" if magic + b"\n" == MAGIC and header == expected else _reason(magic + b"\n", header, expected)
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            doubt, data = f"it cannot be read ({error})", b""
        if not doubt and trail_at is not None and trail_at(header.offset) != header.trail:
            doubt = "the log holds other events before it than those that it was made from"
        if not doubt:
            return data
        self.doubts.append(f"The snapshot {path.name} of partition {self._partition} was discarded: {doubt}.")
        path.unlink(missing_ok=True)
        return None


class PastSnapshots(Snapshots):
    """Snapshots at even steps of the log, left by views of the past: any past offset is near one."""

    def __init__(self, build: Build, partition: int, basis: Basis) -> None:
        super().__init__(build, partition, basis)
        self._folder /= "past"

    def write(self, offset: int, trail: str, data: bytes) -> None:
        """Keep the state before `offset`."""
        self._write(offset, trail, data)

    def thin_out(self, step: int) -> None:
        """Discard the snapshots not at a multiple of a step, which grows with the log."""
        for path in self._paths():
            if int(path.name[:12]) % step:
                path.unlink(missing_ok=True)


def _reason(magic: bytes, header: _Header, expected: _Header) -> str:
    if magic != MAGIC:
        return "it was written by another version"
    if header.log_id != expected.log_id:
        return "it is of another log"
    if header.rules != expected.rules:
        return "it was made under other rules"
    if header.erased != expected.erased:
        return "it may hold what was erased"
    return "its bytes do not match its digest"


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
