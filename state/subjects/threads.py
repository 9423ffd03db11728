"""The open ends of a scope: tasks, promises and questions of turns and statements, until they are closed.

The state follows from the captures, in the order of the log. A later text with the specifics of an
open end closes it, and so does an answer to a question. Open ends older than 30 days before the latest
capture are dropped: hardly any text reports one as done. Readers leave out hidden and replaced ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

import msgspec

from memtape.schemas.events import SPEAKING, STATED_TAG, Captured, Event
from memtape.schemas.rows import Change, Context
from memtape.schemas.times import DAY_US
from memtape.state.subjects.captures import Capture, HasCaptures
from memtape.state.subjects.recalls import put_latest
from memtape.state.text import open_ends
from memtape.state.text.open_ends import ClosingSigns, OpenEnd
from memtape.state.text.reading import Reading, read
from memtape.state.text.terms import ENGLISH

OPEN_DAYS = 30
MOST_OPEN = 256  # Open ends at once; beyond, the oldest is dropped.
_TELLING = ("turn", "fact", "insight")
"""Kinds of texts that may close an open end; a journal repeats whole conversations."""

Key = tuple[int, int]  # The seq of a capture, and the start of the open end in its text.


class Threads(msgspec.Struct, dict=True, array_like=True):
    """The open ends of a scope, by capture and place, in the order of the log.

    `day` is the latest day of a capture, in days since 1970. `spoken` has by recent session its first
    speaker, and whether it has further speakers. `waiting` has by session the questions without an answer,
    and promises of its agents. The rest follows from these: `_told` has the signs that close an open end, and
    `_holding` the open ends by term of these.
    """

    open: dict[Key, OpenEnd] = {}
    day: int = 0
    spoken: dict[str, tuple[str, bool]] = {}
    waiting: dict[str, tuple[Key, ...]] = {}

    def __post_init__(self) -> None:
        self._told: dict[Key, ClosingSigns] = {}
        self._holding: dict[str, dict[Key, None]] = {}

    def has_any(self, seqs: Collection[int]) -> bool:
        """Return whether anything of these captures is open."""
        return any(seq in seqs for seq, _ in self.open)

    def close(self, keys: Iterable[Key]) -> bool:
        """Let these be open no longer, and return whether any was."""
        were_open = len(self.open)
        for key in keys:
            self.open.pop(key, None)
            if (told := self._told.pop(key, None)) is not None:
                for term in told.terms:
                    del self._holding[term][key]
        return len(self.open) < were_open

    def near(self, said: Collection[str], of: HasCaptures) -> list[Key]:
        """Return the open ends of which a text, by its terms, has enough."""
        told = self.told(of)
        shared = Counter(key for term in said for key in self._holding.get(term, ()))
        return [key for key, count in shared.items() if count >= told[key].least]

    def told(self, of: HasCaptures) -> dict[Key, ClosingSigns]:
        """Return the signs that close each open end, read when first asked for."""
        if len(self._told) < len(self.open):
            for key in [key for key in self.open if key not in self._told]:
                told = self._told[key] = open_ends.told_by(read(text_of(of, key[0], self.open[key])))
                for term in told.terms:
                    self._holding.setdefault(term, {})[key] = None
        return self._told


def evolve(state: Threads, event: Event, context: Context[HasCaptures]) -> list[Change]:
    """Apply a capture: record its open ends, and close the open ends that it answers or ends."""
    if not isinstance(event.body, Captured):
        return []
    capture = context.of.captures.by_seq[context.seq]
    if capture.hidden or capture.made:
        return []
    day, by_seq, moved = capture.at // DAY_US, context.of.captures.by_seq, False
    if day > state.day:  # Too old open ends are dropped when a later day begins.
        state.day = day
        old = [key for key in state.open if by_seq[key[0]].at // DAY_US < day - OPEN_DAYS]
        moved = state.close(old)
    # An answer is found by its speaker, which costs less than finding finished work in a text.
    if capture.kind == "turn" and capture.actor.origin in SPEAKING:
        moved |= _answer(state, capture, read(event.body.text), context.of)
    if capture.kind in _TELLING and state.open:
        moved |= _end(state, capture, event.body, context.of)
    if day >= state.day - OPEN_DAYS:
        moved |= _open(state, capture, event.body)
    return [Change("threads", context.scope, "")] if moved else []


def text_of(of: HasCaptures, seq: int, end: OpenEnd) -> str:
    """Return the text of an open end for display."""
    capture = of.captures.by_seq[seq]
    return open_ends.said_of(of.captures.body(capture).text, end, capture.at)


def _end(state: Threads, capture: Capture, body: Captured, of: HasCaptures) -> bool:
    """Close the open ends that a text reports as done."""
    if capture.turn >= 0:
        return False
    ended, reading = list[Key](), read(body.text)
    for said, its in open_ends.said_in(reading) if state.near(reading.terms(ENGLISH), of) else ():
        ended += [key for key in state.near(its, of) if open_ends.closes(said, state.open[key].kind)]
    return state.close(ended)


def _answer(state: Threads, capture: Capture, reading: Reading, of: HasCaptures) -> bool:
    """Close open ends by a turn's speaker: questions by other speakers, and open ends of the same agent.

    A turn that says the answer is unknown takes a question out of the session's waiting list and leaves it
    open.
    """
    session, who = capture.session or "", capture.actor
    first, others = state.spoken.get(session, (who.name, False))
    put_latest(state.spoken, session, (first, others or who.name != first))
    waiting = state.waiting.get(session, ())
    if not waiting:
        return False
    is_answer, is_unknown = open_ends.answers(reading), open_ends.leaves_open(reading)
    ended, left = [], []
    for key in waiting:
        by, end = of.captures.by_seq[key[0]].actor, state.open.get(key)
        is_asked = end is not None and end.kind == "question"
        if by.name == who.name:
            ended += [key] if by.origin == "agent" else []
        elif is_asked and is_answer:
            ended.append(key)
        elif is_asked and is_unknown:
            left.append(key)
    if ended or left:
        put_latest(state.waiting, session, tuple(key for key in waiting if key not in (*ended, *left)))
    return state.close(ended)


def _open(state: Threads, capture: Capture, body: Captured) -> bool:
    """Record a capture's open ends: those in a turn's text, or the whole text of a labelled task."""
    session, is_agent = capture.session or "", capture.actor.origin == "agent"
    if capture.kind == "turn":
        # In a session with a single speaker, answers are not captured.
        heard = state.spoken.get(session, ("", False))[1]
        found = list[OpenEnd]()
        if capture.actor.origin in SPEAKING:
            found = open_ends.open_ends(read(body.text), capture.at, of_agent=is_agent, heard=heard)
    else:
        is_task = capture.turn < 0 and body.tags[:2] == (STATED_TAG, "task")
        found = [OpenEnd("task", 0, len(body.text))] if is_task else []
    for end in found:
        state.open[capture.seq, end.start] = end
        if len(state.open) > MOST_OPEN:
            state.close([next(iter(state.open))])
    waits = [(capture.seq, end.start) for end in found if end.kind == "question" or is_agent]
    if waits:
        kept = [key for key in state.waiting.get(session, ()) if key in state.open]
        put_latest(state.waiting, session, (*kept, *waits))
    return bool(found)
