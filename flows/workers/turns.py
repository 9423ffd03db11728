"""The turns of a log for statements and facts: by people and agents, neither erased nor forgotten.

The use of turns is elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memtape.schemas.codec import event_of
from memtape.schemas.events import SPEAKING, Captured, Event, Forgotten, Restored, may_write
from memtape.schemas.log import Log
from memtape.schemas.scopes import partition_of
from memtape.state.core.erasures import erasures_of

PAGE_SLOTS = 1_000


def hidden_from(log: Log, number: int, offset: int) -> dict[str, None]:
    """Return the ids that are forgotten in a partition from an offset on, and not restored."""
    hidden: dict[str, None] = {}
    full = True
    while full:
        slots = log.read(number, offset, PAGE_SLOTS, types=("forgotten", "restored"))
        for event in (event_of(slot.payload) for slot in slots):
            if event is not None and isinstance(event.body, Forgotten):
                hidden |= dict.fromkeys(event.body.ids)
            elif event is not None and isinstance(event.body, Restored):
                hidden = {id: None for id in hidden if id not in event.body.ids}
        full = len(slots) == PAGE_SLOTS
        offset = slots[-1].offset + 1 if full else offset
    return hidden


def turns_among(
    log: Log,
    number: int,
    events: Sequence[tuple[int, Event]],
    hidden: dict[str, None],
    also: Callable[[Event], bool] = lambda event: False,
) -> list[Event]:
    """Return the turns among a partition's events, given with offsets: the first event of each id only.

    With `also` further captures are returned.
    """

    def is_wanted(event: Event) -> bool:
        return _is_turn(event) or (also(event) and may_write(event))

    if not any(is_wanted(event) for _, event in events):
        return []
    erasures = erasures_of(log.erased(number))
    turns = [(offset, event) for offset, event in events if is_wanted(event) and not erasures.covers(event)]
    ids: dict[str, list[str]] = {}
    for _, event in turns:
        ids.setdefault(event.scope or "", []).append(event.id)
    firsts = {(scope, id): at for scope in ids for id, at in log.known(scope, ids[scope]).items()}
    return [
        event
        for offset, event in turns
        if partition_of(event.scope or "", log.partitions) == number
        and firsts.get((event.scope or "", event.id)) == offset
        and event.id not in hidden
    ]


def append_new(log: Log, made: Sequence[Event]) -> list[Event]:
    """Append the events not yet on the log, and return them."""
    ids: dict[str, list[str]] = {}
    for event in made:
        ids.setdefault(event.scope or "", []).append(event.id)
    known = {(scope, id) for scope in ids for id in log.known(scope, ids[scope])}
    new = [event for event in made if (event.scope, event.id) not in known]
    if new:
        log.append(new)
    return new


def _is_turn(event: Event) -> bool:
    return (
        isinstance(event.body, Captured)
        and event.body.kind == "turn"
        and event.actor.origin in SPEAKING
        and may_write(event)
    )
