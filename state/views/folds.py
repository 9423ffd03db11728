"""The folded captures of a scope, and the differences between two states of it, for authors of fold rules."""

from __future__ import annotations

from typing import Literal

import msgspec

from memtape.schemas.rows import Wording
from memtape.state.core.scope import Scope

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
    by_seq, folds = scope.captures.by_seq, Folds()
    for memory in scope.memories.living():
        captures = (by_seq[seq] for seq in sorted(join.seq for join in memory.joins))
        said = (Wording(its.id, scope.captures.body(its).text) for its in captures if not its.hidden)
        folds[by_seq[memory.name].id] = tuple(said)
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
