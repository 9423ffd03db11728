"""The memories without a page, for a model's proposals, and the slugs already taken."""

from __future__ import annotations

from typing import NamedTuple

from memtape.schemas.events import MAX_IDS
from memtape.state.core.scope import Scope
from memtape.state.tree.proposing import memories, propose, proposed_by_models

MOST = 60
"""Memories in one question, the latest."""


class Unplaced(NamedTuple):
    """A memory without a page: `id` and `seq` as in a decision's input, and the ids of its captures.

    `offset` is the offset of the canonical capture, `at` its time.
    """

    id: str
    seq: int
    offset: int
    at: int
    text: str
    captures: tuple[str, ...]


def unplaced(scope: Scope) -> list[Unplaced]:
    """Return the memories that no page and no model's proposal refers to, the earliest first, the latest 60 of them."""
    referred = (ref for page in scope.pages.by_birth.values() if page.lives for ref in page.told("refs", ()))
    ids = (*referred, *(id for it in proposed_by_models(scope) for id in it.ids))
    births = dict.fromkeys(memory.birth for id in ids if (memory := scope.memory_of(id)) is not None)
    found = list[Unplaced]()
    for memory in memories(scope):
        captures = tuple(scope.captures.by_seq[join.seq].id for join in memory.joins)
        # Beyond the limit, an erasure of one capture could not be promised to erase the page.
        if memory.birth not in births and len(captures) < MAX_IDS // MOST:
            name, spoken = scope.captures.by_seq[memory.name], scope.captures.by_seq[memory.canonical]
            text = scope.captures.body(spoken).text
            found.append(Unplaced(name.id, spoken.seq, spoken.offset, spoken.at, text, captures))
    return sorted(found, key=lambda it: (it.at, it.seq))[-MOST:]


def taken(scope: Scope) -> dict[str, None]:
    """Return the slugs of pages, of proposed pages, and of a model's earlier proposals."""
    by_seq = scope.captures.by_seq
    before = (scope.captures.body(by_seq[seq]).path or "" for seq in scope.pages.proposed)
    return dict.fromkeys((*scope.pages.slugs, *(it.slug for it in propose(scope)), *before))
