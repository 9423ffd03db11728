"""Phrases in quotation marks: which a question has, and whether a text has them, word for word in order."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_QUOTED = re.compile(r'(?<!\S)["“„«](?=\S)([^"“”„«»\n]+)["”“»](?!\w)')


def phrases_in(question: str) -> tuple[str, ...]:
    """Return the phrases of a question, each once; a mark inside a word or behind a number begins none."""
    found = (phrase.strip() for phrase in _QUOTED.findall(question) if any(map(str.isalnum, phrase)))
    return tuple(dict.fromkeys(found))


def has_phrases(text: str, phrases: Sequence[str]) -> bool:
    """Return whether a text has each phrase as whole words; letter case and white space do not count."""
    told = _folded(text)
    return all(re.search(rf"(?<!\w){re.escape(_folded(phrase))}(?!\w)", told) for phrase in phrases)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())
