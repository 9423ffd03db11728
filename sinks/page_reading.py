"""The content of a tree page's file, by any author: its front matter, its text, and its unreadable parts.

`state/views/page_markdown.py` writes the same form. Front matter is read as YAML with text as the only type,
so that no value is converted. Unknown fields stay word for word. Earlier versions of a page are unknown here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from memtape.schemas.events import CHILD
from memtape.schemas.ids import ID_PATTERN, ROOT, is_slug, slug_of
from memtape.schemas.patterns import lazy
from memtape.sinks.zones import Parts, inner, parts, was_changed
from memtape.state.views.page_markdown import REST

MAX_FRONT_BYTES = 4 * 1024 * 1024  # A page of 10,000 children has front matter of half a megabyte.

_FRONT = lazy(r"\A\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_ID = lazy(r"(?m)^id:[ \t]+(\S+)[ \t]*$")
_WRITTEN = lazy(r"(?m)^written:[ \t]+(\S+) [0-9a-f]{32}[ \t]*$")
_RELATION = lazy(r"[a-z][a-z0-9_]{0,39}\Z")
_WIKI = lazy(r"\[\[([^\[\]|#]+)[^\[\]]*\]\]\Z")
_OURS = ("id", "slug", "written", "title", "summary", "routing_hints", "children", "edges", "refs", REST)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Fields(NamedTuple):
    """The fields of front matter; None for a missing field. `links` are (relation, name) in order.

    `problems` name the unusable parts, a clause each.
    """

    slug: str | None = None
    title: str | None = None
    summary: str | None = None
    hints: tuple[str, ...] | None = None
    refs: tuple[str, ...] | None = None
    links: tuple[tuple[str, str], ...] = ()
    rest: str = ""
    problems: tuple[str, ...] = ()


class PageFile(NamedTuple):
    """A file of a page: the id and version that it was written from, None for a file made by a person.

    `fields` is None if front matter is missing or is no YAML. `text` is None if it cannot be separated from
    Memtape's own text around it. `changed` says whether the text differs from the written one.
    """

    id: str | None
    version: str | None
    changed: bool
    fields: Fields | None
    text: str | None
    problems: tuple[str, ...]


def page_file(data: bytes, index: str | None = None) -> PageFile:
    """Return the content of a file; `index` is Memtape's text below the page's text, None in a person's file.

    A person's file may show marks of zones without meaning.
    """
    try:
        whole = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return PageFile(None, None, True, None, None, ("it is not UTF-8",))
    found = _FRONT.match(whole[:MAX_FRONT_BYTES])
    head = found[1] if found else ""
    id, version = _ID.search(head), _WRITTEN.search(head)
    problems, fields = list[str](), None
    if found is not None:
        try:
            fields = fields_of(head)
            problems += fields.problems
        except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
            mark, said = getattr(error, "problem_mark", None), getattr(error, "problem", None) or "damaged"
            place = f"line {mark.line + 2}: {said}" if mark is not None else said
            where = f" ({place})" if isinstance(error, yaml.YAMLError) else ""
            problems.append(f"its front matter is no YAML{where}")
    zoned, ours = parts(data), version is not None or index is not None
    if index is not None and zoned is not None and zoned.zone is not None:
        around = zoned.ours.decode(errors="replace")
        above = _FRONT.match(around)
        if _lines(around[above.end() :] if above else around) not in ("", _lines(index)):
            problems.append("what was written around its text is no part of it; write between the marks")
    text: str | None = (whole[found.end() :] if found else whole).strip("\n")
    if ours:
        text = _text(zoned, text or "", (index or "").strip() if version is not None else "")
    if text is None:
        problems.append("its text cannot be told from the rest, since the marks are not one pair")
    is_version = version is not None and re.match(ID_PATTERN, version[1]) is not None
    return PageFile(
        id[1] if id and re.match(ID_PATTERN, id[1]) else None,
        version[1] if version is not None and is_version else None,
        not ours or zoned is None or was_changed(zoned) is not False,
        fields,
        text,
        tuple(problems),
    )


def fields_of(head: str) -> Fields:
    """Return the fields of front matter. Raises `yaml.YAMLError`, and `ValueError` if it is no mapping."""
    node = yaml.compose(head, Loader=_LOADER)
    if node is None:
        return Fields(rest=head.strip("\n"))
    if not isinstance(node, yaml.MappingNode):
        raise ValueError("Front matter is a table of names and values.")
    named = ((key.value, value) for key, value in node.value if isinstance(key, yaml.ScalarNode))
    known = {name: value for name, value in named if name in _OURS}
    problems: list[str] = []
    links = list(_links(known.get("children"), problems, CHILD))
    links += _links(known.get("edges"), problems, "related")
    return Fields(
        slug=_scalar(known, "slug", problems),
        title=_scalar(known, "title", problems),
        summary=_scalar(known, "summary", problems),
        hints=_list(known, "routing_hints", problems),
        refs=_list(known, "refs", problems),
        links=tuple(dict.fromkeys(links)),
        rest="\n".join(filter(None, (_scalar(known, REST, problems), _rest(head, node)))),
        problems=tuple(problems),
    )


def name_in(text: str) -> str:
    """Return the slug or id that a name means: `deploy/staging`, `[[Deploy]]`, `deploy.md`."""
    name = text.strip()
    if wiki := _WIKI.match(name):
        name = wiki[1].strip()
    name = name.removesuffix(".md").removeprefix("pages/")
    return name if is_slug(name) or name == ROOT or re.match(ID_PATTERN, name) else slug_of(name)


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def _text(found: Parts | None, after: str, index: str) -> str | None:
    """Return the text of a page: the content of its zone, or what stands before its index."""
    if found is None:
        return None
    if found.zone is not None:
        return inner(found.zone).decode(errors="replace").replace("\r\n", "\n").strip("\n")
    told = after.rstrip() if index else after
    return told.removesuffix(index).strip("\n") if told.endswith(index) else None


def _scalar(known: dict[str, Any], key: str, problems: list[str]) -> str | None:
    node = known.get(key)
    if node is None:
        return None
    if not isinstance(node, yaml.ScalarNode):
        problems.append(f"its {key} is no text")
        return None
    return "" if node.tag.endswith(":null") else str(node.value)


def _list(known: dict[str, Any], key: str, problems: list[str]) -> tuple[str, ...] | None:
    node = known.get(key)
    if node is None:
        return None
    items = [node] if isinstance(node, yaml.ScalarNode) else []
    if isinstance(node, yaml.SequenceNode):
        items = node.value
    found = [str(item.value).strip() for item in items if isinstance(item, yaml.ScalarNode)]
    if len(found) < len(items) or not isinstance(node, yaml.ScalarNode | yaml.SequenceNode):
        problems.append(f"its {key} are no list of texts")
        return None
    return tuple(dict.fromkeys(filter(None, found)))


def _links(node: Any, problems: list[str], relation: str) -> Iterator[tuple[str, str]]:
    """Yield the links of a list of `relation: name`, or of names alone."""
    if node is None or (isinstance(node, yaml.ScalarNode) and not node.value):
        return
    for item in node.value if isinstance(node, yaml.SequenceNode) else [node]:
        pairs = item.value if isinstance(item, yaml.MappingNode) else [(None, item)]
        for key, value in pairs:
            while isinstance(value, yaml.SequenceNode) and len(value.value) == 1:
                value = value.value[0]  # A wiki link without quotes is a list in a list.
            said = relation if key is None or relation == CHILD else str(key.value).strip()
            if not isinstance(value, yaml.ScalarNode) or not value.value.strip():
                where = "children" if relation == CHILD else "edges"
                problems.append(f"an entry of its {where} names no page")
            elif not _RELATION.match(said):
                problems.append(f"{said[:40]!r} is no name of an edge")
            else:
                yield said, name_in(str(value.value))


def _rest(head: str, node: Any) -> str:
    """Return the lines of front matter that belong to nothing that Memtape knows, comments included."""
    starts = [(key.start_mark.line, key.value in _OURS) for key, _ in node.value]
    # Several on one line cannot be taken apart by lines.
    if node.flow_style or len(dict(starts)) < len(starts):
        unknown = yaml.MappingNode(node.tag, [pair for pair in node.value if pair[0].value not in _OURS])
        told = yaml.serialize(unknown, Dumper=yaml.SafeDumper, allow_unicode=True)
        return str(told).strip("\n") if unknown.value else ""
    kept, ours, known = list[str](), False, dict(starts)
    for number, line in enumerate(head.split("\n")):
        ours = known.get(number, ours)
        if not ours or line.startswith("#"):
            kept.append(line)
    return "\n".join(kept).strip("\n")
