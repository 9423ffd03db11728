"""The category of a memory, on which its aging depends: decided by rule from its kind, tags and words.

English first; a text without a known word is technical. The time for which a category stays fresh is here,
and no clock.
"""

from __future__ import annotations

from collections.abc import Sequence

from memtape.schemas.events import DISTILLED_TAG, FLUSH_TAG, STATED_TAG, Kind
from memtape.schemas.rows import Category
from memtape.schemas.times import DAY_US
from memtape.state.text.lexicon import cues
from memtape.state.text.polarity import polarity
from memtape.state.text.reading import Reading

FRESH_DAYS: dict[Category, int | None] = {
    "identity": None,
    "preference": 365,
    "technical": 182,
    "goal": 91,
    "context": 21,
}
"""Days for which a memory stays fresh after its last capture or use; identity never ages (spec F2)."""

_OF_TAGS: dict[str, Category] = {"instruction": "preference", "preference": "preference", "task": "goal"}
"""The category of a statement's second tag, or of a model's fact from talk."""
_CUES = cues("categories")


def category_of(kind: Kind, tags: Sequence[str], reading: Reading) -> Category:
    """Return the category of a memory."""
    if kind in ("goal", "plan"):
        return "goal"
    if kind == "journal" or FLUSH_TAG in tags:
        return "context"
    if tags[:1] in ((STATED_TAG,), (DISTILLED_TAG,)) and tags[1:2] and tags[1] in _OF_TAGS:
        return _OF_TAGS[tags[1]]
    text = reading.text
    prefers = cues("statements").preference.search(text) or _CUES.prefers.search(text)
    if prefers or polarity(reading) in ("rule", "meta"):
        return "preference"
    if _CUES.identity.search(text):
        return "identity"
    return "context" if _CUES.context.search(text) else "technical"


def is_stale(category: Category, last: int, now: int) -> bool:
    """Return whether a memory that was last said or used at a time is stale, both in microseconds."""
    days = FRESH_DAYS[category]
    return days is not None and now - last > days * DAY_US
