"""A text as people read it: without invisible characters, look-alikes of other scripts, and lines that go on.

Where a text differs from that, secrets are looked for in both, and places of the plain text lead back to the text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_INVISIBLE = (
    "\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\U000e0100-\U000e01ef"
)
_STYLED = (
    "\u2102-\u2138\u24b6-\u24e9\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff\U0001f130-\U0001f149"
    "\U0001fbf0-\U0001fbf9"
)
"""Blocks of letters and digits that Unicode (NFKC) takes for plain ones: full-width, mathematical, circled."""
_OTHERS = "\u0370-\u03ff\u0400-\u052f"
_GOES_ON = r"(?:\\|(?<=[ \t])[\^`])\r?\n[ \t]*"
"""The end of a line of a shell (also of PowerShell and cmd) that goes on in the next."""
_LINE_ENDS = ("\\\n", "\\\r\n", "^\n", "^\r\n", "`\n", "`\r\n")
_DIFFERS = re.compile(
    f"[!-~][{_INVISIBLE}]|[{_INVISIBLE}][!-~]|[{_STYLED}]|[A-Za-z][{_OTHERS}]|[{_OTHERS}][A-Za-z]|{_GOES_ON}"
)
_PIECE = re.compile(f"(?P<goes_on>{_GOES_ON})|(?P<invisible>[{_INVISIBLE}]+)|[^\\W\\d]+|.", re.DOTALL)
_LOOK_ALIKES = str.maketrans(
    "авеһіјкӏмнорԛѕтуѵԝхԁсԍАВЕНІЈКМОРЅТУХСαεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "abehijklmhopqstyvwxdcgABEHIJKMOPSTYXCaeikvoptuxABEZHIKMNOPTYX",
)
"""Letters of Cyrillic and Greek that Unicode's list of confusables gives for Latin ones, and small capitals."""


def plain_text(text: str) -> tuple[str, list[int]] | None:
    """Return a text as people read it, with the original place of each character, None where that is the text itself.

    Takes linear time.
    """
    if (text.isascii() and not any(end in text for end in _LINE_ENDS)) or not _DIFFERS.search(text):
        return None
    pieces: list[str] = []
    places: list[int] = []
    for found in _PIECE.finditer(text):
        piece, start = found[0], found.start()
        if found["goes_on"]:
            piece = " " if piece[-1] != "\n" and not text[start - 1 : start].isspace() else ""
        elif found["invisible"]:
            continue
        elif not piece.isascii():
            piece = "".join(map(_plain, piece))
        pieces.append(piece)
        places.extend(range(start, start + len(piece)))
    return "".join(pieces), places


def plainly(text: str) -> str:
    """Return a text as people read it."""
    plain = plain_text(text)
    return text if plain is None else plain[0]


@lru_cache(maxsize=4_096)
def _plain(char: str) -> str:
    """Return a character as people read it."""
    plain = unicodedata.normalize("NFKC", char)
    return (plain if len(plain) == 1 else char).translate(_LOOK_ALIKES)
