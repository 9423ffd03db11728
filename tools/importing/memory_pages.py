"""The Markdown that `memtape export` wrote, read as the captures of its memories.

A page tells the text, kind, tags, speaker and day of a memory under the memory's id, and no time of day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import OWN_TAGS
from memtape.schemas.ids import ID_PATTERN
from memtape.schemas.times import parse_iso
from memtape.sinks.markdown import unescape
from memtape.tools.importing.reading import Row, text
from memtape.tools.importing.records import Skipped

TITLE = "# Memories of "
_HEAD = re.compile(rf"{TITLE}(\S+), page \d+")
_KIND = re.compile(r"## \d{4}-\d\d-\d\d (\w+)")
_SAID = re.compile(rf"`({ID_PATTERN[1:-2]})` by (.+) \((\w+)\) on (\d{{4}}-\d\d-\d\d)")
CHANGED = Skipped("a memory whose lines were changed", problem=True)


def rows(file: IO[bytes]) -> Iterator[Row]:
    """Yield the memories on the pages of a file, each as the object of a `captured` event or as a skip."""
    pages, problem = text(file)
    if problem is not None:
        yield Row(0, 0, problem)
    scope, entry, begin, end = "", list[str](), 0, 0
    for line in [*pages.split("\n"), TITLE]:
        if line.startswith(("## ", TITLE)):
            if entry:
                yield Row(begin, end, _capture(scope, entry))
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
