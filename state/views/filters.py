"""What a search is narrowed to: made from what somebody asked for, checked, and applied to results.

Filters say what may be returned. Nothing here scores or reads anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, get_args

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Filters, Kind, Origin
from memtape.schemas.rows import Provenance, SummaryRow
from memtape.schemas.times import parse_time


class Narrowed(Protocol):
    """What a result must tell to be narrowed down."""

    @property
    def kind(self) -> Kind: ...

    @property
    def tags(self) -> tuple[str, ...]: ...

    @property
    def at(self) -> int: ...

    @property
    def provenance(self) -> tuple[Provenance, ...]: ...


NO_FILTERS = Filters(kinds=(), origins=(), sessions=(), since=None, tags=(), until=None)


def make_filters(
    now_us: int,
    *,
    kinds: Sequence[Kind] = (),
    origins: Sequence[Origin] = (),
    sessions: Sequence[str] = (),
    since: str | None = None,
    tags: Sequence[str] = (),
    until: str | None = None,
) -> Filters:
    """Return filters whose times are given as ISO 8601 or as an age before `now_us`, in microseconds."""
    return Filters(
        kinds=tuple(kinds),
        origins=tuple(origins),
        sessions=tuple(sessions),
        since=parse_time(since, now_us) if since else None,
        tags=tuple(tags),
        until=parse_time(until, now_us) if until else None,
    )


def check_filters(filters: Filters) -> None:
    """Raise `MemtapeError` for filters that no event could record, such as an origin that there is not."""
    for what, named, known in (("origin", filters.origins, get_args(Origin)), ("kind", filters.kinds, get_args(Kind))):
        if strange := [value for value in named if value not in known]:
            raise MemtapeError(f"There is no {what} {str(strange[0])[:60]!r}.", f"There are {', '.join(known)}.")
    try:
        msgspec.convert(msgspec.to_builtins(filters), Filters)
    except msgspec.ValidationError as error:
        raise MemtapeError(f"The search cannot be narrowed to that: {error}.", "Ask with other filters.") from None


def passes(result: Narrowed, filters: Filters) -> bool:
    """Whether a result is what a search was narrowed to: any of the kinds, all of the tags, within the times.

    Kind, tags and time are those of the text that speaks. Of origins and sessions, one capture of the memory that lives
    must have both an origin and a session that are named.
    """
    return (
        (not filters.kinds or result.kind in filters.kinds)
        and all(tag in result.tags for tag in filters.tags)
        and (filters.since is None or result.at >= filters.since)
        and (filters.until is None or result.at < filters.until)
        and (not (filters.origins or filters.sessions) or _is_made_by(result, filters))
    )


def summary_passes(row: SummaryRow, filters: Filters) -> bool:
    """Whether a summary tells of what a search was narrowed to: texts of a kind, of times, and of a day of a session.

    It has no tags and no origin, so that none passes where these are asked for. A summary of a week has no session.
    """
    return (
        not (filters.tags or filters.origins)
        and (not filters.kinds or row.kind in filters.kinds)
        and (not filters.sessions or (row.kind == "turn" and row.label in filters.sessions))
        and (filters.since is None or row.last_at >= filters.since)
        and (filters.until is None or row.first_at < filters.until)
    )


def _is_made_by(result: Narrowed, filters: Filters) -> bool:
    return any(
        (not filters.origins or made.origin in filters.origins)
        and (not filters.sessions or made.session in filters.sessions)
        for made in result.provenance
    )
