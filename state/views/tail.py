"""The tail of the log behind the views' watermark, applied to the rows by a reader.

A search answers by it while the projector is behind. The tail folds and decides nothing: its captures stand
by themselves, a consolidation's text waits, and tombstones and erasures hide rather a little more than the
projector will than less. Pins and archiving hold at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Literal

from memtape.schemas import events
from memtape.schemas.events import Event
from memtape.schemas.ids import is_slug
from memtape.schemas.rows import MemoryRow, TurnRow, Wording
from memtape.state.subjects.captures import FAMILIES
from memtape.state.subjects.tombstones import ends_ban, text_row_id


def keys_of_row(row: MemoryRow | TurnRow) -> list[str]:
    """Return the keys by which a tombstone hides a row: its id, its text, its memory, or a covered memory."""
    if isinstance(row, TurnRow):
        return [f"id:{row.id}"]
    texts = [text_row_id(row.text)] if row.kind in FAMILIES else []
    told = [f"{what}:{id}" for id in row.made_of for what in ("id", "memory")]
    return [f"id:{row.id}", *texts, f"memory:{row.id}", *told]


def keys_of_wording(row: MemoryRow, wording: Wording) -> list[str]:
    """Return the keys by which a memory's further wording can be hidden, beside those of the memory."""
    return [f"id:{wording.id}", text_row_id(wording.text), f"memory:{row.id}"]


def keys_of_id(row: MemoryRow | TurnRow, id: str, text_at: Callable[[int], str | None]) -> list[str]:
    """Return the keys by which a row's capture can be hidden: its id, its own text, or its whole memory.

    A memory's row has the text of one capture alone. `text_at` returns the text captured at an offset of the
    log, None if erased.
    """
    if isinstance(row, TurnRow):
        return [f"id:{id}"]
    text: str | None = row.text
    if id != row.canonical:
        text = next((text_at(join.offset) for join in (*row.members, *row.echoes) if join.id == id), None)
    texts = [text_row_id(text)] if text is not None and row.kind in FAMILIES else []
    return [f"id:{id}", *texts, f"memory:{row.id}"]


class Bans:
    """The bans of the views, updated by the tail.

    `keys_of` gives the keys by which an id's capture can be hidden, None if no view has the id; `banned_at`
    gives the time of a ban in the views, None for none.
    """

    def __init__(
        self, keys_of: Callable[[str], list[str] | None], banned_at: Callable[[str], int | None]
    ) -> None:  # fmt: skip
        self._keys_of = keys_of
        self._banned_at = banned_at
        self._own: dict[str, list[str]] = {}
        self._shown: set[str] = set()
        self._erased: set[str] = set()
        self._withdrawn: set[str] = set()
        self._pinned: dict[str, bool] = {}
        self._archived: dict[str, tuple[int, int | None]] = {}
        """By id the number of its last event, and since when it is archived; None once it is brought back."""
        self._bans: dict[str, int | None] = {}
        """The time of each ban that the tail has set, None for one that it has ended."""
        self.paths: dict[str, str] = {}
        """The id of the last page captured by the tail at each slug; all other texts of such a page are
        hidden.
        """
        self.moves_pages = False
        """Whether an edit of the tail may let another version of a page be shown: then all pages wait."""
        self.touched: dict[str, None] = {}
        """Every id named by the tail, whose rows may be hidden or shown by now."""

    def walk(self, tail: Iterable[Event]) -> list[Event]:
        """Take in the events of the tail, by who may write, and return its captures that are visible."""
        captured: dict[str, Event] = {}
        made: dict[str, None] = {}
        for number, event in enumerate(tail):
            match event.body:
                case events.Captured(text=text, kind=kind, path=path):
                    if event.id not in captured and self._keys_of(event.id) is None:
                        if kind == "page" and path is not None and is_slug(path) and not event.refs:
                            self.paths[path] = event.id
                        captured[event.id] = event
                        texts = [text_row_id(text)] if kind in FAMILIES else []
                        self._own[event.id] = [f"id:{event.id}", *texts]
                        self._cover(event, event.body, texts)
                case events.Edited(base=base, by=by, slug=slug):
                    self.moves_pages |= (base or by or slug) is not None
                case events.Decided(operations=operations):
                    made |= dict.fromkeys(it.by for it in operations if it.op in events.MAKING)
                case events.Forgotten(ids=ids):
                    self._forget(ids, event.at)
                case events.Restored(ids=ids):
                    for id in ids:
                        keys = self._keys(id)
                        self._shown.update(keys)
                        self._withdrawn.difference_update(keys)
                        self._bans |= dict.fromkeys(keys)
                case events.Pinned(ids=ids, on=on):
                    self.touched |= dict.fromkeys(ids)
                    self._pinned |= dict.fromkeys(ids, on)
                    self._archived |= dict.fromkeys(ids if on else (), (number, None))
                case events.Archived(ids=ids, on=on):
                    self.touched |= dict.fromkeys(ids)
                    self._archived |= dict.fromkeys(ids, (number, event.at if on else None))
                case events.Withdrawn(ids=ids, on=on):
                    for id in ids:
                        # Rows that may show its text are hidden too.
                        if id in self._own or self._keys_of(id) is not None:
                            keys = self._keys_but_text(id)
                            (self._withdrawn.update if on else self._withdrawn.difference_update)(keys)
                case events.Erased(ids=ids):
                    # Every row goes that may speak with the text of an erased id.
                    self._erased.update(key for id in ids for key in self._keys_but_text(id))
        found = (event for event in captured.values() if event.id not in made and not self._waits(event))
        return [event for event in found if not self.hide(self._own[event.id], False)]

    def _waits(self, event: Event) -> bool:
        """Return whether a capture of the tail is a page that may be a decision's, or is no longer shown."""
        if not isinstance(event.body, events.Captured) or event.body.kind != "page":
            return False
        is_last = self.paths.get(event.body.path or "", event.id) == event.id
        return self.moves_pages or bool(event.refs) or not is_last

    def _keys(self, id: str) -> list[str]:
        """Return the keys by which an id's capture can be hidden; of an unknown id its own ban's."""
        self.touched[id] = None
        if id in self._own:
            return self._own[id]
        return self._keys_of(id) or [f"id:{id}"]

    def _since(self, key: str) -> int | None:
        """Return the time of the latest ban in force, None for none."""
        return self._bans[key] if key in self._bans else self._banned_at(key)

    def _cover(self, event: Event, body: events.Captured, texts: Sequence[str]) -> None:
        """Apply the bans in force to a capture, and end that of a text which a person says again.

        Older captures of the text stay as they are until the projector shows them.
        """
        waiting = self._since(f"id:{event.id}")
        if waiting is not None:  # Forgotten before it came; its text is then banned too.
            self._forget([event.id], waiting)
            return
        for key in texts:
            since = self._since(key)
            if since is not None and ends_ban(event.actor.origin, body.source, event.at, since):
                self._bans[key] = None

    def _forget(self, ids: Iterable[str], at: int) -> None:
        """Apply a tombstone to ids and all that shares a key with them."""
        for id in ids:
            keys = self._keys(id)
            self._shown.difference_update(keys)
            self._bans |= {key: max(at, self._since(key) or at) for key in keys}

    def _keys_but_text(self, id: str) -> list[str]:
        return [key for key in self._keys(id) if not key.startswith("text:")]

    def hide(self, keys: Sequence[str], hidden_in_view: bool) -> bool:
        """Return whether a row with these keys is hidden (erased, withdrawn, banned) by the tail, else by the
        view.
        """
        gone = self._erased | self._withdrawn
        if not gone.isdisjoint(keys) or any(self._since(key) is not None for key in keys):
            return True
        return hidden_in_view and self._shown.isdisjoint(keys)

    def decided(self, ids: Collection[str]) -> dict[str, Any]:
        """Return by name the fields that the tail decides of the captures of one row: pins and archiving."""
        pins = [self._pinned[id] for id in ids if id in self._pinned]
        times = [self._archived[id] for id in ids if id in self._archived]
        fields: dict[str, Any] = {"pinned": any(pins)} if pins else {}
        return fields | ({"archived_at": max(times)[1]} if times else {})

    def texts(self) -> list[str]:
        """Return the bans on texts that the tail has set or ended."""
        return sorted(key for key in self._bans if key.startswith("text:"))


def _with_effect(*effects: Literal["nothing", "views", "answers", "visible"]) -> tuple[str, ...]:
    return tuple(name for name, known in events.EVENT_TYPES.items() if known.effect in effects)


QUIET_TYPES = _with_effect("nothing")  # Events that change no view.
TAIL_TYPES = _with_effect("visible")
"""Events that change visibility; a reader applies them to views that are behind."""
PENDING_TYPES = _with_effect("visible", "answers")
"""Events for which the views are brought up to date; a recall or a tick alone leaves nothing pending."""
COUNTED_TYPES = ("captured", "embedded", "erased")
"""Events that change how many texts there are, or how many have a vector."""
