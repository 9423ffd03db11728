"""Aged texts: a project's state in its views, and the captures without rows in the views, from the log.

Nothing is searched or ranked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from memtape.schemas.codec import event_of
from memtape.schemas.events import Captured, Event
from memtape.schemas.log import Log
from memtape.schemas.rows import LifeMark, SummaryRow, Watermark, archived_on
from memtape.schemas.scopes import partition_of
from memtape.sinks.search_index import OpenIndex
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.subjects.captures import FAMILIES, normal_digest
from memtape.state.subjects.tombstones import text_row_id

if TYPE_CHECKING:
    from memtape.tools.ask.found import ScopeTexts

PURGED = "archived, and gone from the views; `memtape archive --undo` brings it back"
"""The mark of a capture that only the log has."""


class SummarySource(msgspec.Struct, frozen=True, kw_only=True):
    """A source of a summary, by its capture; the text is None if no longer on the log.

    `marks` say that the source is archived, or has left the views.
    """

    id: str
    at: int
    text: str | None
    marks: tuple[str, ...] = ()


def life_of(watermark: Watermark | None, scope: str) -> LifeMark:
    """Return how a project stood when its views were written."""
    return watermark.lives.get(scope, LifeMark()) if watermark is not None else LifeMark()


def captures_of(log: Log, scope: str, ids: Sequence[str]) -> dict[str, Event]:
    """Return captures of a scope from the log, without erased ones."""
    partition = partition_of(scope, log.partitions)
    erasures = erasures_of(log.erased(partition))
    known = log.known(scope, ids) if ids else {}
    return {id: event for id, offset in known.items() if (event := capture_at(log, partition, offset, erasures))}


def capture_at(log: Log, partition: int, offset: int, erasures: Erasures) -> Event | None:
    """Return the capture at an offset of the log, None where none is or where it is erased."""
    slots = log.read(partition, offset, 1)
    event = event_of(slots[0].payload) if slots else None
    if event is None or not isinstance(event.body, Captured) or erasures.covers(event):
        return None
    return event


def purged_of(log: Log, opened: OpenIndex, scope: str, id: str) -> Event | None:
    """Return a capture without a row in the views, unless forgotten."""
    event = captures_of(log, scope, [id]).get(id)
    is_shown = event is not None and isinstance(event.body, Captured) and not _is_banned(opened, id, event.body)
    return event if is_shown else None


def _is_banned(opened: OpenIndex, id: str, body: Captured) -> bool:
    keys = [f"id:{id}", *([text_row_id(normal_digest(body.text))] if body.kind in FAMILIES else ())]
    return any(opened.row("tombstones", key) is not None for key in keys)


def is_hidden(log: Log, found: ScopeTexts, scope: str, id: str) -> bool:
    """Whether a capture is hidden: by a ban of the views, or by one of the tail."""
    event = captures_of(log, scope, [id]).get(id)
    if event is None or not isinstance(event.body, Captured):
        return False
    if rows := found.opened.rows_called(id):
        is_shown = rows[0].archived_at is not None or found.texts.called(rows[0].id) is not None
        return rows[0].hidden or not is_shown or _is_banned(found.opened, id, event.body)
    if event.body.kind not in FAMILIES:
        return _is_banned(found.opened, id, event.body)
    return all(shown.id != id for shown in found.captured)


def sources_of(log: Log, opened: OpenIndex, row: SummaryRow) -> tuple[SummarySource, ...]:
    """Return the sources of a summary in its order: from the views, and from the log those that left the
    views.
    """
    shown = {id: rows[0] for id in row.sources if (rows := opened.rows_called(id))}
    gone = captures_of(log, row.scope, [id for id in row.sources if id not in shown])
    told = []
    for id in row.sources:
        if (found := shown.get(id)) is not None:
            archived = () if found.archived_at is None else (archived_on(found.archived_at),)
            told.append(SummarySource(id=id, at=found.at, text=found.text, marks=archived))
        elif (event := gone.get(id)) is not None and isinstance(event.body, Captured):
            told.append(SummarySource(id=id, at=event.at, text=event.body.text, marks=(PURGED,)))
        else:
            told.append(SummarySource(id=id, at=row.since, text=None))
    return tuple(told)
