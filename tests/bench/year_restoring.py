"""One text of each kind that a search leaves out, at the end of a team's year: gone, brought back, and found again.

What is said here is said at the end of the year and not now, so that nothing ages by it but what is meant to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from bench.year_log import Year, opened
from memtape.schemas.events import (
    EVENT_TYPES,
    Actor,
    Archived,
    Body,
    Captured,
    Event,
    ScopeChanged,
    Withdrawn,
    make_tick,
)
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US, US_PER_S
from memtape.schemas.upcasts import version_of
from memtape.sinks.home.folders import Home
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.tools.client import Client
from memtape.tools.keep.states import state_at

LEAST_CHARS, MOST_CHARS = 60, 200
"""A text of so many characters is asked for by its own words."""
TRIED = 20
PURGED_AFTER_US = 31 * DAY_US
Find = Callable[[Home, str, str], list[str]]
"""Gives the ids that a question in a scope finds."""


class Kind(NamedTuple):
    """A kind of what is left out: how it comes to be so in a scope, and how it is brought back; `later` by a tick."""

    name: str
    out: Callable[[str], Body | None]
    back: Callable[[str], Body]
    later_us: int = 0


KINDS = (
    Kind("archived", lambda id: _archived(id, True), lambda id: _archived(id, False)),
    Kind("purged", lambda id: _archived(id, True), lambda id: _archived(id, False), PURGED_AFTER_US),
    Kind("finished", lambda id: _project("finished"), lambda id: _project("active")),
    Kind("withdrawn", lambda id: Withdrawn(ids=(id,), on=True), lambda id: Withdrawn(ids=(id,), on=False)),
    Kind("dormant", lambda id: None, lambda id: turn("Somebody works here again.")),
)


def restored(home: Home, year: Year, find: Find) -> dict[str, list[bool]]:
    """Return for each kind whether its text was found before, while it was left out, and once it was back."""
    with opened(home) as log:
        clock = _Clock(max(year.end_us, *(state.clock or 0 for state in _states(log, home))))
    found: dict[str, list[bool]] = {}
    for kind in KINDS:
        with opened(home) as log:
            scope = _scope(log, home, dormant=kind.name == "dormant")
            if scope is None:
                continue  # In a short year no project sleeps for long enough.
            texts = list(islice(_texts(scope), TRIED))
        if kind.name != "dormant":  # Of what somebody says again and again, one may not be among the first.
            texts = [it for it in texts if it[0] in find(home, scope.name, it[1])] or texts
        id, text = texts[0]
        say = _Saying(home, scope.name, clock)
        seen = [] if kind.name == "dormant" else [id in find(home, scope.name, text)]
        say(kind.out(id), kind.later_us)
        seen.append(id in find(home, scope.name, text))
        say(kind.back(id))
        found[kind.name] = [*seen, id in find(home, scope.name, text)]
    return found


class _Clock:
    """Gives times behind the end of a year, each a second after the one before."""

    def __init__(self, at: int) -> None:
        self._at = at

    def next(self, more_us: int = US_PER_S) -> int:
        self._at += more_us
        return self._at


class _Saying:
    """Says something in a scope, and brings the views up to date."""

    def __init__(self, home: Home, scope: str, clock: _Clock) -> None:
        self._home, self._scope, self._clock = home, scope, clock

    def __call__(self, body: Body | None, later_us: int = 0) -> None:
        with opened(self._home) as log:
            if body is not None:
                at = self._clock.next()
                log.append([event_after(self._scope, body, at, str(at))])
            if later_us:
                log.append([make_tick(partition_of(self._scope, log.partitions), self._clock.next(later_us))])
        with Client(self._home) as client:
            client.project()


def _states(log: Log, home: Home) -> Iterator[Partition]:
    return (state_at(log, home.current(), number, end) for number, end in enumerate(log.ends()))


def _scopes(log: Log, home: Home) -> Iterator[Scope]:
    return (scope for state in _states(log, home) for scope in state.scopes.values())


def _scope(log: Log, home: Home, *, dormant: bool) -> Scope | None:
    """Return the scope with most texts of those that are dormant and have left the views, or that are not."""
    scopes: Sequence[Scope] = [it for it in _scopes(log, home) if it.lifecycle.project.purged is dormant]
    return max(scopes, key=lambda scope: (len(scope.captures.by_seq), scope.name), default=None)


def _texts(scope: Scope) -> Iterator[tuple[str, str]]:
    """Yield the id and text of each turn that is long enough to be asked for, and shown by itself, the latest first."""
    bodies: Iterable[tuple[str, Captured]] = (
        (capture.id, scope.captures.body(capture))
        for capture in reversed(scope.captures.by_seq.values())
        if capture.kind == "turn" and not capture.hidden and capture.seq not in scope.lifecycle.archived
    )
    return ((id, body.text) for id, body in bodies if LEAST_CHARS <= len(body.text) <= MOST_CHARS)


def _archived(id: str, on: bool) -> Body:
    return Archived(ids=(id,), on=on, reason=None)


def _project(state: Literal["active", "finished"]) -> Body:
    return ScopeChanged(git_at=None, name=None, state=state)


def turn(text: str) -> Captured:
    """Return what is captured of a turn."""
    return Captured(
        branch=None, importance_given=None, kind="turn", media=(), part=None, path=None, source="year", tags=(),
        text=text,
    )  # fmt: skip


def event_after(scope: str, body: Body, at: int, native_id: str) -> Event:
    """Return what a person says in a scope after the year, under an id that follows from its native one."""
    type = next(name for name, of in EVENT_TYPES.items() if of.body is body.__class__)
    return Event(
        actor=Actor(name="Ada", origin="user"),
        at=at,
        body=body,
        id=derived_id(type, scope, "year", native_id),
        refs=(),
        scope=scope,
        sent=at,
        session="after the year",
        type=type,
        v=version_of(type),
    )
