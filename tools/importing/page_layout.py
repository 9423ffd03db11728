"""The layout of a folder as pages: its files, the slug of each, and the parent of each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from memtape.schemas.slugs import slug_of

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
