"""The pieces of the forms of an English standing instruction. No form is here."""

from __future__ import annotations

from memtape.state.text.everywhere import EVERYWHERE
from memtape.state.text.instructing_words import HABITS, KINDS, VERBS


def one_of(patterns: tuple[str, ...]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


WORD = r"[\w`'/.@+#*~%-]+"
NOT = r"(?:don't|do not|dont)"
ALWAYS = rf"(?:always|never(?: ever)?|{NOT} ever|only ever)"
ONE = (
    r"(?:the|this|that|these|those|it|its|them|him|her|his|their|my|your|me|us|one|both|either|here|there|a|an|another"
    r"|some|more|much|any(?:thing|one)|nothing|option|variant|version|number|step|port|plan|\d+)\b"
)
"""Words that begin the name of a single thing, at hand or to be made."""
THING = rf"(?!{ONE}|not\b)(?:{WORD}\s+){{0,3}}?{WORD}"
KIND = rf"(?:(?!{ONE}|and\b|or\b|not\b|is\b|are\b){WORD}\s+){{0,3}}?{KINDS}\b"
PLACE = (
    r"(?:repo(?:sitory|s|sitories)?|projects?|code ?base|code|monorepo|workspace|machine|team|company|test suite|stack"
    r"|front ?end|back ?end|docs|package|services|modules)"
)
SCOPE = (
    rf"(?:\b(?:in|across|throughout|within|for|on)\s+(?:this|our|the(?: whole| entire)?|(?:all|any|every|each)(?: one)?"
    rf"(?: of)?(?: our| my| the)?|my)\s+(?:\w+ )?{PLACE}\b"
    r"(?!\s+(?:(?:i|we)(?:'ve|\s+(?:have|had|know|saw|looked|worked|tried))|i\b|that\b|which\b)))"
)
ALL_OVER = rf"(?:{SCOPE}|{EVERYWHERE}|\b(?:everywhere|anywhere)\b)"
HERE = rf"(?:{ALL_OVER}|\bhere\b)"
ORDER = (
    rf"(?:(?:please|always|never|also|then|first|only|just|you (?:must|should|have to|need to|always|never))\s+)*"
    rf"(?:(?:{NOT}|never)\s+(?:ever\s+|just\s+)?)?{VERBS}\b"
)
HABIT = (
    rf"(?:(?:please|always|only|you (?:must|should)|we(?: always| only)?)\s+)*(?:{HABITS}|(?:{NOT}|never) {VERBS})\b"
)
SHOULD = r"(?:must|should|shall|has to|have to|needs?(?: to)?|may only|may not|can only|cannot|gets?|requires?)"
INSTEAD = r"(?:,?\s+(?:and |but )?(?:not|never|no)\s+|,?\s+(?:instead of|rather than|over|in place of)\s+)"
NEW = rf"(?:(?:a|an|any|new|every|each|all|something|code)\b|anything\b|(?-i:[A-Z]{{2,}})\b|(?!{ONE}){WORD}s\b)"
OK = r"(?:ok(?:ay)?|approval|permission|review|sign-?off|consent|go-ahead|confirmation|say-so)"
PERMIT = (
    rf"(?:without (?:asking|checking with|telling|my|a go|permission|approval)|unless (?:i|asked|told)\b|(?:needs?"
    rf"|requires?)"
    rf" my {OK}\b|(?:ask|check with|confirm with|tell|warn) me first|wait for (?:my|a) (?:{OK}|yes)\b)"
)
FROM_NOW = r"(?:from (?:now|here) on(?:wards?| out)?|going forward)"
WHEN = r"(?:when(?:ever)?|if|before|after|once|while)"
NOBODY = r"(?!(?:i|we|it|they|he|she|the)\b)"
ENDS = r"(?:\W*\Z|\s*[,;.(:–—]|\s+(?:please|pls|and|or|in|on|for|everywhere|anywhere|only|throughout|when)\b)"
