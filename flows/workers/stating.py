"""The capture of a statement: id, references and actor.

`state/text/statements.py` and `correct.py` decide which sentences are statements.
"""

from __future__ import annotations

from memtape.schemas.events import STATED_TAG, Captured, Event
from memtape.schemas.ids import derived_id
from memtape.schemas.upcasts import version_of
from memtape.state.text.statements import IMPORTANCE, Statement


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
