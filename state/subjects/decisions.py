"""The captures made by a consolidation: captures named by an earlier `decided` event.

The text of such a capture repeats memories and is compared with none. `covers` stores which memories.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import msgspec

from memtape.schemas.events import MAKING, Decided, Event
from memtape.schemas.ids import id_bytes
from memtape.schemas.rows import Change
from memtape.state.core.context import Context


class DecisionInputs(Protocol):
    """The part of a scope that `evolve` reads: the seq of every event by its id."""

    seen: dict[bytes, int]


class Decisions:
    """The ids under which texts were named before they came, in the order of their decisions."""

    def __init__(self) -> None:
        self.texts: dict[str, None] = {}


def evolve(state: Decisions, event: Event, context: Context[DecisionInputs]) -> list[Change]:
    """Take in a `decided` event; it touches no row by itself."""
    if isinstance(event.body, Decided):
        texts = [operation.by for operation in event.body.operations if operation.op in MAKING]
        state.texts.update((id, None) for id in texts if id_bytes(id) not in context.of.seen)
    return []


def snapshot(state: Decisions) -> bytes:
    """Return the bytes from which `restore` makes an equal state."""
    return msgspec.msgpack.encode(list(state.texts))


def restore(data: bytes, of: object) -> Decisions:
    """Return the state of a snapshot."""
    state = Decisions()
    state.texts = dict.fromkeys(msgspec.msgpack.decode(data, type=list[str]))
    return state


def digest(state: Decisions, of: object) -> Iterator[Any]:
    """Yield the content of the state hash."""
    return iter(state.texts)
