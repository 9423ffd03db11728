"""What of one scope is visible now, as rows: those of its views, with the events behind their watermark laid over them.

Ranking is not here: searches keep what they make of the rows (`retrieval`), while who asks without a query reads anew.
"""

from __future__ import annotations

from typing import NamedTuple

from memtape.schemas.events import Mark
from memtape.schemas.rows import MemoryRow, TombstoneRow, TurnRow
from memtape.schemas.scopes import partition_of
from memtape.sinks.tables import Shard, any_of
from memtape.state.views.tail import Overlay, overlay
from memtape.tools.ask.retrieval import Retriever, ScopeView, last_sent


class ScopeRows(NamedTuple):
    """The visible rows of a scope, where its views stand, and its tables for what else is asked."""

    rows: Overlay
    view: ScopeView
    shard: Shard


def scope_rows(retriever: Retriever, scope: str, turns: str) -> ScopeRows:
    """Return what is visible of a scope; of its turns only those that pass the filter `turns`, and what is new.

    The watermark is read first: rows may only be newer than it.
    """
    partition = partition_of(scope, retriever.partitions)
    shard = retriever.shard(partition)
    watermark = retriever.watermark(partition)
    tail = list(retriever.tail(scope, watermark.offset if watermark else 0))
    # A tail may say again what the views have, which must not be taken for new.
    wanted = f"({turns}) OR {any_of('id', (event.id for event in tail))}"
    rows = overlay(
        shard.rows(MemoryRow, scope), shard.rows(TurnRow, scope, wanted), shard.rows(TombstoneRow, scope), tail
    )
    mark = Mark(offset=watermark.offset if watermark else 0, partition=partition)
    view = ScopeView(mark, len(tail), watermark.revision if watermark else 0, last_sent(scope, watermark, tail))
    return ScopeRows(rows, view, shard)
