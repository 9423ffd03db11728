"""The past: what the views were at a position or a time, replayed into a small cached view of its own.

A position is a vector of offsets; a partition that is not named counts up to its end. As of a time T is, in
each partition, what stands before its first event with `sent` after T.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

from memtape.flows.projection import basis_of, watermark_of
from memtape.schemas.errors import MemtapeError, OffsetOutOfRange
from memtape.schemas.log import Log
from memtape.schemas.rows import Change, Guarded
from memtape.schemas.times import parse_time
from memtape.sinks.home.folders import Home
from memtape.sinks.tables import Shard
from memtape.state.core.partition import Partition
from memtape.state.views.rows import all_changes, guarded_rows
from memtape.tools.keep.states import state_at

KEPT_VIEWS = 32
ROWS_AT_ONCE = 10_000

Positions = dict[int, int]

_VECTOR = re.compile(r"^\s*[{]?\s*(\"?\d+\"?\s*:\s*\d+\s*(,\s*\"?\d+\"?\s*:\s*\d+\s*)*)[}]?\s*\Z")


def parse_position(text: str, log: Log, now_us: int) -> Positions:
    """Read `3:120,7:45` (partition:offset), the same as JSON, ISO 8601, or an age such as 3d.

    Returns the next offset of every partition. Raises `OffsetOutOfRange` for what the log does not have.
    """
    found = _VECTOR.match(text)
    if found is None:
        return position_of_time(log, parse_time(text, now_us))
    positions = dict(enumerate(log.ends()))
    for pair in found[1].split(","):
        partition, offset = (int(part.strip(' "')) for part in pair.split(":"))
        if partition not in positions or offset > positions[partition]:
            end = positions.get(partition)
            said = f"ends at {end}" if end is not None else "does not exist"
            raise OffsetOutOfRange(f"There is no position {partition}:{offset}: partition {partition} {said}.")
        positions[partition] = offset
    return positions


def time_asked(text: str, now_us: int) -> int | None:
    """Return the time that a text names of which `parse_position` makes a position, at most now; None for others."""
    return None if _VECTOR.match(text) else min(now_us, parse_time(text, now_us))


def position_of_time(log: Log, time_us: int) -> Positions:
    """Return the position of a time."""
    return {number: log.offset_after(number, time_us) for number in range(log.partitions)}


class PastViews:
    """The views of a home at positions. They are made when first asked for, and kept while they are used."""

    def __init__(self, home: Home, log: Log, positions: Positions, time: int | None = None) -> None:
        self.time = time
        """The time that was named, in microseconds; None where a position was."""
        self._home = home
        self._log = log
        self._positions = positions

    def shard(self, partition: int) -> Shard:
        """Return the tables of a partition as they were."""
        offset = self._positions[partition]
        folder = self._home.as_of / f"p{partition:02}-{offset:012}"
        shard = Shard(folder, partition)
        if offset and not self._is_whole(shard, offset):
            shard.discard()
            self._make(shard, partition, offset)
        if shard.exists():
            folder.touch()
        return shard

    def _is_whole(self, shard: Shard, offset: int) -> bool:
        try:
            mark = shard.watermark() if shard.exists() else None
        except Exception:  # A damaged cache is made again.
            return False
        return mark is not None and (mark.basis, mark.offset) == (basis_of(self._log, shard.partition), offset)

    def _make(self, shard: Shard, partition: int, offset: int) -> None:
        state = state_at(self._log, self._home.current(), partition, offset)
        for rows in _slices(state, offset):
            shard.write(rows, [])
        shard.write_watermark(watermark_of(state))
        views = sorted(self._home.as_of.iterdir(), key=lambda folder: folder.stat().st_mtime)
        for old in views[:-KEPT_VIEWS]:
            shutil.rmtree(old, ignore_errors=True)


def _slices(state: Partition, offset: int) -> Iterator[list[Guarded]]:
    changes: list[Change] = [change for scope in state.scopes.values() for change in all_changes(scope)]
    for start in range(0, len(changes), ROWS_AT_ONCE):
        yield guarded_rows(state, dict.fromkeys(changes[start : start + ROWS_AT_ONCE], offset - 1))


def check_order(before: Positions, after: Positions) -> None:
    """Raise `MemtapeError` unless `after` is nowhere before `before`."""
    wrong = [number for number, offset in before.items() if after[number] < offset]
    if wrong:
        raise MemtapeError(
            f"The second position is before the first in partition {wrong[0]}.", "Give the earlier one first."
        )
