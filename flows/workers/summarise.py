"""The worker that sums up quiet sessions by a model: log -> turns of a session -> a model -> one `captured`.

A summary's id derives from the last turn summed up, so that a second answer adds nothing, and a session that
goes on is summed up anew. The summary refers to every turn, so that erasing a turn erases the summary.
Without the worker, rules tell where a session was left (`state/views/last_session.py`). The caller passes the
function that asks the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from memtape.flows.workers.distill import LATE_US, MOST_ATTEMPTS, LogSession, Talk
from memtape.flows.workers.turns import append_new
from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.actions import act_of
from memtape.schemas.errors import BudgetSpent
from memtape.schemas.events import PEOPLE, SPEAKING, Captured, Event
from memtape.schemas.log import Log
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import US_PER_S
from memtape.state.views.last_session import summary_id

QUIET_US = 10 * 60 * US_PER_S
"""Silence after which a session is summed up: hosts do not report a session that its user just left."""
LOOK_US = 30 * US_PER_S

Ask = Callable[[Sequence[Event]], Event]
"""Asks a model about the turns and actions of a session. Raises `MemtapeError` if it has no answer."""


class Summaries(Worker):
    """Sums up turns of the last day by a model. `is_wanted` says whether a model is configured."""

    def __init__(
        self, log: Log, ask: Ask, now_us: Callable[[], int], is_wanted: Callable[[], bool], on_note: OnNote
    ) -> None:
        super().__init__(on_note)
        self._log = log
        self._ask = ask
        self._now_us = now_us
        self._is_wanted = is_wanted
        self._talk = Talk(log, lambda event: event.at >= now_us() - LATE_US, _is_action)
        self._look_at = 0
        self._attempts: Counter[str] = Counter()

    def catch_up(self) -> None:
        """Have each session that went quiet summed up; `done` counts summaries."""
        now = self._now_us()
        if now < self._look_at or not self._is_wanted():
            return
        self._look_at = now + LOOK_US
        self._talk.catch_up(now - LATE_US)
        for session, turns in list(self._talk.turns.items()):
            if not self.stopping.is_set() and now - max(turn.sent for turn in turns.values()) >= QUIET_US:
                self._sum_up(session)

    def failed(self, error: Exception) -> str:
        """See `Worker.failed`."""
        later = "It is tried again." if not isinstance(error, BudgetSpent) else ""
        return f"A model could not sum up a session: {error} {later}".strip()

    def _sum_up(self, session: LogSession) -> None:
        turns = _told(self._talk.standing(session))
        id = _summary_of(session, turns)
        if id is None or self._attempts[id] >= MOST_ATTEMPTS or self._log.known(session.scope, [id]):
            return
        self._attempts[id] += 1
        made = _asked(self._log, self._talk, session, turns, self._ask)
        self.done += len(made)
        self.changed = self.changed or bool(made)


def sum_up(log: Log, ask: Ask, name: str, scope: str) -> list[Event]:
    """Sum up an ended session of a scope by a model; return the captures, none if captured before.

    Raises `MemtapeError` if the model has no answer.
    """
    talk = Talk(log, lambda event: event.session == name, _is_action)
    number = partition_of(scope, log.partitions)
    talk.read(number, 0, log.ends()[number], scope)
    session = LogSession(number, scope, name)
    turns = _told(talk.standing(session)) if session in talk.turns else []
    id = _summary_of(session, turns)
    return [] if id is None or log.known(scope, [id]) else _asked(log, talk, session, turns, ask)


def _asked(log: Log, talk: Talk, session: LogSession, turns: Sequence[Event], ask: Ask) -> list[Event]:
    """Ask, and append the answer; nothing is kept where a turn that the model saw is gone meanwhile."""
    summary = ask(turns)
    standing = {turn.id: None for turn in talk.standing(session)}
    return append_new(log, [summary]) if all(turn.id in standing for turn in turns) else []


def _summary_of(session: LogSession, turns: Sequence[Event]) -> str | None:
    """Return the id of the summary of turns, None without turns to sum up."""
    said = [turn for turn in turns if turn.actor.origin in SPEAKING]
    if session.name is None or not any(turn.actor.origin in PEOPLE for turn in said):
        return None
    return summary_id(session.scope, said[-1].id) if any(turn.actor.origin == "agent" for turn in said) else None


def _told(turns: Sequence[Event]) -> list[Event]:
    """Return turns in the order of their times."""
    return sorted(turns, key=lambda turn: (turn.at, turn.id))


def _is_action(event: Event) -> bool:
    return isinstance(event.body, Captured) and act_of(event.body.tags) is not None
