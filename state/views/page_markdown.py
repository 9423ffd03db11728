"""The file of a tree page: front matter, the page's text in a zone of people, and the index that follows.

The front matter holds the digest of the written zone, so that any reader can tell whether it was changed
since (`sinks/zones.py`). Reading a file back is elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memtape.schemas.codec import canonical
from memtape.schemas.events import CHILD, PEOPLE, Origin
from memtape.schemas.ids import ROOT, digest_of, is_slug
from memtape.schemas.places import ZONE_END, ZONE_START
from memtape.schemas.rows import TreePage
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line, visible
from memtape.state.views.markdown import escape, quote

FENCE = "---"
REST = "memtape_rest"
"""The key for front matter that cannot be kept word for word: all of it as one string."""

_WORDS = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
"""Words that some version of YAML does not read as text."""
_MARK = re.compile(r"<!--(?=\s*memtape:)")


def page_lines(page: TreePage) -> list[str]:
    """Return the lines of a file except its zone, which follows the front matter."""
    index = index_of(page)
    return [*_front_matter(page), *(["", index] if index else [])]


def index_of(page: TreePage) -> str:
    """Return the index below the text in the file of a page, empty for none."""
    return "\n".join(_index(page))


def page_zone(page: TreePage) -> str:
    """Return the zone with the text of a page."""
    return f"{ZONE_START}\n{body_of(page.text, page.row.origin)}{ZONE_END}"


def body_of(text: str, origin: Origin) -> str:
    """Return a text for the zone of its file: a person's word for word, any other with HTML escaped.

    A text that is not empty ends with one line end.
    """
    body = _MARK.sub("&lt;!--", text.replace("\r\n", "\n"))
    if origin not in PEOPLE:
        body = visible(body).replace("<", "&lt;").replace("![", "!\\[")
    return body.rstrip("\n") + "\n" if body.strip() else ""


def _front_matter(page: TreePage) -> Iterator[str]:
    row = page.row
    yield FENCE
    yield f"id: {row.id}"
    yield f"slug: {_text(row.slug)}"
    yield f"written: {row.version or 'none'} {digest_of(page_zone(page).encode())}"
    yield f"title: {_text(row.title)}"
    yield f"summary: {_text(row.summary)}"
    yield from _list("routing_hints", map(_text, row.hints))
    children = [f"{'node' if it.is_node else 'page'}: {_text(it.name)}" for it in page.children]
    children += [f"page: {_text(it.name)}" for it in page.edges if it.relation == CHILD]
    yield from _list("children", children)
    edges = (it for it in page.edges if it.relation != CHILD)
    yield from _list("edges", (f"{it.relation}: {_text(it.name)}" for it in edges))
    yield from _list("refs", map(_text, row.refs))
    # Unknown front matter stays word for word, or is one string if it would end the front matter, or hide.
    lines = page.rest.strip("\n").split("\n")
    ends = any(line.startswith((FENCE, "...")) or _MARK.search(line) for line in lines)
    if page.rest.strip() and visible(page.rest) == page.rest and not ends:
        yield from lines
    elif page.rest.strip():
        escaped = (char if char.isascii() else f"\\U{ord(char):08x}" for char in _quoted(page.rest))
        yield f"{REST}: {''.join(escaped)}"
    yield FENCE


def _list(key: str, items: Iterable[str]) -> Iterator[str]:
    lines = [f"  - {item}" for item in items]
    if lines:
        yield f"{key}:"
        yield from lines


def _index(page: TreePage) -> Iterator[str]:
    row, parts = page.row, list[list[str]]()
    if page.children:
        told = [it for it in page.children if it.told]
        more = len(page.children) - len(told)
        parts.append(["## Below", ""])
        for it in told:
            hints = f" ({escape(one_line('; '.join(it.hints)))})" if it.hints else ""
            said = f": {escape(one_line(it.summary))}" if it.summary else ""
            parts[0].append(f"- {_link(it.title or it.name, it.name, row.slug)}{said}{hints}")
        parts[0] += [f"- {many(more, 'more page')}"] if more else []
    for title, ends in {"Leads to": page.edges, "Linked from": page.backlinks}.items():
        if ends:
            parts.append([f"## {title}", ""])
        for end in ends:
            place = _link(end.name, end.name, row.slug) if end.is_there else f"`{end.name}` (not there)"
            parts[-1].append(f"- {escape(end.relation)}: {place}")
    for other in page.beside:
        by = f"`{other.id}` by {escape(one_line(other.actor))} ({other.origin}) on {format_day(other.at)}"
        parts.append(["## Another version", "", *quote(other.text), "", by])
    return iter([line for part in parts for line in (*part, "")][:-1])


def _link(told: str, name: str, slug: str) -> str:
    """Return a link from the file of one slug to that of another; a page without a slug has no file."""
    text = escape(one_line(told))
    is_page = is_slug(name) or name == ROOT
    return f"[{text}]({'../' * slug.count('/')}{name}.md)" if is_page else f"{text} `{name}`"


def _text(value: str) -> str:
    """Return a value of the front matter: in double quotes, or bare where YAML reads it as that."""
    line = one_line(value)
    is_name = is_slug(line) or line == ROOT
    is_bare = is_name and not line[0].isdigit() and line[0] != "-" and line not in _WORDS
    return line if is_bare else _quoted(line)


def _quoted(text: str) -> str:
    """Return a text as a JSON string, which YAML reads alike, and which holds no mark of a zone."""
    return canonical(text).decode().replace("<", "\\u003c")
