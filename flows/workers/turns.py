"""The turns of a log for statements and facts, and the capture of a statement: its id, references and actor.

Turns are by people and agents, and neither erased nor forgotten. `state/text/statements.py` and `correct.py` decide
which sentences are statements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memtape.schemas.events import SPEAKING, STATED_TAG, Captured, Event, Forgotten, Restored, may_write
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log, events_between, known_among
from memtape.schemas.scopes import partition_of
from memtape.schemas.upcasts import version_of
from memtape.state.core.erasures import erasures_of
from memtape.state.text.statements import IMPORTANCE, Statement

PAGE_SLOTS = 1_000


def hidden_from(log: Log, number: int, offset: int) -> dict[str, None]:
    """Return the ids that are forgotten in a partition from an offset on, and not restored."""
    hidden: dict[str, None] = {}
    for _, event in events_between(log, number, offset, log.ends()[number], types=("forgotten", "restored")):
        if isinstance(event.body, Forgotten):
            hidden |= dict.fromkeys(event.body.ids)
        elif isinstance(event.body, Restored):
            hidden = {id: None for id in hidden if id not in event.body.ids}
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
    firsts = known_among(log, (event for _, event in turns))
    return [
        event
        for offset, event in turns
        if partition_of(event.scope or "", log.partitions) == number
        and firsts.get((event.scope, event.id)) == offset
        and event.id not in hidden
    ]


def append_new(log: Log, made: Sequence[Event]) -> list[Event]:
    """Append the events not yet on the log, and return them."""
    known = known_among(log, made)
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


def statement_event(turn: Event, place: int, statement: Statement, now_us: int, refs: tuple[str, ...] = ()) -> Event:
    """Return the capture of the `place`-th statement of a turn, with the turn's actor and time.

    The capture is erased with its turn, and with any other event in `refs`.
    """
    assert isinstance(turn.body, Captured)
    body = Captured(
        branch=turn.body.branch,
        importance_given=IMPORTANCE[statement.label],
        kind="fact",
        media=(),
        part=None,
        path=turn.body.path,
        source=turn.body.source,
        tags=(STATED_TAG, statement.label),
        text=statement.text,
    )
    return Event(
        actor=turn.actor,
        at=turn.at,
        body=body,
        id=statement_id(turn.scope, turn.id, place),
        refs=refs or (turn.id,),
        scope=turn.scope,
        sent=max(now_us, turn.sent),  # No clock that is behind the turn's makes a statement that cannot stand.
        session=turn.session,
        type="captured",
        v=version_of("captured"),
    )


def statement_id(scope: str | None, turn: str, place: int) -> str:
    """Return the id of the `place`-th statement of a turn, the same for every worker."""
    return derived_id("captured", scope, "memtape", f"stated:{turn}:{place}")
