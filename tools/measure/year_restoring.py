"""One text of each kind that a search leaves out, at the end of a team's year: gone, brought back, and found again.

What is said here is said at the end of the year and not now, so that nothing ages by it but what is meant to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

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
from memtape.sinks.home.folders import Home
from memtape.state.core.scope import Scope
from memtape.tools.client import Client
from memtape.tools.keep.states import state_at
from memtape.tools.measure.year_log import Year, opened

LEAST_CHARS, MOST_CHARS = 60, 200
"""A text of so many characters is asked for by its own words."""
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
    Kind("dormant", lambda id: None, lambda id: _said("Somebody works here again.")),
)


def restored(home: Home, year: Year, find: Find) -> dict[str, list[bool]]:
    """Return for each kind whether its text was found before, while it was left out, and once it was back."""
    clock = _Clock(year.end_us)
    found: dict[str, list[bool]] = {}
    for kind in KINDS:
        with opened(home) as log:
            scope = _scope(log, home, dormant=kind.name == "dormant")
            id, text = _text(scope)
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
                log.append([_event(self._scope, body, self._clock.next())])
            if later_us:
                log.append([make_tick(partition_of(self._scope, log.partitions), self._clock.next(later_us))])
        with Client(self._home) as client:
            client.project()


def _scopes(log: Log, home: Home) -> Iterator[Scope]:
    for number, end in enumerate(log.ends()):
        yield from state_at(log, home.current(), number, end).scopes.values()


def _scope(log: Log, home: Home, *, dormant: bool) -> Scope:
    """Return the scope with most texts of those that are dormant and have left the views, or that are not."""
    scopes: Sequence[Scope] = [it for it in _scopes(log, home) if it.lifecycle.project.purged is dormant]
    return max(scopes, key=lambda scope: (len(scope.captures.by_seq), scope.name))


def _text(scope: Scope) -> tuple[str, str]:
    """Return the id and text of the latest turn that is long enough to be asked for, and shown by itself."""
    bodies: Iterable[tuple[str, Captured]] = (
        (capture.id, scope.captures.body(capture))
        for capture in reversed(scope.captures.by_seq.values())
        if capture.kind == "turn" and not capture.hidden and capture.seq not in scope.lifecycle.archived
    )
    return next((id, body.text) for id, body in bodies if LEAST_CHARS <= len(body.text) <= MOST_CHARS)


def _archived(id: str, on: bool) -> Body:
    return Archived(ids=(id,), on=on, reason=None)


def _project(state: str) -> Body:
    return ScopeChanged(git_at=None, name=None, state="finished" if state == "finished" else "active")


def _said(text: str) -> Body:
    return Captured(
        branch=None, importance_given=None, kind="turn", media=(), part=None, path=None, source="year", tags=(),
        text=text,
    )  # fmt: skip


def _event(scope: str, body: Body, at: int) -> Event:
    type = next(name for name, of in EVENT_TYPES.items() if of.body is body.__class__)
    return Event(
        actor=Actor(name="Ada", origin="user"),
        at=at,
        body=body,
        id=derived_id(type, scope, "year", str(at)),
        refs=(),
        scope=scope,
        sent=at,
        session="after the year",
        type=type,
        v=EVENT_TYPES[type].version,
    )
