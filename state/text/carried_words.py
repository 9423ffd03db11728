"""The test whether an answer carries the specifics of a recalled text, and so used it without a report.

Names, numbers and identifiers are strong evidence, and so are two successive words with a rare one. Single
words, and those of the question, are none. Looking alone is not use, so in doubt the answer is
no. `usage` decides which answers are compared with which recalls.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text.normal import words
from memtape.state.text.reading import Reading

STRONG_RARE = (5, 25)
"""A name, number or identifier is evidence if at most 5 texts of a scope have it, or 1 in 25."""
WORD_RARE = (3, 50)  # Any other word: at most 3 texts, or 1 in 50.
SHORT = 12
"""A text with at most this many specifics says one thing: an answer with another number contradicts it."""

_CHUNK = lazy(r"\S+")
_EDGES = "\"'`()[]{}<>«»“”‘’„,;:!?….*_"
_SENTENCE_END = lazy(r"[.!?…:]['\")\]]*\Z")
_OVERLAPPING = "\u1100"  # Scripts from here on have overlapping pairs as words.


class AnswerWords(NamedTuple):
    """An answer prepared for comparison: its words, its words with a digit, and its pairs of words."""

    said: frozenset[str]
    numbers: frozenset[str]
    pairs: frozenset[tuple[str, str]]


def answer_of(reading: Reading) -> AnswerWords:
    """Return an answer for comparing; the order of nothing depends on its sets."""
    said = _words(reading.text)
    return AnswerWords(frozenset(said), _numbers(said), frozenset(_pairs(said)))


def carries(
    answer: AnswerWords, known: str, asked: Iterable[str], counts: Mapping[str, int], texts: int
) -> bool:
    """Return whether an answer carries the specifics of a known text.

    `asked` are the words of the question, `counts` has the number of the scope's `texts` with a word.
    Enough is one rare name, number or identifier; two successive words with a rare one; or all specifics, one
    of them rare. A short text whose numbers differ from the answer's is not carried.
    """

    def is_rare(word: str, rare: tuple[int, int]) -> bool:
        return counts.get(word, 0) <= max(rare[0], texts // rare[1])

    common = frozenset(asked)
    own = [word for word in dict.fromkeys(_words(known)) if word not in common]
    carried = [word for word in own if word in answer.said]
    numbers, others = _numbers(own), answer.numbers - common
    if not carried or (len(own) <= SHORT and numbers and others and numbers.isdisjoint(others)):
        return False
    special = [word for word in carried if is_rare(word, STRONG_RARE)]
    is_whole = len(carried) == len(own)
    if special and (is_whole or not frozenset(special).isdisjoint(_strong_words(known, carried))):
        return True
    shared = (pair for pair in _pairs(_words(known)) if pair in answer.pairs and common.isdisjoint(pair))
    return any(is_rare(word, WORD_RARE) for pair in shared for word in pair)


def _pairs(said: Sequence[str]) -> list[tuple[str, str]]:
    """Return the successive words; of overlapping CJK words those that share no character."""
    overlaps = (one >= _OVERLAPPING and one[-1] == other[0] for one, other in pairwise(said))
    steps = enumerate(1 + overlap for overlap in overlaps)
    return [(said[n], said[n + step]) for n, step in steps if n + step < len(said)]


def _numbers(said: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in said if any(map(str.isdigit, word)))


@lru_cache(maxsize=4_096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(words(text))


def _strong_words(text: str, among: Sequence[str]) -> list[str]:
    """Return the words of names, numbers or identifiers: with a digit, or a capital inside a sentence."""
    found, opens = [], True
    for chunk in _CHUNK.findall(unicodedata.normalize("NFKC", text)):
        lowered = chunk.lower()
        if any(word in lowered for word in among):
            core = chunk.strip(_EDGES)
            has_sign = any(map(str.isupper, core[1:])) or any(it in core[1:-1] for it in "_/\\@=.")
            is_name = core[:1].isupper() and len(core) > 2 and not opens
            if has_sign or is_name or (len(core) > 1 and any(map(str.isdigit, core))):
                inside = words(core)
                found += [word for word in among if word in inside]
        opens = bool(_SENTENCE_END.search(chunk))
    return found
