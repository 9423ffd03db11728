"""Whether one text gives the value that another gave before: both say the same of one thing, but for the value.

A slot counts that holds one value at a time by its nature, as a port does, and not one that holds many, as what
somebody likes does. When in doubt the answer is no: both texts then stand. English only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text.relations import NO_VALUES

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
_COUNTS = lazy(
    r"\b(?:port|version|price|cost|budget|limit|timeout|ttl|interval|size|length|capacity|quota|salary|rate|replicas"
    r"|retention|threshold|phone(?: number)?)\s*(?:is|are|was|were|=|:)\s*\w*\Z"
    r"|\b(?:takes?|lasts?|costs?|starts?|ends?|expires?|runs?\s+(?:on|at))\Z",
    re.IGNORECASE,
)
"""Of these the value has a number: "takes magnesium" and "the port is free" give none."""
_MEASURED = lazy(
    r"(?<![\w./:-])\d+(?:[.,]\d+)*(?:\s?%|/\d+(?![\w/])|\s?(?:ms|s|sec|min|m|h|[kmgt]i?b)\b"
    r"|(?=\s(?:passed|failed|skipped|ready|used|free|running|pending|queued|open|errors?|warnings?|rows|users"
    r"|tests)\b))",
    re.IGNORECASE,
)
_NUMBERED = lazy(r"(?:^|[\s(#$€£:])(?:v|[a-z]+-)?\d", re.IGNORECASE)
_PERSONAL = lazy(r"\b(?:i|we|you|he|she|they|my|our|his|her|their)\b", re.IGNORECASE)
_STATES = lazy(r"\b(?:status|state)\b", re.IGNORECASE)
_PARTICIPLE = lazy(r"[a-z]{3,}ed[.,;:!?]*\Z")
_OPENING = frozenset("on in at for by with to of what who whoever whatever which why how as per".split())
_OF_SEVERAL = lazy(
    r"^(?:my|our|his|her|their|a|an|one)\s+(?:\w+\s+)?(?:brother|sister|friend|cousin|colleague|neighbou?r|uncle|aunt"
    r"|son|daughter|kid|child|cat|dog|classmate|roommate|client|customer|server|host)\b",
    re.IGNORECASE,
)
"""Of these somebody may have several, so that two of them are told apart by what is said of each."""


class Value(NamedTuple):
    """What two texts say alike before a value, the two values, older first, and what they say alike after it."""

    before: str
    older: str
    newer: str
    after: str


def changed_value(older: str, newer: str) -> Value | None:
    """Return the value that the newer text gives where the older gave another, None where no value was replaced."""
    a, b = _words(older), _words(newer)
    if not a or not b or _says_more(newer):
        return None
    start = words_alike(a, b)
    end = min(words_alike(a[::-1], b[::-1]), min(len(a), len(b)) - start)
    end = 0 if end <= MOST_UNIT_WORDS else end
    values = a[start : len(a) - end], b[start : len(b) - end]
    if not all(0 < len(value) <= MOST_VALUE_WORDS for value in values):
        return None
    before, after = " ".join(b[:start]), " ".join(b[len(b) - end :] if end else [])
    parts = [{word.strip(_ENDS).lower() for word in value} for value in values]
    if any(map(_tells_more, map(" ".join, values))) or _differ_twice(*values):
        return None
    if parts[0] <= parts[1] or parts[1] <= parts[0]:
        return None  # One only says more.
    if not _SLOT.search(before) or sum(any(map(str.isalnum, word)) for word in b[:start]) < 2 or _tells_more(after):
        return None
    if _COUNTS.search(before) and not all(any(map(str.isdigit, "".join(value))) for value in values):
        return None
    first, second = (" ".join(value).rstrip(_ENDS) for value in values)
    if (
        value_is_idiom(first)
        or value_is_idiom(second)
        or is_of_several(before)
        or not are_of_one_kind(first, second, is_state=_STATES.search(before) is not None)
    ):
        return None
    return Value(before, first, second, after) if first and second and first.lower() != second.lower() else None


def measured_anew(older: str, newer: str) -> bool:
    """Whether two lines are one but for what was measured: shares, ratios, spans, sizes, and counts of what has a"
    " state."""
    first, second = (_MEASURED.sub("#", text) for text in (older, newer))
    return "#" in first and first == second and older.split() != newer.split() and not _PERSONAL.search(older)


def value_is_idiom(value: str) -> bool:
    """Whether a value is none though it stands like one, as in `is on vacation`."""
    return value.split()[0].lower() in NO_VALUES if value.split() else False


def is_of_several(text: str) -> bool:
    """Whether a text is about one of several that somebody may have, as a brother is."""
    return _OF_SEVERAL.search(text) is not None


def are_of_one_kind(older: str, newer: str, *, is_state: bool = False) -> bool:
    """Whether two values may fill one slot: both have a number or none, and none is said of the slot itself."""
    a, b = older.split(), newer.split()
    if not a or not b:
        return True
    numbered = [_NUMBERED.search(value) is not None for value in (older, newer)]
    opening = [value[0].lower() if value[0].lower() in _OPENING else "" for value in (a, b)]
    said = any(len(value) == 1 and _PARTICIPLE.match(value[0]) for value in (a, b))
    if is_state:
        return not any(word.startswith("wh") for word in opening)
    return numbered[0] == numbered[1] and opening[0] == opening[1] and not said


def _differ_twice(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether two values differ before and behind a preposition: what stands behind it is of what they are told."""
    shared = [word for word in a[1:] if word in b[1:] and word in ("on", "for", "in", "at", "of", "with", "to", "by")]
    return any(a[: a.index(word)] != b[: b.index(word)] and a[a.index(word) :] != b[b.index(word) :] for word in shared)


def _tells_more(after: str) -> bool:
    """Whether what follows a value says something of it, so that the value is what the text is about."""
    told = r"\b(?:is|are|was|were|has|have|takes?|took|went|runs?|listens?|and|but|or)\b"
    return bool(re.search(told, after, re.IGNORECASE))


@lru_cache(maxsize=8_192)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text that is compared with up to thirty others, one after the other."""
    words = [word for word in _WORD.findall(text.strip()) if word.lower().strip(_ENDS) not in _TIMES]
    if words:
        words[-1] = words[-1].rstrip(".!") or words[-1]
    return tuple(words)


@lru_cache(maxsize=8_192)
def _says_more(text: str) -> bool:
    """Whether a text says that something holds beside what held."""
    return not _MORE.isdisjoint(word.lower().strip(_ENDS) for word in _words(text))


def words_alike(a: Sequence[str], b: Sequence[str]) -> int:
    """Return how many words two rows begin with alike, whatever their case."""
    count = 0
    for one, other in zip(a, b, strict=False):
        if one.lower() != other.lower():
            break
        count += 1
    return count
