"""What changed between two positions of the log: two states folded, and compared in `state/views/diff.py`."""

from __future__ import annotations

import msgspec

from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home
from memtape.state.core.partition import Partition
from memtape.state.views.diff import Changed, changes_between, joined
from memtape.tools.ask.as_of import Positions, check_order, parse_position
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.states import state_at


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """The memories that differ between two positions, and how many turns came: `state.views.diff.Changes`."""

    before: Positions
    after: Positions
    added: tuple[Changed, ...]
    folded: tuple[Changed, ...]
    revised: tuple[Changed, ...]
    forgotten: tuple[Changed, ...]
    restored: tuple[Changed, ...]
    turns: int


def diff(home: Home, log: Log, first: str, second: str, scope: str | None) -> Diff:
    """Return what changed from one position or time to a later one, in one scope or in all."""
    now = now_us()
    before, after = (parse_position(text, log, now) for text in (first, second))
    check_order(before, after)
    build = home.current()
    moved = [number for number in sorted(before) if before[number] != after[number]]

    def at(number: int, positions: Positions) -> Partition:
        return state_at(log, build, number, positions[number])

    changes = joined(changes_between(at(number, before), at(number, after), scope) for number in moved)
    return Diff(
        before=before,
        after=after,
        added=tuple(changes.added),
        folded=tuple(changes.folded),
        revised=tuple(changes.revised),
        forgotten=tuple(changes.forgotten),
        restored=tuple(changes.restored),
        turns=changes.turns,
    )
