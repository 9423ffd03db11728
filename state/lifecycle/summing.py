"""The summary of a group of texts by rule: the lines with most of its words, and its keywords. Pure.

`state/subjects/lifecycle.py` decides which texts are summed up together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from memtape.schemas.visible import one_line
from memtape.state.lifecycle.retention import importance_of
from memtape.state.text.normal import words
from memtape.state.text.reading import sentences
from memtape.state.text.statements import LEAST_WORDS
from memtape.state.text.terms import is_common, language_of, terms, worded_terms

MOST_HIGHLIGHTS, HIGHLIGHT_CHARS = 5, 180
MOST_KEYWORDS = 12
LEAST_WORD_CHARS = 3
READ_CHARS = 2_000
"""So much of the beginning of a text is read; what is longer is mostly pasted."""
GOOD_HIGHLIGHTS, GOOD_KEYWORDS = 3, 6
GOOD, POOR = 75, 45
"""The quality, in hundredths, of a summary with enough highlights and keywords, and with fewer (L3)."""
_SAID, _SHORT = 2, 1
"""What a word counts in a sentence, and in one of few words, which says nothing by itself."""
KEPT_SUMMARIES = 256
"""Summaries kept, since an epoch first makes the rows of all changed summaries, and then their pages."""


class Summed(NamedTuple):
    """A summary by rule: its lines in the order of the texts, keywords, commonest first, and quality."""

    highlights: tuple[str, ...]
    keywords: tuple[str, ...]
    quality: int


class _Line(NamedTuple):
    """A candidate for a highlight: the number of its text, the sentence, its terms, and their weights."""

    place: int
    text: str
    terms: frozenset[str]
    weight: int


@lru_cache(maxsize=KEPT_SUMMARIES)
def summed(said: tuple[tuple[str, str], ...]) -> Summed:
    """Return a summary of (text, author): the lines that together hold most of the words, and these words."""
    read = [(text[:READ_CHARS], actor) for text, actor in said]
    spoken = _spoken(read)
    lines = [line for place, (text, _) in enumerate(read) for line in _lines(place, text)]
    highlights = tuple(line.text for line in sorted(_chosen(lines, spoken)))
    keywords = tuple(word for word, _ in list(spoken.values())[:MOST_KEYWORDS])
    is_good = len(highlights) >= GOOD_HIGHLIGHTS and len(keywords) >= GOOD_KEYWORDS
    return Summed(highlights, keywords, GOOD if is_good else POOR)


_Spoken = dict[str, tuple[str, int]]
"""By term a word of the group as first written, and the number of texts with the word; commonest first."""


def _spoken(said: Sequence[tuple[str, str]]) -> _Spoken:
    """Return the meaningful words of texts, without the names of speakers."""
    held: Counter[str] = Counter()
    written: dict[str, str] = {}
    names = frozenset(word for _, actor in said for word in words(actor))
    for text, _ in said:
        told = (pair for pair in worded_terms(text, language_of(text)) if len(pair[0]) >= LEAST_WORD_CHARS)
        pairs = [it for it in told if not (it[0].isdigit() or is_common(it[0]) or it[0] in names)]
        held.update(list(dict.fromkeys(term for _, term in pairs)))
        for word, term in pairs:
            written.setdefault(term, word)
    return {term: (written[term], held[term]) for term in sorted(held, key=lambda term: (-held[term], term))}


def _lines(place: int, text: str) -> list[_Line]:
    """Return a text's candidates for highlights, each once: its sentences, else its beginning."""
    lines = dict.fromkeys(one_line(said, HIGHLIGHT_CHARS) for said in sentences(text) or [text])
    return [_Line(place, line, found, _weight(line)) for line in lines if (found := frozenset(terms(line)))]


def _weight(line: str) -> int:
    return (_SAID if len(line.split()) >= LEAST_WORDS else _SHORT) * (100 + importance_of(None, line))


def _chosen(lines: Sequence[_Line], spoken: _Spoken) -> list[_Line]:
    """Return the lines with most words not in an earlier line, one a text."""
    left, chosen, told = list(lines), list[_Line](), frozenset[str]()
    while left and len(chosen) < MOST_HIGHLIGHTS:
        new = (line.weight * sum(spoken[it][1] for it in line.terms - told if it in spoken) for line in left)
        worth = list(new)
        best = max(range(len(left)), key=lambda n: (worth[n], -n))
        if not worth[best]:
            break
        chosen.append(left[best])
        told |= chosen[-1].terms
        left = [line for line in left if line.place != chosen[-1].place]
    return chosen
