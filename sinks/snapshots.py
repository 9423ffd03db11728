"""Snapshot files: a partition's state at an offset, so that a start need not fold the log from its start.

The format: a magic line, a line of JSON, and the compressed bytes of the state under a digest. Snapshots
hold no code. They are a cache: any doubtful one is deleted.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from memtape.schemas.ids import digest_of
from memtape.schemas.rows import Basis
from memtape.sinks.home.builds import Build
from memtape.sinks.home.files import make_folder, write_whole

MAGIC = b"memtape snapshot 4\n"
KEPT = 2
LEVEL = 1  # Of zlib: a state shrinks to a quarter, in 0.2 s for one of 100,000 texts.

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


# msgspec looks at a type when it first meets it, and two threads that do so at once crash the process.
_HEADER = msgspec.json.Decoder(_Header)


def expanded(data: bytes) -> bytes:
    """Return a snapshot file with its state expanded, as far as the file goes. Raises `zlib.error`."""
    head, _, state = data[len(MAGIC) :].partition(b"\n")
    return b"\n".join((head, zlib.decompressobj().decompress(state)))


def discard_before(build: Build, partition: int, offset: int) -> None:
    """Discard the snapshots before the newest one at or below the offset of a written watermark.

    Until that watermark is written, a killed writer would start from the older snapshot.
    """
    paths = _paths_in(build.snapshots(partition))
    reached = [path for path in paths if int(path.name[:12]) <= offset]
    for path in reached[1:]:
        path.unlink(missing_ok=True)


class Snapshots:
    """The snapshots of one partition of one build. `on_doubt` gets a sentence for each discarded one.

    A `past` one stands at an even step of the log and is left by views of the past: any past is near one.
    """

    on_doubt: Callable[[str], None] = staticmethod(lambda doubt: None)

    def __init__(self, build: Build, partition: int, basis: Basis, *, past: bool = False) -> None:
        self._past = past
        self._folder = build.snapshots(partition) / "past" if past else build.snapshots(partition)
        self._partition = partition
        self._basis = basis

    def write(self, offset: int, trail: str, data: bytes) -> None:
        """Keep the state before `offset`, durably.

        Of others, unless they are past, only the newest before it stay: one beyond may be of an older log.
        """
        make_folder(self._folder)
        data = zlib.compress(data, LEVEL)
        path = self._folder / f"{offset:012}.snapshot"
        header = _Header(*self._basis, self._partition, offset, digest_of(data), trail)
        write_whole(path, b"".join((MAGIC, msgspec.json.encode(header), b"\n", data)), durable=True)
        paths = self._paths()
        kept = paths if self._past else paths[paths.index(path) :][:KEPT]
        for other in paths:
            if other not in kept:
                other.unlink(missing_ok=True)

    def newest(self, at_most: int, trail_at: Callable[[int], str]) -> bytes | None:
        """Return the state of the newest snapshot at or below an offset; doubtful ones are discarded.

        `trail_at` says the trail of the log before an offset.
        """
        paths = self._paths()
        for path in paths:
            if int(path.name[:12]) <= at_most:
                data = self._read(path, trail_at)
                if data is not None:
                    return data
        # A writer may have replaced them just now.
        return None if self._paths() in (paths, []) else self.newest(at_most, trail_at)

    def nearest(self, at_most: int) -> int:
        """Return the offset of the newest snapshot at or below an offset, by its name, 0 for none."""
        offsets = (int(path.name[:12]) for path in self._paths())
        return next((offset for offset in offsets if offset <= at_most), 0)

    def discard_others(self) -> None:
        """Discard all snapshots with another basis."""
        for path in self._paths():
            self._read(path)

    def thin_out(self, step: int) -> None:
        """Discard the snapshots not at a multiple of a step, which grows with the log."""
        for path in self._paths():
            if int(path.name[:12]) % step:
                path.unlink(missing_ok=True)

    def _paths(self) -> list[Path]:
        return _paths_in(self._folder)

    def _read(self, path: Path, trail_at: Callable[[int], str] | None = None) -> bytes | None:
        try:
            magic, line, data = path.read_bytes().split(b"\n", 2)
            header = _HEADER.decode(line)
            place = self._partition, int(path.name[:12])
            expected = _Header(*self._basis, *place, digest_of(data), header.trail)
            if magic + b"\n" != MAGIC:
                doubt = "it was written by another version"
            else:
                doubt = self._basis.unlike(Basis(header.log_id, header.rules, header.erased))
                doubt = doubt or ("its bytes do not match its digest" if header != expected else "")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            doubt, data = f"it cannot be read ({error})", b""
        if not doubt and trail_at is not None and trail_at(header.offset) != header.trail:
            doubt = "the log holds other events before it than those that it was made from"
        if not doubt:
            return zlib.decompress(data)
        self.on_doubt(f"The snapshot {path.name} of partition {self._partition} was discarded: {doubt}.")
        path.unlink(missing_ok=True)
        return None


def _paths_in(folder: Path) -> list[Path]:
    """Return the snapshot files of a folder, newest first."""
    if not folder.is_dir():
        return []
    return sorted((path for path in folder.iterdir() if _NAME.match(path.name)), reverse=True)
