"""The polarity of a text, by its words alone: a fact, a rule, a text about memory, or a correction.

`instructions` and `orders` find rules and texts about memory. Corrections are read here: "no, it is 5434"
gives a value, which replaces a similar value in the corrected text, and makes a whole statement; English
only, and in doubt nothing is made. The caller decides who may set a rule, and what a correction may apply to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.schemas.rows import Polarity
from memtape.state.text.claims import Claim, clauses_of, differ, kind_of, singles_of, spans_of
from memtape.state.text.instructions import heard_in, sets_standing
from memtape.state.text.lexicon import cues, word_list
from memtape.state.text.orders import is_order
from memtape.state.text.own_words import MOST_CHARS, asks, is_own, unquoted
from memtape.state.text.reading import Reading, has_foreign_letter, read
from memtape.state.text.terms import ENGLISH, is_common, worded_terms

_CUES = cues("polarity")
MOST_WORDS = 12  # A longer correction has more than a value.
LEAST_ALIKE = 70  # Of the letters of two identifiers, in hundredths.
_INSTEAD = _CUES.not_first, _CUES.was_old, _CUES.instead
_WORD = lazy(r"\w[\w'.:/+@-]*\w|\w")
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
    """The correction in a sentence: the words behind the opening, the value named as wrong, the sentence."""

    said: str
    instead_of: str
    sentence: str


class Corrected(NamedTuple):
    """The whole corrected statement, the text's old value, and the new value."""

    text: str
    older: str
    newer: str


def typed_correction(reading: Reading) -> Correction | None:
    """Return the correction in a text: the only one, or the first sentence as people type a correction.

    Whether that sentence corrects anything follows only from an earlier text with the corrected value.
    """
    found = corrections_in(reading)
    if not found and reading.shown and is_own(reading) and not asks(reading.shown[0].said):
        found = (reading.shown[0].said,)
    return correction_of(found[0]) if len(found) == 1 else None


def correction_of(sentence: str) -> Correction | None:
    """Return the correction in a sentence; None if the sentence says more than a value."""
    line = " ".join(sentence.replace("’", "'").split())
    opened = _CUES.opener.match(line)
    said = _CUES.explains.sub("", line[0 if opened is None else opened.end() :]).rstrip(" .!")
    named = next((found for cue in _INSTEAD if (found := cue.match(said)) is not None), None)
    if opened is None and named is None:
        return None
    said = _CUES.spoken_of.sub("", said if named is None else named["new"])
    if not said or "?" in said or len(said.split()) > MOST_WORDS:
        return None
    return Correction(said, "" if named is None else named["old"].strip(" '\"`"), sentence)


def corrected(reading: Reading, correction: Correction, near: str) -> Corrected | None:
    """Return the corrected text; None for a text about another subject, or with several possible values.

    `near` is the text spoken last: of several values, the value in `near` is corrected.
    """
    near = correction.instead_of or near
    found = {it.text: it for it in _corrections(reading, correction.said, near)}
    if len(found) > 1:
        found = {it.text: it for it in found.values() if _holds(near, it.older)}
    only = next(iter(found.values())) if found else _reworded(reading, correction)
    if only is None or len(found) > 1:
        return None
    named, older = correction.instead_of or only.older, only.older
    return only if _holds(named, older) or _holds(older, named) else None


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


def _reworded(reading: Reading, correction: Correction) -> Corrected | None:
    """Return the text with new words for the words named as wrong, or for a word that is spelled alike."""
    new = _words_beside(correction.said, reading.text)
    old = _words_beside(correction.instead_of, correction.said)
    if not correction.instead_of and len(new) == 1:
        old = [word for word in _WORD.findall(reading.text) if _is_spelled_alike(word, new[0])]
    if kind_of(" ".join(new)) != "free":
        old = old[-len(new) :]  # Of "postgres 14" only the number is another.
    older, newer = " ".join(old), " ".join(new)
    if not new or len(new) != len(old) or kind_of(older) != kind_of(newer) or clauses_of(reading).supposes:
        return None
    before, *behind = re.split(rf"(?<!\w){re.escape(older)}(?!\w){_DAY_BEHIND}", reading.text, flags=re.I)
    return Corrected(f"{before}{newer}{behind[0]}", older, newer) if len(behind) == 1 else None


def _words_beside(said: str, other: str) -> list[str]:
    """Return the words from the first to the last that another text does not have."""
    held = _SAYS_NOTHING.union(map(str.lower, _WORD.findall(other)))
    words = _WORD.findall(said)
    new = [place for place, word in enumerate(words) if word.lower() not in held]
    return words[new[0] : new[-1] + 1] if new else []


def _is_spelled_alike(word: str, other: str) -> bool:
    """Return whether one letter of two words is another, or a smaller part of two identifiers."""
    one, two = word.lower(), other.lower()
    if is_common(one) or is_common(two) or not any(map(str.isalpha, two)):
        return False
    longest, shared = max(len(one), len(two)), min(len(one), len(two))
    first = next((n for n in range(shared) if one[n] != two[n]), shared)
    last = next((n for n in range(shared - first) if one[-n - 1] != two[-n - 1]), shared - first)
    return first + last >= (longest - 1 if two.isalpha() else longest * LEAST_ALIKE // 100)


def _claims(reading: Reading) -> list[Claim]:
    clauses = clauses_of(reading).clauses
    return [claim for clause in clauses for claim in (*clause.claims, *singles_of(clause.text))]


def _shapes(text: str) -> list[str]:
    """Return the words of a text, with their numbers made equal."""
    return re.sub(r"\d+", "0", text).replace(". ", " ").rstrip(".").split()


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None
