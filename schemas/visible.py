"""The display of foreign text: no character may act on a terminal, a page or a reader's eye.

Control characters (ANSI sequences begin with one), bidirectional marks, invisible and tag characters are
written out as `<U+202E>`. Joiners of letters or emoji stay.
"""

from __future__ import annotations

from collections.abc import Callable

from memtape.schemas.patterns import lazy

_ALWAYS_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_MAY_HIDE = lazy(f"[{_ALWAYS_HIDDEN}\u200c\u200d\ufe0f]")
_HIDDEN = lazy(
    f"[{_ALWAYS_HIDDEN}]"
    # A joiner (U+200C, U+200D) is at home between letters of other scripts and between emoji, nowhere else.
    # Two in a row join nothing, but can be read as bits.
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])|(?<=[\u200c\u200d])[\u200c\u200d]"
    # U+FE0F makes an emoji of the character before it, and may follow a character that can be an emoji.
    "|(?<![#*0-9\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff])\ufe0f"
)


def visible(text: str) -> str:
    """Return `text` with every character that acts or hides written out; line ends and tabs stay."""
    return _each_hidden(text.replace("\r\n", "\n"), lambda char: f"<U+{ord(char):04X}>")


def one_line(text: str, limit: int | None = None) -> str:
    """Return `text` visible and on one line, cut to `limit` characters with an ellipsis."""
    line = " ".join(visible(text).split())
    return line if limit is None or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def many(count: int, one: str, more: str | None = None) -> str:
    """Return a count with its noun: `1 event`, `2,000 events`; `more` is an irregular plural."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def visible_json(data: bytes) -> bytes:
    """Return an equivalent JSON document with invisible and control characters escaped."""
    import json  # The lightest processes show no JSON.

    return _each_hidden(data.decode(), lambda char: json.dumps(char)[1:-1]).encode()


def _each_hidden(text: str, written: Callable[[str], str]) -> str:
    if (text.isascii() and text.isprintable()) or not _MAY_HIDE.search(text):
        return text
    # A joiner between two such characters may be left alone when they are written out.
    while (shown := _HIDDEN.sub(lambda found: written(found[0]), text)) != text:
        text = shown
    return text
