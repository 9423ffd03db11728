"""Where else a text stands: which other texts carry it, and which of its words could give it away."""

from __future__ import annotations

import re
from collections.abc import Iterable

LEAST_CHARS = 8
"""A shorter text is carried only by one that says nothing else: "ok" stands in too much to mean anything."""
LEAST_LINE_CHARS = 24
"""A line from this length on is told apart from others, so that a cut text is found by its lines."""
LEAST_WORD_BYTES = 6
"""Shorter words stand in any file by chance."""

_FIRST = 3
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_RUN = re.compile(r"[^\W_]+")
_HEX = re.compile(r"[0-9a-f]+\Z")


class Traces:
    """Texts that are looked for in others: as a sequence of words, whatever their case, marks and spaces."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(dict.fromkeys(texts))
        self._starting: dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]] = {}
        self._whole: dict[tuple[str, ...], list[int]] = {}
        for number, text in enumerate(self.texts):
            tokens = _tokens(text)
            if sum(map(len, tokens)) < LEAST_CHARS:
                self._whole.setdefault(tokens, []).append(number)
            else:
                self._starting.setdefault(tokens[:_FIRST], []).append((number, tokens))
        self._lengths = tuple(dict.fromkeys(map(len, self._starting)))

    def carried_by(self, text: str) -> list[int]:
        """Return the numbers of the texts that another one carries, each once."""
        tokens = _tokens(text)
        found = dict.fromkeys(self._whole.get(tokens, ()))
        for place in range(len(tokens)):
            for length in self._lengths:
                for number, sought in self._starting.get(tokens[place : place + length], ()):
                    if tokens[place : place + len(sought)] == sought:
                        found[number] = None
        return list(found)


def parts(text: str) -> list[str]:
    """Return a text and those of its lines that are long enough to be told apart."""
    lines = (line.strip() for line in text.splitlines())
    return list(dict.fromkeys([text, *(line for line in lines if len(line) >= LEAST_LINE_CHARS)]))


def telling_words(text: str) -> dict[str, None]:
    """Return the words of a text that do not stand anywhere by chance, in lower case, each once."""
    return {word: None for word in all_words(text) if len(word.encode()) >= LEAST_WORD_BYTES and not _HEX.match(word)}


def all_words(text: str) -> dict[str, None]:
    """Return every run of letters and digits of a text, in lower case, each once."""
    return dict.fromkeys(_RUN.findall(text.lower()))


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(text.casefold()))
