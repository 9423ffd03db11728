"""Zones of people in the pages of the vault: the marks around one, and the source of captures from it.

`sinks/zones.py` reads the bytes of a zone, `state/text/markdown.py` its content.
"""

from __future__ import annotations

from memtape.schemas.events import PEOPLE, Origin

ZONE_START = "<!-- memtape: yours from here -->"
ZONE_END = "<!-- memtape: yours until here -->"

_SOURCE = "vault:"


def zone_source(path: str) -> str:
    """Return the source of captures from the zone of a page, by the page's path in its scope."""
    return f"{_SOURCE}{path}"


def zone_path(source: str | None, origin: Origin) -> str | None:
    """Return the path of the page of a capture's zone, None for others. Only people write in zones."""
    if source is None or not source.startswith(_SOURCE) or origin not in PEOPLE:
        return None
    return source.removeprefix(_SOURCE)
