"""The archive of a scope, listed with the sleeping projects of its home.

Texts of purged rows are only on the log. Archiving by hand and aging are in `tools/verbs/archiving.py`.
"""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest

import msgspec

from memtape.schemas.events import Captured, Kind
from memtape.schemas.log import Log
from memtape.schemas.metrics import OnPhase
from memtape.schemas.rows import ArchiveRow, LifeMark, made_from
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.tools.query.looking import check_limit
from memtape.tools.query.retrieval import Retriever, capture_at

MOST = 10_000


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
    retriever: Retriever,
    scope: str,
    limit: int,
    *,
    purged: bool = False,
    on_phase: OnPhase = lambda phase, done, total: None,
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
        on_phase("reading", len(texts), len(latest))
    tails = (retriever.tail(name, retriever.offset(number)) for name, number in partitions.items())
    return ArchiveList(
        scope=scope,
        archived=tuple(texts),
        counts=dict(sorted(Counter(row.why for row in listed).items())),
        purged=sum(row.purged for row in rows),
        projects={name: mark for name, mark in sorted(marks.items()) if mark.state != "active"},
        lag=sum(len(list(tail)) for tail in tails),
    )


def _said(log: Log, row: ArchiveRow, erasures: Erasures) -> str:
    """Return the text of a capture on the log, empty if erased."""
    event = capture_at(log, partition_of(row.scope, log.partitions), row.offset_of, erasures)
    body = event.body if event is not None and event.id == row.id else None
    return body.text if isinstance(body, Captured) else ""
