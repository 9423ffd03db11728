"""Changes between two positions of the log: a state folded to the first and on to the second, compared."""

from __future__ import annotations

import msgspec

from memtape.schemas.log import Log
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Home
from memtape.state.views.diff import Changed, Changes, changes_since, joined, seen_of
from memtape.tools.ask.as_of import Positions, check_order, parse_position
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.states import state_at, state_later


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
    """Return the changes between two positions or times, in one scope or in all scopes."""
    now = now_us()
    before, after = (parse_position(text, log, now) for text in (first, second))
    check_order(before, after)
    build = home.current()
    moved = [number for number in sorted(before) if before[number] != after[number]]
    numbers = moved if scope is None else [number for number in moved if number == partition_of(scope, log.partitions)]

    def changes_in(number: int) -> Changes:
        state = state_at(log, build, number, before[number])
        seen = {name: seen_of(its) for name, its in state.scopes.items() if scope in (None, name)}
        return changes_since(seen, state_later(log, build, state, after[number]), scope)

    changes = joined(map(changes_in, numbers))
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
