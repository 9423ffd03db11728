"""Traces of a text: other texts with its content, and words that could reveal the content."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from memtape.schemas.patterns import lazy

LEAST_CHARS = 8
"""A shorter text is contained only in an equal one: "ok" is in too many texts to mean anything."""
LEAST_PART_CHARS = 24
"""Lines from this length on are searched for separately: a text is also found by its lines."""
HEAD_CHARS = 200  # A longer line is also searched for by its beginning, since a display may cut it.
LEAST_WORD_BYTES = 6  # Shorter words are in any file by chance.
FEW_SOUGHT = 50
"""Up to this many texts and words, each is searched for by itself, which is quicker than tokenizing."""

_FIRST = 3
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_LETTER = rf"[^\W_{_CJK}]"
_MARK = rf"(?:(?![{_CJK}])[\W_])"
_TOKEN, _OF_WORD = lazy(rf"[{_CJK}]|{_LETTER}+"), lazy(_LETTER)
_HEX = lazy(r"[0-9a-f]+\Z")


class TextTraces(NamedTuple):
    """The texts and words found in a text: the numbers of the contained texts, and the words."""

    texts: list[int]
    words: list[str]


class Traces:
    """Texts and words to search for, whatever their case, and the marks and spaces between words.

    So one search finds a text as it was said, in JSON, in Markdown, and on one line. A search takes some
    seconds for 100 MB, whatever the number of texts.
    """

    def __init__(self, texts: Iterable[str], words: Iterable[str] = ()) -> None:
        self.texts = tuple(dict.fromkeys(texts))
        words = tuple(dict.fromkeys(words))
        self._words = frozenset(words)
        self._starting: dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]] = {}
        self._whole: dict[tuple[str, ...], list[int]] = {}
        for number, text in enumerate(self.texts):
            sought = tokens(text)
            if sum(map(len, sought)) < LEAST_CHARS:
                self._whole.setdefault(sought, []).append(number)
            else:
                self._starting.setdefault(sought[:_FIRST], []).append((number, sought))
        self._firsts = frozenset(start[0] for start in self._starting)
        self._lengths = tuple(dict.fromkeys(map(len, self._starting)))
        self._sought = [*map(tokens, self.texts), *((word,) for word in words)]
        self._is_few = len(self._sought) <= FEW_SOUGHT

    def may_be_in(self, text: str) -> bool:
        """Return whether anything may be found in a text, or in a string of a text in JSON."""
        return not self._is_few or bool(self._perhaps_in(text.casefold()))

    def _perhaps_in(self, folded: str) -> list[int]:
        """Return the places in `_sought` of those of which each word is in a folded text."""
        every = enumerate(self._sought)
        return [place for place, sought in every if all(word in folded for word in sought)]

    def find(self, text: str) -> TextTraces:
        """Return the texts and words found in a text, each once."""
        folded = text.casefold()
        if self._is_few:
            places = [place for place in self._perhaps_in(folded) if self._stands(place, folded)]
            count = len(self.texts)
            words = sorted(self._sought[place][0] for place in places if place >= count)
            return TextTraces([place for place in places if place < count], words)
        said = tuple(_TOKEN.findall(folded))
        found = dict.fromkeys(self._whole.get(said, ()))
        for place, token in enumerate(said):
            if token in self._firsts:
                for length in self._lengths:
                    for number, sought in self._starting.get(said[place : place + length], ()):
                        if said[place : place + len(sought)] == sought:
                            found[number] = None
        words = sorted(self._words.intersection(said)) if self._words else []
        return TextTraces(list(found), words)

    def _stands(self, place: int, folded: str) -> bool:
        """Return whether the words at a place in `_sought` follow each other, whole, in a folded text."""
        sought, start = self._sought[place], 0
        if place < len(self.texts) and sought in self._whole:
            return tuple(it[0] for it in islice(_TOKEN.finditer(folded), len(sought) + 1)) == sought
        pattern = _pattern_of(sought)
        while (found := pattern.search(folded, start)) is not None:
            start = found.start() + 1
            begins = found.start() == 0 or _OF_WORD.match(folded, found.start() - 1) is None
            if begins or _OF_WORD.match(sought[0]) is None:
                return True
        return False


@lru_cache(maxsize=1_024)
def _pattern_of(sought: tuple[str, ...]) -> re.Pattern[str]:
    """Return the expression of words with marks between them, whole at the end of the last."""
    pattern, is_word = "", False
    for token in sought:
        was_word, is_word = is_word, _OF_WORD.match(token) is not None
        between = _MARK + ("+" if was_word and is_word else "*") if pattern else ""
        pattern += between + re.escape(token)
    return re.compile(pattern + (f"(?!{_LETTER})" if is_word else ""))


def parts(text: str) -> list[str]:
    """Return a text, its lines of sufficient length, and the beginnings of its longest lines."""
    lines = [line.strip() for line in text.splitlines()]
    long = [line for line in lines if len(line) >= LEAST_PART_CHARS]
    heads = [line[:HEAD_CHARS].rpartition(" ")[0] for line in long if len(line) > HEAD_CHARS]
    return [part for part in dict.fromkeys([text, *long, *heads]) if _TOKEN.search(part)]


def telling_words(text: str) -> list[str]:
    """Return the words of a text that are in no file by chance, each once."""
    long = (word for word in dict.fromkeys(tokens(text)) if len(word.encode()) >= LEAST_WORD_BYTES)
    return [word for word in long if not _HEX.match(word)]


def is_searched(text: str) -> bool:
    """Return whether a text is long enough to be found inside others."""
    return sum(map(len, tokens(text))) >= LEAST_CHARS


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a text in their order, case-folded."""
    return tuple(_TOKEN.findall(text.casefold()))
