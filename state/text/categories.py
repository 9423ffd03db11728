"""The category of a memory, on which its aging depends: decided by rule from its kind, tags and words.

English first; a text without a known word is technical. The time for which a category stays fresh is here,
and no clock.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtape.schemas.events import DISTILLED_TAG, FLUSH_TAG, REPOSITORY_TAG, STATED_TAG, Kind
from memtape.schemas.patterns import lazy
from memtape.schemas.rows import Category
from memtape.schemas.times import DAY_US
from memtape.state.text.polarity import polarity
from memtape.state.text.statement_cues import PREFERENCE

FRESH_DAYS: dict[Category, int | None] = {
    "identity": None,
    "preference": 365,
    "technical": 182,
    "goal": 91,
    "context": 21,
}
"""Days for which a memory stays fresh after its last capture or use; identity never ages (spec F2)."""

_OF_TAGS: dict[str, Category] = {
    "instruction": "preference",
    "preference": "preference",
    "task": "goal",
}
"""The category of a statement's second tag, or of a model's fact from talk."""
_I = re.IGNORECASE
_FAMILY = (
    r"(?:mother|mom|mum|father|dad|parents?|sister|brother|sibling|wife|husband|spouse|partner|girlfriend|boyfriend"
    r"|fianc[eé]e?|son|daughter|child|children|kids?|grandmother|grandma|grandfather|grandpa|aunt|uncle|cousin|niece"
    r"|nephew|twins?)"
)
_PREFERS = lazy(r"\b(?:prefers|likes|dislikes|loves|hates|favou?rite|preference)\b", _I)
_IDENTITY = lazy(
    r"\b(?:my|his|her|their|the user's|[A-Z]\w+['’]s)\s+(?:(?:full|first|last|middle|maiden|home|postal"
    r"|date of)\s+)*(?:name|nickname|surname|birthday|birth|birthplace|address|nationality|mother tongue"
    r"|native language|pronouns|blood type)\b|\b(?:born|grew up) (?:on|in|at)\b"
    r"|\b(?:i am|i'm|she is|he is|she's|he's) (?:called|named|married|divorced)\b"
    r"|\b(?:i am|i'm|he is|she is|he's|she's) \d{1,3} years old\b|\b(?:my|his|her|their"
    rf"|[A-Z]\w+['’]s)\s+(?:\w+\s+)?{_FAMILY}\b|\b(?:i|we|he|she|they) lives? (?:in|at)\b"
    r"|\b(?:i'm|i am|we're|we are|he's|she's) from [A-Z]",
    _I,
)
_CONTEXT = lazy(
    r"\b(?:currently|at the moment|right now|for now|today|tonight|tomorrow|yesterday|this (?:week|month|morning"
    r"|afternoon|evening|sprint)|these days|next week|last week|in progress|work in progress|wip|so far|as we speak"
    r"|for the time being|temporarily)\b",
    _I,
)


def category_of(kind: Kind, tags: Sequence[str], text: str) -> Category:
    """Return the category of a memory."""
    if kind in ("goal", "plan"):
        return "goal"
    if kind == "journal" or FLUSH_TAG in tags or tags[:1] == (REPOSITORY_TAG,):
        return "context"
    if tags[:1] in ((STATED_TAG,), (DISTILLED_TAG,)) and tags[1:2] and tags[1] in _OF_TAGS:
        return _OF_TAGS[tags[1]]
    if PREFERENCE.search(text) or _PREFERS.search(text) or polarity(text) in ("rule", "meta"):
        return "preference"
    if _IDENTITY.search(text):
        return "identity"
    return "context" if _CONTEXT.search(text) else "technical"


def is_stale(category: Category, last: int, now: int) -> bool:
    """Return whether a memory that was last said or used at a time is stale, both in microseconds."""
    days = FRESH_DAYS[category]
    return days is not None and now - last > days * DAY_US
