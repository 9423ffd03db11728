"""What is open in a scope: tasks, promises and questions of turns and statements, until something closes them.

Everything follows from what was captured, in the order of the log. A later text or action that carries the specifics of
what is open closes it, and so does an answer to a question. What is older than 30 days before the latest capture
is no longer told: hardly anybody says that a thing is done. What is hidden or replaced is for who shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from memtape.schemas.actions import act_of, has_failed
from memtape.schemas.events import SPEAKING, STATED_TAG, Captured, Event
from memtape.schemas.rows import Change
from memtape.schemas.times import DAY_US
from memtape.state.core.context import Context
from memtape.state.subjects.captures import Capture, HasCaptures
from memtape.state.subjects.sessions import put_latest
from memtape.state.text.open_ends import (
    End,
    EndKind,
    answers,
    done_by,
    done_in,
    edits,
    ends,
    open_ends,
    said_of,
    told_by,
)

OPEN_DAYS = 30
MOST_OPEN = 256
"""So much is open at once; of more the oldest is given up."""
_TELLING = ("turn", "fact", "insight")
"""Kinds of what may tell that something is done; a journal repeats whole conversations."""

Key = tuple[int, int]
"""The seq of a capture, and where in its text that begins which is open."""


class Threads:
    """What is open, by capture and place, in the order in which it came onto the log.

    `day` is the latest on which anything was captured, in days since 1970. `last` is the seq of the last turn that
    somebody spoke: its question is being answered. `spoken` has of the latest sessions who spoke first in each, and
    whether somebody else did too. `waiting` has of each the questions that wait for an answer, and what its agents
    promised. `_told` and `_by_term`, the terms of what is open, follow from the rest.
    """

    def __init__(self) -> None:
        self.open: dict[Key, End] = {}
        self.day = 0
        self.last = -1
        self.spoken: dict[str, tuple[str, bool]] = {}
        self.waiting: dict[str, tuple[Key, ...]] = {}
        self._told: dict[Key, tuple[str, ...]] | None = None
        self._by_term: dict[str, dict[Key, None]] = {}

    def shown(self) -> Iterator[tuple[int, End]]:
        """Yield what is open, but for a question that was asked just now, each with the seq of the capture."""
        return ((seq, end) for (seq, _), end in self.open.items() if end.kind != "question" or seq != self.last)

    def has_any(self, seqs: Iterable[int]) -> bool:
        """Whether anything of these captures is open."""
        seqs = frozenset(seqs) if self.open else frozenset()
        return any(seq in seqs for seq, _ in self.open)

    def put(self, key: Key, end: End, of: HasCaptures) -> None:
        """Let something be open, and give up the oldest of too much."""
        self._index(of)
        self.open[key] = end
        self._know(key, end, of)
        if len(self.open) > MOST_OPEN:
            self.close(next(iter(self.open)))

    def close(self, key: Key) -> bool:
        """Let something be open no longer, and say whether it was."""
        if self.open.pop(key, None) is None:
            return False
        for term in (self._told or {}).pop(key, ()):
            del self._by_term[term][key]
            if not self._by_term[term]:
                del self._by_term[term]
        return True

    def close_all(self, keys: Iterable[Key]) -> bool:
        """Let all of these be open no longer, and say whether any was."""
        return sum(map(self.close, dict.fromkeys(keys))) > 0

    def sharing(self, done: Iterable[frozenset[str]], of: HasCaptures) -> Iterator[Key]:
        """Yield what is open that the terms of something done tell of too."""
        told = self._index(of)
        for terms in done:
            found = {key: None for term in sorted(terms & self._by_term.keys()) for key in self._by_term[term]}
            yield from (key for key in found if ends(told[key], terms))

    def _index(self, of: HasCaptures) -> dict[Key, tuple[str, ...]]:
        if self._told is None:
            self._told = {}
            for key, end in self.open.items():
                self._know(key, end, of)
        return self._told

    def _know(self, key: Key, end: End, of: HasCaptures) -> None:
        assert self._told is not None
        self._told[key] = told_by(text_of(of, key[0], end))
        for term in self._told[key]:
            self._by_term.setdefault(term, {})[key] = None


def evolve(state: Threads, event: Event, context: Context[HasCaptures]) -> list[Change]:
    """Take in what a capture leaves open, and what it closes."""
    if not isinstance(event.body, Captured):
        return []
    capture = context.of.captures.by_seq[context.seq]
    if capture.hidden or capture.made:
        return []
    moved = _pass_days(state, capture.at // DAY_US, context.of)
    if capture.kind in _TELLING and state.open:
        moved |= _end(state, capture, event.body, context.of)
    if capture.kind == "turn" and capture.actor.origin in SPEAKING:
        moved |= _answer(state, capture, event.body.text, context.of)
        moved |= any(key[0] == state.last for key in state.open)
        state.last = capture.seq
    if capture.at // DAY_US >= state.day - OPEN_DAYS:
        moved |= _open(state, capture, event.body, context.of)
    return [Change("threads", context.scope, "")] if moved else []


def text_of(of: HasCaptures, seq: int, end: End) -> str:
    """Return what is open of a capture as it is shown."""
    capture = of.captures.by_seq[seq]
    return said_of(of.captures.body(capture).text, end, capture.at)


def _pass_days(state: Threads, day: int, of: HasCaptures) -> bool:
    """Give up what is too old once a later day begins."""
    if day <= state.day:
        return False
    state.day = day
    by_seq = of.captures.by_seq
    old = [key for key in state.open if by_seq[key[0]].at // DAY_US < day - OPEN_DAYS]
    return state.close_all(old)


def _end(state: Threads, capture: Capture, body: Captured, of: HasCaptures) -> bool:
    """Close what a text or an action says is done."""
    if act_of(body.tags) is None:
        done = [] if capture.turn >= 0 else [*state.sharing(done_in(body.text), of)]
    elif has_failed(body.tags):
        done = []
    else:
        done = [*state.sharing([done_by(body.text, body.path)], of)]
        if body.path is not None and act_of(body.tags) == "edit":
            done += [key for key, end in state.open.items() if edits(text_of(of, key[0], end), body.path)]
    return state.close_all(done)


def _answer(state: Threads, capture: Capture, text: str, of: HasCaptures) -> bool:
    """Take in who speaks in a session: that answers what others ask there, and ends what the same agent promised."""
    session, who = capture.session or "", capture.actor
    first, others = state.spoken.get(session, (who.name, False))
    put_latest(state.spoken, session, (first, others or who.name != first))
    ended = []
    for key in state.waiting.get(session, ()):
        by = of.captures.by_seq[key[0]].actor
        if by.name == who.name if by.origin == "agent" else by.name != who.name and answers(text):
            ended.append(key)
    if ended:
        put_latest(state.waiting, session, tuple(key for key in state.waiting[session] if key not in ended))
    return state.close_all(ended)


def _open(state: Threads, capture: Capture, body: Captured, of: HasCaptures) -> bool:
    """Take in what a capture leaves open: a turn as it says, what is labelled a task as a whole."""
    session, is_agent = capture.session or "", capture.actor.origin == "agent"
    if capture.kind == "turn":
        found = open_ends(body.text, capture.at, of_agent=is_agent) if capture.actor.origin in SPEAKING else []
    else:
        is_task = capture.turn < 0 and body.tags[:2] == (STATED_TAG, "task")
        found = [End("task", 0, len(body.text))] if is_task else []
    # Where nobody else was ever heard, answers are not captured.
    heard = state.spoken.get(session, ("", False))[1]
    found = [end for end in found if end.kind != "question" or heard]
    for end in found:
        state.put((capture.seq, end.start), end, of)
    waits = [(capture.seq, end.start) for end in found if end.kind == "question" or is_agent]
    if waits:
        kept = [key for key in state.waiting.get(session, ()) if key in state.open]
        put_latest(state.waiting, session, (*kept, *waits))
    return bool(found)


def snapshot(state: Threads) -> bytes:
    """Return the bytes from which `restore` makes an equal state."""
    ends = [(seq, *end) for (seq, _), end in state.open.items()]
    return msgspec.msgpack.encode((ends, state.day, state.last, state.spoken, state.waiting))


def restore(data: bytes, of: object) -> Threads:
    """Return the state of a snapshot."""
    state = Threads()
    ends, state.day, state.last, state.spoken, state.waiting = msgspec.msgpack.decode(
        data,
        type=tuple[
            list[tuple[int, EndKind, int, int]], int, int, dict[str, tuple[str, bool]], dict[str, tuple[Key, ...]]
        ],
    )
    state.open = {(seq, start): End(kind, start, end) for seq, kind, start, end in ends}
    return state


def digest(state: Threads, of: object) -> Iterator[Any]:
    """Yield nothing: all of it follows from the captures, which the state hash covers."""
    return iter(())
