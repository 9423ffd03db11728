"""Pins by people and agents: texts that stay at hand at any age. Pins are stored by captured id.

A memory is pinned while any of its captures is, so that folding and unfolding need not touch a pin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import msgspec

from memtape.schemas.events import Event, Pinned
from memtape.schemas.rows import Change
from memtape.state.core.context import Context
from memtape.state.subjects.captures import HasCaptures, shown_changes
from memtape.state.subjects.memories import Memories


class PinInputs(HasCaptures, Protocol):
    """The subjects that `evolve` reads: captures and memories."""

    memories: Memories


class Pins:
    """The pinned ids of a scope, in the order of their pins. An id not yet captured waits for its capture.

    `moved` are the ids pinned or unpinned, until `leading` has read them.
    """

    def __init__(self) -> None:
        self.ids: dict[str, None] = {}
        self.moved: dict[str, None] = {}

    def has_any(self, ids: Iterable[str]) -> bool:
        """Return whether any of these captured ids is pinned."""
        return any(id in self.ids for id in ids)


def evolve(state: Pins, event: Event, context: Context[PinInputs]) -> list[Change]:
    """Apply a `pinned` event and return the rows pinned or unpinned."""
    body = event.body
    if not isinstance(body, Pinned):
        return []
    changed = [id for id in dict.fromkeys(body.ids) if (id in state.ids) is not body.on]
    state.ids = {id: None for id in (*state.ids, *changed) if body.on or id not in changed}
    state.moved |= dict.fromkeys(changed)
    return [change for id in changed for change in _rows(id, context)]


def snapshot(state: Pins) -> bytes:
    """Return the bytes from which `restore` makes an equal state."""
    return msgspec.msgpack.encode(list(state.ids))


def restore(data: bytes, of: object) -> Pins:
    """Return the state of a snapshot."""
    state = Pins()
    state.ids = dict.fromkeys(msgspec.msgpack.decode(data, type=list[str]))
    return state


def digest(state: Pins, of: object) -> Iterator[Any]:
    """Yield the content of the state hash."""
    return iter(state.ids)


def _rows(id: str, context: Context[PinInputs]) -> list[Change]:
    capture = context.of.captures.get(id)
    if capture is None:
        return []
    memory = context.of.memories.of(capture.seq)
    if memory is None:
        return shown_changes(context.scope, capture)
    return [Change("memories", context.scope, context.of.captures.by_seq[memory.name].id)]
