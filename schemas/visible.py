"""How text that came from somebody else is shown: nothing in it may act on a terminal, a page or a reader's eye.

Control characters (ANSI sequences begin with one), bidirectional marks, invisible and tag characters
are written out as `<U+202E>`. What joins letters or emoji is left alone.
"""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff\U0001d173-\U0001d17a]"
    # A joiner (U+200C, U+200D) is at home between letters of other scripts and between emoji, nowhere else.
    "|(?<![\u0080-\U0010ffff])[\u200c\u200d]|[\u200c\u200d](?![\u0080-\U0010ffff])"
)


def visible(text: str) -> str:
    """Return `text` with every character that acts or hides written out; line ends and tabs stay."""
    return _HIDDEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text.replace("\r\n", "\n"))


def one_line(text: str, limit: int | None = None) -> str:
    """Return `text` visible and on one line, cut to `limit` characters with an ellipsis."""
    line = " ".join(visible(text).split())
    return line if limit is None or len(line) <= limit else line[: limit - 1].rstrip() + "…"
