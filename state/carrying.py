"""Whether an answer carries what a recalled text says in particular, by which it counts as used without being told.

Names, numbers and identifiers tell much, other words that are rare in the scope a little, common words and those of
the question nothing. Looking alone is not use, so in doubt the answer is no. Which answers are compared with which
recalls is decided in `usage`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from recollect.state.text import words

STRONG_RARE = (5, 10)
"""A name, number or identifier tells something while at most this many texts of the scope have it, or a tenth."""
WORD_RARE = (3, 50)
"""Any other word: at most this many texts, or a fiftieth."""
SHARE = 4
"""Of a text's other specifics a quarter must be carried, and two at least."""

_CHUNK = re.compile(r"\S+")
_EDGES = "\"'`()[]{}<>«»“”‘’„,;:!?….*_"
_SENTENCE_END = re.compile(r"[.!?…:]['\")\]]*\Z")

Frequency = Callable[[str], int]


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text for comparing; the order of nothing depends on them."""
    return frozenset(words(text))


def carries(answer: frozenset[str], known: str, asked: Iterable[str], frequency: Frequency, texts: int) -> bool:
    """Tell whether an answer's words carry the specifics of a known text.

    `asked` are the words of the question, `frequency` says in how many of the scope's `texts` a word stands. One rare
    name, number or identifier is enough; of other rare words it takes a quarter, and two.
    """
    common = frozenset(asked)
    strong = [word for word in dict.fromkeys(_strong_words(known)) if word not in common]
    if any(word in answer and _is_rare(word, STRONG_RARE, frequency, texts) for word in strong):
        return True
    others = [word for word in dict.fromkeys(words(known)) if word not in common and word not in strong]
    specific = [word for word in others if _is_rare(word, WORD_RARE, frequency, texts)]
    carried = sum(word in answer for word in specific)
    return carried >= 2 and carried * SHARE >= len(specific)


def _is_rare(word: str, rare: tuple[int, int], frequency: Frequency, texts: int) -> bool:
    return frequency(word) <= max(rare[0], texts // rare[1])


def _strong_words(text: str) -> Iterable[str]:
    """Yield the words of names, numbers and identifiers: with a digit, a capital inside, or one that opens nothing."""
    opens = True
    for chunk in _CHUNK.findall(text):
        core = chunk.strip(_EDGES)
        if core and _is_strong(core, opens):
            yield from words(core)
        opens = bool(_SENTENCE_END.search(chunk))


def _is_strong(core: str, opens: bool) -> bool:
    if any(char.isdigit() for char in core) and len(core) > 1:
        return True
    if any(char.isupper() for char in core[1:]) or any(mark in core[1:-1] for mark in "_/\\@=") or "." in core[1:-1]:
        return True
    return core[0].isupper() and len(core) > 1 and not opens
