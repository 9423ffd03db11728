"""The decoded rows of a scope's segments: each decoded once as long as its immutable segment exists.

Their meaning, and which of them are shown, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtape.state.index.segments import Segment
from memtape.state.text.instructions import Heard
from memtape.state.views.indexed import heard_at


class RowsRead:
    """Rows by segment and place; rows of segments already in `before` are reused."""

    def __init__(self, segments: Sequence[Segment], before: RowsRead | None) -> None:
        known = {} if before is None else before._rows
        # A segment is told by its identity, which no other has while it is held here.
        self._rows: dict[int, tuple[Segment, dict[int, tuple[Any, Heard]]]] = {
            id(segment): known.get(id(segment), (segment, {})) for segment in segments
        }

    def heard(self, segment: Segment, place: int) -> tuple[Any, Heard]:
        """Return the row at a place of a segment with its instruction by people, as `heard_at`."""
        _, rows = self._rows[id(segment)]
        if place not in rows:
            rows[place] = heard_at(segment, place)
        return rows[place]
