"""The texts in a person's Markdown: each point of a list is one, and so is each paragraph.

Headings, rules and comments are context, and no text; nor is a line without letters and digits. A block of
code belongs to the text before it. `written` is the inverse: Markdown of given texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.schemas.places import NOTE, ZONE_END, ZONE_START

_POINT = lazy(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+(?=\S)")
_NO_TEXT = lazy(
    r"[ ]{0,3}#{1,6}(?:[ \t]|\Z)|[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})\Z"
    r"|[ \t]*<!--.*-->[ \t]*\Z|[ \t]*[-*+][ \t]*\Z"
)
_FENCE = lazy(r"[ \t]*(```|~~~)")
_INDENT = "  "  # Of a line of code under a point, which belongs to the list.


class Point(NamedTuple):
    """A text, and the number of its first line, from 1."""

    line: int
    text: str


def points(markdown: str) -> Iterator[Point]:
    """Yield the texts of a piece of Markdown in their order."""
    first, lines, fence, indent = 0, list[str](), "", ""
    for number, line in enumerate(markdown.replace("\r\n", "\n").split("\n"), start=1):
        if fence:
            lines.append(line.removeprefix(indent))
            closed = _FENCE.match(line)
            fence = "" if closed and closed[1] == fence else fence
            continue
        line = line.strip()
        point = _POINT.match(line)
        said = line[point.end() :] if point else line
        ends = not said or _NO_TEXT.match(said) is not None or _NO_TEXT.match(line) is not None
        if (ends or point) and lines:
            yield from _point(first, lines)
            lines = []
        if ends:
            continue
        if not lines:
            first, indent = number, _INDENT if point else ""
        lines.append(said)
        opened = _FENCE.match(said)
        fence = opened[1] if opened else ""
    yield from _point(first, lines)


def written(texts: Iterable[str]) -> str:
    """Return a Markdown list of texts, the inverse of `points`."""
    return "\n".join("- " + f"\n{_INDENT}".join(text.split("\n")) for text in texts)


def new_zone(texts: Iterable[str], note: str = NOTE) -> str:
    """Return a zone of people with a note about the zone's purpose, then the texts."""
    said = written(texts)
    return "\n".join([ZONE_START, note, *([said] if said else []), ZONE_END])


def _point(first: int, lines: list[str]) -> Iterator[Point]:
    text = "\n".join(lines).strip("\n")
    if any(map(str.isalnum, text)):
        yield Point(first, text)


_CODE = lazy(r"(`+[^`]*`+)")
_EMPHASIS = lazy(r"(?<![\w*/.\\])(\*\*\*|\*\*|\*|___|__|_)(?=[^\s*_])([^*_`]*[^\s*_`])\1(?![\w*])")
_HEADING = lazy(r"\A\s*#{1,6}\s+(?=\S)")
_TASK = lazy(r"\A\s*[-*+]\s+(?:\[ \]\s+)?(?=\w)")


def without_markup(text: str) -> str:
    """Return a text without emphasis, and without the mark of a heading or an item at its start."""
    if not any(mark in text for mark in "*_#-+"):
        return text
    text = _TASK.sub("", _HEADING.sub("", text))
    parts = _CODE.split(text)
    parts[::2] = [_EMPHASIS.sub(r"\2", part) for part in parts[::2]]
    return "".join(parts)
