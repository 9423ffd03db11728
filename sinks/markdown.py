"""Text as Markdown that shows exactly the text, never a heading, a link or HTML; and links between pages.

The content of pages is decided elsewhere.
"""

from __future__ import annotations

import re

from memtape.schemas.visible import visible

SHORT_ID_CHARS = 13
"""How much of an id a line of a page shows; its link has the whole."""

_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>#|~$&@^=%!{}"})
_BLOCK_MARK = re.compile(r"^(\s*)([-+]|:(?=[-\s]))|^(\s*\d+)([.)])(?=\s|$)")
# Two colons are a field of Obsidian's Dataview.
_INLINE_MARK = re.compile(r":(?=//)|(?<=[wW]{3})\.|(?<=mailto):|(?<=xmpp):|(?<=:):", re.IGNORECASE)
_CODE_INDENT = re.compile(r"^(?=(?: {4}| {0,3}\t)\s*\S)([ \t])")


def escape(text: str) -> str:
    """Return Markdown that renders as exactly one line of text."""
    line = visible(text).translate(_SPECIAL)
    if ":" in line or "." in line:
        line = _INLINE_MARK.sub(lambda found: "\\" + found[0], line)
    if _BLOCK_MARK.match(line):
        line = _BLOCK_MARK.sub(r"\1\3\\\2\4", line)
    return _CODE_INDENT.sub(lambda found: f"&#{ord(found[1])};", line) if line[:1] in (" ", "\t") else line


def link(path: str) -> str:
    """Return a link from a page of the scope's own folder to another, by its path there."""
    return f"[{name_of(path)}]({path})"


def name_of(path: str) -> str:
    """Return the name of a page, by its path."""
    return path.rpartition("/")[2].removesuffix(".md")


def quote(text: str) -> list[str]:
    """Return a text of any lines as a quotation."""
    return [f"> {escape(line)}".rstrip() for line in visible(text).split("\n")]
