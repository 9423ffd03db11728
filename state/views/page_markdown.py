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
from memtape.schemas.rows import PageRow
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line, visible
from memtape.state.core.scope import Scope
from memtape.state.subjects.pages import Page
from memtape.state.views.markdown import escape, quote
from memtape.state.views.tree_pages import children_of, ends_of, listed, name_of, sources_of, text_of

FENCE = "---"
REST = "memtape_rest"
"""The key for front matter that cannot be kept word for word: all of it as one string."""

_WORDS = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
"""Words that some version of YAML does not read as text."""
_MARK = re.compile(r"<!--(?=\s*memtape:)")


def page_lines(scope: Scope, page: Page, row: PageRow) -> list[str]:
    """Return the lines of a file except its zone, which follows the front matter."""
    index = index_of(scope, page)
    return [*_front_matter(scope, page, row), *(["", index] if index else [])]


def page_zone(scope: Scope, page: Page, row: PageRow) -> str:
    """Return the zone with the text of a page."""
    return f"{ZONE_START}\n{body_of(text_of(scope, page), row.origin)}{ZONE_END}"


def body_of(text: str, origin: Origin) -> str:
    """Return a text for the zone of its file: a person's word for word, any other with HTML escaped.

    A text that is not empty ends with one line end.
    """
    body = _MARK.sub("&lt;!--", text.replace("\r\n", "\n"))
    if origin not in PEOPLE:
        body = visible(body).replace("<", "&lt;").replace("![", "!\\[")
    return body.rstrip("\n") + "\n" if body.strip() else ""


def _front_matter(scope: Scope, page: Page, row: PageRow) -> Iterator[str]:
    ends, rest = ends_of(scope, page), page.told("rest", "")
    yield FENCE
    yield f"id: {row.id}"
    yield f"slug: {_text(row.slug)}"
    yield f"written: {row.version or 'none'} {digest_of(page_zone(scope, page, row).encode())}"
    yield f"title: {_text(row.title)}"
    yield f"summary: {_text(row.summary)}"
    yield from _list("routing_hints", map(_text, row.hints))
    below = children_of(scope, page)
    children = [f"{'node' if it.is_node else 'page'}: {_text(name_of(it))}" for it in below]
    children += [f"page: {_text(it.name)}" for it in ends if it.relation == CHILD]
    yield from _list("children", children)
    edges = (it for it in ends if it.relation != CHILD)
    yield from _list("edges", (f"{it.relation}: {_text(it.name)}" for it in edges))
    yield from _list("refs", map(_text, row.refs))
    # Unknown front matter stays word for word, or is one string if it would end the front matter, or hide.
    lines = rest.strip("\n").split("\n")
    is_end = any(line.startswith((FENCE, "...")) or _MARK.search(line) for line in lines)
    if rest.strip() and visible(rest) == rest and not is_end:
        yield from lines
    elif rest.strip():
        escaped = (char if char.isascii() else f"\\U{ord(char):08x}" for char in _quoted(rest))
        yield f"{REST}: {''.join(escaped)}"
    yield FENCE


def _list(key: str, items: Iterable[str]) -> Iterator[str]:
    lines = [f"  - {item}" for item in items]
    if lines:
        yield f"{key}:"
        yield from lines


def index_of(scope: Scope, page: Page) -> str:
    """Return the index below the text in the file of a page, empty for none."""
    parts, children = list[list[str]](), [*listed(scope, page)]
    if children:
        told = [it for it in children if it.told]
        more = len(children) - len(told)
        parts.append(["## Below", ""])
        for it in told:
            hints = f" ({escape(one_line('; '.join(it.hints)))})" if it.hints else ""
            said = f": {escape(one_line(it.summary))}" if it.summary else ""
            parts[0].append(f"- {_link(it.title or it.name, it.name, page.slug)}{said}{hints}")
        parts[0] += [f"- {many(more, 'more page')}"] if more else []
    linked = {"Leads to": ends_of(scope, page), "Linked from": sources_of(scope, page)}
    for title, ends in linked.items():
        if ends:
            parts.append([f"## {title}", ""])
        for end in ends:
            place = _link(end.name, end.name, page.slug) if end.is_there else f"`{end.name}` (not there)"
            parts[-1].append(f"- {escape(end.relation)}: {place}")
    for other in map(scope.captures.by_seq.__getitem__, page.standing.beside):
        who = f"{escape(one_line(other.actor.name))} ({other.actor.origin})"
        by = f"`{other.id}` by {who} on {format_day(other.at)}"
        parts.append(["## Another version", "", *quote(scope.captures.body(other).text), "", by])
    return "\n\n".join("\n".join(part) for part in parts)


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
