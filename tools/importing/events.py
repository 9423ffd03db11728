"""Import the events and pages of an export of Memtape under their own ids; a second import adds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO

from msgspec.structs import replace

from memtape.schemas.codec import canonical, decode
from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import Event
from memtape.sinks.logs.admission import check_admissible
from memtape.tools.capture.writing import Writer
from memtape.tools.importing import finding, memory_pages, reading
from memtape.tools.importing.records import ImportSummary, Skipped

BATCH_EVENTS = 1_000
NOT_TAKEN = Skipped("an event that no export has", problem=True)


def take_events(
    file: IO[bytes], writer: Writer, scope: str | None, summary: ImportSummary, path: Path
) -> Iterator[tuple[int, bool]]:
    """Append the events of a file that the log does not have, in their order, into `scope` if given.

    Yields for each batch the number of its bytes, and whether it had any event. In a dry run nothing is
    appended. An event without a scope, and an erasure, is skipped: it would act on all of a home.
    """
    rows = memory_pages.rows(file) if path.suffix.lower() in finding.MARKDOWN_ENDINGS else reading.rows(file)
    while batch := list(islice(rows, BATCH_EVENTS)):
        events: list[Event] = []
        for row in batch:
            try:
                skipped = row.value if isinstance(row.value, Skipped) else None
                event = None if skipped or row.value is None else decode(canonical(row.value))
                if event is not None and (event.scope is None or event.type == "erased"):
                    skipped = NOT_TAKEN
                elif event is not None:
                    event = event if scope is None else replace(event, scope=scope)
                    events.append(check_admissible(writer.redactor.event(event))[0])
            except InvalidEvent as error:
                skipped = Skipped(f"no event: {error}", problem=True)
            if skipped is not None:
                summary.skip(skipped, path, f"byte {row.start}")
        _append(events, writer, summary)
        yield batch[-1].end - batch[0].start, bool(events)


def _append(events: list[Event], writer: Writer, summary: ImportSummary) -> None:
    ids: dict[str, list[str]] = {}
    for event in events:
        ids.setdefault(event.scope or "", []).append(event.id)
    known = {(scope, id) for scope in ids for id in writer.known(scope, ids[scope])}
    new = [event for event in events if (event.scope, event.id) not in known]
    summary.known += len(events) - len(new)
    if new and not summary.dry_run:
        writer.log.append(new)
    for event in new:
        summary.take(event.scope or "")
