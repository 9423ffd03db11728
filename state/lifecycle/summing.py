"""The summary of a group of texts by rule: the lines with most of its words, and its keywords. Pure.

`state/subjects/lifecycle.py` decides which texts are summed up together.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from memtape.schemas.visible import one_line
from memtape.state.lifecycle.retention import importance_of
from memtape.state.text.normal import words
from memtape.state.text.reading import read
from memtape.state.text.statements import LEAST_WORDS
from memtape.state.text.terms import is_common, language_of, terms, worded_terms

MOST_HIGHLIGHTS, HIGHLIGHT_CHARS = 5, 180
MOST_KEYWORDS = 12
LEAST_WORD_CHARS = 3
READ_CHARS = 2_000  # So much of the beginning of a text is read; what is longer is mostly pasted.
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
    """Return a summary of (text, author): the lines that together hold most of the words, and these words.

    Names of speakers are no words of the summary. A text gives one line at most.
    """
    held, written = Counter[str](), dict[str, str]()
    left = list[_Line]()
    names = frozenset(word for _, actor in said for word in words(actor))
    for place, text in enumerate(text[:READ_CHARS] for text, _ in said):
        told = (pair for pair in worded_terms(text, language_of(text)) if len(pair[0]) >= LEAST_WORD_CHARS)
        pairs = [it for it in told if not (it[0].isdigit() or is_common(it[0]) or it[0] in names)]
        held.update(list(dict.fromkeys(term for _, term in pairs)))
        for word, term in pairs:
            written.setdefault(term, word)
        # The candidates for highlights: the sentences of the text, each once, else its beginning.
        for line in dict.fromkeys(one_line(it, HIGHLIGHT_CHARS) for it in read(text).said or (text,)):
            if found := frozenset(terms(line)):
                of_words = _SAID if len(line.split()) >= LEAST_WORDS else _SHORT
                left.append(_Line(place, line, found, of_words * (100 + importance_of(None, read(line)))))
    chosen, known = list[_Line](), frozenset[str]()
    while left and len(chosen) < MOST_HIGHLIGHTS:  # The line with most words not in an earlier line.
        worth = [line.weight * sum(held[it] for it in line.terms - known) for line in left]
        best = max(range(len(left)), key=lambda n: (worth[n], -n))
        if not worth[best]:
            break
        chosen.append(left[best])
        known |= chosen[-1].terms
        left = [line for line in left if line.place != chosen[-1].place]
    highlights = tuple(line.text for line in sorted(chosen))
    commonest = sorted(held, key=lambda term: (-held[term], term))[:MOST_KEYWORDS]
    is_good = len(highlights) >= GOOD_HIGHLIGHTS and len(commonest) >= GOOD_KEYWORDS
    return Summed(highlights, tuple(written[term] for term in commonest), GOOD if is_good else POOR)
