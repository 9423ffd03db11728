"""The turns of a log for statements and facts, and the capture of a statement: its id, references and actor.

Turns are by people and agents, and neither erased, forgotten nor withdrawn. `state/text/statements.py` and
`extract.py` decide which sentences are statements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from memtape.schemas.events import (
    SPEAKING,
    STATED_TAG,
    Body,
    Captured,
    Event,
    Forgotten,
    Restored,
    Withdrawn,
    make_event,
    may_write,
)
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log, events_between, known_among, settings_on
from memtape.schemas.scopes import partition_of
from memtape.state.core.erasures import Erasures
from memtape.state.text.statements import IMPORTANCE, Statement

PAGE_SLOTS = 1_000


def hidden_from(log: Log, number: int, offset: int) -> dict[str, None]:
    """Return the ids forgotten or withdrawn in a partition from an offset on, and not shown again."""
    forgotten, withdrawn = dict[str, None](), dict[str, None]()
    hiding = ("forgotten", "restored", "withdrawn")
    for _, event in events_between(log, number, offset, log.ends()[number], types=hiding):
        match event.body:
            case Forgotten(ids=ids):
                forgotten |= dict.fromkeys(ids)
            case Withdrawn(ids=ids, on=True):
                withdrawn |= dict.fromkeys(ids)
            case Withdrawn(ids=ids):
                withdrawn = {id: None for id in withdrawn if id not in ids}
            case Restored(ids=ids):
                forgotten = {id: None for id in forgotten if id not in ids}
                withdrawn = {id: None for id in withdrawn if id not in ids}
    return forgotten | withdrawn


def captures_among(
    log: Log,
    number: int,
    events: Sequence[tuple[int, Event]],
    erasures: Erasures,
    wants: Callable[[Event], bool],
) -> list[tuple[int, Event]]:
    """Return the wanted captures among a partition's events, given with offsets.

    They are the first events of their ids, by who may write there, and not erased.
    """
    settings = settings_on(log)
    wanted = [(offset, event) for offset, event in events if may_write(event, settings) and wants(event)]
    living = [
        (offset, event) for offset, event in wanted if event.body is not None and not erasures.covers(event)
    ]
    firsts = known_among(log, (event for _, event in living))
    return [
        (offset, event)
        for offset, event in living
        if partition_of(event.scope or "", log.partitions) == number
        and firsts.get((event.scope, event.id)) == offset
    ]


def is_turn(event: Event) -> bool:
    """Return whether an event is a turn of a person or an agent."""
    return (
        isinstance(event.body, Captured)
        and event.body.kind == "turn"
        and event.actor.origin in SPEAKING
        and may_write(event)
    )


def text_of(event: Event | None) -> str:
    """Return the text of a capture; empty for any other event."""
    return event.body.text if event is not None and isinstance(event.body, Captured) else ""


def statement_event(
    turn: Event, place: int, said: Statement, now_us: int, refs: tuple[str, ...] = (),
) -> Event:  # fmt: skip
    """Return the capture of the `place`-th statement of a turn, with the turn's actor and time.

    The capture is erased with its turn, and with any other event in `refs`.
    """
    tags = STATED_TAG, said.label
    body = fact_beside(turn, said.text, tags, IMPORTANCE[said.label])
    id = statement_id(turn.scope, turn.id, place)
    return event_beside(turn, "captured", id, body, refs or (turn.id,), now_us)


def fact_beside(turn: Event, text: str, tags: tuple[str, ...], importance: int) -> Captured:
    """Return a fact from a turn, said in the same place."""
    assert isinstance(turn.body, Captured)
    said = {"importance_given": importance, "kind": "fact", "media": (), "part": None}
    return msgspec.structs.replace(turn.body, **said, tags=tags, text=text)


def event_beside(turn: Event, type: str, id: str, body: Body, refs: tuple[str, ...], now_us: int) -> Event:
    """Return an event by the actor of a turn, of its time and session."""
    # No clock that is behind the turn's makes an event that cannot stand.
    event = make_event(type, id, body, turn.scope, turn.actor, refs, max(now_us, turn.sent))
    return msgspec.structs.replace(event, at=turn.at, session=turn.session)


def statement_id(scope: str | None, turn: str, place: int) -> str:
    """Return the id of the `place`-th statement of a turn, the same for every worker."""
    return derived_id("captured", scope, "memtape", f"stated:{turn}:{place}")
