"""Removal of Markdown marks for layout. Code keeps all of its marks."""

from __future__ import annotations

from memtape.schemas.patterns import lazy

_CODE = lazy(r"(`+[^`]*`+)")
_EMPHASIS = lazy(r"(?<![\w*/.\\])(\*\*\*|\*\*|\*|___|__|_)(?=[^\s*_])([^*_`]*[^\s*_`])\1(?![\w*])")
_HEADING = lazy(r"\A\s*#{1,6}\s+(?=\S)")
_TASK = lazy(r"\A\s*[-*+]\s+(?:\[ \]\s+)?(?=\w)")


def without_markup(text: str) -> str:
    """Return a text without emphasis, and without the mark of a heading or an item at its start."""
    if not any(mark in text for mark in "*_#-+"):
        return text
    text = _TASK.sub("", _HEADING.sub("", text))
    parts = _CODE.split(text)
    parts[::2] = [_EMPHASIS.sub(r"\2", part) for part in parts[::2]]
    return "".join(parts)
