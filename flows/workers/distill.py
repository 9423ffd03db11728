"""The worker that extracts facts by a model: log -> windows of late turns -> a model -> `captured` events.

A window of a session is read once it has ended (`windows`). Ids of captures derive from the
window, so that a second answer about a window adds nothing. A capture refers to every turn of its window, so
that erasing a turn erases the capture. The caller passes the function that asks the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from memtape.flows.workers.turns import append_new, hidden_from, statement_id, text_of, turns_among
from memtape.flows.workers.worker import OnNote, OnProgress, Worker
from memtape.schemas.errors import Locked
from memtape.schemas.events import DISTILLED_TAG, Captured, Event
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log, events_between
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.schemas.times import DAY_US, MIN_TIME_US, US_PER_S
from memtape.state.core.erasures import erasures_of
from memtape.state.text.statements import MOST_STATEMENTS

MOST_TURNS = 6
MOST_CHARS = 4_000
"""A window ends with the turn that reaches this length."""
QUIET_US = 60 * US_PER_S
"""A window ends after an answer with this much silence behind it."""
UNANSWERED_US = 30 * 60 * US_PER_S
"""A prompt without an answer ends its window only then: before, the agent may be at work."""
LATE_US = DAY_US
"""Age from which talk, of an import or after a spent budget, is read only on request for its session."""
MOST_ATTEMPTS = 3
RETRY_US = 5 * 60 * US_PER_S

WAIT_S = 180.0
"""Wait of a session's caller for another process's question about a window."""

Now = Callable[[], int]
"""Returns the time, in microseconds."""
Wants = Callable[[Event], bool]
Window = tuple[Event, ...]
"""A part of a session small enough to be read at once for facts."""


class WindowAnswer(NamedTuple):
    """The result of a question about a window: the captures to append, or the reason to ask again."""

    events: list[Event]
    problem: str = ""


Ask = Callable[[Window, int], WindowAnswer]
"""Asks a model about a window, for its n-th accepted answer. Raises `MemtapeError` if the model cannot be
reached.
"""


class WindowStore(Protocol):
    """The store of windows that a model was asked about; see `AskedWindows` of the home."""

    def alone(self, wait_s: float) -> AbstractContextManager[None]: ...

    def is_settled(self, turn: str) -> bool: ...

    def attempts(self, first: str) -> tuple[int, int]: ...

    def note(self, turns: Sequence[str], *, settled: bool, now_us: int, since_us: int) -> None: ...


class LogSession(NamedTuple):
    """A session on the log."""

    partition: int
    scope: str
    name: str | None


class Talk:
    """The wanted turns of a log read so far, by session in the order of the log, and their questions.

    A question asks a model about a window, and appends the facts that it answers, under `WindowStore.alone`.
    """

    def __init__(self, log: Log, asked: WindowStore, ask: Ask, now_us: Now, wants: Wants) -> None:
        self._log = log
        self._asked = asked
        self._ask = ask
        self._now_us = now_us
        self._wants = wants
        self.turns: dict[LogSession, dict[str, Event]] = {}
        self._offsets: list[int] | None = None
        self._made_of: dict[str, None] = {}
        """The turns with a model's facts on the log."""

    def read(self, number: int, offset: int, end: int, scope: str | None = None) -> None:
        """Read a partition from an offset on, all of it or one scope."""
        found = events_between(self._log, number, offset, end, scope, ("captured",))
        wanted = [(slot.offset, it) for slot, it in found if it.scope != GLOBAL and self._wants(it)]
        for turn in turns_among(self._log, number, wanted, {}):
            session = LogSession(number, turn.scope or "", turn.session)
            self.turns.setdefault(session, {}).setdefault(turn.id, turn)
        for _, event in wanted:
            if event.actor.origin == "model" and _is_fact(event):
                self._made_of |= dict.fromkeys(event.refs)

    def catch_up(self, since_us: int) -> None:
        """Read the new events of the log, at first from a time; forget older turns."""
        ends = self._log.ends()
        offsets = self._offsets or [self._log.offset_after(number, since_us) for number in range(len(ends))]
        for number, end in enumerate(ends):
            self.read(number, offsets[number], end)
        self._offsets = ends
        for session, its in list(self.turns.items()):
            self.turns[session] = {id: turn for id, turn in its.items() if turn.at >= since_us}
        self.turns = {session: its for session, its in self.turns.items() if its}

    def standing(self, session: LogSession) -> list[Event]:
        """Return the turns of a session that a model may read now.

        Erased and forgotten turns are left out, and turns of which a statement was erased or forgotten.
        """
        turns = list(self.turns[session].values())
        first = self._log.offset_after(session.partition, min(turn.sent for turn in turns) - 1)
        hidden = hidden_from(self._log, session.partition, first)
        erased = erasures_of(self._log.erased(session.partition)).named.get(session.scope, {})
        if not hidden and not erased:
            return turns
        gone = hidden.keys() | erased.keys()
        return [turn for turn in turns if gone.isdisjoint(_with_statements(turn))]

    def is_settled(self, turn: str) -> bool:
        """Return whether a model has answered about a turn; other processes' answers as of `alone`."""
        return turn in self._made_of or self._asked.is_settled(turn)

    def is_due(self, window: Window, now_us: int) -> bool:
        """Return whether a window is due: some time after its last try, and not after too many failures."""
        attempts, asked_us = self._asked.attempts(window[0].id)
        return attempts < MOST_ATTEMPTS and (not attempts or now_us >= asked_us + RETRY_US)

    def about(self, session: LogSession, window: Window, *, again: bool = False) -> WindowAnswer:
        """Ask about a window and return the captures.

        Nothing is captured if a turn was erased or forgotten meanwhile, since any fact may come from it.
        """
        number = self._number(window)
        if number > 1 and not again:
            self._note(window, settled=True)
            return WindowAnswer([])
        answered = self._ask(window, number)
        standing = {turn.id: None for turn in self.standing(session)}
        if not all(turn.id in standing for turn in window):
            return WindowAnswer([], "A message was erased or forgotten meanwhile.")
        made = append_new(self._log, answered.events)
        self._note(window, settled=not answered.problem)
        return WindowAnswer(made, answered.problem)

    def _number(self, window: Window) -> int:
        """Return the number of the next answer about a window, counting answers with erased facts."""
        number, scope = 1, window[0].scope or ""
        while self._log.known(scope, [fact_id(window, number, 0)]):
            number += 1
        return number

    def _note(self, window: Window, *, settled: bool) -> None:
        now = self._now_us()
        ids = [turn.id for turn in window]
        self._asked.note(ids, settled=settled, now_us=now, since_us=now - 2 * LATE_US)


class Distillation(Worker):
    """Extracts facts by a model from the last day's turns. `wanted` says whether one is configured."""

    poll_s = 5.0
    failure = "A model could not take facts from what was said"
    spent = "What was said is asked about within a day, or by `memtape admin distill`."

    def __init__(
        self, log: Log, asked: WindowStore, ask: Ask, now_us: Now, wanted: Callable[[], bool], on_note: OnNote
    ) -> None:  # fmt: skip
        super().__init__(log, on_note)
        self._asked = asked
        self._now_us = now_us
        self._wanted = wanted
        self._talk = Talk(log, asked, ask, now_us, lambda event: event.at >= now_us() - LATE_US)

    def catch_up(self) -> None:
        """Ask about each window that has ended; `done` counts the facts that were captured."""
        if not self._wanted():
            return
        self._talk.catch_up(self._now_us() - LATE_US)
        for session in list(self._talk.turns):
            self._catch_up(session)

    def _catch_up(self, session: LogSession) -> None:
        for window in self._due(session):
            if self.stopping.is_set():
                return
            try:
                with self._asked.alone(0):
                    if window in self._due(session):  # Another process may have asked meanwhile.
                        answered = self._talk.about(session, window)
                        self.done += len(answered.events)
            except Locked:
                return

    def _due(self, session: LogSession) -> list[Window]:
        # Hidden ids are read from the log, so only for a session in which something may be due.
        may_be = self._due_among(list(self._talk.turns[session].values()))
        return self._due_among(self._talk.standing(session)) if may_be else []

    def _due_among(self, turns: Sequence[Event]) -> list[Window]:
        now = self._now_us()
        ended = windows(turns, self._talk.is_settled, now)
        return [window for window in ended if self._talk.is_due(window, now)]


class Distilled(NamedTuple):
    """The result of a session: its turns, the number of windows read, the captures, and the problems."""

    turns: int
    asked: int
    events: list[Event]
    problems: list[str]


class EndedSession(NamedTuple):
    """A session to extract facts from, by name: in any scope or one, from a time on, or `again` all of it."""

    name: str
    scope: str | None = None
    since_us: int = MIN_TIME_US
    again: bool = False


def distill_session(
    log: Log, asked: WindowStore, ask: Ask, now_us: Now, ended: EndedSession,
    on_window: OnProgress = lambda done, total: None,
) -> Distilled:  # fmt: skip
    """Extract facts by a model from an ended session.

    The model is asked about windows without a known answer, or `again` about all. `on_window` is called with
    the number of finished windows, and of all. Raises `MemtapeError` if the model cannot be reached.
    """
    scope = ended.scope

    def is_wanted(event: Event) -> bool:
        return event.session == ended.name and event.at >= ended.since_us

    talk = Talk(log, asked, ask, now_us, is_wanted)
    ends = log.ends()
    for number in range(len(ends)) if scope is None else (partition_of(scope, len(ends)),):
        talk.read(number, 0, ends[number], scope)

    def left(session: LogSession) -> list[Window]:
        turns = talk.standing(session)
        is_done = (lambda _: False) if ended.again else talk.is_settled
        last = max((turn.sent for turn in turns), default=0)
        return windows(turns, is_done, last + DAY_US)  # None is open.

    events: list[Event] = []
    problems: list[str] = []
    with asked.alone(WAIT_S):
        found = [(session, window) for session in talk.turns for window in left(session)]
    for place, (session, window) in enumerate(found):
        on_window(place, len(found))
        with asked.alone(WAIT_S):
            if window not in left(session):  # Another process has asked meanwhile.
                continue
            answered = talk.about(session, window, again=ended.again)
        events += answered.events
        problems += [answered.problem] if answered.problem else []
    on_window(len(found), len(found))
    return Distilled(sum(map(len, talk.turns.values())), len(found), events, problems)


def fact_id(window: Window, number: int, place: int) -> str:
    """Return the id of the `place`-th fact of the `number`-th answer about a window that was taken."""
    return derived_id("captured", window[0].scope, "memtape", f"distilled:{window[0].id}:{number}:{place}")


def _is_fact(event: Event) -> bool:
    body = event.body
    return isinstance(body, Captured) and body.kind == "fact" and body.tags[:1] == (DISTILLED_TAG,)


def _with_statements(turn: Event) -> list[str]:
    """Return the ids of a turn and of its possible statements."""
    return [turn.id, *(statement_id(turn.scope, turn.id, place) for place in range(MOST_STATEMENTS))]


# --- Windows ---


def windows(turns: Sequence[Event], is_settled: Callable[[str], bool], now_us: int) -> list[Window]:
    """Return the ended windows of a session, in the order of the log; settled turns are in none.

    Words and times alone decide the cuts, so that every reader of the log cuts the same windows.
    """
    ended: list[Window] = []
    window: list[Event] = []
    for turn in turns:
        settled = is_settled(turn.id)
        if window and (settled or turn.sent >= _ends_at(window)):
            ended.append(tuple(window))
            window = []
        if settled:
            continue
        window.append(turn)
        if len(window) == MOST_TURNS or sum(len(text_of(turn)) for turn in window) >= MOST_CHARS:
            ended.append(tuple(window))
            window = []
    return [*ended, tuple(window)] if window and now_us >= _ends_at(window) else ended


def _ends_at(window: Sequence[Event]) -> int:
    return window[-1].sent + (QUIET_US if window[-1].actor.origin == "agent" else UNANSWERED_US)
