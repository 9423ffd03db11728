"""The zone of people among the bytes of a page: found, cut out, put back to the byte, and added if missing.

A zone is the text between two marks, each on a line of its own, with the marks. The content of pages and
zones is decided elsewhere, and no file is touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memtape.schemas.ids import digest_of
from memtape.schemas.places import NOTE, NOTE_OF_GLOBAL, ZONE_END, ZONE_START
from memtape.state.text.markdown import points

_START, _END = ZONE_START.encode(), ZONE_END.encode()
_ANY_MARK = re.compile(rb"<!--\s*memtape:\s*yours")
_START_LINE = re.compile(rb"^[ \t]*" + re.escape(_START) + rb"[ \t\r]*$", re.MULTILINE)
_END_LINE = re.compile(rb"^[ \t]*" + re.escape(_END) + rb"[ \t\r]*$", re.MULTILINE)
_FENCE = b"---\n"
_WRITTEN = re.compile(rb"^written: \S+ ([0-9a-f]{32})$", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"
_WORDS = (map(re.escape, note.encode().split()) for note in (NOTE, NOTE_OF_GLOBAL))
_NOTES = re.compile(b"|".join(map(rb"\s+".join, _WORDS)))
"""The notes, even with line breaks changed by an editor."""


class Parts(NamedTuple):
    """A page without its zone, in its written form, and the zone, None for a page without one."""

    ours: bytes
    zone: bytes | None


class ZoneInPage(NamedTuple):
    """A page without its zone, the zone, and the line of the page on which the zone begins, from 1."""

    ours: bytes
    zone: bytes
    line: int

    def said(self) -> Iterator[tuple[int, bytes]]:
        """Yield each text of the zone with the line of the page where it begins, and last the whole zone."""
        for line, text in points(inner(self.zone).decode(errors="replace")):
            yield self.line + line, text.encode()
        yield self.line, self.zone


def parts(data: bytes) -> Parts | None:
    """Return the parts of a page, None unless its marks are one pair, in order, each on a line of its own.

    With a zone, neither a byte order mark nor line ends changed by an editor belong to it or to the page; a
    page without one stays as it is, to the byte.
    """
    marks = len(_ANY_MARK.findall(data))
    if not marks:
        return Parts(data, None)
    data = data.removeprefix(_BOM)
    starts, ends = list(_START_LINE.finditer(data)), list(_END_LINE.finditer(data))
    if marks != 2 or len(starts) != 1 or len(ends) != 1 or ends[0].start() < starts[0].end():
        return None
    around = (data[: starts[0].start()], data[ends[0].end() :])
    plain = (piece.replace(b"\r\n", b"\n").strip(b"\n") for piece in around)
    kept = [piece for piece in plain if piece]
    return Parts(b"\n\n".join(kept) + b"\n" if kept else b"", data[starts[0].start() : ends[0].end()])


def joined(ours: bytes, zone: bytes) -> bytes:
    """Return a page with its zone behind the front matter, or at the end. `parts` is the inverse."""
    if ours.startswith(_FENCE) and (end := ours.find(b"\n" + _FENCE, 1)) >= 0:
        end += 1 + len(_FENCE)
        return ours[:end] + b"\n" + zone + b"\n" + ours[end:]
    return (ours + b"\n" if ours else b"") + zone + b"\n"


def was_changed(found: Parts) -> bool | None:
    """Return whether a zone lacks the digest in its page's front matter, None without one.

    A new zone may replace one as written; a changed one is a person's.
    """
    said = _WRITTEN.search(found.ours) if found.ours.startswith(_FENCE) else None
    return None if said is None or found.zone is None else said[1].decode() != digest_of(found.zone)


def inner(zone: bytes) -> bytes:
    """Return a person's text between the marks of a zone. The note is left out; line numbers stay."""
    between = zone[zone.index(b"\n") + 1 : zone.rindex(b"<!--")]
    return _NOTES.sub(lambda note: b"\n" * note[0].count(b"\n"), between)


def is_untouched(zone: bytes) -> bool:
    """Return whether a zone has no text by a person."""
    return not inner(zone).strip()
