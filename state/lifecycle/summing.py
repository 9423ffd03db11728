"""What a group of texts says in short, by rule: the lines that carry most of its words, and its keywords. Pure.

Which texts are summed up together is decided in `state/subjects/lifecycle.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from memtape.schemas.visible import one_line
from memtape.state.lifecycle.retention import importance_of
from memtape.state.text.normal import normal_text
from memtape.state.text.statements import sentences
from memtape.state.text.terms import is_common, language_of, worded_terms

MOST_HIGHLIGHTS, HIGHLIGHT_CHARS = 5, 180
MOST_KEYWORDS = 12
LEAST_WORD_CHARS = 3
READ_CHARS = 2_000
"""So much of the beginning of a text is read for its highlight; what is longer is mostly pasted."""
GOOD_HIGHLIGHTS, GOOD_KEYWORDS = 3, 6
GOOD, POOR = 75, 45
"""Quality in hundredths: of a summary with enough highlights and keywords, and of one with fewer (capability L3)."""


class Summed(NamedTuple):
    """A summary by rule: its lines in the order of the texts, its keywords, the most telling first, and its quality."""

    highlights: tuple[str, ...]
    keywords: tuple[str, ...]
    quality: int


def summed(texts: Sequence[str]) -> Summed:
    """Return what texts say in short, in their order; nothing of a text stands there twice."""
    read = [text[:READ_CHARS] for text in texts]
    spoken = _keywords(read)
    lines = [_highlight(text, spoken) for text in read]
    worth = {n: _worth(line, spoken) for n, line in enumerate(lines) if line}
    chosen: dict[str, int] = {}
    for n in sorted(worth, key=lambda n: (-worth[n], n)):
        if len(chosen) < MOST_HIGHLIGHTS:
            chosen.setdefault(normal_text(lines[n]), n)
    highlights = tuple(lines[n] for n in sorted(chosen.values()))
    keywords = tuple(spoken[term][0] for term in list(spoken)[:MOST_KEYWORDS])
    is_good = len(highlights) >= GOOD_HIGHLIGHTS and len(keywords) >= GOOD_KEYWORDS
    return Summed(highlights, keywords, GOOD if is_good else POOR)


_Spoken = dict[str, tuple[str, int]]
"""By its term a word of the group as it was first written, and how many texts hold it; the most common first."""


def _keywords(texts: Sequence[str]) -> _Spoken:
    """Return the words of texts that carry meaning, those that most texts hold first."""
    held: Counter[str] = Counter()
    written: dict[str, str] = {}
    for text in texts:
        pairs = [(word, term) for word, term in worded_terms(text, language_of(text)) if _tells(word)]
        held.update(list(dict.fromkeys(term for _, term in pairs)))
        for word, term in pairs:
            written.setdefault(term, word)
    return {term: (written[term], held[term]) for term in sorted(held, key=lambda term: (-held[term], term))}


def _tells(word: str) -> bool:
    return len(word) >= LEAST_WORD_CHARS and not word.isdigit() and not is_common(word)


def _highlight(text: str, spoken: _Spoken) -> str:
    """Return the sentence of a text that carries most, on one line."""
    said = [line for sentence in sentences(text) if (line := one_line(sentence, HIGHLIGHT_CHARS))]
    return max(said, key=lambda line: _worth(line, spoken), default=one_line(text, HIGHLIGHT_CHARS))


def _worth(line: str, spoken: _Spoken) -> int:
    """Return how many texts share the words of a line, each word once, and more where the line is important."""
    terms = dict.fromkeys(term for _, term in worded_terms(line, language_of(line)))
    shared = sum(spoken[term][1] for term in terms if term in spoken)
    return shared * (100 + importance_of(None, line))
