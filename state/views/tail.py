"""What a reader of the views still has to know: the events that stand behind the watermark, laid over the rows.

This is what a search answers with while the projector is behind. It folds nothing: captures of the tail
stand by themselves, and tombstones and erasures hide rather a little more than the projector will than less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memtape.schemas.events import Captured, Erased, Event, Forgotten, Restored, may_write
from memtape.schemas.rows import MemoryRow, TombstoneRow, TurnRow
from memtape.state.subjects.captures import FAMILIES, normal_digest
from memtape.state.subjects.tombstones import text_row_id


class Overlay(NamedTuple):
    """What is visible: rows of the views, and captures that no view holds yet, in the order of the log."""

    memories: list[MemoryRow]
    turns: list[TurnRow]
    captured: list[Event]


def overlay(
    memories: Sequence[MemoryRow], turns: Sequence[TurnRow], tombstones: Iterable[TombstoneRow], tail: Iterable[Event]
) -> Overlay:
    """Return what of the rows (hidden ones included) and of the tail's captures is visible after the tail."""
    bans = _Bans(memories, turns, tombstones)
    captured: dict[str, Event] = {}
    for event in tail:
        if not may_write(event):
            continue
        match event.body:
            case Captured(text=text, kind=kind):
                if event.id not in captured and event.id not in bans.keys_of:
                    captured[event.id] = event
                    bans.learn(event.id, [text_row_id(normal_digest(text))] if kind in FAMILIES else [])
                    if bans.waits_for(event.id):
                        bans.forget([event.id])
            case Forgotten(ids=ids):
                bans.forget(ids)
            case Restored(ids=ids):
                bans.restore(ids)
            case Erased(ids=ids):
                bans.erase(ids)
            case _:
                pass
    return Overlay(
        [row for row in memories if not bans.hide(row.id, row.hidden)],
        [row for row in turns if not bans.hide(row.id, row.hidden)],
        [event for event in captured.values() if not bans.hide(event.id, False)],
    )


class _Bans:
    """The bans of the views, moved on by the tail. `keys_of` says by which bans an id can be hidden."""

    def __init__(
        self, memories: Iterable[MemoryRow], turns: Iterable[TurnRow], tombstones: Iterable[TombstoneRow]
    ) -> None:
        self.keys_of: dict[str, list[str]] = {}
        self._banned = {row.id for row in tombstones}
        self._shown: set[str] = set()
        self._hidden: set[str] = set()
        self._erased: set[str] = set()
        for memory in memories:
            texts = [text_row_id(normal_digest(memory.text))] if memory.kind in FAMILIES else []
            for id in memory.ids:
                self.learn(id, [*texts, f"memory:{memory.id}"])
        for turn in turns:
            self.learn(turn.id, [])

    def learn(self, id: str, keys: list[str]) -> None:
        """Note that an id can be hidden by its own ban and by these."""
        self.keys_of[id] = [f"id:{id}", *keys]

    def waits_for(self, id: str) -> bool:
        """Whether an id was forgotten before its capture came, whose text is then banned as well."""
        return f"id:{id}" in self._banned

    def forget(self, ids: Iterable[str]) -> None:
        """Apply a tombstone to ids and all that shares a key with them."""
        for id in ids:
            keys = self.keys_of.get(id, [f"id:{id}"])
            self._hidden.update(keys)
            self._shown.difference_update(keys)
            self._banned.update(keys)

    def restore(self, ids: Iterable[str]) -> None:
        """End the tombstones on ids and all that shares a key with them."""
        for id in ids:
            keys = self.keys_of.get(id, [f"id:{id}"])
            self._shown.update(keys)
            self._hidden.difference_update(keys)
            self._banned.difference_update(keys)

    def erase(self, ids: Iterable[str]) -> None:
        """Hide ids for good, and every row that may speak with the text of one of them."""
        for id in ids:
            self._erased.update(key for key in self.keys_of.get(id, ()) if not key.startswith("text:"))

    def hide(self, id: str, hidden_in_view: bool) -> bool:
        """Whether an id is hidden: erased; else what the tail says, else what the view says, else a ban on its text."""
        keys = self.keys_of[id]
        if not self._erased.isdisjoint(keys):
            return True
        if not self._hidden.isdisjoint(keys):
            return True
        if not self._shown.isdisjoint(keys):
            return False
        return hidden_in_view or not self._banned.isdisjoint(keys)
