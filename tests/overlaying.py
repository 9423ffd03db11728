"""What a reader finds of rows and of the events behind them: by a search index in memory, as searches read one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memtape.schemas.events import Event
from memtape.schemas.rows import GoneRow, Guarded, MemoryRow, Row, TurnRow
from memtape.sinks.index_files import FORMAT, Manifest
from memtape.sinks.search_index import Opened, _Making
from memtape.sinks.tables import table_of
from memtape.tools.ask.found import found_of


def laid_over(rows: Iterable[Row], tail: Sequence[Event]) -> list[MemoryRow | TurnRow | Event]:
    """Return the rows, and the captures of the tail, that are shown once the tail is laid over the rows."""
    by_scope: dict[str, list[Row]] = {event.scope: [] for event in tail if event.scope is not None}
    for row in rows:
        if not isinstance(row, GoneRow):
            by_scope.setdefault(row.scope, []).append(row)
    shown: list[MemoryRow | TurnRow | Event] = []
    for scope, its in by_scope.items():
        making = _Making(None)
        making.add([Guarded(table_of(row), row, 1, offset) for offset, row in enumerate(its)])
        manifest = Manifest(format=FORMAT, scope=scope, number=1, usual=making._usual, segments=[], made="")
        opened = Opened(manifest, tuple(making._segments), tuple(making._living))
        found = found_of(opened, [event for event in tail if event.scope == scope])
        shown += map(found.row, found.places())
    return shown
