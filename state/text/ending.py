"""What a clause says has ended, by name: what was dropped, replaced or sold, and who left or handed something over.

English only. Whether that ends what another text says is for `replacing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text.terms import ENGLISH, terms

MOST_WORDS = 5
WORDS = frozenset(
    "retir resign step quit leav sell drop stop remov replac cancel histori go both die hand over out scrap ditch"
    " abandon"
    " discontinu decommiss phase shut dead forget any anymor more longer".split()
)
"""Stems of what says so, which name nothing."""
_I = re.IGNORECASE
_BEHIND = lazy(
    r"\b(?:dropp(?:ed|ing)|(?:stopped|quit|gave up|given up)(?: (?:using|with|doing|taking))?|done with|retired|removed"
    r"|got rid of|get rid of|ditched|abandoned|scrapped|cancell?ed|sold|traded in|uninstalled"
    r"|no longer(?: \w+(?: (?:in|on|with|at|by"
    r"|from|under|for))?)?|instead of|rather than|replac(?:ed|es|ing)|supersed(?:ed|es)|moved (?:off|away from|out of)"
    r"|(?:switched|migrated|changed|moved|went|came) (?:\w+ ){0,3}?from|(?:used to|n['’]t|not) (?:be|use|have|run"
    r"|live|work|go)?(?: (?:in|on"
    r"|with|at|by|from|under|for|to))?(?=[^,;]*(?:,| and | but |any ?more|\Z))|forget(?: about)?|swapp(?:ed|ing)|left"
    r"|phas(?:ed|ing) out|decommissioned"
    r"|turned off|shut down|took over(?: [\w'-]+){0,4}? from|taken over(?: [\w'-]+){0,4}? from|no more|away from)\s+"
    r"(?:(?:the|our|my|his|her|their|its|an?|old)\s+)*",
    _I,
)
"""What stands before the name of what ended."""
_BEFORE = lazy(
    r"\s+(?:(?:has|have|had|both|all|now|finally|officially|just)\s+)*(?:(?:is|are|'s|was|were|been|being|got|gets)\s+"
    r"(?:(?:both|all|now|finally|officially|been|being)\s+)*(?:out|gone|history|dead|over|no more|off the table|dropped"
    r"|removed|taken out|replaced|discontinued|cancell?ed|decommissioned|phased out|scrapped|abandoned|sold|shut down"
    r"|retired|swapped)\b|retired|resigned|stepped down|steps down|left(?= (?:the|our|us|in|last|at|as)\b|\s*[.,;]"
    r"|\Z)|quit"
    r"|handed|died|moved away|passed (?:\w+ ){1,5}to|(?:can|do|does)(?:n't|not| not) [^,;]*any (?:longer|more))",
    _I,
)
"""What stands behind the name of what ended."""
_DENIED = lazy(r"(?:n['’]t|\b(?:not|never|to|if))\s+(?:ever\s+)?\Z", _I)
_PLACE = lazy(r"\b(?P<of>[A-Z][\w.-]*)'s (?:place|job|role|post|successor|replacement)\b|\bin place of (?P<for>\w+)")
_STOPS = lazy(
    r"[,;:(.]|\s(?:we|i|they|you|it|for|in|on|at|with|by|as|since|because|due|when|while|from|to|of|last|this|over"
    r"|after|anymore|any"
    r"|and (?:it|we|i|they|he|she|the|now|got|bought|moved|switched|is|are))\b",
    _I,
)
_OPENING = lazy(r"\s(?:in|on|at|of|for|from|with|behind)\s.*\Z", _I)


class Gone(NamedTuple):
    """The terms of what ended, and of all that was named with it in one breath."""

    terms: frozenset[str]
    together: frozenset[str]


def ended_in(text: str) -> Iterator[Gone]:
    """Yield what a clause names and says has ended."""
    for cue in _BEHIND.finditer(text):
        if _DENIED.search(text, 0, cue.start()):
            continue
        yield from _named(_STOPS.split(text[cue.end() :], maxsplit=1)[0])
    behind = _BEFORE.search(text)
    if behind and not _DENIED.search(f"{text[: behind.start()]} "):
        yield from _named(_OPENING.sub("", re.split(r"[,;:]\s", text[: behind.start()])[-1]))
    for found in _PLACE.finditer(text):
        yield from _named(found["of"] or found["for"])


def _named(said: str) -> Iterator[Gone]:
    names = [name for name in re.split(r"\s+(?:and|or)\s+", said) if 0 < len(name.split()) <= MOST_WORDS]
    told = [frozenset(term for term in terms(name, ENGLISH) if term not in WORDS) for name in names]
    for one in told:
        if one:
            yield Gone(one, frozenset[str]().union(*told))
