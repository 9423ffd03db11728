"""The test whether an answer carries the specifics of a recalled text, and so used it without a report.

Names, numbers and identifiers are strong evidence, runs of words in both texts weaker, single words that are
rare in the scope weak, common words and those of the question none. Looking alone is not use, so in doubt the
answer is no. `usage` decides which answers are compared with which recalls.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text.normal import words

STRONG_RARE = (5, 25)
"""A name, number or identifier is evidence if at most 5 texts of a scope have it, or 1 in 25."""
WORD_RARE = (3, 50)
"""Any other word: at most 3 texts, or 1 in 50."""
SHARE = 4
"""Of a text's other specifics a quarter must be carried, and two at least."""
SHORT = 12
"""A text with at most this many specifics says one thing: an answer with another number contradicts it."""

_CHUNK = lazy(r"\S+")
_EDGES = "\"'`()[]{}<>«»“”‘’„,;:!?….*_"
_SENTENCE_END = lazy(r"[.!?…:]['\")\]]*\Z")
_OVERLAPPING = "\u1100"
"""Scripts from here on are compared by overlapping pairs; two successive pairs count as one."""

Frequency = Callable[[str], int]


class AnswerWords(NamedTuple):
    """An answer prepared for comparison: its words, words with a digit, word pairs and word triples."""

    said: frozenset[str]
    numbers: frozenset[str]
    pairs: frozenset[tuple[str, ...]]
    triples: frozenset[tuple[str, ...]]


def answer_of(text: str) -> AnswerWords:
    """Return an answer for comparing; the order of nothing depends on its sets."""
    said = _words(text)
    return AnswerWords(frozenset(said), _numbers(said), frozenset(_following(said, 2)), frozenset(_following(said, 3)))


def carries(answer: AnswerWords, known: str, asked: Iterable[str], frequency: Frequency, texts: int) -> bool:
    """Return whether an answer carries the specifics of a known text.

    `asked` are the words of the question, `frequency` returns the number of the scope's `texts` with a word.
    Enough is one rare name, number or identifier; two successive words with a rare one; three with two
    specific words and an uncommon one; a quarter of the rare words, and two; or all specifics. A short text
    whose numbers differ from the answer's is not carried.
    """
    common = frozenset(asked)
    own = [word for word in dict.fromkeys(_words(known)) if word not in common]
    carried = [word for word in own if word in answer.said]
    if not carried or (len(own) <= SHORT and _differ(_numbers(own), answer.numbers - common)):
        return False
    special = {word: _is_rare(word, STRONG_RARE, frequency, texts) for word in carried}
    strong = _strong_words(known, carried)
    if any(special[word] for word in strong) or (len(carried) == len(own) and any(special.values())):
        return True
    rare = dict.fromkeys(word for word in own if _is_rare(word, WORD_RARE, frequency, texts))
    for pair in _shared(known, answer.pairs):
        if not common.intersection(pair) and any(word in rare for word in pair):
            return True
    for triple in _shared(known, answer.triples):
        fresh = [word for word in triple if word not in common]
        if len(fresh) > 1 and any(special[word] for word in fresh):
            return True
    plain = [word for word in carried if word not in strong and word in rare]
    return len(plain) > 1 and len(plain) * SHARE >= len(rare)


def _shared(known: str, among: frozenset[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield the words of a text that follow each other in an answer too; `among` are all of one length."""
    length = len(next(iter(among), ()))
    return (run for run in _following(_words(known), length) if run in among) if length else iter(())


def _following(said: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    """Yield runs of `length` words, except runs of overlapping CJK words."""
    for run in zip(*(said[start:] for start in range(length)), strict=False):
        if not any(one >= _OVERLAPPING and one[-1] == other[0] for one, other in pairwise(run)):
            yield run


def _numbers(said: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in said if any(map(str.isdigit, word)))


def _differ(here: frozenset[str], there: frozenset[str]) -> bool:
    """Return whether both have numbers, and none in common."""
    return bool(here and there) and here.isdisjoint(there)


@lru_cache(maxsize=4_096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(words(text))


def _is_rare(word: str, rare: tuple[int, int], frequency: Frequency, texts: int) -> bool:
    return frequency(word) <= max(rare[0], texts // rare[1])


def _strong_words(text: str, among: Sequence[str]) -> list[str]:
    """Return the words of names, numbers or identifiers: with a digit, or a capital inside a sentence."""
    found, opens = [], True
    for chunk in _CHUNK.findall(unicodedata.normalize("NFKC", text)):
        lowered = chunk.lower()
        if any(word in lowered for word in among):
            core = chunk.strip(_EDGES)
            if core and _is_strong(core, opens):
                inside = words(core)
                found += [word for word in among if word in inside]
        opens = bool(_SENTENCE_END.search(chunk))
    return found


def _is_strong(core: str, opens: bool) -> bool:
    if any(char.isdigit() for char in core) and len(core) > 1:
        return True
    if any(char.isupper() for char in core[1:]) or any(mark in core[1:-1] for mark in "_/\\@=") or "." in core[1:-1]:
        return True
    return core[0].isupper() and len(core) > 2 and not opens
