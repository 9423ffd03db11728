"""The filters of a search: built from a request, checked, and applied to results.

Filters decide which results are allowed. Nothing here scores or reads anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, get_args

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Filters, Kind, Origin, Tier
from memtape.schemas.rows import Provenance, SummaryRow
from memtape.schemas.times import parse_time


class Spoken(Protocol):
    """The fields of a text, its author and its time that rules about texts read."""

    @property
    def kind(self) -> Kind: ...

    @property
    def text(self) -> str: ...

    @property
    def tags(self) -> tuple[str, ...]: ...

    @property
    def actor(self) -> str: ...

    @property
    def origin(self) -> Origin: ...

    @property
    def at(self) -> int: ...


class Narrowed(Spoken, Protocol):
    """The fields of a result that filters read."""

    @property
    def tier(self) -> Tier: ...

    @property
    def provenance(self) -> tuple[Provenance, ...]: ...


TIERS_SUMMED: dict[int, Tier] = {1: "mid", 2: "long"}
"""The tier of the texts in a summary of a day, or of a week."""

FILTERS = Filters.__struct_fields__
"""The names of the filters, equal to the keywords of `make_filters`."""


def make_filters(
    now_us: int, *, since: str | None = None, until: str | None = None, **named: Sequence[str]
) -> Filters:  # fmt: skip
    """Return filters by their names; times are in ISO 8601, or an age before `now_us`, in microseconds."""
    if unknown := named.keys() - FILTERS:
        raise TypeError(f"There is no filter {min(unknown)}.")
    values: dict[str, Any] = {name: tuple(named.get(name, ())) for name in FILTERS}
    for name, time in (("since", since), ("until", until)):
        values[name] = parse_time(time, now_us) if time else None
    return Filters(**values)


NO_FILTERS = make_filters(0)


def check_filters(filters: Filters) -> None:
    """Raise `MemtapeError` for filters that no event can record, for example an unknown origin."""
    for what, named, known in (
        ("origin", (*filters.origins, *filters.not_origins), get_args(Origin)),
        ("kind", (*filters.kinds, *filters.not_kinds), get_args(Kind)),
        ("tier", filters.tiers, get_args(Tier)),
    ):
        if strange := [value for value in named if value not in known]:
            said = f"There is no {what} {str(strange[0])[:60]!r}."
            raise MemtapeError(said, f"There are {', '.join(known)}.")
    try:
        msgspec.convert(msgspec.to_builtins(filters), Filters)
    except msgspec.ValidationError as error:
        said = f"The search cannot be narrowed to that: {error}."
        raise MemtapeError(said, "Ask with other filters.") from None


def passes(result: Narrowed, filters: Filters) -> bool:
    """Return whether a result passes filters: any of the kinds, all of the tags, within the times.

    Kind, tags, time and actor are those of the canonical text; letter case of a name does not count. For
    origins and sessions, one living capture of the memory must have both a named origin and a named session.
    An excluded value excludes the results that the value alone would allow.
    """
    made = result.provenance
    return (
        (not filters.kinds or result.kind in filters.kinds)
        and result.kind not in filters.not_kinds
        and (not filters.tiers or result.tier in filters.tiers)
        and (not filters.actors or result.actor.casefold() in map(str.casefold, filters.actors))
        and not any(tag in result.tags for tag in filters.not_tags)
        and not any(it.origin in filters.not_origins or it.session in filters.not_sessions for it in made)
        and all(tag in result.tags for tag in filters.tags)
        and (filters.since is None or result.at >= filters.since)
        and (filters.until is None or result.at < filters.until)
        and (not (filters.origins or filters.sessions) or any(_has_made(it, filters) for it in made))
    )


def summary_passes(row: SummaryRow, filters: Filters) -> bool:
    """Return whether a summary passes filters by kind, time, and a day's session.

    A summary has no tags, no origin and no actor, so that none passes filters by these. A summary of a week
    has no session. The texts of a day have moved into the tier `mid`, those of a week into `long`.
    """
    of_session = row.kind == "turn" and bool(row.label)
    return (
        not (filters.actors or filters.tags or filters.origins or filters.not_tags or filters.not_origins)
        and (not filters.kinds or row.kind in filters.kinds)
        and row.kind not in filters.not_kinds
        and (not filters.tiers or TIERS_SUMMED[row.level] in filters.tiers)
        and (not filters.sessions or (of_session and row.label in filters.sessions))
        and (not filters.not_sessions or (of_session and row.label not in filters.not_sessions))
        and (filters.since is None or row.last_at >= filters.since)
        and (filters.until is None or row.first_at < filters.until)
    )


def _has_made(it: Provenance, filters: Filters) -> bool:
    is_named = not filters.sessions or it.session in filters.sessions
    return is_named and (not filters.origins or it.origin in filters.origins)
