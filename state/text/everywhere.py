"""A person's standing instructions for all projects: "In all my projects, use tabs.".

`polarity` decides whether a sentence instructs at all. Such a sentence stays a rule of its project until a
person accepts it for all.
"""

from __future__ import annotations

import re

from memtape.schemas.patterns import lazy

_PLACES = r"(?:projects|repos|repositories|code ?bases|git repos(?:itories)?)"
_PLACE = r"(?:project|repo|repository|code ?base)"
_OWN = r"(?:\s+of\s+(?:mine|ours)|\s+(?:that\s+)?(?:i|we|you)\s+(?:have|own|work (?:on|in)|touch|start|make)\b)"
EVERYWHERE = (
    r"(?:\b(?:in|for|across|on|with|throughout)\s+(?:(?:all|any|each|every(?: single)? one|every)\s+)(?:of\s+)?(?:"
    r"(?:my|our)\s+)?"
    rf"(?:other\s+|different\s+)?(?:{_PLACES}|{_PLACE})\b{_OWN}?"
    rf"|\b(?:in|for) everything (?:i|we|you) (?:do|write|build|work on)\b"
    rf"|^everywhere(?=\s*[,:])|\bwherever (?:i|we|you) (?:work|are|code)\b"
    r"|\b(?:no matter (?:which|what|the)|regardless of(?: the| which)?|whatever(?: the)?|whichever"
    rf"|independent of the)\s+{_PLACE}\b"
    r"|\bin (?:allen|jedem)\s+(?:(?:meiner|meinen|unserer|unseren)\s+)?(?:projekten|projekt|repos|repositories|repo)\b"
    r"|\bdans (?:tous (?:mes|nos|les)|chacun de (?:mes|nos)|chaque) (?:projets?|d[ée]p[ôo]ts?)\b)"
    r"(?!\s+(?:(?:i|we)(?:'ve|\s+(?:have|had|know|saw|looked|worked|tried))\b(?! of)|(?:in|of|from|under|inside) "
    r"(?:the|this)\b))"
)
"""Words for a rule in all projects. "In all projects I have seen" reports experience."""
_EVERYWHERE = lazy(EVERYWHERE, re.IGNORECASE)


def is_for_all_projects(sentence: str) -> bool:
    """Return whether an instructing sentence says that it holds in all projects."""
    return _EVERYWHERE.search(sentence.replace("’", "'")) is not None
