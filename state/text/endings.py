"""The end of a text, from a whole sentence on, for texts too long for their place."""

from __future__ import annotations

from memtape.schemas.patterns import lazy

_STARTS = lazy(r"\n\s*\n\s*|\n(?=[ \t]*(?:[-*+•>|#]|\d{1,3}[.)]\s|```))|(?<=[.!?])[\"'”’»)\]*_`]*\s+|(?<=[。！？])\s*")
"""After a blank line, at an item or heading, after the end of a sentence."""


def ending(text: str, chars: int, lines: int | None = None) -> str:
    """Return the longest end of a text within `chars` and `lines` that begins with a sentence.

    Empty if not even the last sentence fits. A small letter begins no sentence, as after "e.g. ".
    """
    text = text.strip()
    if _fits(text, chars, lines):
        return text
    for found in _STARTS.finditer(text, max(0, len(text) - chars - 1)):
        end = found.end()
        if end < len(text) and not text[end].islower() and _fits(text[end:], chars, lines):
            return text[end:]
    return ""


def _fits(text: str, chars: int, lines: int | None) -> bool:
    return len(text) <= chars and (lines is None or text.count("\n") < lines)
