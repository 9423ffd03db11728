"""Corrections: "no, it is 5434" gives a value, which replaces a similar value in the corrected text.

A correction does not stand alone: the correction and the corrected text make a whole statement. English only;
in doubt nothing is made. The caller decides which texts a correction may apply to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text.claims import Claim, differ, pattern_of, reading, singles_of
from memtape.state.text.terms import ENGLISH, worded_terms

_I = re.IGNORECASE
MOST_WORDS = 12
"""A longer correction has more than a value."""
_OPENER = lazy(
    r"\A(?:(?:oh|ah|hm+|oops|my (?:bad|mistake)|apologies|sorry|wait|hey|ok(?:ay)?|well|no|nope|nah|wrong|actually"
    r"|correction|not quite"
    r"|that(?:'s| is| was) (?:wrong|not (?:right|true|correct)|incorrect|outdated)|i meant(?: to say)?)"
    r"\b[\s,:;.!–—-]*)+",
    _I,
)
_SPOKEN_OF = lazy(r"\A(?:it|that|this|they|he|she)(?:'s|'re)?\b\s*", _I)
_INSTEAD = lazy(
    r"[\s,;–—-]+(?:and\s+)?(?:not|instead of|rather than)\s+(?:the\s+|on\s+|in\s+|at\s+)?(?P<old>[^,;]+)\Z", _I
)
_DAY_BEHIND = r"(?: \(\d{4}-\d\d-\d\d\))?"
_SAYS_NOTHING = frozenset(
    "it that this they he she is are was were be been should must has have had to the a an on in at by of for with now"
    " actually really instead not and my our your his her their its".split()
)
FREE = ("any",)
"""Classes that any words belong to; they correct nothing."""


class Correction(NamedTuple):
    """The correction in a sentence: the words behind the opening, and the value named as wrong."""

    said: str
    instead_of: str


class Corrected(NamedTuple):
    """The whole corrected statement, the text's old value, and the new value."""

    text: str
    older: str
    newer: str


def correction_of(sentence: str) -> Correction | None:
    """Return the correction in a sentence; None if the sentence says more than a value."""
    sentence = " ".join(sentence.replace("’", "'").split())
    opened = _OPENER.match(sentence)
    said = "" if opened is None else sentence[opened.end() :].rstrip(" .!")
    instead = _INSTEAD.search(said)
    said, old = (said, "") if instead is None else (said[: instead.start()], instead["old"].strip(" '\"`"))
    said = _SPOKEN_OF.sub("", said)
    if not said or "?" in said or len(said.split()) > MOST_WORDS:
        return None
    return Correction(said, old)


def corrected(text: str, correction: Correction, near: str) -> Corrected | None:
    """Return the corrected text; None for a text about another subject, or with several possible values.

    `near` is the text spoken last: of several values, the value in `near` is corrected.
    """
    near = correction.instead_of or near
    found = dict.fromkeys(_readings(text, correction, near))
    if len(found) > 1:
        found = {it: None for it in found if _holds(near, it.older)}
    only = next(iter(found), None)
    if only is None or len(found) > 1:
        return None
    return None if correction.instead_of and not _holds(correction.instead_of, only.older) else only


def _readings(text: str, correction: Correction, near: str) -> Iterator[Corrected]:
    """Yield the corrected text for each value of a text that the correction may mean."""
    stands = reading(text)
    if stands.supposes:
        return
    held = frozenset(term for _, term in worded_terms(text, ENGLISH))
    for clause in stands.clauses:
        for claim in (*clause.claims, *singles_of(clause.text)):
            value = None if claim.cls in FREE else _value_of(correction.said, claim.cls)
            if value is None:
                continue
            if _has_another(text, claim.value) and not _holds(near, claim.value):
                continue  # The text has another value that may be meant.
            rest = correction.said[: value.start()]
            if any(word not in _SAYS_NOTHING and term not in held for word, term in worded_terms(rest, ENGLISH)):
                continue  # The correction names terms not in the text.
            made = _with_value(text, claim.value, value[0])
            if made is not None and _tells(made, claim, value[0]):
                yield Corrected(made, claim.value, value[0])


def _value_of(said: str, cls: str) -> re.Match[str] | None:
    """Return the only value of a class, with which a correction ends."""
    found = list(pattern_of(cls).finditer(said))
    return found[0] if len(found) == 1 and found[0].end() == len(said) else None


def _has_another(text: str, value: str) -> bool:
    """Return whether a text has another value with digits in the same form."""
    shapes = [re.sub(r"\d+", "0", word.strip(".,:;!")) for word in text.split() if any(map(str.isdigit, word))]
    return shapes.count(re.sub(r"\d+", "0", value)) > 1


def _with_value(text: str, older: str, newer: str) -> str | None:
    """Return a text with another value, and without the date that was put behind the first; None if it has it twice."""
    found = list(re.finditer(rf"(?<!\w){re.escape(older)}(?!\w){_DAY_BEHIND}", text))
    return text[: found[0].start()] + newer + text[found[0].end() :] if len(found) == 1 else None


def _tells(made: str, claim: Claim, value: str) -> bool:
    """Return whether a text has a new value in the slot of a claim."""
    for clause in reading(made).clauses:
        for its in (*clause.claims, *singles_of(clause.text)):
            if (its.slot, its.cls) == (claim.slot, claim.cls) and its.value == value:
                return differ(its.tokens, claim.tokens)
    return False


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, _I) is not None
