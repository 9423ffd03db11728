"""Dead letters: slots of the log that views leave out, and those that can be appended where they belong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import msgspec

from memtape.schemas.codec import event_of
from memtape.schemas.events import Event
from memtape.schemas.scopes import partition_of
from memtape.schemas.visible import many
from memtape.state.core.erasures import erasures_of
from memtape.tools.verb import Asks, Verb

if TYPE_CHECKING:
    from memtape.tools.world import World

FATES = {
    "unreadable": "cannot be read",
    "readable": "can be read now: `memtape run` makes the views anew",
    "misplaced": "is in the wrong partition: --retry appends it where it belongs",
    "settled": "is on the log where it belongs, or was erased",
}
Fate = Literal["unreadable", "readable", "misplaced", "settled"]


class UnreadSlot(msgspec.Struct, frozen=True, kw_only=True):
    """A slot that the views leave out, why, and what can be done. Nothing of its payload is shown."""

    partition: int
    offset: int
    reason: str
    fate: Fate


class UnreadSlots(msgspec.Struct, frozen=True, kw_only=True):
    """The latest dead letters, how many there are in all, and how many were appended."""

    letters: tuple[UnreadSlot, ...]
    total: int
    appended: int = 0


def dead_letters(world: World) -> UnreadSlots:
    """List the unreadable slots of the log, with reasons.

        memtape admin deadletters
        memtape admin deadletters --retry

    Another program may have written them: `schemas/json` has the form of an event, and its key is the scope.
    A newer version of Memtape may read what this one cannot; the views are then made anew.
    """
    return _listed(world)


def retry_dead_letters(world: World) -> UnreadSlots:
    """Append events of wrong partitions where they belong."""
    misplaced = {it.id: it for letter, it in _known(world) if it is not None and letter.fate == "misplaced"}
    if misplaced:
        world.log.append([*misplaced.values()])
    return msgspec.structs.replace(_listed(world), appended=len(misplaced))


def _listed(world: World) -> UnreadSlots:
    total = sum(mark.counters.dead_letters for mark in world.reader.marks())
    return UnreadSlots(letters=tuple(letter for letter, _ in _known(world)), total=total)


def _known(world: World) -> Iterator[tuple[UnreadSlot, Event | None]]:
    """Yield the dead letters that the views know, each with its event where that can be read now."""
    for letter in (it for mark in world.reader.marks() for it in mark.counters.latest_dead_letters):
        slots = world.log.read(letter.partition, letter.offset, 1)
        event = event_of(slots[0].payload) if slots else None
        fate = _fate_of(world, letter.partition, event)
        place = {"partition": letter.partition, "offset": letter.offset}
        yield UnreadSlot(**place, reason=letter.reason, fate=fate), event


def _fate_of(world: World, partition: int, event: Event | None) -> Fate:
    if event is None:
        return "unreadable"
    if event.scope is None:
        return "settled"  # A tick or settings: every partition has its own.
    home = partition_of(event.scope, world.log.partitions)
    if home == partition:
        return "readable"
    is_erased = event.body is None or erasures_of(world.log.erased(home)).covers(event)
    return "settled" if is_erased or world.log.known(event.scope, [event.id]) else "misplaced"


def _lines(world: World, asked: Asks, found: UnreadSlots) -> Iterator[str]:
    for letter in found.letters:
        yield f"{letter.partition}/{letter.offset}  {letter.reason}  {FATES[letter.fate]}"
    if found.appended:
        yield f"Appended {many(found.appended, 'event')}."
    yield f"{many(found.total, 'event')} on the log could not be read."


VERBS = (
    Verb("admin deadletters", dead_letters, lines=_lines, at="home"),
    Verb("admin deadletters --retry", retry_dead_letters, lines=_lines, effect="adds", at="home"),
)
