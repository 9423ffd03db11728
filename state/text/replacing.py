"""The test whether a text replaces another, without a model: both give a value of one subject's attribute.

Both texts name the attribute, by a noun or verb of a slot with one value at a time, or by the same verb and
preposition; or the newer text names the older value as ended, and its subject. When in doubt the answer is
no. The caller orders the two by the times of the facts, and makes sure that a weaker source replaces no
stronger one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from memtape.schemas.patterns import lazy
from memtape.schemas.placeholders import without_digits
from memtape.state.text.claims import (
    MOST_VALUE_WORDS,
    SPEAKER,
    Claim,
    Clause,
    ClauseReading,
    Gone,
    differ,
    kind_of,
    plain,
    reading,
    subject_of,
)
from memtape.state.text.slot_values import FREE
from memtape.state.text.slots import GENERIC, SAYS_NOTHING
from memtape.state.text.terms import ENGLISH, terms

How = Literal["slot", "frame", "ended", "alike"]
_I = re.IGNORECASE
_SERIAL = lazy(r"\A\s*[(\[#]*(?P<serial>\d{1,6})[.):\]]+\s+(?=\S)")
_COPULA = lazy(
    r"(?:\b(?:is|are|was|were|in|of|by|to|at|from|with|on|for|as|plays|speaks|named|called|ist|sind|heißt|lautet|es|son"
    r"|está|est|sont|è|sono|é|são|är)(?: the)?(?: \w+ of)?|[是:：=])\Z",
    _I,
)
"""The words before the value in which two texts differ."""
_CODE = lazy(
    r"[{}]|</?\w|\w>|\A\s*(?://|SELECT |INSERT |UPDATE |curl -)|\w\(\S|\w\s?==\s?\w"
    r"|\A\s*(?:if|for|while|def|class|import|return)\b.*[:;]\s*\Z|\A\w+=\S+\s+\w+="
)
"""Signs of code; a line of code is never replaced by another line."""
_OF_SEVERAL = lazy(
    r"\A(?:my|our|his|her|their|an?|one)\s+(?:\w+\s+)?(?:brother|sister|friend|cousin|colleague|neighbou?r|uncle|aunt|son"
    r"|daughter|kid|child|cat|dog|classmate|roommate|client|customer|server|host)\b(?! (?:lives?|works?|drives?)\b)",
    _I,
)
"""Openings of things that a person may have several of; the rest of the text tells two of them apart."""
_PER = lazy(
    r"\b(?:per|an?(?= (?:second|minute|hour|day|night|week|month|year)\b))\s+(\w+)|\b(month|year|week|hour)ly\b", _I
)
_SPEAKS = lazy(r"\b(?:i|we|me|us|my|our)\b|\b(?:i|we)'", _I)
_MANY = lazy(r"\b(?:likes?|loves?|hates?|enjoys?|prefers?|knows?|misses|supports?|includes?|contains?)\b", _I)
_ENDS = lazy(r"\b(?:no longer|any ?more|stopped|quit|not|does|do|doesn't|don't|longer)\b|n't\b", _I)
_NO_MORE = lazy(r"\bno longer\b|(?:\bnot|n't)\b.*\bany ?more\b|\bstopped \w+ing\b", _I)
_OPEN = r"\b(?:uses?|using|is|are|in|on|with|at|by|via|through|from|over|under|to|for)\s+(?:(?:the|our|my|an?)\s+)?"
PERSONAL = frozenset(
    "vehicle seat weight home phone e-mail name employer workplace manager rent salary birthday role thing".split()
)
"""Slots of the speaker; any other slot needs a named subject, or a text without further content."""
HOMES = frozenset("home employer workplace seat region room".split())
"""Slots of a person that end when the person leaves or moves."""
_PLANS = lazy(r"(?:the |our |my |current ){0,4}(?:plan|goal|todo|task|next step)s?\b", _I)
_MEANS = lazy(r"\b(?:uses?|using|in|over|with|via|through)\s+(?:the\s+)?\S+(?:\s\S+)?\W*\Z", _I)
_RELATES = frozenset(
    "is are was were has have of by to at from with on in for as im am auf bei mit an en a à au aux dans sur chez em no"
    " na op i på de von".split()
)
"""Words in no plain value: a value with one of them says more than a value, or is of another subject."""
LEAST_ALIKE = 3


class Replacement(NamedTuple):
    """The reason why a newer text replaces an older one: the rule, the slot, and the two values as said.

    `whole` says that the older text has no further content.
    """

    how: How
    slot: str
    older: str
    newer: str
    whole: bool


def without_serial(text: str) -> str:
    """Return a text without the number of its place in a row."""
    found = _SERIAL.match(text)
    return text if found is None else text[found.end() :]


def replaces(older: str, newer: str) -> Replacement | None:
    """Return why the newer of two texts of one family replaces the older, None where both may hold.

    Placeholders of secrets are no values: their digits depend on the key of a home.
    """
    older, newer = without_digits(older), without_digits(newer)
    if not (_states(older) and _states(newer)) or _OF_SEVERAL.search(older):
        return None
    first, second = _SERIAL.match(older), _SERIAL.match(newer)
    if first is not None and second is not None and int(first["serial"]) >= int(second["serial"]):
        return None
    counted = _counted_by(older), _counted_by(newer)
    if counted[0] and counted[1] and counted[0] != counted[1]:
        return None
    is_numbered = first is not None and second is not None
    before, now = (reading(without_serial(text) if is_numbered else text) for text in (older, newer))
    if not (before.clauses and now.clauses):
        return _alike(older, newer)
    if before.supposes or now.supposes or before.adds or now.adds:
        return None
    found = _by_slot(before, now) or _by_frame(before, now) or _by_name(before, now) or _by_denial(before, now)
    if found is None and is_numbered:
        return _alike(without_serial(older), without_serial(newer))
    return None if found is None else found._replace(whole=len(before.clauses) == 1)


# A text is compared with up to thirty others, one after the other.
@lru_cache(maxsize=8_192)
def _states(text: str) -> bool:
    """Return whether a text may state something: it is no code and no question."""
    return not (_CODE.search(text) or "?" in text or "？" in text)


@lru_cache(maxsize=8_192)
def _counted_by(text: str) -> frozenset[str]:
    return frozenset("".join(found).lower() for found in _PER.findall(text))


def _by_slot(before: ClauseReading, now: ClauseReading) -> Replacement | None:
    """Compare the claims of two texts by slots with a single value."""
    is_alone = len(before.clauses) == len(now.clauses) == 1
    for older, newer in _pairs(before, now):
        for new in newer.claims:
            for old in older.claims:
                if old.slot != new.slot or not _are_two(old, new) or not _is_same(old, new):
                    continue
                if SPEAKER not in new.subject or is_alone or new.slot.split()[0] in PERSONAL:
                    return Replacement("slot", new.slot, old.value, new.value, True)
    return None


def _by_frame(before: ClauseReading, now: ClauseReading) -> Replacement | None:
    """Compare claims of two texts by the same verb and preposition, if the newer states a change."""
    for older, newer in _pairs(before, now):
        for new in newer.framed if newer.changed else ():
            for old in older.framed:
                if old.slot == new.slot and _are_two(old, new) and _is_same(old, new):
                    return Replacement("frame", new.slot, old.value, new.value, True)
    return None


def _pairs(before: ClauseReading, now: ClauseReading) -> list[tuple[Clause, Clause]]:
    """Return the clauses of two texts that may give two values."""
    told = [clause for clause in now.clauses if not clause.denies and (clause.changed or not clause.past)]
    clauses = [(older, newer) for newer in told for older in before.clauses if not older.denies]
    return [(one, other) for one, other in clauses if not (_MANY.search(one.text) or _MANY.search(other.text))]


def _are_two(old: Claim, new: Claim) -> bool:
    """Return whether two values are of one class and one kind, and differ."""
    if old.cls != new.cls or not differ(old.tokens, new.tokens):
        return False
    if old.cls == "release":
        return old.tokens[0] == new.tokens[0]
    return old.cls not in FREE or kind_of(old.value) == kind_of(new.value)


def _is_same(old: Claim, new: Claim) -> bool:
    """Return whether two claims have the same subject: they differ only in terms of its kind."""
    a, b = old.subject, new.subject
    if old.slot == "name" and new.subject <= frozenset(terms(old.value, ENGLISH)):
        return True  # "pebble was renamed to cobble"
    return bool(a & b) and (a ^ b <= GENERIC if (a & b) - GENERIC else a == b)


def _by_name(before: ClauseReading, now: ClauseReading) -> Replacement | None:
    """Compare with a newer text that names an ended value, which is the older text's value."""
    said = frozenset[str]().union(*(frozenset(terms(clause.text, ENGLISH)) | clause.about for clause in now.clauses))
    for newer in now.clauses:
        for gone in newer.gone:
            for older in before.clauses:
                if not (older.denies or older.past or _MANY.search(older.text)) and _is_of(older, gone, said):
                    return Replacement("ended", "", gone.old, gone.new or newer.text, True)
    return None


def _is_of(older: Clause, gone: Gone, said: frozenset[str]) -> bool:
    """Return whether an ended value is the value of a clause, and the newer text names its subject."""
    value = frozenset(terms(gone.old, ENGLISH))
    if any(frozenset(terms(it.old, ENGLISH)) == value for it in older.gone):
        return False  # The older says so itself.
    besides = gone.about - GENERIC
    if older.about - GENERIC == (gone.about | value) - SAYS_NOTHING - GENERIC != value:
        return True
    if len(value) > 1 and value <= frozenset(terms(older.text, ENGLISH)) and _PLANS.match(older.text) and not besides:
        return True
    for slot, subject in _values_of(older, gone.old):
        named = subject - {SPEAKER} - GENERIC
        noun = frozenset(terms(slot.partition(" ")[2], ENGLISH))
        if named and named <= said and (besides <= named or gone.new):
            return True
        if not slot and not besides and not gone.new and not gone.moved and _SPEAKS.search(older.text):
            return _MEANS.search(older.text) is not None  # An end of the whole thing is an end here too.
        if not named and ((noun and noun <= said) or (_SPEAKS.search(older.text) and not besides)):
            return bool(slot) and (slot in HOMES) is gone.moved
    return False


def _values_of(older: Clause, value: str) -> list[tuple[str, frozenset[str]]]:
    """Return the slots, with their subjects, of a value in a clause; an unknown slot has an empty name."""
    same = frozenset(terms(value, ENGLISH))
    claims = [it for it in (*older.claims, *older.framed) if frozenset(terms(plain(it.value), ENGLISH)) == same]
    found = re.search(rf"{_OPEN}{re.escape(value)}(?=\W*\Z|\s+(?:as|for)\b)", older.text, _I)
    if claims or found is None:
        return [(it.slot, it.subject) for it in claims]
    return [("", subject_of(f"{older.text[: found.start()]} {older.text[found.end() :]}"))]


def _by_denial(before: ClauseReading, now: ClauseReading) -> Replacement | None:
    """Compare with a newer text that denies the older one in the same words."""
    if len(before.clauses) > 1 or before.clauses[0].denies or before.clauses[0].past:
        return None
    older = frozenset(terms(before.clauses[0].text, ENGLISH))
    for newer in now.clauses:
        held = (
            frozenset(terms(_ENDS.sub(" ", newer.text), ENGLISH)) if _NO_MORE.search(newer.text) else frozenset[str]()
        )
        if held and (held ^ older) <= GENERIC and held & older:
            return Replacement("ended", "", before.clauses[0].text, newer.text, True)
    return None


def _alike(older: str, newer: str) -> Replacement | None:
    """Compare texts that are equal but for the value at their end: numbered lines, or in a language without rules."""
    a, b = older.rstrip(" .!。").split(), newer.rstrip(" .!。").split()
    alike = words_alike(a, b)
    values = " ".join(a[alike:]), " ".join(b[alike:])
    if alike < LEAST_ALIKE or not all(0 < len(value.split()) <= MOST_VALUE_WORDS for value in values):
        return None
    if any(word.lower() in _RELATES for value in values for word in value.split()):
        return None
    is_told = _COPULA.search(" ".join(b[:alike])) is not None and kind_of(values[0]) == kind_of(values[1]) != "date"
    is_numbered = all(any(map(str.isdigit, value)) for value in values)
    if is_told and (is_numbered or reading(newer).clauses):
        return Replacement("alike", "", *values, True)
    return None


def words_alike(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the number of equal words at the beginning of two rows, whatever their case."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((n for n, (one, other) in pairs if one.lower() != other.lower()), min(len(a), len(b)))
