"""The aging of a scope's texts: their tiers, summaries, archive, and the state of the project.

A unit is a turn, known by its seq, or a memory, known by its birth, and ages as one. Nothing here removes a
text from the log, from the fold or from validity. Due units, and the pass of a tick, are in `aging`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple, Protocol, TypeAlias

import msgspec
from sortedcontainers import SortedDict

from memtape.schemas.events import Archived, Captured, Event, Pinned, ScopeChanged, Tier, Used
from memtape.schemas.rows import Change, LifeMark, made_from
from memtape.schemas.times import DAY_US
from memtape.state.core.context import Context
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.embeddings import vector_row_id
from memtape.state.subjects.memories import HasMemories, captures_of, row_of_unit, unit_of
from memtape.state.subjects.pins import Pins
from memtape.state.subjects.usage import Usage

TIERS: tuple[Tier, ...] = ("short", "mid", "long")
"""The tiers, by the number of summaries that have taken in a text."""
MID, LONG = 1, 2
"""How many summaries have taken in a text of these tiers, which is also the level of the last of them."""
AGING = ("turn", "journal", "fact")
"""Turns, and the families of memories, that move through the tiers and are archived by age."""
DAYS_A_WEEK = 7
IDLE = ("configured", "decided", "embedded", "scope_changed", "withdrawn")
"""Events that do not count as work in a project."""


class Group(NamedTuple):
    """The units of one summary: of one window, one kind and, for a day, one session or speaker.

    `start` is that of the window, in microseconds; a window has a day at level 1 and a week at level 2.
    `kind` is one of `AGING`. `label` is empty at level 2.
    """

    start: int
    level: int
    kind: str
    label: str


class Summary(msgspec.Struct):
    """A summarised group, with its units. `id` follows from the scope and the group."""

    id: str
    group: Group
    units: list[int]


class ArchiveState(msgspec.Struct):
    """Since when a unit is archived, in microseconds, why, and whether it has left the views too."""

    at: int
    why: Literal["age", "asked"]
    purged: bool = False


class ProjectState(msgspec.Struct):
    """The state of a project as a whole, from `since` on, in microseconds.

    `active_at` is the time of the last work in it, by the clock of its partition, `git_at` of the last commit
    to its repository. A dormant project can have left the views: it is `purged`.
    """

    state: Literal["active", "dormant", "finished"] = "active"
    since: int = 0
    active_at: int = 0
    git_at: int = 0
    name: str = ""
    purged: bool = False


DueUnits: TypeAlias = SortedDict[int, list[int]]


def put_due(due: DueUnits, hour: int, unit: int) -> None:
    """Let a unit be looked at from an hour on."""
    due.setdefault(hour, []).append(unit)


class Lifecycle(msgspec.Struct, dict=True, array_like=True):
    """The aging of a scope's texts.

    `summed` has the ids of the summaries by group, and `within` by unit the summaries that took it in, level
    1 first.

    `due` and `ready` follow from the rest: the units by the hour of their next check, so that a tick costs
    its due texts and never the scope; and the due units waiting for others of their group. A unit may be in
    several hours, and one checked too early is checked again later. `due` is None if it must be rebuilt.
    """

    summaries: dict[str, Summary] = {}
    archived: dict[int, ArchiveState] = {}
    project: ProjectState = msgspec.field(default_factory=ProjectState)

    def __post_init__(self) -> None:
        self.summed = {summary.group: summary.id for summary in self.summaries.values()}
        self.within: dict[int, tuple[str, ...]] = {}
        shared: dict[tuple[str, ...], tuple[str, ...]] = {}
        for summary in sorted(self.summaries.values(), key=lambda summary: summary.group.level):
            for unit in summary.units:
                path = (*self.within.get(unit, ()), summary.id)
                self.within[unit] = shared.setdefault(path, path)
        self.forget_due()

    def tier(self, unit: int) -> Tier:
        """Return the tier of a unit."""
        return TIERS[len(self.within.get(unit, ()))]

    def mark(self) -> LifeMark:
        """Return the state of the scope for readers."""
        project, summed = self.project, {MID: 0, LONG: 0}
        for summary in self.summaries.values():
            summed[summary.group.level] += len(summary.units)
        archived = Counter(len(self.within.get(unit, ())) for unit in self.archived)
        return made_from(
            LifeMark,
            project,
            mid=summed[MID] - summed[LONG] - archived[MID],
            long=summed[LONG] - archived[LONG],
            summaries=len(self.summaries),
            archived=len(self.archived),
            purged=sum(archiving.purged for archiving in self.archived.values()),
            is_purged=project.purged,
        )

    def is_purged(self, unit: int) -> bool:
        """Return whether a unit has left the views."""
        archiving = self.archived.get(unit)
        return self.project.purged or (archiving is not None and archiving.purged)

    def is_past(self, at: int) -> bool:
        """Return whether a text of a time is archived with its project, finished since."""
        return self.project.state == "finished" and at <= self.project.since

    def forget_due(self) -> None:
        """Discard the due times, since other settings are in force."""
        self.due: DueUnits | None = None
        self.ready: dict[Group, dict[int, None]] = {}


class HasLifecycle(HasMemories, Protocol):
    """A scope seen through its memories, their use and their age."""

    pins: Pins
    usage: Usage
    lifecycle: Lifecycle


def evolve(state: Lifecycle, event: Event, context: Context[HasLifecycle]) -> list[Change]:
    """Bring back units used, pinned or said again, archive units on request, and record due times."""
    of, changes = context.of, list[Change]()
    for birth in context.gone:
        changes += _drop(state, birth, context)
    touched, again, back = _touched(event, context), _said_again(event, context), list[int]()
    match event.body:
        case Archived(ids=ids, on=True):
            units = (unit for unit in _units(of, ids) if unit not in state.archived)
            changes += [change for unit in units for change in archive(state, unit, "asked", context)]
        case Archived(ids=ids):
            back = _units(of, ids)
        case ScopeChanged() as changed:
            changes += _change(state, changed, context)
        case Pinned(ids=ids, on=on):
            again += _units(of, ids)
            back = again if on else []
        case Captured() | Used():
            back = again
        case _:  # Two memories of equal content became one: the content was said again.
            back = list(dict.fromkeys(unit_of(of, of.captures.by_seq[birth]) for birth in context.gone))
    changes += [change for unit in back for change in _come_back(state, unit, context)]
    for unit in (*touched, *again):
        look_at(state, unit)
    summaries = dict.fromkeys(id for unit in touched for id in state.within.get(unit, ()))
    changes += [Change("summaries", context.scope, id) for id in summaries]
    if event.type not in IDLE:
        changes += _wake(state, context)
    return changes


def living_of(of: HasLifecycle, unit: int) -> tuple[Capture, ...]:
    """Return the visible captures of a unit, echoes left out; none of a former unit."""
    memory, capture = of.memories.by_birth.get(unit), of.captures.by_seq.get(unit)
    own = (capture,) if capture is not None and capture.kind == "turn" else ()
    return tuple(it for it in (own if memory is None else captures_of(of, memory.members)) if not it.hidden)


def spoken_of(of: HasLifecycle, unit: int) -> Capture | None:
    """Return the capture that speaks for a unit, None where all of the unit is hidden or it is none any more."""
    memory = of.memories.by_birth.get(unit)
    if memory is not None:
        return of.captures.by_seq[memory.canonical] if memory.lives else None
    return next(iter(living_of(of, unit)), None)


def sources_of(of: HasLifecycle, summary: Summary) -> list[Capture]:
    """Return the visible captures of a summary's sources, in the order in which they moved."""
    return [capture for unit in summary.units if (capture := spoken_of(of, unit)) is not None]


def is_archived(of: HasLifecycle, unit: int) -> bool:
    """Return whether a unit is archived, by itself or with its project."""
    spoken = spoken_of(of, unit)
    return unit in of.lifecycle.archived or (spoken is not None and of.lifecycle.is_past(spoken.at))


def all_rows_of(scope: str, of: HasLifecycle, unit: int) -> list[Change]:
    """Return the row of a unit, and the rows of its captures' vectors."""
    memory = of.memories.by_birth.get(unit)
    seqs = [unit] if memory is None else [join.seq for join in memory.joins]
    vectors = (
        Change("vectors", scope, vector_row_id(of.captures.by_seq[seq].id, embedder))
        for embedder, known in of.embeddings.vectors.items()
        for seq in seqs
        if seq in known
    )
    return [row_of_unit(scope, of, unit), *vectors]


def look_at(state: Lifecycle, unit: int) -> None:
    """Schedule a unit's check for the next pass; a step due later is postponed there."""
    if state.due is not None:
        put_due(state.due, 0, unit)


def _come_back(state: Lifecycle, unit: int, context: Context[HasLifecycle]) -> list[Change]:
    archiving = state.archived.pop(unit, None)
    if archiving is None:
        return []
    look_at(state, unit)
    return archive_rows(context, unit, are_all=archiving.purged)


def archive_rows(context: Context[HasLifecycle], unit: int, *, are_all: bool = False) -> list[Change]:
    """Return the rows of a unit that is archived or comes back, `are_all` with its vectors."""
    scope, of = context.scope, context.of
    rows = all_rows_of(scope, of, unit) if are_all else [row_of_unit(scope, of, unit)]
    return [*rows, Change("archive", scope, of.captures.by_seq[unit].id)]


def window_end(group: Group) -> int:
    """Return when the window of a group ends, in microseconds, which is no longer part of it."""
    return group.start + DAY_US * (1 if group.level == MID else DAYS_A_WEEK)


def _touched(event: Event, context: Context[HasLifecycle]) -> list[int]:
    """Return the units that an event made, changed, hid or showed, each once."""
    of = context.of
    captures = [of.captures.by_seq[seq] for seq in context.flipped] + of.captures.found(context.touched)
    if isinstance(event.body, Captured):
        captures.append(of.captures.by_seq[context.seq])
    return list(dict.fromkeys(unit_of(of, capture) for capture in captures))


def _said_again(event: Event, context: Context[HasLifecycle]) -> list[int]:
    """Return the units that an event says again, or shows to be used."""
    of = context.of
    units = [unit_of(of, of.captures.by_seq[seq]) for seq in context.used]
    if isinstance(event.body, Captured) and event.body.kind != "turn":
        capture = of.captures.by_seq[context.seq]
        units += [] if capture.hidden else [unit_of(of, capture)]
    return units


def _units(of: HasLifecycle, ids: Iterable[str]) -> list[int]:
    return list(dict.fromkeys(unit_of(of, capture) for capture in of.captures.found(ids)))


def archive(state: Lifecycle, unit: int, why: Literal["age", "asked"], context: Context[HasLifecycle]) -> list[Change]:
    """Archive a unit, and return the changed rows."""
    state.archived[unit] = ArchiveState(context.clock, why)
    look_at(state, unit)
    return archive_rows(context, unit)


def _drop(state: Lifecycle, birth: int, context: Context[HasLifecycle]) -> list[Change]:
    """Drop a memory that was merged into another."""
    changes, path = [], state.within.pop(birth, ())
    for id in path:
        state.summaries[id].units.remove(birth)
        changes.append(Change("summaries", context.scope, id))
    if state.archived.pop(birth, None) is not None:
        changes.append(Change("archive", context.scope, context.of.captures.by_seq[birth].id))
    return changes


def _change(state: Lifecycle, changed: ScopeChanged, context: Context[HasLifecycle]) -> list[Change]:
    """Apply a change of the project as a whole."""
    project = state.project
    project.name = project.name if changed.name is None else changed.name
    project.git_at = max(project.git_at, min(changed.git_at or 0, context.clock))
    if changed.state is None:
        return _wake(state, context) if project.state == "dormant" and project.git_at > project.since else []
    project.active_at = max(project.active_at, context.clock)
    if changed.state == project.state:
        return []
    return stand(state, changed.state, context)


def _wake(state: Lifecycle, context: Context[HasLifecycle]) -> list[Change]:
    """Record activity in the project; a dormant project becomes active."""
    state.project.active_at = max(state.project.active_at, context.clock)
    return stand(state, "active", context) if state.project.state == "dormant" else []


def stand(
    state: Lifecycle, how: Literal["active", "dormant", "finished"], context: Context[HasLifecycle]
) -> list[Change]:
    """Set the project's state, and return the changed rows; none of its rows is purged."""
    was_purged = state.project.purged
    since = max(context.clock, context.at)  # The clock stands still between ticks, and texts are said meanwhile.
    state.project = msgspec.structs.replace(state.project, state=how, since=since, purged=False)
    state.forget_due()
    return project_rows(state, context) if was_purged else [Change("scope", context.scope, "")]


def project_rows(state: Lifecycle, context: Context[HasLifecycle]) -> list[Change]:
    """Return the display of the project's state, and the rows of all its units."""
    of = context.of
    turns = (seq for seq, capture in of.captures.by_seq.items() if capture.kind == "turn")
    rows = (row for unit in (*turns, *of.memories.by_birth) for row in all_rows_of(context.scope, of, unit))
    return [Change("scope", context.scope, ""), *rows]


def kind_of(of: HasLifecycle, unit: int) -> str:
    """Return the kind of a unit: one of `AGING`, or empty if it does not age."""
    capture, memory = of.captures.by_seq[unit], of.memories.by_birth.get(unit)
    kind = "turn" if capture.kind == "turn" else capture.family or ""
    return kind if kind in AGING and not (memory is not None and memory.made) else ""
