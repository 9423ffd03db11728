"""Import an export of Memtape, its lines or its pages of Markdown, under the exported ids.

A second import adds nothing. A page tells the text, kind, tags, speaker and day of a memory, and no time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

from msgspec.structs import replace

from memtape.schemas.codec import canonical, decode
from memtape.schemas.errors import InvalidEvent, MemtapeError
from memtape.schemas.events import OWN_TAGS, Event
from memtape.schemas.ids import ID_PATTERN
from memtape.schemas.times import parse_iso
from memtape.sinks.logs.admission import check_admissible
from memtape.state.views.markdown import unescape
from memtape.tools.capture.writing import Writer
from memtape.tools.importing import reading
from memtape.tools.importing.documents import MARKDOWN_ENDINGS
from memtape.tools.importing.records import ImportSummary, Skipped

BATCH_EVENTS = 1_000
NOT_TAKEN = Skipped("an event that no export has", problem=True)

TITLE = "# Memories of "
_HEAD = re.compile(rf"{TITLE}(\S+), page \d+")
_KIND = re.compile(r"## \d{4}-\d\d-\d\d (\w+)")
_SAID = re.compile(rf"`({ID_PATTERN[1:-2]})` by (.+) \((\w+)\) on (\d{{4}}-\d\d-\d\d)")
CHANGED = Skipped("a memory whose lines were changed", problem=True)


def take_events(
    file: IO[bytes], writer: Writer, scope: str | None, summary: ImportSummary, path: Path
) -> Iterator[tuple[int, bool]]:
    """Append the events of a file that the log does not have, in their order, into `scope` if given.

    Yields for each batch the number of its bytes, and whether it had any event. In a dry run nothing is
    appended. An event without a scope, and an erasure, is skipped: it would act on all of a home.
    """
    rows = _memories(file) if path.suffix.lower() in MARKDOWN_ENDINGS else reading.rows(file)
    while batch := list(islice(rows, BATCH_EVENTS)):
        events: list[Event] = []
        for row in batch:
            try:
                skipped = row.value if isinstance(row.value, Skipped) else None
                event = None if skipped or row.value is None else decode(canonical(row.value))
                if event is not None and (event.scope is None or event.type == "erased"):
                    skipped = NOT_TAKEN
                elif event is not None:
                    writer.rights.check_speaker(event.actor)
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


def _memories(file: IO[bytes]) -> Iterator[reading.Row]:
    """Yield the memories on the pages of a file, each as the object of a `captured` event or as a skip."""
    pages, problem = reading.text(file)
    if problem is not None:
        yield reading.Row(0, 0, problem)
    scope, entry, begin, end = "", list[str](), 0, 0
    for line in [*pages.split("\n"), TITLE]:
        if line.startswith(("## ", TITLE)):
            if entry:
                yield reading.Row(begin, end, _capture(scope, entry))
            head = _HEAD.fullmatch(line)
            scope, entry, begin = (unescape(head[1]), [], end) if head else (scope, [line], end)
        elif entry:
            entry.append(line)
        end += len(line.encode()) + 1


def _capture(scope: str, entry: list[str]) -> dict[str, Any] | Skipped:
    """Return the object of an event by the lines of a memory; its time is the begin of its day."""
    kind = _KIND.match(entry[0])
    said = next((found for line in entry if (found := _SAID.match(line))), None)
    if kind is None or said is None:
        return CHANGED
    id, actor, origin, day = said.groups()
    told = (line.removesuffix(f" ^{id}").partition(": ") for line in entry if not line.startswith(">"))
    about = {name: unescape(rest) for name, _, rest in told}
    try:
        at = parse_iso(day)
    except MemtapeError:
        return CHANGED
    body = {
        "branch": None, "importance_given": None, "kind": kind[1], "media": (), "part": None, "path": None,
        "source": about.get("source"),
        "tags": [tag for tag in about.get("tags", "").split(", ") if tag and tag not in OWN_TAGS],
        "text": "\n".join(unescape(line[2:]) for line in entry if line.startswith(">")),
    }  # fmt: skip
    return {
        "actor": {"name": unescape(actor), "origin": origin}, "at": at, "body": body, "id": id, "refs": (),
        "scope": scope, "sent": at, "session": None, "type": "captured", "v": 1,
    }  # fmt: skip
