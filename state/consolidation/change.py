"""Whether one text gives the value that another gave before: both say the same of one thing, but for the value.

A slot counts that holds one value at a time by its nature, as a port does, and not one that holds many, as what
somebody likes does. When in doubt the answer is no: both texts then stand. English only.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memtape.schemas.patterns import lazy

MOST_VALUE_WORDS, MOST_UNIT_WORDS = 5, 2
"""A value has so many words; so many at the end that both have belong to it, as a unit or a month does."""
_WORD = re.compile(r"\S+")
_TIMES = frozenset("now currently today finally".split())
"""Words that only say that something holds now."""
_MORE = frozenset("also too additionally besides second another both extra either".split())
"""Words by which a text adds a value, and takes none back."""
_ENDS = ".,;:!?"
_NOUNS = (
    r"port|version|address|url|uri|endpoint|host(?:name)?|owner|maintainer|lead|deadline|due date|release date"
    r"|launch date|status|state|price|cost|budget|limit|timeout|ttl|interval|size|length|capacity|quota|salary|rate"
    r"|location|office|address|city|employer|manager|name|email|e-mail|phone(?: number)?|number|birthday|password"
    r"|branch|region|zone|plan|replicas|retention|threshold|schedule|default"
)
_IS = r"(?:is|are|was|were|stands at|is set to|is now|will be|becomes|=|:)"
_SLOT = lazy(
    rf"(?:\b(?:{_NOUNS})\b(?:\s+(?:of|for|in|on)\s+\S+(?:\s+\S+){{0,5}})?\s*{_IS}\s*(?:at|on|to|in|by|set to|called)?"
    rf"|\b(?:on|at|to|in|with|uses?|using)\s+(?:the\s+)?(?:port|version|address|branch|region|plan)"
    r"|\b(?:listens?|runs?|is|are|is hosted)\s+(?:on|at)(?:\s+(?:localhost|127\.0\.0\.1):)?"
    r"|\b(?:is|are)\s+(?:due|called|named|owned by|led by|maintained by|scheduled for|planned for|pinned to|located in)"
    r"(?:\s+(?:on|at|by|for))?"
    r"|\b(?:lives?|works?|moved|based)\s+(?:in|at|for|to)"
    r"|\b(?:takes?|lasts?|costs?|expires?(?:\s+(?:on|in|after))?|starts?(?:\s+(?:on|at))?|ends?(?:\s+(?:on|at))?))\Z",
    re.IGNORECASE,
)
"""What stands before the value of a slot that holds one at a time."""


class Value(NamedTuple):
    """What two texts say alike before a value, the two values, older first, and what they say alike after it."""

    before: str
    older: str
    newer: str
    after: str


def changed_value(older: str, newer: str) -> Value | None:
    """Return the value that the newer text gives where the older gave another, None where no value was replaced."""
    a, b = _words(older), _words(newer)
    if not a or not b or not _MORE.isdisjoint(word.lower().strip(_ENDS) for word in b):
        return None
    start = _alike(a, b)
    end = min(_alike(a[::-1], b[::-1]), min(len(a), len(b)) - start)
    end = 0 if end <= MOST_UNIT_WORDS else end
    values = a[start : len(a) - end], b[start : len(b) - end]
    if not all(0 < len(value) <= MOST_VALUE_WORDS for value in values):
        return None
    before, after = " ".join(b[:start]), " ".join(b[len(b) - end :] if end else [])
    if not _SLOT.search(before) or len(b[:start]) < 2 or _tells_more(after):
        return None
    first, second = (" ".join(value).rstrip(_ENDS) for value in values)
    return Value(before, first, second, after) if first and second and first.lower() != second.lower() else None


def _tells_more(after: str) -> bool:
    """Whether what follows a value says something of it, so that the value is what the text is about."""
    return bool(re.search(r"\b(?:is|are|was|were|has|have|takes?|runs?|listens?|and|but|or)\b", after, re.IGNORECASE))


def _words(text: str) -> list[str]:
    words = [word for word in _WORD.findall(text.strip()) if word.lower().strip(_ENDS) not in _TIMES]
    if words:
        words[-1] = words[-1].rstrip(".!") or words[-1]
    return words


def _alike(a: list[str], b: list[str]) -> int:
    """Return how many words two rows begin with alike, whatever their case."""
    count = 0
    for one, other in zip(a, b, strict=False):
        if one.lower() != other.lower():
            break
        count += 1
    return count
