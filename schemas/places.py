"""The places of texts of files: the part of a document, and the zone of people in a page of the vault.

`guide.md#part=4/7&char=2871,3650&document=019ab0c4-9a3c-7000-8000-0123456789ab` is the `path` of the event
of the fourth of seven parts. The parts of a document without a path have paths that begin with `#`.
`tools.capture.documents` cuts documents. `sinks/zones.py` reads the bytes of a zone,
`state/text/markdown.py` its content.
"""

from __future__ import annotations

import re

import msgspec

from memtape.schemas.events import PEOPLE, Origin
from memtape.schemas.ids import derived_id

_PLACED = re.compile(
    r"(?P<path>.*)#part=(?P<number>\d{1,7})/(?P<count>\d{1,7})&char=(?P<start>\d{1,12}),(?P<end>\d{1,12})"
    r"&document=(?P<document>[0-9a-f-]{36})\Z",
    re.DOTALL,
)


class Place(msgspec.Struct, frozen=True):
    """The place of a part in its document: the `number`th, from 1, of `count`; characters `start` to `end`.

    `start` counts from 0 in the text of the log, with its original line ends; `end` is exclusive. `path` is
    the document's own, `document` the id of its first part.
    """

    path: str | None
    number: int
    count: int
    start: int
    end: int
    document: str

    def __str__(self) -> str:
        """Return the path of the part's event."""
        fragment = f"part={self.number}/{self.count}&char={self.start},{self.end}&document={self.document}"
        return f"{self.path or ''}#{fragment}"

    def told(self) -> str:
        """Return the place for people: `guide.md, part 4 of 7`."""
        return f"{self.path or 'a document'}, part {self.number} of {self.count}"

    def ids(self, scope: str) -> list[str]:
        """Return the ids of all parts of the document, in their order."""
        return [part_id(scope, self.document, number) for number in range(1, self.count + 1)]


def place_in(path: str | None) -> Place | None:
    """Return the place in a path, None for a path without one."""
    found = _PLACED.match(path) if path else None
    if found is None:
        return None
    number, count, start, end = (int(found[name]) for name in ("number", "count", "start", "end"))
    place = Place(found["path"] or None, number, count, start, end, found["document"])
    return place if 1 <= place.number <= place.count and place.start < place.end else None


def part_id(scope: str, document: str, number: int) -> str:
    """Return the id of a part: the first has the document's id, from which all further ids derive."""
    return document if number == 1 else derived_id("captured", scope, None, f"{document}#{number}")


ZONE_START = "<!-- memtape: yours from here -->"
ZONE_END = "<!-- memtape: yours until here -->"
_STAYS = "*Yours: what you write between these two marks stays as it is"
NOTE = f"{_STAYS}, and each point or paragraph is remembered.*"
NOTE_OF_GLOBAL = f"{_STAYS}. Nothing of it is remembered.*"
"""The first text of a zone. In `global` only operators are remembered, and a file's editor is unknown."""

_SOURCE = "vault:"


def zone_source(path: str) -> str:
    """Return the source of captures from the zone of a page, by the page's path in its scope."""
    return f"{_SOURCE}{path}"


def zone_path(source: str | None, origin: Origin) -> str | None:
    """Return the path of the page of a capture's zone, None for others. Only people write in zones."""
    if source is None or not source.startswith(_SOURCE) or origin not in PEOPLE:
        return None
    return source.removeprefix(_SOURCE)


INDEX_PATH, CONFLICTS_PATH = "MEMORY.md", "conflicts.md"
ESSENTIALS, THREADS, RECENT, ARCHIVE = "essentials.md", "threads.md", "recent.md", "archive.md"
"""The standing pages of a scope (`state/views/standing_pages.py`)."""
LIMITS = {ESSENTIALS: 10_000, THREADS: 10_000, RECENT: 2_000, ARCHIVE: 10_000}
"""The most characters of each standing page."""
