"""The aging of a scope's texts: tiers, summaries, archive, the state of the project, and a tick's pass.

A unit is a turn, known by its seq, or a memory, known by its birth, and ages as one. Nothing here removes a
text from the log, from the fold or from validity.

A pass follows from the clock, the settings and the state alone. It costs the due units and never the scope: a
unit that cannot move yet is checked again when time alone may have changed the result, or when an event
touches it.

A unit was said at the latest time of its visible captures. The UTC day of that time (for `mid`) or its week
from Monday (for `long`) must have been over for the days that the settings name. A pass moves groups in the
order of (start, level, kind, label), in a group the earliest unit first, and a unit makes one step. Pinned,
archived and hidden units stay. A unit of `long` that was never recalled or used is archived by age, unless a
person's text in it instructs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple, Protocol

import msgspec
from sortedcontainers import SortedDict

from memtape.schemas.events import PEOPLE, Archived, Captured, Event, Pinned, ScopeChanged, Tier, Used
from memtape.schemas.ids import derived_id
from memtape.schemas.rows import Change, Context, LifeMark, made_from
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.state.lifecycle.retention import RetentionInputs, falls_at, importance_of
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.embeddings import vector_row_id
from memtape.state.subjects.memories import HasMemories, captures_of, row_of_unit, unit_of
from memtape.state.subjects.pins import Pins
from memtape.state.subjects.usage import Usage, Use
from memtape.state.text.instructions import heard_in
from memtape.state.text.reading import read

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


ArchiveWhy = Literal["age", "asked"]


class ArchiveState(msgspec.Struct):
    """Since when a unit is archived, in microseconds, why, and whether it has left the views too."""

    at: int
    why: ArchiveWhy
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


class Lifecycle(msgspec.Struct, dict=True, array_like=True):
    """The aging of a scope's texts.

    `summed` has the ids of the summaries by group, and `within` by unit the summaries that took it in, level
    1 first.

    `due`, `ready` and `ripe` follow from the rest: the units by the hour of their next check, so that a tick
    costs its due texts and never the scope; the due units waiting for others of their group; and the groups
    of the next pass. A unit may be in several hours, and one checked too early is checked again later. `due`
    is None if it must be rebuilt.
    """

    summaries: dict[str, Summary] = {}
    archived: dict[int, ArchiveState] = {}
    project: ProjectState = msgspec.field(default_factory=ProjectState)

    def __post_init__(self) -> None:
        self.summed = {summary.group: summary.id for summary in self.summaries.values()}
        self.within: dict[int, tuple[str, ...]] = {}
        for summary in sorted(self.summaries.values(), key=lambda summary: summary.group.level):
            self.take_in(summary.id, summary.units)
        self.forget_due()

    def take_in(self, id: str, units: Iterable[int]) -> None:
        """Let a summary be the last that took in these units; units of equal summaries share one tuple."""
        paths: dict[tuple[str, ...], tuple[str, ...]] = {}
        for unit in units:
            before = self.within.get(unit, ())
            self.within[unit] = paths.setdefault(before, (*before, id))

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
        self.due: SortedDict[int, list[int]] | None = None
        self.ready: dict[Group, dict[int, None]] = {}
        self.ripe: dict[Group, None] = {}

    def look_at(self, unit: int) -> None:
        """Schedule a unit's check for the next pass; a step due later is postponed there."""
        if self.due is not None:
            self.due.setdefault(0, []).append(unit)


class HasLifecycle(HasMemories, Protocol):
    """A scope seen through its memories, their use and their age."""

    pins: Pins
    usage: Usage
    lifecycle: Lifecycle


def evolve(state: Lifecycle, event: Event, context: Context[HasLifecycle]) -> list[Change]:
    """Bring back units used, pinned or said again, archive units on request, and record due times."""
    of, scope, by_seq, changes = context.of, context.scope, context.of.captures.by_seq, list[Change]()
    for birth in context.gone:
        for id in state.within.pop(birth, ()):
            state.summaries[id].units.remove(birth)
            changes.append(Change("summaries", scope, id))
        if state.archived.pop(birth, None) is not None:
            changes.append(Change("archive", scope, by_seq[birth].id))
    changed = [by_seq[seq] for seq in context.flipped] + of.captures.found(context.touched)
    said = [by_seq[seq] for seq in context.used]
    if isinstance(event.body, Captured):
        changed.append(own := by_seq[context.seq])
        said += [] if own.hidden or own.kind == "turn" else [own]
    touched, again, back = _units(of, changed), _units(of, said), list[int]()
    match event.body:
        case Archived(ids=ids, on=True):
            units = (unit for unit in _units(of, of.captures.found(ids)) if unit not in state.archived)
            changes += [change for unit in units for change in _archive(state, unit, "asked", context)]
        case Archived(ids=ids):
            back = _units(of, of.captures.found(ids))
        case ScopeChanged() as told:
            changes += _change(state, told, context)
        case Pinned(ids=ids, on=on):
            again += _units(of, of.captures.found(ids))
            back = again if on else []
        case Captured() | Used():
            back = again
        case _:  # Two memories of equal content became one: the content was said again.
            back = _units(of, map(by_seq.__getitem__, context.gone))
    for unit in back:
        if (archiving := state.archived.pop(unit, None)) is not None:
            state.look_at(unit)
            changes += _archive_rows(context, unit, are_all=archiving.purged)
    for unit in (*touched, *again):
        state.look_at(unit)
    summaries = dict.fromkeys(id for unit in touched for id in state.within.get(unit, ()))
    changes += [Change("summaries", scope, id) for id in summaries]
    return changes if event.type in IDLE else changes + _wake(state, context)


def living_of(of: HasLifecycle, unit: int) -> tuple[Capture, ...]:
    """Return the visible captures of a unit, echoes left out; none of a former unit."""
    memory, capture = of.memories.by_birth.get(unit), of.captures.by_seq.get(unit)
    own = (capture,) if capture is not None and capture.kind == "turn" else ()
    return tuple(it for it in (own if memory is None else captures_of(of, memory.members)) if not it.hidden)


def spoken_of(of: HasLifecycle, unit: int) -> Capture | None:
    """Return the capture that speaks for a unit, None for a hidden or former unit."""
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


def is_pinned(of: HasLifecycle, unit: int) -> bool:
    """Return whether any capture of a unit is pinned, echoes included."""
    return of.pins.has_any(of.captures.by_seq[seq].id for seq in _seqs(of, unit))


def uses_of(of: HasLifecycle, unit: int) -> list[Use]:
    """Return the recalls and uses of a unit's captures, echoes included."""
    return [use for seq in _seqs(of, unit) if (use := of.usage.own.get(seq)) is not None]


def turns_of(of: HasLifecycle) -> list[int]:
    """Return the turns of a scope."""
    return [seq for seq, capture in of.captures.by_seq.items() if capture.kind == "turn"]


def units_of(of: HasLifecycle) -> Iterator[int]:
    """Yield each unit of a scope: its turns, and its memories."""
    return chain(turns_of(of), of.memories.by_birth)


def kind_of(of: HasLifecycle, unit: int) -> str:
    """Return the kind of a unit: one of `AGING`, or empty if it does not age."""
    capture, memory = of.captures.by_seq[unit], of.memories.by_birth.get(unit)
    kind = "turn" if capture.kind == "turn" else capture.family or ""
    return kind if kind in AGING and not (memory is not None and memory.made) else ""


def window_end(group: Group) -> int:
    """Return when the window of a group ends, in microseconds, which is no longer part of it."""
    return group.start + DAY_US * (1 if group.level == MID else DAYS_A_WEEK)


def _units(of: HasLifecycle, captures: Iterable[Capture]) -> list[int]:
    return list(dict.fromkeys(unit_of(of, capture) for capture in captures))


def _seqs(of: HasLifecycle, unit: int) -> Iterable[int]:
    memory = of.memories.by_birth.get(unit)
    return (unit,) if memory is None else (join.seq for join in memory.joins)


def _all_rows_of(context: Context[HasLifecycle], unit: int) -> list[Change]:
    """Return the row of a unit, and the rows of its captures' vectors."""
    of, scope = context.of, context.scope
    vectors = (
        Change("vectors", scope, vector_row_id(of.captures.by_seq[seq].id, embedder))
        for embedder, known in of.embeddings.vectors.items()
        for seq in _seqs(of, unit)
        if seq in known
    )
    return [row_of_unit(scope, of, unit), *vectors]


def _archive_rows(context: Context[HasLifecycle], unit: int, *, are_all: bool = False) -> list[Change]:
    """Return the rows of a unit that is archived or comes back, `are_all` with its vectors."""
    rows = _all_rows_of(context, unit) if are_all else [row_of_unit(context.scope, context.of, unit)]
    return [*rows, Change("archive", context.scope, context.of.captures.by_seq[unit].id)]


def _archive(state: Lifecycle, unit: int, why: ArchiveWhy, context: Context[HasLifecycle]) -> list[Change]:
    state.archived[unit] = ArchiveState(context.clock, why)
    state.look_at(unit)
    return _archive_rows(context, unit)


# --- The state of the project ---


def _change(state: Lifecycle, changed: ScopeChanged, context: Context[HasLifecycle]) -> list[Change]:
    project = state.project
    project.name = project.name if changed.name is None else changed.name
    project.git_at = max(project.git_at, min(changed.git_at or 0, context.clock))
    if changed.state is None:
        return _wake(state, context) if project.state == "dormant" and project.git_at > project.since else []
    project.active_at = max(project.active_at, context.clock)
    return [] if changed.state == project.state else _stand(state, changed.state, context)


def _wake(state: Lifecycle, context: Context[HasLifecycle]) -> list[Change]:
    """Record activity in the project; a dormant project becomes active."""
    state.project.active_at = max(state.project.active_at, context.clock)
    return _stand(state, "active", context) if state.project.state == "dormant" else []


def _stand(
    state: Lifecycle, how: Literal["active", "dormant", "finished"], context: Context[HasLifecycle]
) -> list[Change]:
    """Set the project's state, and return the changed rows; none of its rows is purged."""
    was_purged = state.project.purged
    since = max(context.clock, context.at)  # The clock stands still between ticks, and texts come meanwhile.
    state.project = msgspec.structs.replace(state.project, state=how, since=since, purged=False)
    state.forget_due()
    return _project_rows(context) if was_purged else [Change("scope", context.scope, "")]


def _project_rows(context: Context[HasLifecycle]) -> list[Change]:
    """Return the display of the project's state, and the rows of all its units."""
    rows = (row for unit in units_of(context.of) for row in _all_rows_of(context, unit))
    return [Change("scope", context.scope, ""), *rows]


def age_project(state: Lifecycle, context: Context[HasLifecycle]) -> list[Change]:
    """Make a long inactive project dormant, and remove it from the views after a longer time."""
    project, settings, now = state.project, context.settings, context.clock
    if context.scope == GLOBAL or project.state == "finished":
        return []
    if project.state == "active":
        last = max(project.active_at, project.git_at)
        if settings.dormant_after_days < 0 or now < last + settings.dormant_after_days * DAY_US:
            return []
        return _stand(state, "dormant", context)
    purged_at = project.since + settings.purge_after_days * DAY_US
    if project.purged or settings.purge_after_days < 0 or now < purged_at:
        return []
    project.purged = True
    return _project_rows(context)


MOST_A_PASS = 500  # Maximum moves of texts in one pass of a scope; the rest waits for the next.
LEAST_IN_GROUP = 3  # Minimum number of texts in a new summary; later ones join an existing summary.
ARCHIVE, PURGE = 3, 4  # The steps besides summing up, as the level of their group.
WEEK_US = DAYS_A_WEEK * DAY_US
_MONDAY_US = 4 * DAY_US  # 1970-01-05 was a Monday.
_MOST_KEPT = 100  # The importance assumed for a text before it is read.


class AgingStep(NamedTuple):
    """The next step of a unit with its group, and its time in microseconds.

    While `at` lies ahead it is no later than the time when the step is due; from then on it is that time.
    """

    group: Group
    at: int


Move = tuple[Group, tuple[int, ...]]
"""Units that a pass moves together, in the order of their times."""


def run(state: Lifecycle, context: Context[HasLifecycle]) -> list[Change]:
    """Let a tick pass, and return the rows that it touched; `context.clock` is the time of the tick."""
    if not context.settings.lifecycle:
        return []
    changes, scope = age_project(state, context), context.scope
    for group, units in moves(state, context):
        if group.level in (MID, LONG):
            if group not in state.summed:
                id = state.summed[group] = derived_id("summary", scope, None, ":".join(map(str, group)))
                state.summaries[id] = Summary(id, group, [])
            summary = state.summaries[state.summed[group]]
            summary.units += units
            state.take_in(summary.id, units)
            changes.append(Change("summaries", scope, summary.id))
        for unit in units:
            if group.level == ARCHIVE:
                changes += _archive(state, unit, "age", context)
            elif group.level == PURGE:
                state.archived[unit].purged = True
                changes += _archive_rows(context, unit, are_all=True)
            else:
                changes.append(row_of_unit(scope, context.of, unit))
            state.look_at(unit)
    return changes


def moves(state: Lifecycle, context: Context[HasLifecycle]) -> list[Move]:
    """Return the moves of a pass at `context.clock`, oldest first, and remove them from the ready ones."""
    due, now, checked = _due(state, context.of, context.settings), context.clock, dict[int, None]()
    while due and due.peekitem(0)[0] <= now // HOUR_US:
        checked |= dict.fromkeys(due.popitem(0)[1])
    for unit in checked:
        step = step_of(state, unit, context)
        if step is not None and step.at > now:
            due.setdefault(-(-step.at // HOUR_US), []).append(unit)
        elif step is not None:
            state.ready.setdefault(step.group, {})[unit] = None
            state.ripe[step.group] = None
    found, left = list[Move](), MOST_A_PASS
    for group in sorted(state.ripe):
        # An existing summary takes in any later unit.
        least = 1 if group.level > LONG or group in state.summed else LEAST_IN_GROUP
        units = list(state.ready[group])
        if left < least <= len(units):
            continue  # The group waits for the next pass, and is not checked before.
        if len(units) >= least:  # Of these move those that are still due, the oldest first.
            steps = ((unit, step_of(state, unit, context)) for unit in units)
            due_units = [it for it, step in steps if step and step.group == group and step.at <= now]
            units = sorted(due_units, key=lambda it: (_said_at(context.of, it), it))
        taken = units[:left] if len(units) >= least else []
        state.ready[group] = dict.fromkeys(units[len(taken) :])
        if not taken or not state.ready[group]:
            del state.ripe[group]
        if taken:
            left -= len(taken)
            found.append((group, tuple(taken)))
    return found


def _due(state: Lifecycle, of: HasLifecycle, settings: Settings) -> SortedDict[int, list[int]]:
    """Return the calendar of due units, rebuilt if missing by one check of every unit.

    A turn is not checked before an hour that has no step for it; `step_of` is more exact, and slower.
    """
    if state.due is None:
        state.due, state.ready, state.ripe = SortedDict({0: list(of.memories.by_birth)}), {}, {}
        after = (settings.mid_after_days, settings.long_after_days, settings.archive_after_days)
        for seq in turns_of(of):
            hour = of.captures.by_seq[seq].at // HOUR_US + after[len(state.within.get(seq, ()))] * 24
            state.due.setdefault(0 if seq in state.archived else max(0, hour), []).append(seq)
    return state.due


def _said_at(of: HasLifecycle, unit: int) -> int:
    """Return the time of a unit's latest visible capture; of a hidden unit that of its first."""
    return max((it.at for it in living_of(of, unit)), default=of.captures.by_seq[unit].at)


def step_of(state: Lifecycle, unit: int, context: Context[HasLifecycle]) -> AgingStep | None:
    """Return the next step of a unit, None if time alone brings none."""
    of, settings, now = context.of, context.settings, context.clock
    living, archiving = living_of(of, unit), state.archived.get(unit)
    if not settings.lifecycle:
        return None
    if archiving is not None:
        if archiving.purged or settings.purge_after_days < 0 or state.project.state == "finished":
            return None
        return AgingStep(_group(PURGE, archiving.at), archiving.at + settings.purge_after_days * DAY_US)
    if not (living and kind_of(of, unit)) or is_pinned(of, unit):
        return None
    said_at, tier = max(capture.at for capture in living), len(state.within.get(unit, ()))
    if tier == LONG:
        if settings.archive_after_days < 0 or any(use.recalled or use.used for use in uses_of(of, unit)):
            return None
        at = said_at + settings.archive_after_days * DAY_US
        spoken = spoken_of(of, unit) if at <= now else None
        if spoken is None or spoken.actor.origin not in PEOPLE:
            return AgingStep(_group(ARCHIVE, said_at), at)
        # A person's standing instruction is given at every start without a question.
        binds = heard_in(read(of.captures.body(spoken).text)).instructs
        return None if binds else AgingStep(_group(ARCHIVE, said_at), at)
    group = _summed_group(of, unit, tier + 1, said_at)
    days, hundredths = settings.mid_after_days, settings.mid_retention_hundredths
    if group.level == LONG:
        days, hundredths = settings.long_after_days, settings.long_retention_hundredths
    at, limit = window_end(group) + days * DAY_US, hundredths * 10_000
    if at > now:
        return AgingStep(group, at)
    low_at = falls_at(_kept_of(of, unit, living, is_read=False), limit)
    if low_at is None or low_at > now:  # The texts are read last.
        low_at = falls_at(_kept_of(of, unit, living), limit)
    return None if low_at is None else AgingStep(group, max(at, low_at))


def _kept_of(
    of: HasLifecycle, unit: int, living: Sequence[Capture], *, is_read: bool = True
) -> RetentionInputs:  # fmt: skip
    """Return the inputs of retention of a unit with these visible captures, unread the most they can be."""
    uses, importance, has_media = uses_of(of, unit), _MOST_KEPT, True
    if is_read:
        spoken, bodies = spoken_of(of, unit), [of.captures.body(capture) for capture in living]
        assert spoken is not None  # Something of the unit lives.
        given = (body.importance_given for body in bodies if body.importance_given is not None)
        importance = importance_of(max(given, default=None), read(of.captures.body(spoken).text))
        has_media = any(body.media for body in bodies)
    return RetentionInputs(
        last=max(*(capture.at for capture in living), *(use.last or 0 for use in uses), 0),
        accesses=sum(use.used for use in uses) + len(living) - 1,
        importance=importance,
        has_media=has_media,
        is_pinned=is_pinned(of, unit),
    )


def _summed_group(of: HasLifecycle, unit: int, level: int, said_at: int) -> Group:
    """Return the group of a unit's summary: of a day by session or speaker, of a week by kind alone."""
    if level == LONG:
        return Group(said_at - (said_at - _MONDAY_US) % WEEK_US, level, kind_of(of, unit), "")
    capture: Capture = of.captures.by_seq[unit]
    label = capture.session if capture.kind == "turn" and capture.session is not None else capture.actor.name
    return _group(level, said_at)._replace(kind=kind_of(of, unit), label=label)


def _group(level: int, at: int) -> Group:
    return Group(at - at % DAY_US, level, "", "")
