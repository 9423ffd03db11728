"""Tombstones: the captures hidden in a scope, and the texts that a source dropped.

Visibility depends on tombstones and withdrawals alone. For kinds that fold, a normalised text is banned, so
that a later repetition stays hidden too; any other capture is hidden by its id. An id forgotten before its
capture arrives waits for it.

A person who says a banned text again ends its ban. A text said before the latest forgetting and captured
later, as by an import, ends nothing.

A withdrawal hides a capture by its id and bans no text, so that new captures of the text are shown. It ends
when the source has the text again, or by a `restored` event.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from memtape.schemas.events import PEOPLE, Captured, Event, Forgotten, Origin, Restored, Withdrawn
from memtape.schemas.places import zone_path
from memtape.schemas.rows import Change, Context
from memtape.state.subjects.captures import Capture, HasCaptures, normal_digest, shown_changes
from memtape.state.text.reading import read


class Tombstones(msgspec.Struct, array_like=True):
    """The bans in force by row id, of a normalised text or a captured id, each with its latest time.

    `withdrawn` are the withdrawn ids.
    """

    bans: dict[str, int] = {}
    withdrawn: dict[str, None] = {}

    def hides(self, capture: Capture) -> bool:
        """Return whether a ban or a withdrawal hides a capture."""
        return capture.id in self.withdrawn or ban_of(capture) in self.bans


class HasTombstones(HasCaptures, Protocol):
    """A scope seen through its captures and tombstones."""

    tombstones: Tombstones


def ends_ban(origin: Origin, source: str | None, at: int, since: int) -> bool:
    """Return whether a capture of a banned text ends the ban: said by a person, and after the forgetting.

    A zone of a page is a file, whose time does not tell when a line of it was written.
    """
    return origin in PEOPLE and at > since and zone_path(source, origin) is None


def text_row_id(text: str) -> str:
    """Return the row id of a ban on a text; equal for texts that are equal once normalised."""
    return _normal_row_id(normal_digest(read(text)))


def ban_of(capture: Capture) -> str:
    """Return the row id of a ban on a capture."""
    return _normal_row_id(capture.normal) if capture.family else f"id:{capture.id}"


def _normal_row_id(normal: bytes) -> str:
    return f"text:{normal.hex()}"


def evolve(state: Tombstones, event: Event, context: Context[HasCaptures]) -> list[Change]:
    """Apply a capture, or an event that hides or shows texts; record the captures hidden or shown.

    A new capture whose id or text is banned is hidden. A person who says a banned text again ends its ban.
    """
    of, rows = context.of, list[str]()
    match event.body:
        case Captured():
            capture = of.captures.by_seq[context.seq]
            waiting = state.bans.pop(f"id:{capture.id}", None) if capture.family else None
            since = state.bans.get(ban_of(capture)) if capture.family else None
            if waiting is not None:
                rows.append(f"id:{capture.id}")
                _ban(state, capture.id, waiting, context, rows)
            elif since is not None and ends_ban(event.actor.origin, event.body.source, capture.at, since):
                _ban(state, capture.id, None, context, rows)
            _look(state, capture, context)
        case Forgotten(ids=ids):
            for id in ids:
                _ban(state, id, context.at, context, rows)
        case Restored(ids=ids):
            for id in ids:
                state.withdrawn.pop(id, None)
            for id in ids:
                _ban(state, id, None, context, rows)
                for capture in of.captures.found((id,)):
                    _look(state, capture, context)
        case Withdrawn(ids=ids, on=on):
            for capture in of.captures.found(ids):
                if on:
                    state.withdrawn[capture.id] = None
                else:
                    state.withdrawn.pop(capture.id, None)
                _look(state, capture, context)
        case _:
            return []
    changes, scope = [Change("tombstones", context.scope, id) for id in rows], context.scope
    return changes + [it for seq in context.flipped for it in shown_changes(scope, of.captures.by_seq[seq])]


def _ban(
    state: Tombstones, id: str, at: int | None, context: Context[HasCaptures], rows: list[str]
) -> None:  # fmt: skip
    """Ban the capture of an id since a time, or end its ban; hide or show the captures under the ban."""
    captures = context.of.captures
    capture = captures.get(id)
    row_id = f"id:{id}" if capture is None else ban_of(capture)
    before = state.bans.get(row_id)
    if before == at or (before is not None and at is not None and before > at):
        return
    if at is None:
        del state.bans[row_id]
    else:
        state.bans[row_id] = at
    rows.append(row_id)
    if capture is not None:
        for seq in captures.seqs_of_normal[capture.normal] if capture.family else (capture.seq,):
            _look(state, captures.by_seq[seq], context)


def _look(state: Tombstones, capture: Capture, context: Context[HasCaptures]) -> None:
    hidden = state.hides(capture)
    if capture.hidden is not hidden:
        capture.hidden = hidden
        context.flipped.append(capture.seq)
