"""What changed between two positions of the log: memories added, folded, revised, forgotten and restored."""

from __future__ import annotations

import msgspec

from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.memories import Memory
from memtape.tools.ask.as_of import Positions, check_order
from memtape.tools.keep.states import state_at


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """One memory that changed. `text` is the canonical one; `captures` are those that joined it meanwhile."""

    scope: str
    id: str
    kind: str
    text: str
    captures: tuple[str, ...] = ()
    revises: str | None = None


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """The memories that differ between two positions, and how many turns came.

    A memory that is new stands in one place alone: in `forgotten` if it does not show any more, else in `revised` if it
    revises another, else in `added`; `captures` has what joined it since. One that was there before stands in every
    place that says what has changed of it.
    """

    before: Positions
    after: Positions
    added: tuple[Changed, ...]
    folded: tuple[Changed, ...]
    revised: tuple[Changed, ...]
    forgotten: tuple[Changed, ...]
    restored: tuple[Changed, ...]
    turns: int


def diff(home: Home, log: Log, before: Positions, after: Positions, scope: str | None) -> Diff:
    """Return what changed from one position to a later one, in one scope or in all."""
    check_order(before, after)
    found: dict[str, list[Changed]] = {"added": [], "folded": [], "revised": [], "forgotten": [], "restored": []}
    turns = 0
    for number in sorted(before):
        if before[number] == after[number]:
            continue
        build = home.current()
        old = state_at(log, build, number, before[number]).scopes
        new = state_at(log, build, number, after[number]).scopes
        for name in sorted(new):
            if scope in (None, name):
                turns += _compare(old.get(name) or Scope(name), new[name], found)
    changes = {what: tuple(changed) for what, changed in found.items()}
    return Diff(before=before, after=after, turns=turns, **changes)


def _compare(old: Scope, new: Scope, found: dict[str, list[Changed]]) -> int:
    for birth, memory in new.memories.by_birth.items():
        was = old.memories.by_birth.get(birth)
        known = {join.seq for join in (*was.members, *was.echoes)} if was else set()
        came = [join.seq for join in (*memory.members, *memory.echoes) if join.seq not in known]
        changed = _changed(new, memory, came if was else came[1:])
        lives = memory.canonical >= 0
        if was is None:
            found["forgotten" if not lives else "revised" if changed.revises else "added"].append(changed)
            continue
        if changed.captures:
            found["folded"].append(changed)
        if (was.canonical >= 0) is not lives:
            found["restored" if lives else "forgotten"].append(changed)
    return _turns(new) - _turns(old)


def _changed(scope: Scope, memory: Memory, came: list[int]) -> Changed:
    by_seq = scope.captures.by_seq
    spoken: Capture = by_seq[memory.canonical if memory.canonical >= 0 else memory.name]
    return Changed(
        scope=scope.name,
        id=by_seq[memory.name].id,
        kind=spoken.body.kind,
        text=spoken.body.text,
        captures=tuple(by_seq[seq].id for seq in came),
        revises=by_seq[memory.revises.seq].id if memory.revises else None,
    )


def _turns(scope: Scope) -> int:
    return sum(capture.body.kind == "turn" for capture in scope.captures.by_seq.values())
