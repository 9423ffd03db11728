"""Base64 text: random in form, so only the decoded content decides whether a string is secret."""

from __future__ import annotations

import base64

from memtape.schemas.patterns import lazy

_POSITION = lazy(r"[{\[]|cursor|\d+:[A-Za-z]|[a-z]+://|\d+$")
"""How cursors and ids of nodes begin."""
_LETTERS_PERCENT = 75
_MOST_CHARS_OF_WORD = 24


def decoded(string: str) -> str | None:
    """Return the printable text that a string is in base64, of either alphabet and with padding or without."""
    body = string.rstrip("=")
    try:
        said = base64.b64decode(f"{body}{'=' * (-len(body) % 4)}", altchars="-_", validate=True).decode()
    except ValueError:
        try:
            said = base64.b64decode(f"{body}{'=' * (-len(body) % 4)}", validate=True).decode()
        except ValueError:
            return None
    return said if said.replace("\n", "").replace("\r", "").replace("\t", "").isprintable() else None


def text_in_base64(string: str) -> str | None:
    """Return the decoded base64 of a string, if it is a sentence or a position in a list."""
    said = decoded(string)
    return said if said and (_POSITION.match(said) or _reads_as_text(said)) else None


def _reads_as_text(said: str) -> bool:
    """Whether a text is words with spaces, of letters mostly."""
    words = said.split()
    letters = sum(map(str.isalpha, said))
    return (
        len(words) >= 3
        and letters * 100 >= len("".join(words)) * _LETTERS_PERCENT
        and max(map(len, words)) <= _MOST_CHARS_OF_WORD
    )
