"""Text as Markdown that shows exactly the text, never a heading, a link or HTML; and standing pages in it.

Agents' texts are data and escaped, so that none becomes a heading, a link, an embedded page or HTML. Of the
lines of a standing page as many are written as its characters hold, under headings; a page is cut between
lines only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.schemas.visible import one_line, visible

SHORT_ID_CHARS = 13  # How much of an id a line of a page shows; its link has the whole.

_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>#|~$&@^=%!{}"})
_BLOCK_MARK = re.compile(r"^(\s*)([-+]|:(?=[-\s]))|^(\s*\d+)([.)])(?=\s|$)")
# Two colons are a field of Obsidian's Dataview.
_INLINE_MARK = re.compile(r":(?=//)|(?<=[wW]{3})\.|(?<=mailto):|(?<=xmpp):|(?<=:):", re.IGNORECASE)
_CODE_INDENT = re.compile(r"^(?=(?: {4}| {0,3}\t)\s*\S)([ \t])")
_ESCAPED = re.compile(r"\\(.)|&#(\d+);")
TEXT_CHARS = 300  # How much of a text a line shows; the page that it links to has the whole.
TOLD_CHARS = 200
_LINKED = lazy(rf"\[([0-9a-f-]{{{SHORT_ID_CHARS}}})\]\(")


def escape(text: str) -> str:
    """Return Markdown that renders as exactly one line of text."""
    return _escaped(visible(text))


def _escaped(shown: str) -> str:
    line = shown.translate(_SPECIAL)
    if ":" in line or "www." in line.lower():
        line = _INLINE_MARK.sub(lambda found: "\\" + found[0], line)
    if _BLOCK_MARK.match(line):
        line = _BLOCK_MARK.sub(r"\1\3\\\2\4", line)
    return _CODE_INDENT.sub(lambda found: f"&#{ord(found[1])};", line) if line[:1] in (" ", "\t") else line


def unescape(line: str) -> str:
    """Return the text of a line that `escape` or `quote` wrote, without the mark of the quotation."""
    return _ESCAPED.sub(lambda found: found[1] or chr(int(found[2])), line)


def link(path: str) -> str:
    """Return a link from a page of the scope's own folder to another, by its path there."""
    return f"[{name_of(path)}]({path})"


def name_of(path: str) -> str:
    """Return the name of a page, by its path."""
    return path.rpartition("/")[2].removesuffix(".md")


def quote(text: str) -> list[str]:
    """Return a text of any lines as a quotation."""
    return [f"> {_escaped(line)}".rstrip() for line in visible(text).split("\n")]


class PageLine(NamedTuple):
    """A line of a standing page under one of its headings: a text, its marks for readers, and its source.

    `id` is the id of the memory or turn, and `path` the path of the page with the whole text.
    """

    section: str
    text: str
    told: tuple[str, ...] = ()
    id: str = ""
    path: str = ""


def standing(
    title: str, lines: Sequence[PageLine], sections: Sequence[str], limit: int,
    *, about: str = "", more: int = 0, how: str = "",
) -> str:  # fmt: skip
    """Return the Markdown of a standing page of at most `limit` characters, empty without lines.

    `lines` are in order of choice, `sections` in order of display. `about` is a line below the title. `more`
    counts the lines left out before, and `how` says where to read them.
    """
    if not lines:
        return ""
    head = f"# {escape(one_line(title, TEXT_CHARS))}\n"
    head += f"\n{about}\n" if about else ""
    room = limit - len(head) - len(_rest(how, len(lines) + more))
    chosen: dict[str, list[str]] = {section: [] for section in sections}
    for line in lines:
        written = _line(line)
        cost = len(written) + (0 if chosen[line.section] else len(_heading(line.section)))
        if cost > room:
            more += 1
            continue
        room -= cost
        chosen[line.section].append(written)
    body = "".join(_heading(section) + "".join(lines) for section, lines in chosen.items() if lines)
    return head + body + _rest(how, more)


def ids_told(written: str) -> frozenset[str]:
    """Return how the ids begin that the lines of a written page link to."""
    return frozenset(_LINKED.findall(written))


def _heading(section: str) -> str:
    return f"\n## {escape(one_line(section, TEXT_CHARS))}\n\n" if section else "\n"


def _line(line: PageLine) -> str:
    """Return a line with a link to its whole text, or the whole id if the text is on no page."""
    told = f" ({escape(one_line(', '.join(line.told), TOLD_CHARS))})" if line.told else ""
    whole = f"`{line.id}`"
    if line.path:
        block = f"#^{line.id}" if line.path.startswith("memories/") else ""
        whole = f"[{line.id[:SHORT_ID_CHARS]}]({line.path}{block})"
    return f"- {escape(one_line(line.text, TEXT_CHARS))}{told} {whole}\n"


def _rest(how: str, count: int) -> str:
    return f"\n{count:,} more: {how}\n" if count and how else ""
