"""Markdown: notes, as of Obsidian, and memory files of Claude Code. A note is kept as written.

The native id has the note's path and text: a changed or moved note is taken again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from memtape.schemas.events import Kind
from memtape.tools.capture.injected import clean, said
from memtape.tools.capture.native_ids import CLAUDE_CODE, CLAUDE_MEMORY, MARKDOWN, versioned
from memtape.tools.importing.records import EMPTY, INJECTED, Found, Record, Skipped, text_of, time_of

MAX_TAGS = 64
MAX_FRONT_MATTER_CHARS = 64 * 1_024

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"(?:(?<=\s)|(?<=\A))#([^\W\d_][\w/-]*|\w*[^\W\d][\w/-]*)")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_BULLET = re.compile(r"^[-*+] +(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_POINTER = re.compile(r"\A(?:\[[^\]]*\]\([^)]*\.md\)|\[\[[^\]]*\]\])")
_BAD_FRONT = Skipped("front matter that is no YAML", problem=True)


def front_matter(text: str) -> tuple[dict[str, Any], str, bool]:
    """Return the fields at the head of a note, its body, and whether the head could be read."""
    found = _FRONT.match(text[:MAX_FRONT_MATTER_CHARS])
    if not found:
        return {}, text, True
    try:
        fields = yaml.safe_load(found[1])
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        return {}, text, False
    if fields is None:
        return {}, text[found.end() :], True
    return (fields, text[found.end() :], True) if isinstance(fields, dict) else ({}, text, False)


def take_note(text: str, path: str, modified: int) -> Iterator[Found]:
    """Yield a note as a document.

    `path` is below the folder that was named, `modified` the time of a note that does not say its own.
    """
    fields, body, sound = front_matter(clean(text))
    if not sound:
        yield _BAD_FRONT
    times = (time_of(fields.get(key)) for key in ("created", "created_at", "date", "modified"))
    title, told = text_of(fields, "title"), said(body)
    if not told:
        yield INJECTED if body.strip() else EMPTY
        return
    if title and not told.startswith("# "):
        told = f"# {title}\n\n{told}"
    elif told == body.strip():
        told = body  # White space around it is the file's own, which can be read back as it was.
    yield Record(
        source=MARKDOWN, native_id=versioned(path, told), kind="document", origin="user", text=told, path=path,
        at=next(filter(None, times), modified), tags=_tags(fields, body),
    )  # fmt: skip


def take_memory(text: str, path: str, modified: int, cwd: str | None) -> Iterator[Found]:
    """Yield the records of a Claude Code memory file: each point of MEMORY.md, a topic's file as a whole.

    Points of MEMORY.md that only lead to the file of a topic are left out, since the file says it.
    """
    fields, body, sound = front_matter(clean(text))
    if not sound:
        yield _BAD_FRONT
    metadata = fields.get("metadata")
    type = text_of(metadata, "type") or text_of(fields, "type")
    common: dict[str, Any] = {"source": CLAUDE_MEMORY, "origin": "agent", "actor": CLAUDE_CODE, "path": path}
    common |= {"at": modified, "cwd": cwd, "tags": _distinct((type,)) if type else ()}
    index = path.rpartition("/")[2] == "MEMORY.md"
    for passage in _points(body) if index else [body]:
        if index and _POINTER.match(passage):
            yield Skipped("a line that leads to another file")
            continue
        told = said(passage)
        if not told:
            yield INJECTED if passage.strip() else EMPTY
            continue
        kind: Kind = "fact" if len(told) <= 2_000 else "document"
        yield Record(native_id=versioned(path, told), kind=kind, text=told, **common)


def _points(body: str) -> Iterator[str]:
    """Yield the points of a list, and the text between lists by paragraphs; headings are left out."""
    place = 0
    for found in _BULLET.finditer(body):
        yield from _paragraphs(body[place : found.start()])
        yield found[1].strip()
        place = found.end()
    yield from _paragraphs(body[place:])


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        words = "\n".join(line for line in paragraph.splitlines() if not line.startswith("#")).strip()
        if words:
            yield words


def _tags(fields: dict[str, Any], body: str) -> tuple[str, ...]:
    given = fields.get("tags", fields.get("tag"))
    if isinstance(given, str):
        given = re.split(r"[,\s]+", given)
    named = [str(tag).lstrip("#") for tag in given if isinstance(tag, str | int)] if isinstance(given, list) else []
    return _distinct((*named, *_TAG.findall(_CODE.sub(" ", body))))


def _distinct(tags: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))[:MAX_TAGS]
