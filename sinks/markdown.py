"""Texts as Markdown that shows just them: none becomes a heading, a link, an embedded page or HTML."""

from __future__ import annotations

import re

from memtape.schemas.visible import visible

_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>#|~$&@^=%!{}"})
_BLOCK_MARK = re.compile(r"^(\s*)([-+]|:(?=[-\s]))|^(\s*\d+)([.)])(?=\s|$)")
# Two colons are a field of Obsidian's Dataview.
_INLINE_MARK = re.compile(r":(?=//)|(?<=[wW]{3})\.|(?<=mailto):|(?<=xmpp):|(?<=:):", re.IGNORECASE)
_CODE_INDENT = re.compile(r"^(?=(?: {4}| {0,3}\t)\s*\S)([ \t])")


def escape(text: str) -> str:
    """Return one line of text as Markdown that shows just that text."""
    line = visible(text).translate(_SPECIAL)
    if ":" in line or "." in line:
        line = _INLINE_MARK.sub(lambda found: "\\" + found[0], line)
    if _BLOCK_MARK.match(line):
        line = _BLOCK_MARK.sub(r"\1\3\\\2\4", line)
    return _CODE_INDENT.sub(lambda found: f"&#{ord(found[1])};", line) if line[:1] in (" ", "\t") else line


def quote(text: str) -> list[str]:
    """Return a text of any lines as a quotation."""
    return [f"> {escape(line)}".rstrip() for line in visible(text).split("\n")]
