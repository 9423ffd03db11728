"""Parsing of a page's Markdown: the pages linked from the text, and the parts of a page. Opens no file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from memtape.schemas.patterns import lazy
from memtape.schemas.slugs import slug_of
from memtape.tools.importing.page_layout import Layout

_WIKI = lazy(r"!?\[\[([^\[\]|#\n]*)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_ENDING = ".md"


class PageSection(NamedTuple):
    """A part of a page under a heading: the heading's text, empty before the first heading, and the bytes."""

    title: str
    data: bytes


def parts_of(data: bytes, level: int = 2) -> list[PageSection]:
    """Return the part before the first heading of a level, then each such heading with all below it.

    Joined, the parts are the page, to the byte.
    """
    lines = data.splitlines(keepends=True)
    text = b"".join(line.rstrip(b"\r\n") + b"\n" for line in lines).decode("utf-8", "replace")
    tokens = MarkdownIt("commonmark").parse(text)
    found = [
        (token.map[0], tokens[number + 1].content)
        for number, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag == f"h{level}" and token.level == 0 and token.map
    ]
    starts = [(0, ""), *found]
    ends = [line for line, _ in found] + [len(lines)]
    return [PageSection(title, b"".join(lines[line:end])) for (line, title), end in zip(starts, ends, strict=True)]


def links_in(text: str, path: str, layout: Layout) -> list[str]:
    """Return the slugs linked from a file's text, each once and in order.

    `path` is the file's path in the folder. A missing file has the slug it would have; links out of the
    folder are skipped.
    """
    found = dict[str, None]()
    for target in _targets(MarkdownIt("commonmark").parse(text)):
        slug = _by_name(target[2:], layout) if target.startswith("[[") else _by_path(target, path, layout)
        if slug and slug != layout.slugs.get(path):
            found[slug] = None
    return list(found)


def _targets(tokens: list[Token]) -> Iterator[str]:
    """Yield the targets of links: an address, or `[[` and a name."""
    for token in tokens:
        for inner in token.children or ():
            if inner.type == "link_open":
                yield str(inner.attrs.get("href", ""))
        if token.type == "inline":
            said = "".join(inner.content for inner in token.children or () if inner.type in ("text", "softbreak"))
            for name in _WIKI.findall(said):
                if name.strip():
                    yield f"[[{name.strip()}"


def _by_path(address: str, path: str, layout: Layout) -> str | None:
    place = unquote(address.partition("#")[0].partition("?")[0])
    if not place.endswith(_ENDING) or re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|/", place):
        return None
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), place))
    if target.startswith("../"):
        return None
    return layout.slugs.get(target) or _would_be(target, layout)


def _by_name(name: str, layout: Layout) -> str | None:
    """Return the slug of a wiki link's file: by its path, else by its name, the shortest path first."""
    wanted = name.removesuffix(_ENDING).casefold()
    paths = sorted(layout.slugs, key=lambda path: (path.count("/"), path))
    for path in paths:
        if path.removesuffix(_ENDING).casefold() == wanted:
            return layout.slugs[path]
    for path in paths:
        if posixpath.basename(path).removesuffix(_ENDING).casefold() == posixpath.basename(wanted):
            return layout.slugs[path]
    return _would_be(f"{name.removesuffix(_ENDING)}{_ENDING}", layout)


def _would_be(target: str, layout: Layout) -> str:
    return slug_of(f"{layout.top}/{target.removesuffix(_ENDING)}")
