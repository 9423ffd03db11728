"""What changed between two states of a partition: memories added, folded, revised, forgotten and restored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.memories import Memory


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """One memory that changed. `text` is the canonical one; `captures` are those that joined it meanwhile."""

    scope: str
    id: str
    kind: str
    text: str
    captures: tuple[str, ...] = ()
    revises: str | None = None


class Changes(NamedTuple):
    """The memories that differ, by what has changed of them, and how many turns came.

    A memory that is new stands in one place alone: in `forgotten` if it does not show any more, else in `revised` if it
    revises another, else in `added`; `captures` has what joined it since. One that was there before stands in every
    place that says what has changed of it.
    """

    added: list[Changed]
    folded: list[Changed]
    revised: list[Changed]
    forgotten: list[Changed]
    restored: list[Changed]
    turns: int


def changes_between(old: Partition, new: Partition, scope: str | None) -> Changes:
    """Return what changed from one state to a later one, in one scope or in all, by the names of scopes."""
    names = (name for name in sorted(new.scopes) if scope in (None, name))
    return joined(_in_scope(old.scopes.get(name) or Scope(name), new.scopes[name]) for name in names)


def joined(parts: Iterable[Changes]) -> Changes:
    """Return the changes of several parts as those of one."""
    parts = list(parts)
    return Changes(
        added=[changed for part in parts for changed in part.added],
        folded=[changed for part in parts for changed in part.folded],
        revised=[changed for part in parts for changed in part.revised],
        forgotten=[changed for part in parts for changed in part.forgotten],
        restored=[changed for part in parts for changed in part.restored],
        turns=sum(part.turns for part in parts),
    )


def _in_scope(old: Scope, new: Scope) -> Changes:
    found = Changes([], [], [], [], [], _turns(new) - _turns(old))
    for birth, memory in new.memories.by_birth.items():
        was = old.memories.by_birth.get(birth)
        known = {join.seq for join in (*was.members, *was.echoes)} if was else set()
        came = [join.seq for join in (*memory.members, *memory.echoes) if join.seq not in known]
        changed = _changed(new, memory, came if was else came[1:])
        lives = memory.canonical >= 0
        if was is None:
            (found.forgotten if not lives else found.revised if changed.revises else found.added).append(changed)
            continue
        if changed.captures:
            found.folded.append(changed)
        if (was.canonical >= 0) is not lives:
            (found.restored if lives else found.forgotten).append(changed)
    return found


def _changed(scope: Scope, memory: Memory, came: list[int]) -> Changed:
    by_seq = scope.captures.by_seq
    spoken: Capture = by_seq[memory.canonical if memory.canonical >= 0 else memory.name]
    return Changed(
        scope=scope.name,
        id=by_seq[memory.name].id,
        kind=spoken.kind,
        text=scope.captures.body(spoken).text,
        captures=tuple(by_seq[seq].id for seq in came),
        revises=by_seq[memory.revises.seq].id if memory.revises else None,
    )


def _turns(scope: Scope) -> int:
    return sum(capture.kind == "turn" for capture in scope.captures.by_seq.values())
