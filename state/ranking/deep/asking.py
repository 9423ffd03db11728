"""The queries of a deep search.

The first is the question without words about asking; the next add words of the kinds named in it, and found
names. The rules are for English; a question in another language stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from memtape.schemas.patterns import lazy
from memtape.state.text.kinds import of_kind
from memtape.state.text.normal import words
from memtape.state.text.terms import ENGLISH, terms

MOST_NAMES = 4
NAME_CHARS = 40
_WHERE_SAID = lazy(
    r"\b(?:across|in|during|over|throughout|from)\s+(?:all\s+)?(?:of\s+)?(?:my|our|the|these|all|your|different)\s+"
    r"(?:sessions?|conversations?|chats?|questions?|requests?|messages?|discussions?)\b",
    re.IGNORECASE,
)
_OF_ASKING = frozenset(
    "many much different various total overall specific considering mention mentioned kind kinds type types sort sorts"
    " which would could should might likely ever recently both while considered".split()
)
"""Words that say how something is asked for, or how many are wanted, and stand in few answers."""
_WORD = lazy(r"[^\W_][\w'’-]*")
_NAME = lazy(r"(?<=[a-z0-9,;:] )(?:[A-Z][\w'’-]*[a-z][\w'’-]*)(?: [A-Z][\w'’-]*[a-z][\w'’-]*)*")
"""Capitalised words within a sentence."""


def bare(question: str) -> str:
    """Return the words of a question except words about asking; all words if none is left."""
    kept = [word for word in _WORD.findall(_WHERE_SAID.sub(" ", question)) if word.lower() not in _OF_ASKING]
    return " ".join(kept) if any(map(words, kept)) else question


def kinds_asked(question: str) -> dict[str, tuple[str, ...]]:
    """Return by each term of a question that names a kind the words of members of the kind."""
    return {term: members for term in terms(bare(question), ENGLISH) if (members := of_kind(term))}


def terms_of_kinds(question: str) -> dict[str, list[str]]:
    """Return by each term of a question that names a kind the terms of members of the kind."""
    return {term: terms(" ".join(members), ENGLISH) for term, members in kinds_asked(question).items()}


def by_kinds(question: str) -> str:
    """Return a question without words about asking, with all members of the kinds named in it."""
    members = (member for its in kinds_asked(question).values() for member in its)
    return " ".join((bare(question), *dict.fromkeys(members)))


def by_names(question: str, missing: Iterable[str], texts: Iterable[str]) -> str:
    """Return a query of the missing terms, and of the texts' most frequent names not in the question.

    Empty without either.
    """
    asked = dict.fromkeys(words(question))
    counts = Counter(name for text in texts for name in dict.fromkeys(_NAME.findall(text)) if len(name) <= NAME_CHARS)
    new = [name for name in counts if not any(word in asked for word in words(name)) and words(name)]
    names = sorted(new, key=lambda name: (-counts[name], name))[:MOST_NAMES]
    return " ".join((*missing, *names))


def share_held(weights: Mapping[str, float], held: Iterable[str]) -> float:
    """Return the share of a question's weight in the held terms, from 0 to 1; 1 for one without terms."""
    whole = sum(weights.values())
    return sum(weights.get(term, 0.0) for term in dict.fromkeys(held)) / whole if whole else 1.0
