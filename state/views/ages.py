"""The aging of a scope's texts, for people: tiers, and the next pass. Nothing changes.

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
from memtape.state.subjects.lifecycle import ARCHIVE, LONG, MID, PURGE

Place = Literal["mid", "long", "archived", "purged"]  # Where a pass moves a unit.
PLACES: dict[int, Place] = {MID: "mid", LONG: "long", ARCHIVE: "archived", PURGE: "purged"}
"""The same by the level of a group."""


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
    """The result of a pass at a time: its moves, of how many units. The others stay.

    `project` is the change of the project as a whole: `dormant`, or `purged` if all of it leaves the views.
    """

    at: int
    moves: tuple[Moving, ...]
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
    tried = msgspec.msgpack.decode(copied, type=lifecycle.Lifecycle)
    context = Context(scope.name, scope.seq, scope.changed, at, at, settings, Counters(), scope)
    if settings.lifecycle:
        lifecycle.age_project(tried, context)
    moves = lifecycle.moves(tried, context) if settings.lifecycle else []
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
        moving=sum(len(units) for _, units in moves),
        total=sum(1 for _ in lifecycle.units_of(scope)),
        project=becomes,
    )


def to_be_archived(scope: Scope) -> int:
    """Return how many units that are shown would be archived with the project, if it was finished now."""
    units = (unit for unit in lifecycle.units_of(scope) if unit not in scope.lifecycle.archived)
    return sum(bool(lifecycle.living_of(scope, unit)) for unit in units)


def _apart(scope: Scope, unit: int) -> str | None:
    """Return why a unit does not age at any time: archived or purged, hidden, of no aging kind, or pinned."""
    archiving = scope.lifecycle.archived.get(unit)
    if archiving is not None:
        return "purged" if archiving.purged else "archived"
    if not lifecycle.living_of(scope, unit):
        return "hidden"
    if not lifecycle.kind_of(scope, unit):
        return "does not age"
    return "pinned" if lifecycle.is_pinned(scope, unit) else None
