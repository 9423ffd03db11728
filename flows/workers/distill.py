"""The worker that extracts facts by a model: log -> windows of late turns -> a model -> `captured` events.

A window of a session is read once it has ended (`windows`). Ids of captures derive from the
window, so that a second answer about a window adds nothing. A capture refers to every turn of its window, so
that erasing a turn erases the capture. The caller passes the function that asks the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from memtape.flows.workers.turns import captures_among, hidden_from, is_turn, statement_id, text_of
from memtape.flows.workers.worker import Worker, append_new
from memtape.schemas.errors import Locked
from memtape.schemas.events import DISTILLED_TAG, Captured, Event
from memtape.schemas.ids import derived_id
from memtape.schemas.log import events_between
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.schemas.times import DAY_US, US_PER_S
from memtape.state.core.erasures import erasures_of
from memtape.state.text.statements import MOST_STATEMENTS

MOST_TURNS = 6
MOST_CHARS = 4_000  # A window ends with the turn that reaches this length.
QUIET_US = 60 * US_PER_S  # A window ends after an answer with this much silence behind it.
UNANSWERED_US = 30 * 60 * US_PER_S
"""A prompt without an answer ends its window only then: before, the agent may be at work."""
LATE_US = DAY_US  # Age from which talk, of an import or after a spent budget, is not read.
MOST_ATTEMPTS = 3
RETRY_US = 5 * 60 * US_PER_S

WAIT_S = 180.0  # Wait of a session's caller for another process's question about a window.

Now = Callable[[], int]  # Returns the time, in microseconds.
Window = tuple[Event, ...]  # A part of a session small enough to be read at once for facts.

Ask = Callable[[Window], list[Event] | None]
"""Asks a model about a window, and returns the captures to append, None to ask again later. Raises
`MemtapeError` if the model cannot be reached.
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


@dataclass(eq=False)
class Distillation(Worker):
    """Extracts facts by a model from the last day's turns; `done` counts the facts that were captured.

    A question asks a model about a window, and appends the facts that it answers, under `WindowStore.alone`.
    `wanted` says whether a model is configured. `only` is the session to be asked about, None for all.
    `turns` are the turns read so far, by session in the order of the log.
    """

    doing = "taking facts from talk"
    poll_s = 5.0
    failure = "A model could not take facts from what was said"
    spent = "What was said is asked about within a day."

    asked: WindowStore
    ask: Ask
    now_us: Now
    wanted: Callable[[], bool] = lambda: True
    only: str | None = None
    turns: dict[LogSession, dict[str, Event]] = field(default_factory=dict)
    offsets: list[int] | None = None
    made_of: dict[str, None] = field(default_factory=dict)
    """The turns with a model's facts on the log."""

    def catch_up(self) -> None:
        """Ask about each window that has ended."""
        if not self.wanted():
            return
        self.read_on(self.now_us() - LATE_US)
        with suppress(Locked):
            for made in self.answers(self._due):
                self.done += len(made)
                if self.is_over():
                    return

    def of_scope(self, scope: str) -> list[Event]:
        """Extract facts from the last day's turns of a scope, also after too many failures; return them.

        Raises `MemtapeError` if the model cannot be reached.
        """
        ends = self.log.ends()
        number = partition_of(scope, len(ends))
        self.read(number, 0, ends[number], scope)

        def left(session: LogSession) -> list[Window]:
            turns = self.standing(session)
            last = max((turn.sent for turn in turns), default=0)
            return windows(turns, self.is_settled, last + DAY_US)  # None is open.

        with self.asked.alone(WAIT_S):
            pass  # What is settled has been read then, by which windows are cut.
        return [event for made in self.answers(left, WAIT_S) for event in made]

    def read(self, number: int, offset: int, end: int, scope: str | None = None) -> None:
        """Read a partition from an offset on, all of it or one scope."""
        found = events_between(self.log, number, offset, end, scope, ("captured",))
        since, only = self.now_us() - LATE_US, self.only
        late = ((slot.offset, it) for slot, it in found if it.scope != GLOBAL and it.at >= since)
        wanted = [(offset, it) for offset, it in late if only is None or it.session == only]
        erasures = erasures_of(self.log.erased(number))
        for _, turn in captures_among(self.log, number, wanted, erasures, is_turn):
            session = LogSession(number, turn.scope or "", turn.session)
            self.turns.setdefault(session, {}).setdefault(turn.id, turn)
        for _, event in wanted:
            fact = event.body if isinstance(event.body, Captured) and event.actor.origin == "model" else None
            if fact is not None and fact.kind == "fact" and fact.tags[:1] == (DISTILLED_TAG,):
                self.made_of |= dict.fromkeys(event.refs)

    def read_on(self, since_us: int) -> None:
        """Read the new events of the log, at first from a time; forget older turns."""
        ends = self.log.ends()
        offsets = self.offsets or [self.log.offset_after(number, since_us) for number in range(len(ends))]
        for number, end in enumerate(ends):
            self.read(number, offsets[number], end)
        self.offsets = ends
        for session, its in list(self.turns.items()):
            self.turns[session] = {id: turn for id, turn in its.items() if turn.at >= since_us}
        self.turns = {session: its for session, its in self.turns.items() if its}

    def standing(self, session: LogSession) -> list[Event]:
        """Return the turns of a session that a model may read now.

        Erased and forgotten turns are left out, and turns of which a statement was erased or forgotten.
        """
        turns = list(self.turns[session].values())
        first = self.log.offset_after(session.partition, min(turn.sent for turn in turns) - 1)
        hidden = hidden_from(self.log, session.partition, first)
        erased = erasures_of(self.log.erased(session.partition)).named.get(session.scope, {})
        if not hidden and not erased:
            return turns
        gone, places = hidden.keys() | erased.keys(), range(MOST_STATEMENTS)
        stated = {it.id: [statement_id(it.scope, it.id, place) for place in places] for it in turns}
        return [turn for turn in turns if gone.isdisjoint([turn.id, *stated[turn.id]])]

    def is_settled(self, turn: str) -> bool:
        """Return whether a model has answered about a turn; other processes' answers as of `alone`."""
        return turn in self.made_of or self.asked.is_settled(turn)

    def is_due(self, window: Window, now_us: int) -> bool:
        """Return whether a window is due: some time after its last try, and not after too many failures."""
        attempts, asked_us = self.asked.attempts(window[0].id)
        return attempts < MOST_ATTEMPTS and (not attempts or now_us >= asked_us + RETRY_US)

    def answers(self, due: Callable[[LogSession], list[Window]], wait_s: float = 0) -> Iterator[list[Event]]:
        """Ask about each window that is due, and yield its captures, which are on the log then.

        Raises `Locked` where another process asks for longer than `wait_s`.
        """
        for session in list(self.turns):
            for window in due(session):
                with self.asked.alone(wait_s):
                    if window in due(session):  # Another process may have asked meanwhile.
                        yield self._about(session, window)

    def _about(self, session: LogSession, window: Window) -> list[Event]:
        """Ask about a window and append the captures.

        Nothing is captured if a turn was erased or forgotten meanwhile, since any fact may come from it.
        """
        if self.log.known(window[0].scope or "", [fact_id(window, 0)]):  # Answers with erased facts count.
            self._note(window, settled=True)
            return []
        answered = self.ask(window)
        standing = {turn.id: None for turn in self.standing(session)}
        if not all(turn.id in standing for turn in window):
            return []
        made = append_new(self.log, answered or [])
        self._note(window, settled=answered is not None)
        return made

    def _note(self, window: Window, *, settled: bool) -> None:
        now = self.now_us()
        ids = [turn.id for turn in window]
        self.asked.note(ids, settled=settled, now_us=now, since_us=now - 2 * LATE_US)

    def _due(self, session: LogSession) -> list[Window]:
        def due_among(turns: Sequence[Event]) -> list[Window]:
            now = self.now_us()
            return [it for it in windows(turns, self.is_settled, now) if self.is_due(it, now)]

        # Hidden ids are read from the log, so only for a session in which something may be due.
        may_be = due_among(list(self.turns[session].values()))
        return due_among(self.standing(session)) if may_be else []


def fact_id(window: Window, place: int) -> str:
    """Return the id of the `place`-th fact of an answer about a window."""
    return derived_id("captured", window[0].scope, "memtape", f"distilled:{window[0].id}:{place}")


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
