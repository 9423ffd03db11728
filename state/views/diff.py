"""The differences of two states of a partition: memories added, folded, revised, forgotten and restored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from memtape.schemas.rows import Wording
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.subjects.lifecycle import turns_of
from memtape.state.subjects.memories import Memory, shown_of
from memtape.state.subjects.validity import predecessors


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """A changed memory. `text` is the canonical text; `captures` are the captures that joined meanwhile."""

    scope: str
    id: str
    kind: str
    text: str
    captures: tuple[str, ...] = ()
    revises: str | None = None


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """The changed memories, by kind of change, and the number of new turns.

    A new memory has one entry: in `forgotten` if hidden by now, else in `revised` if it replaced another,
    else in `added`; `captures` has the later members. An older memory has an entry in each list of a change.
    """

    added: list[Changed]
    folded: list[Changed]
    revised: list[Changed]
    forgotten: list[Changed]
    restored: list[Changed]
    turns: int


Earlier = tuple[int, dict[int, tuple[frozenset[int], bool]]]
"""A scope's earlier state: the number of its turns, and by birth the captures and life of each memory."""


def seen_of(scope: Scope) -> Earlier:
    """Return the part of a scope's state needed for a later comparison."""
    memories = scope.memories.by_birth.values()
    held = {it.birth: (frozenset(join.seq for join in it.joins), it.lives) for it in memories}
    return len(turns_of(scope)), held


def changes_since(seen: Mapping[str, Earlier], new: Partition, scope: str | None) -> Changes:
    """Return the changes since `seen`, which has the earlier state by scope, in one scope or in all."""
    found, turns = Changes(added=[], folded=[], revised=[], forgotten=[], restored=[], turns=0), 0
    for name in (name for name in sorted(new.scopes) if scope in (None, name)):
        turns_before, before = seen.get(name, (0, {}))
        turns += len(turns_of(new.scopes[name])) - turns_before
        for birth, memory in new.scopes[name].memories.by_birth.items():
            known, did_live = before.get(birth, (None, False))
            came = [join.seq for join in memory.joins if join.seq not in (known or ())]
            changed = _changed(new.scopes[name], memory, came if known is not None else came[1:])
            if known is None:
                new_ones = found.revised if changed.revises else found.added
                (new_ones if memory.lives else found.forgotten).append(changed)
                continue
            if changed.captures:
                found.folded.append(changed)
            if did_live is not memory.lives:
                (found.restored if memory.lives else found.forgotten).append(changed)
    return msgspec.structs.replace(found, turns=turns)


def joined(parts: Iterable[Changes]) -> Changes:
    """Return the changes of several parts as one."""
    whole = Changes(added=[], folded=[], revised=[], forgotten=[], restored=[], turns=0)
    for part in parts:
        for name in Changes.__struct_fields__:
            whole = msgspec.structs.replace(whole, **{name: getattr(whole, name) + getattr(part, name)})
    return whole


def _changed(scope: Scope, memory: Memory, came: list[int]) -> Changed:
    by_seq = scope.captures.by_seq
    spoken = by_seq[memory.canonical if memory.lives else memory.name]
    return Changed(
        scope=scope.name,
        id=by_seq[memory.name].id,
        kind=spoken.kind,
        text=scope.captures.body(spoken).text,
        captures=tuple(by_seq[seq].id for seq in came),
        revises=next((by_seq[it.name].id for it in predecessors(scope, memory)), None),
    )


Folds = dict[str, tuple[Wording, ...]]
"""The living captures of each living memory, in the order of the log, by the memory's name."""


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """Two captures joined in only one of two states: they come `together`, or `apart`."""

    change: Literal["together", "apart"]
    scope: str
    first: Wording
    second: Wording


def folds_of(scope: Scope) -> Folds:
    """Return the folded captures of each living memory of a scope."""
    folds = Folds()
    for memory in scope.memories.living():
        said = sorted(shown_of(scope, memory.joins), key=lambda its: its.seq)
        name = scope.captures.by_seq[memory.name].id
        folds[name] = tuple(Wording(its.id, scope.captures.body(its).text) for its in said)
    return folds


def moved(scope: str, before: Folds, after: Folds) -> list[Moved]:
    """Return a pair for each memory that another takes in, and for each that comes out of another."""
    together = (Moved(change="together", scope=scope, first=a, second=b) for a, b in _joined(before, after))
    apart = (Moved(change="apart", scope=scope, first=a, second=b) for a, b in _joined(after, before))
    return [*together, *apart]


def _joined(parts: Folds, wholes: Folds) -> list[tuple[Wording, Wording]]:
    """Return pairs for each whole: the earliest capture of its first part, and of each further part."""
    part_of = {said.id: name for name, its in parts.items() for said in its}
    pairs = []
    for its in wholes.values():
        firsts: dict[str, Wording] = {}
        for said in its:
            if said.id in part_of:
                firsts.setdefault(part_of[said.id], said)
        first, *others = firsts.values() if firsts else (None,)
        pairs += [(first, other) for other in others if first is not None]
    return pairs
