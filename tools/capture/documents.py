"""Cutting of documents into parts: at headings and at ends of sentences, with overlap. No input, no clock.

A part's text is its titles, an empty line, and its characters of the document unchanged. The part's path has
their place (`schemas.places`). The same text is cut the same each time: a document with a native id whose
append was interrupted is completed by capturing it again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from memtape.schemas.events import MAX_LABEL_CHARS, Captured, Part
from memtape.schemas.places import Place, part_id

MAX_PART_CHARS = 1_000
"""The most characters of a part with its titles: about as many as a small embedder reads of a text."""
MAX_OVERLAP_CHARS = 200
"""A part within a section repeats at most this much of the one before, from where a sentence begins."""
LEAST_SECTION_CHARS = 200
"""A shorter section goes on in the next one's part, so that no part is a heading alone."""
MAX_TITLES_CHARS = 200
BETWEEN_TITLES = " › "
_BLANK = "…"
"""Stands before a part of nothing but white space, since no event is empty."""

_PARAGRAPH = re.compile(r"(?:\r?\n[ \t]*){2,}")
_SENTENCE = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’»)\]*_`]*\s+(?=[^a-z\s])|[。！？]+[」』”’）]*\s*")
_LINE = re.compile(r"\r?\n")
_SPACE = re.compile(r"\s+")
_MARKS = (_PARAGRAPH, _SENTENCE, _LINE, _SPACE)
_LINE_END = re.compile(r"\r\n|\n|\r")


class DocumentSpan(NamedTuple):
    """A part of a document: the characters `start` to `end` (exclusive), and its headings in one line."""

    start: int
    end: int
    titles: str


def parts_of(said: Captured, scope: str, document: str) -> list[tuple[str, Captured]]:
    """Return id and body of each part of a document's body; `document` becomes the id of the first.

    The document's `media` stay with its first part.
    """
    found, made = cuts(said.text), []
    for number, cut in enumerate(found, start=1):
        place = str(Place(None, number, len(found), cut.start, cut.end, document))
        body = replace(
            said,
            media=said.media if number == 1 else (),
            part=Part(count=len(found), index=number - 1),
            path=(said.path or "")[: MAX_LABEL_CHARS - len(place)] + place,
            text=text_of(said.text, cut),
        )
        made.append((part_id(scope, document, number), body))
    return made


def text_of(text: str, cut: DocumentSpan) -> str:
    """Return the text of a part's event."""
    piece = text[cut.start : cut.end]
    titles = cut.titles or ("" if piece.strip() else _BLANK)
    return f"{titles}\n\n{piece}" if titles else piece


def cuts(text: str) -> list[DocumentSpan]:
    """Return the parts of a text; none for a blank text, or a text short enough for one event."""
    if len(text) <= MAX_PART_CHARS or not text.strip():
        return []
    sections = _sections(text)
    starts = [start for start, *_ in sections]
    found: list[DocumentSpan] = []
    begun = 0
    for end in (*starts[1:], len(text)):
        if end - begun < LEAST_SECTION_CHARS and end < len(text):
            continue  # A short section is cut together with the next.
        while begun < end:
            begin, above, own = sections[bisect_right(starts, begun) - 1]
            titles = above if begun == begin else own
            most = begun + MAX_PART_CHARS - len(titles) - len("\n\n" if titles else f"{_BLANK}\n\n")
            stop = end
            if end > most:  # It ends in its second half: with a paragraph, else a sentence, a line or a word.
                ends = (list(mark.finditer(text, (begun + most) // 2, most)) for mark in _MARKS)
                stop = next((places[-1].end() for places in ends if places), most)
            found.append(DocumentSpan(begun, stop, titles))
            begun = stop
            if stop < end:  # The next begins at the first sentence, line or word of the overlap.
                first = stop - MAX_OVERLAP_CHARS
                places = (place.end() for mark in _MARKS[1:] for place in mark.finditer(text, first, stop))
                begun = next((place for place in places if place < stop), first)
    return found


def _sections(text: str) -> list[tuple[int, str, str]]:
    """Return the sections of a text as Markdown has them: start, titles above the heading, and with its own.

    The first begins with the text.
    """
    sections = [(0, "", "")]
    path: list[tuple[int, str]] = []
    for start, level, title in headings(text):
        path = [(of, name) for of, name in path if of < level]
        above = _titles(path)
        path.append((level, title))
        if start == 0:
            sections.clear()
        sections.append((start, above, _titles(path)))
    return sections


def _titles(path: list[tuple[int, str]]) -> str:
    line = BETWEEN_TITLES.join(name for _, name in path if name)
    return line if len(line) <= MAX_TITLES_CHARS else "…" + line[1 - MAX_TITLES_CHARS :]


def headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start of each heading's line, its level and its words; headings in code do not count."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark")
    markdown.core.ruler.enableOnly(["normalize", "block"])
    lines = [0, *(found.end() for found in _LINE_END.finditer(text))]
    tokens = markdown.parse(text)
    for opening, words in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            yield lines[opening.map[0]], int(opening.tag[1]), " ".join(words.content.split())
