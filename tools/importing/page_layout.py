"""How a folder of Markdown stands as pages: the slug and parent of each file, the links of a text, the parts of one.

No text of a file is read from disk here, and nothing is put on the log.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from memtape.schemas.ids import slug_of
from memtape.schemas.patterns import lazy

_WIKI = lazy(r"!?\[\[([^\[\]|#\n]*)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_ENDING = ".md"
NODES = ("index.md", "readme.md")
"""The names of a folder's own page; the first existing one counts."""


class Layout(NamedTuple):
    """The slug of each file by path, and the parent's slug by slug, empty below the root.

    `top` is the common beginning of all slugs.
    """

    top: str
    slugs: dict[str, str]
    above: dict[str, str]


def layout_of(folder: Path) -> Layout:
    """Return how the Markdown of a folder stands as pages. A page's parent comes before the page."""
    top = slug_of(folder.resolve().name or "pages").replace("/", "-")
    slugs = slugs_of(top, list(markdown_in(folder)))
    nodes = dict[str, str]()
    for path in slugs:
        place, _, name = path.rpartition("/")
        if _rank(name) < len(NODES):
            nodes.setdefault(place, path)
    above = dict[str, str]()
    for path, slug in slugs.items():
        place = path
        above[slug] = ""
        while place and not above[slug]:
            place = place.rpartition("/")[0]
            node = nodes.get(place)
            above[slug] = slugs[node] if node is not None and node != path else ""
    return Layout(top, slugs, above)


def markdown_in(folder: Path) -> Iterator[str]:
    """Yield the paths of Markdown files in a folder; a folder's own page comes before its contents.

    Hidden files and folders and links are left out.
    """
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        found = [name for name in files if name.lower().endswith(".md") and not name.startswith(".")]
        for name in sorted(found, key=lambda name: (_rank(name), name)):
            path = Path(place) / name
            if not path.is_symlink():
                yield path.relative_to(folder).as_posix()


def slugs_of(top: str, paths: list[str]) -> dict[str, str]:
    """Return the slug of each file by its path; no two files share a slug."""
    slugs, known = dict[str, str](), dict[str, None]()
    for path in paths:
        place, _, name = path.rpartition("/")
        stem = name[: -len(".md")]
        wanted = f"{top}/{place}/{stem}" if place else f"{top}/{stem}"
        if _rank(name) < len(NODES) and (node := slug_of(f"{top}/{place}" if place else top)) not in known:
            slug = node
        else:
            slug = slug_of(wanted)
        if slug in known:
            mark = blake2b(path.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
            slug = slug_of(f"{slug.rpartition('/')[0]}/{slug_of(stem)[:60].rpartition('/')[2]}-{mark}")
        slugs[path], known[slug] = slug, None
    return slugs


def _rank(name: str) -> int:
    return NODES.index(name.lower()) if name.lower() in NODES else len(NODES)


def parts_of(data: bytes, level: int = 2) -> list[tuple[str, bytes]]:
    """Return the part before the first heading of a level, then each such heading with all below it.

    A part is the heading's text, empty for the first part, and the bytes.
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
    return [(title, b"".join(lines[line:end])) for (line, title), end in zip(starts, ends, strict=True)]


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
    named = {path: path.removesuffix(_ENDING).casefold() for path in layout.slugs}
    alike = [path for path, name in named.items() if posixpath.basename(name) == posixpath.basename(wanted)]
    if alike:
        return layout.slugs[min(alike, key=lambda path: (named[path] != wanted, path.count("/"), path))]
    return _would_be(f"{name.removesuffix(_ENDING)}{_ENDING}", layout)


def _would_be(target: str, layout: Layout) -> str:
    return slug_of(f"{layout.top}/{target.removesuffix(_ENDING)}")
