"""Segments of one kind while rows are added: masks of live rows, and the choice of segments to merge.

Rows added one by one gather in a small segment, written anew each time; eight segments of one size are merged
into one of the next. Nothing here reads or writes a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic

import numpy as np

from memtape.sinks.index_files import ManifestSegment, SegmentT
from memtape.state.index.segments import Flags

DELTA_ROWS = 512
"""Rows of the small segment for rows added one by one, written anew each time."""
TIER = 8
"""Segments of one size merged into one of the next."""
UNWRITTEN = ManifestSegment("", 0, 0)
"""The name of a segment without a file."""


class Tiers(Generic[SegmentT]):
    """Segments, each with a mask of its live rows, and the names of those with a file.

    `merge` makes one segment of the live rows of several, with at most `most_rows` rows.
    """

    def __init__(
        self,
        merge: Callable[[Sequence[SegmentT], Sequence[Flags]], SegmentT],
        most_rows: int,
        segments: Sequence[SegmentT] = (),
        living: Sequence[Flags] = (),
        names: Sequence[ManifestSegment] = (),
    ) -> None:
        self._merge: Callable[[Sequence[SegmentT], Sequence[Flags]], SegmentT] = merge
        self._most_rows = most_rows
        self.segments: list[SegmentT] = list(segments)
        self.living = [alive.copy() for alive in living]
        self.names = list(names)

    def append(self, segment: SegmentT, rows: int) -> None:
        """Add a segment of `rows` rows, all live."""
        self.segments.append(segment)
        self.living.append(np.ones(rows, np.bool_))
        self.names.append(UNWRITTEN)

    def replace(self, newest: Mapping[int, tuple[int, int]]) -> list[int]:
        """Mark older rows under these keys as dead; return the keys whose live row is not older.

        `newest` has by key the generation and the offset of the event behind the new row.
        """
        newer: dict[int, None] = {}
        keys = np.array(sorted(newest), "<u8")
        for segment, alive in zip(self.segments, self.living, strict=True):
            starts = np.searchsorted(segment.keys, keys, "left")
            ends = np.searchsorted(segment.keys, keys, "right")
            for n in np.flatnonzero(starts < ends).tolist():
                key = int(keys[n])
                for row in segment.by_key[int(starts[n]) : int(ends[n])].tolist():
                    if not alive[row]:
                        continue
                    if newest[key] > (int(segment.generations[row]), int(segment.offsets[row])):
                        alive[row] = False
                    else:
                        newer[key] = None
        return list(newer)

    def settle(self) -> None:
        """Merge small segments, and rewrite segments whose rows are mostly dead."""
        while len(self.segments) > 1 and self._alive(-1) + self._alive(-2) <= DELTA_ROWS:
            self._join([len(self.segments) - 2, len(self.segments) - 1])
        for place in range(len(self.segments)):
            if 2 * self._alive(place) < len(self.living[place]):
                self._join([place])
        while due := self._due():
            self._join(due)

    def _due(self) -> list[int]:
        """Return the places of the segments of one tier to be merged, none if there are too few."""
        tiers: dict[int, list[int]] = {}
        for place in range(len(self.segments)):
            tiers.setdefault(_tier(self._alive(place)), []).append(place)
        for places in tiers.values():
            fitting: list[int] = []
            for place in places if len(places) >= TIER else ():
                if sum(map(self._alive, [*fitting, place])) <= self._most_rows:
                    fitting.append(place)
            if len(fitting) > 1:
                return fitting[:TIER]
        return []

    def _alive(self, place: int) -> int:
        return int(self.living[place].sum())

    def _join(self, places: Sequence[int]) -> None:
        """Replace segments by their merger."""
        made = self._merge([self.segments[place] for place in places], [self.living[place] for place in places])
        rows = sum(map(self._alive, places))
        first, *rest = places
        self.segments[first], self.names[first] = made, UNWRITTEN
        self.living[first] = np.ones(rows, np.bool_)
        for place in reversed(rest):
            del self.segments[place], self.living[place], self.names[place]


def _tier(rows: int) -> int:
    """Return the tier of a segment: 0 up to 512 rows, and one more for each eightfold."""
    tier = 0
    while rows > DELTA_ROWS * TIER**tier:
        tier += 1
    return tier
