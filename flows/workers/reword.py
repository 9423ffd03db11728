"""Summaries in a model's words: a scope's state -> summaries to write -> `decided`, and the text.

A model writes words only: `state` decides which texts a summary covers, and when it is written anew. The
caller passes the function that asks the model and checks its answer. Ids derive from the summary and its
inputs, so that two workers, or a killed and restarted worker, add nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple, Protocol

from memtape.flows.workers.consolidate import append
from memtape.schemas.events import (
    CONSOLIDATED_TAG,
    Actor,
    Captured,
    Decided,
    Event,
    Input,
    Operation,
    make_event,
)
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log
from memtape.state.consolidation.untold import Untold, untold
from memtape.state.core.scope import Scope


class Retold(NamedTuple):
    """A summary in a model's words, and the actor of the text."""

    text: str
    actor: Actor


class Retell(Protocol):
    """The function that has a model write summaries. `given_up` has unusable answers, by id and changes."""

    @property
    def given_up(self) -> Container[tuple[str, int]]: ...

    def is_named(self) -> bool:
        """Return whether there is a model to ask at all."""

    def __call__(self, summary: Untold) -> Retold | None:
        """Return a summary in the model's words, None for an unusable answer.

        Raises `BudgetSpent`, and `MemtapeError` if a model cannot be reached.
        """


def reword(log: Log, scope: Scope, retell: Retell, now_us: Callable[[], int]) -> int:
    """Have a model write summaries of a scope without its text yet, and return their number."""
    count = 0
    for summary in untold(scope, retell.given_up) if retell.is_named() else ():
        told = retell(summary)
        if told is not None:
            append(log, _events(scope.name, summary, told, now_us()))
            count += 1
    return count


def _events(scope: str, summary: Untold, told: Retold, now_us: int) -> list[Event]:
    decided = derived_id("decided", scope, "memtape", f"reword:{summary.id}:{summary.changes}:{told.text}")
    text = derived_id("captured", scope, "memtape", f"reworded:{decided}")
    body = Decided(
        attempt=1,
        inputs=(Input(id=summary.id, seq=summary.changes),),
        operations=(Operation(by=text, ids=(summary.id,), op="reword"),),
        reason=None,
        until=None,
    )
    said = Captured(
        branch=None,
        importance_given=None,
        kind="journal",
        media=(),
        part=None,
        path=None,
        source=None,
        tags=(CONSOLIDATED_TAG,),
        text=told.text,
    )
    refs = (decided, *summary.sources)
    return [
        make_event("decided", decided, body, scope, told.actor, summary.sources, now_us, now_us),
        make_event("captured", text, said, scope, told.actor, refs, now_us, now_us),
    ]
