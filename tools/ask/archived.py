"""The archive and the aging of a scope, and the projects of a home: lists for people, and changes by hand.

Texts of purged rows are only on the log, and only the folded state resolves their ids. The rules of aging are in
`state`; changing their settings is in `tools/keep/log_settings.py`. `tools/capture/project.py` decides which folder
belongs to which project.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from heapq import nsmallest
from typing import Literal

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import MAX_IDS, Archived, Captured, Kind
from memtape.schemas.log import Log
from memtape.schemas.rows import ArchiveRow, LifeMark, made_from
from memtape.schemas.scopes import GLOBAL, partition_of, scopes_read
from memtape.schemas.times import HOUR_US, format_day, format_time
from memtape.sinks.home.folders import Home
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.subjects.lifecycle import is_pinned, spoken_of
from memtape.state.subjects.memories import unit_of
from memtape.state.views.ages import Age, Pass, UnitCounts, age_of, next_pass, standing
from memtape.state.views.resolution import named_by_decision
from memtape.tools.ask.looking import check_limit
from memtape.tools.ask.naming import Ids, folded, nowhere, state_of
from memtape.tools.ask.retrieval import Retriever, capture_at
from memtape.tools.capture.lines import check_label
from memtape.tools.capture.writing import Writer
from memtape.tools.keep.states import state_at

MOST = 10_000
OnRead = Callable[[int], None]
"""Gets how many texts were read so far."""


class ArchivedText(msgspec.Struct, frozen=True, kw_only=True):
    """An archived memory or turn, by the id of its first capture. Times are in microseconds.

    `text` is the text of its memory, or of its first capture if `purged`; empty if no text is left. `hidden`
    says that the memory or turn was also forgotten or withdrawn.
    """

    id: str
    scope: str
    kind: Kind
    at: int
    archived_at: int
    why: str
    purged: bool
    text: str
    hidden: bool


class ArchiveList(msgspec.Struct, frozen=True, kw_only=True):
    """The archived texts of a scope and of `global`, by reason, each list the latest first, up to a limit.

    `counts` has their number by reason; of all these, `purged` rows have left the views. `projects` are the
    home's dormant and finished projects, by scope. `lag` is the number of events that the views lack.
    """

    scope: str
    archived: tuple[ArchivedText, ...]
    counts: dict[str, int]
    purged: int
    projects: dict[str, LifeMark]
    lag: int


def archived_of(
    retriever: Retriever, scope: str, limit: int, *, purged: bool, on_read: OnRead = lambda done: None
) -> ArchiveList:
    """Return the archived texts of a scope and of `global`; with `purged` also those that left the views."""
    log = retriever.log
    check_limit(limit, MOST)
    rows, marks = list[ArchiveRow](), dict[str, LifeMark]()
    for number in range(log.partitions):
        if (mark := retriever.watermark(number)) is not None:
            marks |= mark.lives
    partitions = {name: partition_of(name, log.partitions) for name in scopes_read(scope)}
    for name, number in partitions.items():
        shard = retriever.shard(number)
        rows += shard.rows(ArchiveRow, name) if shard.exists() else []
    listed = [row for row in rows if row.purged is purged]
    latest = nsmallest(limit, listed, key=lambda row: (row.why != "asked", -row.archived_at, row.id))
    opened = {name: retriever.opened(name) for name in partitions}
    erasures = {name: erasures_of(log.erased(number)) for name, number in partitions.items()}
    texts = []
    for row in latest:
        shown = next(iter(opened[row.scope].rows_called(row.id)), None)
        text = _said(log, row, erasures[row.scope]) if shown is None else shown.text
        texts.append(made_from(ArchivedText, row, text=text, hidden=shown is not None and shown.hidden))
        on_read(len(texts))
    return ArchiveList(
        scope=scope,
        archived=tuple(texts),
        counts=dict(sorted(Counter(row.why for row in listed).items())),
        purged=sum(row.purged for row in rows),
        projects={name: mark for name, mark in sorted(marks.items()) if mark.state != "active"},
        lag=sum(len(list(retriever.tail(name, retriever.offset(number)))) for name, number in partitions.items()),
    )


def _said(log: Log, row: ArchiveRow, erasures: Erasures) -> str:
    """Return the text of a capture on the log, empty if erased."""
    event = capture_at(log, partition_of(row.scope, log.partitions), row.offset_of, erasures)
    return event.body.text if event is not None and event.id == row.id and isinstance(event.body, Captured) else ""


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


def archive(writer: Writer, known: Ids, ids: Sequence[str], reason: str | None) -> ArchivedNow:
    """Archive memories and turns of a writer's scopes, as `Client.archive` says."""
    found = _named(writer, known, ids, reason)
    for id, scope in found:
        unit = _unit(scope, id)
        if is_pinned(scope, unit):
            raise MemtapeError(
                f"{id} is pinned, and what is pinned is not archived. Nothing was archived.",
                f"`memtape pin --undo {id}` ends that.",
            )
        if spoken_of(scope, unit) is None:
            raise MemtapeError(
                f"{id} is forgotten or withdrawn, and found by nobody. Nothing was archived.",
                f"`memtape restore {id}` shows it again.",
            )
    return _append_units(writer, found, reason, on=True)


def unarchive(writer: Writer, known: Ids, ids: Sequence[str], all_of: Why | None, reason: str | None) -> ArchivedNow:
    """Bring memories and turns back, or all of the scope that were archived for a reason."""
    if bool(ids) is (all_of is not None):
        raise MemtapeError("Name ids, or a reason of which all come back.", "`memtape archive --list` lists both.")
    if all_of is not None:
        check_label("reason", reason)
        here = state_of(writer, writer.scope)
        archived = [] if here is None else [unit for unit, it in here.lifecycle.archived.items() if it.why == all_of]
        if here is None or not archived:
            told = f"Nothing of {writer.scope} was archived for the reason {all_of}."
            raise MemtapeError(told, "`memtape archive --list` lists it.")
        units = [(here.captures.by_seq[unit].id, here) for unit in archived]
        return _append_units(writer, units, reason, on=False)
    found = _named(writer, known, ids, reason)
    for id, scope in found:
        unit = _unit(scope, id)
        spoken, project = spoken_of(scope, unit), scope.lifecycle.project
        if unit not in scope.lifecycle.archived and spoken is not None and scope.lifecycle.is_past(spoken.at):
            raise MemtapeError(
                f"{id} is archived with its project, which was finished on {format_day(project.since)}.",
                f"`memtape project finish --undo --scope {scope.name}` brings all of it back.",
            )
    return _append_units(writer, found, reason, on=False)


def _named(writer: Writer, known: Ids, ids: Sequence[str], reason: str | None) -> list[tuple[str, Scope]]:
    """Return the named units, each once, with the states of their scopes, each folded once to the end of the log."""
    check_label("reason", reason)
    if not ids:
        raise MemtapeError("No id was named.", "`memtape search` and `memtape archive --list` show ids.")
    state = cache(partial(state_of, writer))
    found: dict[tuple[str, int], tuple[str, Scope]] = {}
    for given in dict.fromkeys(ids):
        id, scope = known.within(given, lambda name, id: folded(writer, name, id, state))
        if scope.name == GLOBAL and writer.actor.origin != "operator":
            raise MemtapeError(f"{id} belongs to global, which only operators change.", "Say --origin operator.")
        found.setdefault((scope.name, _unit(scope, id)), (id, scope))
    return list(found.values())


def _append_units(writer: Writer, found: list[tuple[str, Scope]], reason: str | None, *, on: bool) -> ArchivedNow:
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
        for first in range(0, len(all_ids), MAX_IDS):
            body = Archived(ids=tuple(all_ids)[first : first + MAX_IDS], on=on, reason=reason or None)
            writer.append("archived", body, name)
    return ArchivedNow(done=tuple(done), already=tuple(already))


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


class Aging(msgspec.Struct, frozen=True, kw_only=True):
    """The aging of a scope: its own state, the numbers of its texts by tier, and the latest tick.

    `ticked_at` is the clock of its partition, in microseconds, 0 before its first event. `pass_` has the
    changes of the next pass, None unless asked for. `on` says whether passes happen at all.
    """

    scope: str
    mark: LifeMark
    on: bool
    ticked_at: int
    standing: UnitCounts
    pass_: Pass | None = msgspec.field(name="pass", default=None)
    settings: dict[str, int | bool] = {}


def aging_of(home: Home, log: Log, name: str, now: int, *, dry_run: bool, at: int | None) -> Aging:
    """Return the aging of a scope, and for a dry run the changes of the next pass, or of a pass at a time.

    Raises `MemtapeError` for a time that the clock has passed already.
    """
    state = _folded(home, log, name)
    scope, clock = state.scopes.get(name) or Scope(name), state.clock or 0
    if at is not None and at // HOUR_US * HOUR_US <= clock:
        raise MemtapeError(
            f"The clock of {name} stands at {format_time(clock)}, and only goes on.", "Give a later hour, or none."
        )
    hour = (now if at is None else at) // HOUR_US * HOUR_US
    return Aging(
        scope=name,
        mark=scope.lifecycle.mark(),
        on=state.settings.lifecycle,
        ticked_at=clock,
        standing=standing(scope),
        pass_=next_pass(scope, state.settings, max(hour, clock // HOUR_US * HOUR_US + HOUR_US)) if dry_run else None,
    )


def age_of_id(home: Home, log: Log, ids: Ids, id: str, now: int) -> Age:
    """Return how the memory or turn of an id has aged, purged or not. Raises `NotFound`."""

    def of(name: str, id: str) -> Age:
        for read in scopes_read(name):
            if not log.known(read, [id]):
                continue
            state = _folded(home, log, read)
            scope = state.scopes.get(read)
            capture = None if scope is None else scope.captures.get(id)
            if scope is not None and capture is not None:
                return age_of(scope, unit_of(scope, capture), state.settings, max(now, state.clock or 0))
        raise nowhere(name, id)

    return ids.within(id, of)


def _folded(home: Home, log: Log, name: str) -> Partition:
    number = partition_of(name, log.partitions)
    return state_at(log, home.current(), number, log.ends()[number])
