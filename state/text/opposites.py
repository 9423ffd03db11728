"""Opposed texts: two texts about the same things, one of which denies, wants or prefers the opposite.

English only: a text that merely resembles another opposes nothing. `standing_of` reads each text by itself,
so that opposed texts are found by a key.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import cues, word_list
from memtape.state.text.normal import words
from memtape.state.text.reading import Reading
from memtape.state.text.terms import ENGLISH, terms

LEAST_SHARED = 2  # Minimum of equal terms for two texts about one thing.
MOST_CHARS = 300  # A longer text wants more than one thing.
_SAYS_NOTHING = frozenset(terms("always please just every each", ENGLISH))
_USES = frozenset(terms("use put leave", ENGLISH))
"""Verbs of a wish whose denial is the bare noun: `Use semicolons`, `No semicolons`."""
_WANTS = frozenset(terms("keep use put make give prefer want leave write", ENGLISH))
"""Verbs of a wish about the manner of a thing: `Keep answers short`, `I want long answers`."""
_PREFERS = lazy(r"\s*(?:always |please )*prefer (.+?) (?:over|to) (.+?)[.!]?\s*\Z", re.IGNORECASE)
_POLES = {
    pole: is_more
    for less, more in (
        ("short brief concise terse", "long detailed verbose lengthy"),
        ("formal", "informal casual"),
    )
    for words, is_more in ((less, False), (more, True))
    for pole in terms(words, ENGLISH)
}
"""Words with an opposite, and the side of each."""
_DENYING, _BINDING = map(word_list, ("words that deny", "words that bind"))
"""Words that deny; and words that are no terms, with which the same terms name another thing."""


class TopicSide(NamedTuple):
    """The topic of a text, as terms, and the side taken on the topic."""

    topic: tuple[str, ...]
    side: bool


def standing_of(reading: Reading) -> TopicSide | None:
    """Return the topic and side of a text; None for a question, a long text, or too few terms."""
    text = reading.text
    if "?" in text or len(text) > MOST_CHARS:
        return None
    denies = bool(cues("claims").denies.search(text))
    preferred = _PREFERS.match(text)
    if preferred is not None:
        first, second = (tuple(terms(part)) for part in preferred.groups())
        return TopicSide(("prefer", *sorted((*first, *second))), (first < second) is not denies)
    told = [term for _, term in reading.worded_terms()]
    said = [term for term in told if term not in _DENYING and term not in _SAYS_NOTHING]
    poles = {_POLES[term] for term in said if term in _POLES}
    if len(poles) > 1:
        return None
    if poles:
        topic = tuple(term for term in said if term not in _POLES and term not in _WANTS)
        return TopicSide(("how", *topic), poles.pop() is not denies) if topic else None
    topic = tuple(term for term in said if term not in _USES)
    bound = tuple(word for word in words(text) if word in _BINDING)
    return TopicSide((*topic, *bound), denies) if topic and len(said) >= LEAST_SHARED else None


def oppose(one: Reading, other: Reading) -> bool:
    """Return whether two texts are about the same topic, on different sides."""
    first, second = standing_of(one), standing_of(other)
    if first is None or second is None:
        return False
    return first.topic == second.topic and first.side is not second.side
