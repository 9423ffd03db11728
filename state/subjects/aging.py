"""The pass of a tick: texts move to the next tier, are archived, or leave the views.

A pass follows from the clock, the settings and the state alone. It costs the due units and never the scope: a
unit that cannot move yet is checked again when time alone may have changed the result, or when an event
touches it. `lifecycle` stores the state of aging.

A unit was said at the latest time of its visible captures. The UTC day of that time (for `mid`) or its week from
Monday (for `long`) must have been over for the days that the settings name. A pass moves groups in the order of
(start, level, kind, label), in a group the earliest unit first, and a unit makes one step. Pinned, archived and
hidden units stay. A unit of `long` that was never recalled or used is archived by age, unless a person's text in it
instructs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sortedcontainers import SortedDict

from memtape.schemas.events import PEOPLE
from memtape.schemas.ids import derived_id
from memtape.schemas.rows import Change
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.state.core.context import Context
from memtape.state.lifecycle.retention import Retention, RetentionInputs, falls_at, importance_of, retention
from memtape.state.subjects import lifecycle
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.lifecycle import LONG, MID, Group, HasLifecycle, Lifecycle, Summary
from memtape.state.subjects.memories import row_of_unit
from memtape.state.subjects.usage import Use
from memtape.state.text.instructions import heard_in

MOST_A_PASS = 500
"""Maximum moves of texts in one pass of a scope; the rest waits for the next."""
LEAST_IN_GROUP = 3
"""Minimum number of texts in a new summary; later ones join an existing summary."""
ARCHIVE, PURGE = 3, 4
"""The steps besides summing up, as the level of their group."""
WEEK_US = lifecycle.DAYS_A_WEEK * DAY_US
_MONDAY_US = 4 * DAY_US
"""1970-01-05 was a Monday."""
_MOST_KEPT = 100
"""The importance assumed for a text before it is read."""


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
    changes = age_project(state, context)
    for move in moves(state, context):
        changes += _apply(state, move, context)
    return changes


def moves(state: Lifecycle, context: Context[HasLifecycle]) -> list[Move]:
    """Return the moves of a pass at `context.clock`, oldest first, and remove them from the ready ones."""
    due = _due(state, context.of, context.settings)
    checked: dict[int, None] = {}
    while due and due.peekitem(0)[0] <= context.clock // HOUR_US:
        checked |= dict.fromkeys(due.popitem(0)[1])
    for unit in checked:
        _place(state, due, unit, context)
    found, left = list[Move](), MOST_A_PASS
    for group in sorted(group for group, units in state.ready.items() if len(units) >= least_of(state, group)):
        least = least_of(state, group)
        if left < least:
            continue  # The group waits for the next pass, and is not checked before.
        units = _still_due(state, group, context)
        taken = units[:left] if len(units) >= least else []
        state.ready[group] = dict.fromkeys(units[len(taken) :])
        if taken:
            left -= len(taken)
            found.append((group, tuple(taken)))
    return found


def retention_of(unit: int, of: HasLifecycle, now: int) -> Retention | None:
    """Return the retention of a unit at a time, None if it does not age or is hidden."""
    living = lifecycle.living_of(of, unit)
    if not living or not lifecycle.kind_of(of, unit):
        return None
    return retention(_kept_of(unit, of, living, _accessed(of, unit, living)), now)


def step_of(state: Lifecycle, unit: int, context: Context[HasLifecycle]) -> AgingStep | None:
    """Return the next step of a unit, None if time alone brings none."""
    of, settings, now = context.of, context.settings, context.clock
    archiving, living = state.archived.get(unit), lifecycle.living_of(of, unit)
    if archiving is not None:
        return _purge_step(state, unit, settings)
    if not living or not lifecycle.kind_of(of, unit) or is_pinned(of, unit):
        return None
    said_at, tier = max(capture.at for capture in living), len(state.within.get(unit, ()))
    if tier == LONG:
        if settings.archive_after_days < 0 or any(use.recalled or use.used for use in _uses(of, unit)):
            return None
        old_at = said_at + settings.archive_after_days * DAY_US
        return None if old_at <= now and _binds(of, unit) else AgingStep(_group(ARCHIVE, said_at), old_at)
    level = tier + 1
    group = _summed_group(of, unit, level, said_at)
    days, hundredths = moves_after(settings, level)
    old_at = lifecycle.window_end(group) + days * DAY_US
    if old_at > now:
        return AgingStep(group, old_at)
    low_at = _low_at(unit, of, living, hundredths * 10_000, now)
    return None if low_at is None else AgingStep(group, max(old_at, low_at))


def moves_after(settings: Settings, level: int) -> tuple[int, int]:
    """Return after how many days, and up to which retention in hundredths, a unit moves to a level."""
    if level == MID:
        return settings.mid_after_days, settings.mid_retention_hundredths
    return settings.long_after_days, settings.long_retention_hundredths


def _due(state: Lifecycle, of: HasLifecycle, settings: Settings) -> lifecycle.DueUnits:
    """Return the calendar of due units, rebuilt if missing by one check of every unit."""
    if state.due is None:
        state.due, state.ready = SortedDict(), {}
        for seq, capture in of.captures.by_seq.items():
            if capture.kind == "turn":
                lifecycle.put_due(state.due, _earliest(state, capture, settings), seq)
        for birth in of.memories.by_birth:
            lifecycle.put_due(state.due, 0, birth)
    return state.due


def _earliest(state: Lifecycle, turn: Capture, settings: Settings) -> int:
    """Return an hour before which a turn has no step; `step_of` is more exact, and slower."""
    if turn.seq in state.archived:
        return 0
    after = (settings.mid_after_days, settings.long_after_days, settings.archive_after_days)
    return max(0, turn.at // HOUR_US + after[len(state.within.get(turn.seq, ()))] * 24)


def _place(state: Lifecycle, due: lifecycle.DueUnits, unit: int, context: Context[HasLifecycle]) -> None:
    """Mark a unit ready if its step is due, else postpone it."""
    step = step_of(state, unit, context)
    if step is None:
        return
    if step.at > context.clock:
        lifecycle.put_due(due, -(-step.at // HOUR_US), unit)
    else:
        state.ready.setdefault(step.group, {})[unit] = None


def _still_due(state: Lifecycle, group: Group, context: Context[HasLifecycle]) -> list[int]:
    """Return the units of a group that are due by now as they were when they were put there, the oldest first."""
    units = []
    for unit in state.ready[group]:
        step = step_of(state, unit, context)
        if step is not None and step.group == group and step.at <= context.clock:
            units.append(unit)
    return sorted(units, key=lambda unit: (_said_at(context.of, unit), unit))


def _said_at(of: HasLifecycle, unit: int) -> int:
    """Return the time of a unit's last text; of its first if hidden, since it can still leave the views."""
    return max((capture.at for capture in lifecycle.living_of(of, unit)), default=of.captures.by_seq[unit].at)


def least_of(state: Lifecycle, group: Group) -> int:
    """Return the number of units that a group needs to move; an existing summary takes in any later unit."""
    return 1 if group.level > LONG or group in state.summed else LEAST_IN_GROUP


def _apply(state: Lifecycle, move: Move, context: Context[HasLifecycle]) -> list[Change]:
    """Apply a pass's decision about units, and return the changed rows."""
    changes, scope, of = list[Change](), context.scope, context.of
    group, units = move
    if group.level in (MID, LONG):
        if group not in state.summed:
            id = state.summed[group] = derived_id("summary", scope, None, ":".join(map(str, group)))
            state.summaries[id] = Summary(id, group, [])
        summary = state.summaries[state.summed[group]]
        summary.units += units
        paths: dict[tuple[str, ...], tuple[str, ...]] = {}
        for unit in units:
            before = state.within.get(unit, ())
            state.within[unit] = paths.setdefault(before, (*before, summary.id))
        changes.append(Change("summaries", scope, summary.id))
    for unit in units:
        if group.level == ARCHIVE:
            changes += lifecycle.archive(state, unit, "age", context)
        elif group.level == PURGE:
            state.archived[unit].purged = True
            changes += lifecycle.archive_rows(context, unit, are_all=True)
        else:
            changes.append(row_of_unit(scope, of, unit))
        if state.due is not None:
            _place(state, state.due, unit, context)
    return changes


def age_project(state: Lifecycle, context: Context[HasLifecycle]) -> list[Change]:
    """Make a long inactive project dormant, and remove it from the views after a longer time."""
    project, settings, now = state.project, context.settings, context.clock
    if context.scope == GLOBAL or project.state == "finished":
        return []
    if project.state == "active":
        last = max(project.active_at, project.git_at)
        if settings.dormant_after_days < 0 or now < last + settings.dormant_after_days * DAY_US:
            return []
        return lifecycle.stand(state, "dormant", context)
    if project.purged or settings.purge_after_days < 0 or now < project.since + settings.purge_after_days * DAY_US:
        return []
    project.purged = True
    return lifecycle.project_rows(state, context)


def _purge_step(state: Lifecycle, unit: int, settings: Settings) -> AgingStep | None:
    archiving = state.archived[unit]
    if archiving.purged or settings.purge_after_days < 0 or state.project.state == "finished":
        return None
    return AgingStep(_group(PURGE, archiving.at), archiving.at + settings.purge_after_days * DAY_US)


def _low_at(unit: int, of: HasLifecycle, living: Sequence[Capture], limit: int, now: int) -> int | None:
    """Return from when on the retention of a unit is at most a limit; None for never. No text is read without need."""
    accessed = used_at, accesses = _accessed(of, unit, living)
    last = max(*(capture.at for capture in living), used_at)
    sure = falls_at(RetentionInputs(last, accesses, _MOST_KEPT, has_media=True, is_pinned=False), limit)
    if sure is not None and sure <= now:
        return sure
    return falls_at(_kept_of(unit, of, living, accessed), limit)


def _kept_of(unit: int, of: HasLifecycle, living: Sequence[Capture], accessed: tuple[int, int]) -> RetentionInputs:
    """Return the inputs of a unit's retention; `living` are its visible captures."""
    spoken, (used_at, accesses) = lifecycle.spoken_of(of, unit), accessed
    assert spoken is not None  # Something of the unit lives.
    bodies = [of.captures.body(capture) for capture in living]
    given = max((body.importance_given for body in bodies if body.importance_given is not None), default=None)
    return RetentionInputs(
        last=max(*(capture.at for capture in living), used_at),
        accesses=accesses,
        importance=importance_of(given, of.captures.body(spoken).text),
        has_media=any(body.media for body in bodies),
        is_pinned=is_pinned(of, unit),
    )


def _accessed(of: HasLifecycle, unit: int, living: Sequence[Capture]) -> tuple[int, int]:
    """Return when a unit was used last (0 for never), and how often it was used or said again."""
    uses = _uses(of, unit)
    used_at = max((use.last for use in uses if use.last is not None), default=0)
    return used_at, sum(use.used for use in uses) + len(living) - 1


def _uses(of: HasLifecycle, unit: int) -> list[Use]:
    return [use for seq in _seqs(of, unit) if (use := of.usage.own.get(seq)) is not None]


def is_pinned(of: HasLifecycle, unit: int) -> bool:
    """Return whether any capture of a unit is pinned, echoes included."""
    return of.pins.has_any(of.captures.by_seq[seq].id for seq in _seqs(of, unit))


def _binds(of: HasLifecycle, unit: int) -> bool:
    """Return whether a unit has a person's standing instruction, given at every start without a question."""
    spoken = lifecycle.spoken_of(of, unit)
    if spoken is None or spoken.actor.origin not in PEOPLE:
        return False
    return heard_in(of.captures.body(spoken).text).instructs


def _seqs(of: HasLifecycle, unit: int) -> Iterable[int]:
    memory = of.memories.by_birth.get(unit)
    return (unit,) if memory is None else (join.seq for join in memory.joins)


def _summed_group(of: HasLifecycle, unit: int, level: int, said_at: int) -> Group:
    """Return the group of a unit's summary: of a day by session or speaker, of a week by kind alone."""
    if level == LONG:
        return Group(said_at - (said_at - _MONDAY_US) % WEEK_US, level, lifecycle.kind_of(of, unit), "")
    capture: Capture = of.captures.by_seq[unit]
    label = capture.session if capture.kind == "turn" and capture.session is not None else capture.actor.name
    return _group(level, said_at)._replace(kind=lifecycle.kind_of(of, unit), label=label)


def _group(level: int, at: int) -> Group:
    return Group(at - at % DAY_US, level, "", "")
