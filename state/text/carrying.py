"""Whether an answer carries what a recalled text says in particular, by which it counts as used without being told.

Names, numbers and identifiers tell much, other words that are rare in the scope a little, common words and those of
the question nothing. Looking alone is not use, so in doubt the answer is no. Which answers are compared with which
recalls is decided in `usage`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from memtape.schemas.patterns import lazy
from memtape.state.text.normal import words

STRONG_RARE = (5, 25)
"""A name, number or identifier tells something while at most this many texts of a scope have it, or one in so many."""
WORD_RARE = (3, 50)
"""Any other word: at most this many texts, or one in so many."""
SHARE = 4
"""Of a text's other specifics a quarter must be carried, and two at least."""

_CHUNK = lazy(r"\S+")
_EDGES = "\"'`()[]{}<>«»“”‘’„,;:!?….*_"
_SENTENCE_END = lazy(r"[.!?…:]['\")\]]*\Z")

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
    own = [word for word in dict.fromkeys(_words(known)) if word not in common]
    carried = [word for word in own if word in answer]
    if not carried:
        return False
    strong = _strong_words(known, carried)
    if any(_is_rare(word, STRONG_RARE, frequency, texts) for word in strong):
        return True
    plain = [word for word in carried if word not in strong and _is_rare(word, WORD_RARE, frequency, texts)]
    if len(plain) < 2:
        return False
    return len(plain) * SHARE >= sum(_is_rare(word, WORD_RARE, frequency, texts) for word in own)


@lru_cache(maxsize=4_096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(words(text))


def _is_rare(word: str, rare: tuple[int, int], frequency: Frequency, texts: int) -> bool:
    return frequency(word) <= max(rare[0], texts // rare[1])


def _strong_words(text: str, among: Sequence[str]) -> list[str]:
    """Return those words that are of names, numbers or identifiers: with a digit, a capital inside, opening nothing."""
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
    return core[0].isupper() and len(core) > 1 and not opens
