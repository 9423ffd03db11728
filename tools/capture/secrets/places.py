"""Where words that tell a secret may stand in a text, so that slow expressions are tried there alone.

One pass of a library's automaton looks for all words at once. Each reader of secrets says beside its expressions which
words and signs a text must have for the reader to find anything. A text without them is not given to the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

Stems = NewType("Stems", int)
"""Words sought together: a bit for each group; only the functions below make it."""

SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028"
    "\u2029\u202f\u205f\u3000"
)
"""The characters that `\\s` matches."""
ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
PIECE_CHARS = 65_536
"""A long text is looked through in pieces, since all that is found in one stands in memory at once."""
_DIGITS = b"0123456789"
_SURROGATE = re.compile("[\ud800-\udfff]")
_EVERY: dict[str, int] = {}
"""All words that are ever looked for, and the groups of each: each constant of this folder notes its own at import."""
_SIGNS: list[tuple[str, int, int]] = []
"""Signs, how often a text must have each, and its group."""
_RUNS: list[tuple[bytes, bytes, int]] = []
"""Which bytes belong to a run, as a table for `bytes.translate`, the shortest run in its terms, and its group."""
_GROUPS: list[bool] = []
"""For each group whether the places of its words count."""
_EVERYTHING = -1
_OTHER_CASES = ("ſ", "ı")
"""Letters that expressions without case take for "s" and "i", and that `str.lower` leaves as they are."""


compiled = lru_cache(maxsize=None)(re.compile)
"""An expression is compiled when it is first tried: to compile all of them takes as long as capturing a text."""


def stems(*groups: Iterable[str]) -> Stems:
    """Return words to be sought together, in lower case; a constant, since each is sought in every text."""
    return _noted(groups, placed=True)


def marks(*groups: Iterable[str]) -> Stems:
    """Return the same of words of which it is only asked whether they stand in a text, and not where."""
    return _noted(groups, placed=False)


def signs(*every: str, times: int = 1) -> Stems:
    """Return the same of a few signs that many texts have, each so many times at least."""
    group = _new_group(placed=False)
    _SIGNS.extend((sign, times, group) for sign in every)
    return Stems(group)


def runs(least: int, chars: str) -> Stems:
    """Return the same of runs of at least so many of some ASCII characters; others than ASCII belong to every run."""
    group = _new_group(placed=False)
    table = bytes(number >= 128 or chr(number) in chars for number in range(256))
    _RUNS.append((table, bytes([True] * least), group))
    return Stems(group)


def either(*groups: Stems) -> Stems:
    """Return the union of stems."""
    return Stems(reduce(or_, groups))


def _noted(groups: tuple[Iterable[str], ...], *, placed: bool) -> Stems:
    bit = _new_group(placed=placed)
    for word in dict.fromkeys(word for group in groups for word in group):
        _EVERY[word] = _EVERY.get(word, 0) | bit
    return Stems(bit)


def _new_group(*, placed: bool) -> int:
    _GROUPS.append(placed)
    return 1 << (len(_GROUPS) - 1)


@cache
def _automaton(size: int) -> tuple[list[tuple[str, int, bool]], int, AhoCorasick]:
    """Return all `size` sought words, the length of the longest, and their automaton."""
    from ahocorasick_rs import AhoCorasick

    assert len(_EVERY) == size
    placed = sum(1 << number for number, counts in enumerate(_GROUPS) if counts)
    every = [(word, groups, bool(groups & placed)) for word, groups in _EVERY.items()]
    return every, max(map(len, _EVERY)), AhoCorasick(list(_EVERY))


class Places:
    """A text with the places of all sought words, and whether the text has a digit.

    `able` has the bits of the stems possible in the text, in any case; all bits where unknown.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        raw = text.encode("utf-8", "surrogatepass")
        self.numbered = len(raw.translate(None, _DIGITS)) < len(raw)
        lower = text.lower()
        # A few letters become two, which would move what follows.
        lower = lower if len(lower) == len(text) else "".join(char.lower()[:1] for char in text)
        # The library takes whole characters only.
        plain = lower.isascii()
        lower = lower if plain else _SURROGATE.sub("\ufffd", lower)
        self._every, longest, automaton = _automaton(len(_EVERY))
        self._found: dict[int, list[int]] = {}
        found, seen = self._found, 0
        for begin in range(0, len(lower), PIECE_CHARS):
            piece = lower if len(lower) <= PIECE_CHARS else lower[begin : begin + PIECE_CHARS + longest - 1]
            for number, start, _ in automaton.find_matches_as_indexes(piece, overlapping=True):
                _, groups, placed = self._every[number]
                seen |= groups
                if start < PIECE_CHARS:  # What begins behind the piece is found in the next.
                    places = found.setdefault(number, [])
                    if placed:
                        places.append(begin + start)
        for sign, times, group in _SIGNS:
            if sign in text and (times == 1 or text.count(sign) >= times):
                seen |= group
        for table, run, group in _RUNS:
            if run in raw.translate(table):
                seen |= group
        self._seen = seen
        self.able = seen if plain or not any(char in lower for char in _OTHER_CASES) else _EVERYTHING

    def may(self, sought: Stems) -> bool:
        """Whether a reader that needs any of these stems, in any case, can find anything."""
        return self.able & sought != 0

    def has(self, sought: Stems) -> bool:
        """Whether any of these stems occurs in the text, in any case."""
        return self._seen & sought != 0

    def among(self, sought: Stems) -> list[str]:
        """Return the words of `sought` that occur in the text."""
        return [self._every[number][0] for number in self._numbers(sought)] if self._seen & sought else []

    def matches(self, pattern: str, sought: Stems) -> Iterable[re.Match[str]]:
        """Return the disjoint matches of a pattern at the places of the stems, in order."""
        if not self._seen & sought:
            return ()
        places = {place for number in self._numbers(sought) for place in self._found[number]}
        return self._matched(pattern, sorted(places))

    def _numbers(self, sought: Stems) -> Iterator[int]:
        return (number for number in self._found if self._every[number][1] & sought)

    def _matched(self, pattern: str, places: list[int]) -> Iterator[re.Match[str]]:
        end = 0
        for place in places:
            if place >= end and (found := compiled(pattern).match(self.text, place)):
                yield found
                end = found.end()
