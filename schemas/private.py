"""Private parts of a text: `<private>…</private>`, replaced on the log by `[private]`.

Pure. Every text loses these parts together with its secrets, and once more at the append to each log
(`sinks/logs/admission.py`). The source of a text is unknown here.

A tag counts in any letter case, with spaces and attributes, and anywhere, in code too. Parts nest. A part
without an end hides the rest of the text. Only an opening tag alone between backticks, as code, is a word
about the tag as long as nothing closes it. `&lt;private&gt;` is no tag.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from memtape.schemas.events import Event
from memtape.schemas.patterns import lazy
from memtape.schemas.texts import Said, with_texts

MARK = "[private]"
"""The placeholder of a private part. No part is shorter, so that no text grows, and none closes up to another
tag.
"""
PASSES = 8
Span = tuple[int, int]
MAX_DEPTH = 32  # An end looks this many open blocks back for its start.
_TAG = lazy(r"<\s*(/?)\s*(?ai:private)(?:[\s/][^>]{0,500})?>")
_SAID = lazy(r"\w")


def without_private(text: str, *, keeps_lines: bool = False) -> str:
    """Return a text with `[private]` for each private part; the same text without any.

    With `keeps_lines` the text behind keeps its line numbers.
    """
    if "<" not in text:
        return text
    for _ in range(PASSES):
        parts = list(_parts(text))
        if not parts:
            return text
        kept, place = [], 0
        for start, end in parts:
            kept += [text[place:start], MARK, "\n" * text.count("\n", start, end) if keeps_lines else ""]
            place = end
        text = "".join([*kept, text[place:]])
    # Only a text made for it has tags that come of the taking out of others again and again.
    first = next((start for start, _ in _parts(text)), len(text))
    return text[:first] + MARK * (first < len(text))


def is_private(text: str) -> bool:
    """Return whether a text is empty without its private parts: no letter and no digit beside `[private]`."""
    return MARK in text and _SAID.search(text.replace(MARK, "")) is None


def without_marks(text: str) -> str:
    """Return a text without placeholders of private parts, as it is searched for."""
    return " ".join(text.split(MARK)).strip() if MARK in text else text


def without_private_parts(event: Event, payload: bytes) -> Event | None:
    """Return an event without the private parts of its texts; None without any. `payload` are its bytes."""
    if b"<" not in payload or b"private" not in payload.lower():
        return None
    name, session = without_private(event.actor.name), event.session and without_private(event.session)
    body = event.body and with_texts(event.body, _public)
    public = replace(event, actor=replace(event.actor, name=name), body=body, session=session)
    return public if public != event else None


def _public(said: Said) -> str:
    return said.text if said.role == "program" else without_private(said.text)


def _parts(text: str) -> list[Span]:
    """Return start and end of the outermost private parts, in order."""
    return outermost(_TAG.finditer(text), lambda tag: not _is_code(tag))


def outermost(tags: Iterable[re.Match[str]], begins: Callable[[re.Match[str]], object]) -> list[Span]:
    """Return start and end of the outermost blocks between tags, in order.

    The first group of a closing tag is not empty, the second has a tag's name, if tags have any. A block
    without an end runs to the end of the text if its opening tag `begins` a block all the same.
    """
    opened, closed = list[re.Match[str]](), list[Span]()
    for tag in tags:
        if not tag[1]:
            opened.append(tag)
        elif any(_name(it) == _name(tag) for it in opened[-MAX_DEPTH:]):
            while _name(opened[-1]) != _name(tag):
                opened.pop()
            _close(closed, opened.pop().start(), tag.end())
    endless = next(filter(begins, opened), None)
    if endless is not None:
        _close(closed, endless.start(), len(endless.string))
    return closed


def _name(tag: re.Match[str]) -> str:
    return tag[2].lower() if tag.re.groups > 1 else ""


def _is_code(tag: re.Match[str]) -> bool:
    """Return whether a tag is alone between backticks."""
    return tag.string[tag.start() - 1 : tag.start()] == "`" == tag.string[tag.end() : tag.end() + 1]


def _close(closed: list[Span], start: int, end: int) -> None:
    """Append a span; drop the spans inside the new span."""
    while closed and closed[-1][0] > start:
        closed.pop()
    closed.append((start, end))
