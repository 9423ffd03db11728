"""The polarity of a text, by its words alone: a fact, a rule, a text about memory, or a correction.

`instructions` and `orders` find rules and texts about memory. Corrections are read here: "no, it is 5434"
gives a value, which replaces a similar value in the corrected text, and makes a whole statement; English
only, and in doubt nothing is made. The caller decides who may set a rule, and what a correction may apply to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memtape.schemas.rows import Polarity
from memtape.state.text.claims import Claim, clauses_of, differ, singles_of, spans_of
from memtape.state.text.instructions import heard_in, sets_standing
from memtape.state.text.lexicon import cues, word_list
from memtape.state.text.orders import is_order
from memtape.state.text.own_words import MOST_CHARS, asks, is_own, unquoted
from memtape.state.text.reading import Reading, has_foreign_letter, read
from memtape.state.text.terms import ENGLISH, worded_terms

_CUES = cues("polarity")
MOST_WORDS = 12  # A longer correction has more than a value.
_DAY_BEHIND = r"(?: \(\d{4}-\d\d-\d\d\))?"
_SAYS_NOTHING, CORRECTING = map(word_list, ("words of a correction", "words of corrections"))


def polarity(reading: Reading) -> Polarity:
    """Return the polarity of a text: the first of meta, rule and correction in its sentences, else fact.

    Words of another author are no rule, order or correction.
    """
    heard = heard_in(reading)
    if heard.instructs:
        return "meta" if heard.orders else "rule"
    return "correction" if corrections_in(reading) else "fact"


def corrections_in(reading: Reading) -> tuple[str, ...]:
    """Return the sentences of a text, in the sender's words, that correct an earlier text."""
    if CORRECTING.isdisjoint(reading.words) and not has_foreign_letter(reading.text):
        return ()
    found = tuple(it.said for it in reading.shown if _corrects(it.said))
    return found if found and is_own(reading) else ()


def _corrects(sentence: str) -> bool:
    said = unquoted(sentence)
    is_form = len(said) <= MOST_CHARS and not asks(said) and _CUES.is_correction.search(said) is not None
    return is_form and not is_order(said) and not sets_standing(sentence)


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
    opened = _CUES.opener.match(sentence)
    said = "" if opened is None else sentence[opened.end() :].rstrip(" .!")
    instead = _CUES.instead.search(said)
    said, old = (said, "") if instead is None else (said[: instead.start()], instead["old"].strip(" '\"`"))
    said = _CUES.spoken_of.sub("", said)
    if not said or "?" in said or len(said.split()) > MOST_WORDS:
        return None
    return Correction(said, old)


def corrected(reading: Reading, correction: Correction, near: str) -> Corrected | None:
    """Return the corrected text; None for a text about another subject, or with several possible values.

    `near` is the text spoken last: of several values, the value in `near` is corrected.
    """
    near = correction.instead_of or near
    found = dict.fromkeys(_corrections(reading, correction.said, near))
    if len(found) > 1:
        found = {it: None for it in found if _holds(near, it.older)}
    only = next(iter(found), None)
    if only is None or len(found) > 1:
        return None
    return None if correction.instead_of and not _holds(correction.instead_of, only.older) else only


def _corrections(reading: Reading, said: str, near: str) -> Iterator[Corrected]:
    """Yield the corrected text for each value of a text that the correction may mean."""
    text, held = reading.text, reading.terms(ENGLISH)
    for claim in () if clauses_of(reading).supposes else _claims(reading):
        spans = () if claim.cls == "any" else spans_of(said, claim.cls)
        if len(spans) != 1 or spans[0][1] != len(said):
            continue  # A correction ends with its only value.
        if _shapes(text).count(_shapes(claim.value)[0]) > 1 and not _holds(near, claim.value):
            continue  # The text has another value that may be meant.
        rest, value = said[: spans[0][0]], said[spans[0][0] :]
        stands = list(re.finditer(rf"(?<!\w){re.escape(claim.value)}(?!\w){_DAY_BEHIND}", text))
        if len(stands) != 1 or any(
            word not in _SAYS_NOTHING and term not in held for word, term in worded_terms(rest, ENGLISH)
        ):
            continue  # The correction names terms not in the text.
        made = text[: stands[0].start()] + value + text[stands[0].end() :]
        new = (it for it in _claims(read(made)) if it.slot == claim.slot and it.value == value)
        if any(differ(it.tokens, claim.tokens) for it in new):
            yield Corrected(made, claim.value, value)


def _claims(reading: Reading) -> list[Claim]:
    clauses = clauses_of(reading).clauses
    return [claim for clause in clauses for claim in (*clause.claims, *singles_of(clause.text))]


def _shapes(text: str) -> list[str]:
    """Return the words of a text, with their numbers made equal."""
    return re.sub(r"\d+", "0", text).replace(". ", " ").rstrip(".").split()


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None
