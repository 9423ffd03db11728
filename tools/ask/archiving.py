"""Archiving and restoring by hand: the named units, resolved in the folded state, and the events.

Purged texts have no row in the views, so only the state can resolve their ids. `archived` lists archived
texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Literal

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import MAX_IDS, Archived, Kind
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import format_day
from memtape.state.core.scope import Scope
from memtape.state.subjects.aging import is_pinned
from memtape.state.subjects.lifecycle import spoken_of, unit_of
from memtape.state.views.resolution import named_by_decision
from memtape.tools.ask.deciding import folded, state_of
from memtape.tools.ask.naming import Ids
from memtape.tools.capture.lines import check_label
from memtape.tools.capture.writing import Writer

Why = Literal["age", "asked"]


class NamedUnit(msgspec.Struct, frozen=True, kw_only=True):
    """A named memory or turn: its id, scope, kind and text, and the number of its captures."""

    id: str
    scope: str
    kind: Kind
    text: str
    captures: int


class ArchivedNow(msgspec.Struct, frozen=True, kw_only=True):
    """The units changed by archiving or restoring, and the units already in the wanted state."""

    done: tuple[NamedUnit, ...]
    already: tuple[NamedUnit, ...]


class Archiving:
    """Archives and restores for a writer in one scope. Folds each scope once; serves one call."""

    def __init__(self, writer: Writer, ids: Ids) -> None:
        self._writer = writer
        self._ids = ids
        self._state = cache(partial(state_of, writer))

    def archive(self, ids: Sequence[str], reason: str | None) -> ArchivedNow:
        """Archive memories and turns, as `Client.archive` says."""
        found = self._named(ids, reason)
        for id, scope in found:
            unit = _unit(scope, id)
            if is_pinned(scope, unit):
                raise MemtapeError(
                    f"{id} is pinned, and what is pinned is not archived. Nothing was archived.",
                    f"`memtape unpin {id}` ends that.",
                )
            if spoken_of(scope, unit) is None:
                raise MemtapeError(
                    f"{id} is forgotten or withdrawn, and found by nobody. Nothing was archived.",
                    f"`memtape restore {id}` shows it again.",
                )
        return self._say(found, reason, on=True)

    def unarchive(self, ids: Sequence[str], all_of: Why | None, reason: str | None) -> ArchivedNow:
        """Bring memories and turns back, or all of the scope that were archived for a reason."""
        if bool(ids) is (all_of is not None):
            raise MemtapeError("Name ids, or a reason of which all come back.", "`memtape archived` lists both.")
        if all_of is not None:
            return self._all_back(all_of, reason)
        found = self._named(ids, reason)
        for id, scope in found:
            unit = _unit(scope, id)
            spoken, project = spoken_of(scope, unit), scope.lifecycle.project
            if unit not in scope.lifecycle.archived and spoken is not None and scope.lifecycle.is_past(spoken.at):
                raise MemtapeError(
                    f"{id} is archived with its project, which was finished on {format_day(project.since)}.",
                    f"`memtape project resume --scope {scope.name}` brings all of it back.",
                )
        return self._say(found, reason, on=False)

    def _named(self, ids: Sequence[str], reason: str | None) -> list[tuple[str, Scope]]:
        """Return the named units, each once, with the states of their scopes at the end of the log."""
        check_label("reason", reason)
        if not ids:
            raise MemtapeError("No id was named.", "`memtape search` and `memtape archived` show ids.")
        found: dict[tuple[str, int], tuple[str, Scope]] = {}
        for given in dict.fromkeys(ids):
            id, scope = self._ids.within(given, self._folded)
            if scope.name == GLOBAL and self._writer.actor.origin != "operator":
                raise MemtapeError(f"{id} belongs to global, which only operators change.", "Say --origin operator.")
            found.setdefault((scope.name, _unit(scope, id)), (id, scope))
        return list(found.values())

    def _say(self, found: list[tuple[str, Scope]], reason: str | None, *, on: bool) -> ArchivedNow:
        """Append an event for each scope with changes; return the changed and the unchanged units."""
        done, already, named = list[NamedUnit](), list[NamedUnit](), dict[str, dict[str, None]]()
        for id, scope in found:
            ids = named_by_decision(scope, id, only=False)
            told = _told(scope, id, len(ids))
            if (_unit(scope, id) in scope.lifecycle.archived) is on:
                already.append(told)
                continue
            done.append(told)
            named.setdefault(scope.name, {}).update(dict.fromkeys(ids))
        for name, all_ids in named.items():
            self._append(name, list(all_ids), reason, on=on)
        return ArchivedNow(done=tuple(done), already=tuple(already))

    def _all_back(self, why: Why, reason: str | None) -> ArchivedNow:
        check_label("reason", reason)
        scope = self._state(self._writer.scope)
        units = [] if scope is None else [u for u, it in scope.lifecycle.archived.items() if it.why == why]
        if scope is None or not units:
            raise MemtapeError(
                f"Nothing of {self._writer.scope} was archived for the reason {why}.", "`memtape archived` lists it."
            )
        ids = [scope.captures.by_seq[unit].id for unit in units]
        self._append(scope.name, ids, reason, on=False)
        return ArchivedNow(done=tuple(_told(scope, id, 1) for id in ids), already=())

    def _append(self, scope: str, ids: list[str], reason: str | None, *, on: bool) -> None:
        for first in range(0, len(ids), MAX_IDS):
            body = Archived(ids=tuple(ids[first : first + MAX_IDS]), on=on, reason=reason or None)
            self._writer.append("archived", body, scope)

    def _folded(self, scope: str, id: str) -> tuple[str, Scope]:
        return folded(self._writer, scope, id, self._state)


def _unit(scope: Scope, id: str) -> int:
    capture = scope.captures.get(id)
    assert capture is not None
    return unit_of(scope, capture)


def _told(scope: Scope, id: str, captures: int) -> NamedUnit:
    """Describe the unit of an id by its canonical text, or its first text if hidden."""
    unit = _unit(scope, id)
    capture = spoken_of(scope, unit) or scope.captures.by_seq[unit]
    return NamedUnit(
        id=id, scope=scope.name, kind=capture.kind, text=scope.captures.body(capture).text, captures=captures
    )
