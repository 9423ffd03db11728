"""Pins by people and agents: texts that stay at hand at any age. Pins are stored by captured id.

A memory is pinned while any of its captures is, so that folding and unfolding need not touch a pin.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memtape.schemas.events import Event, Pinned
from memtape.schemas.rows import Change, Context
from memtape.state.subjects.memories import HasMemories, row_of_unit, unit_of


class Pins(msgspec.Struct, dict=True, array_like=True):
    """The pinned ids of a scope, in the order of their pins. An id not yet captured waits for its capture.

    `moved` are the ids pinned or unpinned, until `leading` has read them.
    """

    ids: dict[str, None] = {}

    def __post_init__(self) -> None:
        self.moved: dict[str, None] = {}

    def has_any(self, ids: Iterable[str]) -> bool:
        """Return whether any of these captured ids is pinned."""
        return any(id in self.ids for id in ids)


def evolve(state: Pins, event: Event, context: Context[HasMemories]) -> list[Change]:
    """Apply a `pinned` event and return the rows pinned or unpinned."""
    body = event.body
    if not isinstance(body, Pinned):
        return []
    changed = [id for id in dict.fromkeys(body.ids) if (id in state.ids) is not body.on]
    state.ids = {id: None for id in (*state.ids, *changed) if body.on or id not in changed}
    state.moved |= dict.fromkeys(changed)
    of = context.of
    return [row_of_unit(context.scope, of, unit_of(of, capture)) for capture in of.captures.found(changed)]
