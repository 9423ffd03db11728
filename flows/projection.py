"""The fold of one partition as the dataflow runs it: slots in, deltas out. Plain Python, tested without Bytewax."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from recollect.schemas.log import Slot
from recollect.schemas.rows import Delta, ScopeMark, Watermark
from recollect.state.digests import rules_version
from recollect.state.partition import Partition, fold
from recollect.state.views import guarded_rows, pages_of


class Projection:
    """The living state of a partition.

    Changes below `written` are in the views already: they are folded, since the state needs them, and
    not written again.
    """

    def __init__(self, partition: int, written: int) -> None:
        self.state = Partition(partition)
        self.written = written

    def advance(self, slots: Sequence[Slot]) -> Delta | None:
        """Fold slots and return what they changed, None while all of it is written already."""
        folded = fold(self.state, slots)
        state = self.state
        if state.offset <= self.written:
            return None
        changes = {change: offset for change, offset in folded.changes.items() if offset >= self.written}
        scopes = dict.fromkeys(change.scope for change in changes)
        return Delta(
            rows=tuple(guarded_rows(state, changes)),
            pages=tuple(pages_of(state, changes)),
            marks=tuple(ScopeMark(scope, state.number, state.scopes[scope].changed + 1) for scope in scopes),
            dead_letters=tuple(letter for letter in folded.dead_letters if letter.offset >= self.written),
            watermark=Watermark(
                partition=state.number,
                offset=state.offset,
                log_id=state.log_id,
                rules=rules_version(),
                revision=max(state.revision, 0),
                clock=state.clock or 0,
                counters=msgspec.structs.replace(state.counters),
            ),
        )
