"""Withdrawals: captures that their source no longer has. They are hidden by id, as in `tombstones`.

A withdrawal bans no text, so that new captures of it are shown. It ends when the source has the text again,
or by a `restored` event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memtape.schemas.events import Event, Restored, Withdrawn
from memtape.schemas.rows import Change
from memtape.state.core.context import Context
from memtape.state.subjects.captures import HasCaptures


class Withdrawals:
    """The withdrawn ids of a scope, in the order of their withdrawals."""

    def __init__(self) -> None:
        self.ids: dict[str, None] = {}


def evolve(state: Withdrawals, event: Event, context: Context[HasCaptures]) -> list[Change]:
    """Take in a `withdrawn` or `restored` event; it touches no row by itself."""
    match event.body:
        case Withdrawn(ids=ids, on=True):
            state.ids.update((id, None) for id in ids if context.of.captures.get(id) is not None)
        case Withdrawn(ids=ids) | Restored(ids=ids):
            for id in ids:
                state.ids.pop(id, None)
        case _:
            pass
    return []


def snapshot(state: Withdrawals) -> bytes:
    """Return the bytes from which `restore` makes an equal state."""
    return msgspec.msgpack.encode(list(state.ids))


def restore(data: bytes, of: object) -> Withdrawals:
    """Return the state of a snapshot."""
    state = Withdrawals()
    state.ids = dict.fromkeys(msgspec.msgpack.decode(data, type=list[str]))
    return state


def digest(state: Withdrawals, of: object) -> Iterator[Any]:
    """Yield the content of the state hash."""
    return iter(state.ids)
