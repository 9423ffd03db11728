"""The aging of a scope's texts, for people: tiers, reasons to stay, and the next pass. Nothing changes.

The rules of aging and of a pass are in `state/subjects/lifecycle.py`, the display in `tools`.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

import msgspec

from memtape.schemas.rows import Context, Counters
from memtape.schemas.settings import Settings
from memtape.state.core.scope import Scope
from memtape.state.subjects import lifecycle
from memtape.state.subjects.lifecycle import ARCHIVE, LONG, MID, PURGE, AgingStep

Place = Literal["mid", "long", "archived", "purged"]
"""Where a pass moves a unit."""
PLACES: dict[int, Place] = {MID: "mid", LONG: "long", ARCHIVE: "archived", PURGE: "purged"}
"""The same by the level of a group."""
Stays = Literal[
    "too young",
    "worth keeping",
    "used",
    "group too small",
    "no room",
    "switched off",
    "archived",
    "purged",
    "pinned",
    "hidden",
    "does not age",
]
"""Why a unit does not move in a pass: `worth keeping` has retention above the limit, `used` was recalled or
used since and so is never archived by age, `no room` is beyond `MOST_A_PASS`.
"""


class UnitCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of a scope's units by place. A unit is counted once: all but `summaries` add up to `total`.

    `archived` ones are still in the views, `purged` ones are not. `apart` counts units that do not age, by
    reason: pinned, hidden, consolidated, or their kind.
    """

    short: int
    mid: int
    long: int
    archived: int
    purged: int
    apart: dict[str, int]
    total: int
    summaries: int


class Moving(msgspec.Struct, frozen=True, kw_only=True):
    """Units of one group moved by a pass.

    `since` is the start of the group's day or week, `label` its session or speaker.
    """

    to: Place
    since: int
    kind: str
    label: str
    count: int


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a pass at a time: its moves, and the units that stay, by reason. Both add up to `total`.

    `project` is the change of the project as a whole: `dormant`, or `purged` if all of it leaves the views.
    """

    at: int
    moves: tuple[Moving, ...]
    stays: dict[Stays, int]
    moving: int
    total: int
    project: Literal["dormant", "purged"] | None


def standing(scope: Scope) -> UnitCounts:
    """Return the numbers of a scope's units by place."""
    counts = Counter[str]()
    for unit in lifecycle.units_of(scope):
        apart, capture = _apart(scope, unit), scope.captures.by_seq[unit]
        kind = "consolidated" if capture.made else capture.kind
        counts[kind if apart == "does not age" else apart or scope.lifecycle.tier(unit)] += 1
    total = counts.total()
    named = {name: counts.pop(name, 0) for name in ("short", "mid", "long", "archived", "purged")}
    return UnitCounts(
        **named, apart=dict(sorted(counts.items())), total=total, summaries=len(scope.lifecycle.summaries)
    )


def next_pass(scope: Scope, settings: Settings, at: int) -> Pass:
    """Return the result of a pass at a time. The pass runs on a copy: the scope stays unchanged."""
    copied = msgspec.msgpack.encode(scope.lifecycle)
    tried, context = msgspec.msgpack.decode(copied, type=lifecycle.Lifecycle), _context(scope, settings, at)
    if settings.lifecycle:
        lifecycle.age_project(tried, context)
    moves = lifecycle.moves(tried, context) if settings.lifecycle else []
    moved = {unit: group for group, units in moves for unit in units}
    staying = (unit for unit in lifecycle.units_of(scope) if unit not in moved)
    reasons = [_why_stays(scope, unit, context) for unit in staying]
    due = Counter(why.group for why in reasons if isinstance(why, AgingStep))
    stays = Counter[Stays](why for why in reasons if not isinstance(why, AgingStep))
    begun = dict.fromkeys(group for group, _ in moves)
    for group, count in due.items():
        is_full = group in begun or count >= lifecycle.least_of(scope.lifecycle, group)
        stays["no room" if is_full else "group too small"] += count
    then, now = tried.project, scope.lifecycle.project
    becomes: Literal["dormant", "purged"] | None = "dormant" if then.state == "dormant" != now.state else None
    becomes = "purged" if then.purged and not now.purged else becomes
    told = tuple(
        Moving(to=PLACES[it.level], since=it.start, kind=it.kind, label=it.label, count=len(units))
        for it, units in moves
    )
    return Pass(
        at=at,
        moves=told,
        stays=dict(sorted(stays.items())),
        moving=len(moved),
        total=len(moved) + stays.total(),
        project=becomes,
    )


def to_be_archived(scope: Scope) -> int:
    """Return how many units that are shown would be archived with the project, if it was finished now."""
    units = (unit for unit in lifecycle.units_of(scope) if unit not in scope.lifecycle.archived)
    return sum(bool(lifecycle.living_of(scope, unit)) for unit in units)


def _context(scope: Scope, settings: Settings, at: int) -> Context[Scope]:
    return Context(scope.name, scope.seq, scope.changed, at, at, settings, Counters(), scope)


def _apart(scope: Scope, unit: int) -> Stays | None:
    """Return why a unit does not age at any time: archived or purged, hidden, of no aging kind, or pinned."""
    archiving = scope.lifecycle.archived.get(unit)
    if archiving is not None:
        return "purged" if archiving.purged else "archived"
    if not lifecycle.living_of(scope, unit):
        return "hidden"
    if not lifecycle.kind_of(scope, unit):
        return "does not age"
    return "pinned" if lifecycle.is_pinned(scope, unit) else None


def _why_stays(scope: Scope, unit: int, context: Context[Scope]) -> Stays | AgingStep:
    """Return why a unit cannot move at the time of a context, or the step that is due."""
    apart, settings, now = _apart(scope, unit), context.settings, context.clock
    step = lifecycle.step_of(scope.lifecycle, unit, context)
    if step is not None and step.at <= now and apart in (None, "archived", "purged"):
        return step
    if apart is not None or not settings.lifecycle:
        return apart or "switched off"
    if scope.lifecycle.tier(unit) == "long" and step is None:
        return "used" if settings.archive_after_days >= 0 else "switched off"
    if step is None:
        return "worth keeping"
    is_young = step.group.level > LONG or lifecycle.old_at(settings, step.group) > now
    return "too young" if is_young else "worth keeping"
