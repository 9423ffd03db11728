"""The kinds of `kinds.txt`: their members are found in texts that do not name the kind. English only."""

from __future__ import annotations

from functools import cache

from memtape.state.text.lexicon import lines_of
from memtape.state.text.terms import ENGLISH, terms


@cache
def _kinds() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for names, _, members in (line.partition(":") for line in lines_of("kinds.txt")):
        for name in terms(names, ENGLISH):
            found.setdefault(name, {}).update(dict.fromkeys(members.split()))
    return {name: tuple(its) for name, its in found.items()}


def of_kind(term: str) -> tuple[str, ...]:
    """Return the words of members of the kind named by an English term; none if the term names no kind."""
    return _kinds().get(term, ())
