"""The kinds of things that a question names, and their members: a violin is an instrument. For English.

Texts tell of members and seldom name the kind. `kinds.txt` has the words.
"""

from __future__ import annotations

from functools import cache

from memtape.state.text.lexicon import lines_of
from memtape.state.text.terms import ENGLISH, terms


def kinds_asked(question: str) -> list[str]:
    """Return the kinds that a question names, by a term each, in order, each once."""
    return [term for term in dict.fromkeys(terms(question, ENGLISH)) if term in _members()]


def members_asked(question: str) -> list[str]:
    """Return the words of members of the kinds that a question names, each once."""
    return list(dict.fromkeys(word for kind in kinds_asked(question) for word in _members()[kind]))


@cache
def member_terms(kind: str) -> tuple[str, ...]:
    """Return the terms of a kind's members, each once."""
    return tuple(dict.fromkeys(terms(" ".join(_members()[kind]), ENGLISH)))


@cache
def _members() -> dict[str, list[str]]:
    """Return the words of the members of each kind, by each term that names it."""
    found: dict[str, list[str]] = {}
    for names, _, members in (line.partition(":") for line in lines_of("kinds.txt")):
        for name in terms(names, ENGLISH):
            found.setdefault(name, []).extend(members.split())
    return found
