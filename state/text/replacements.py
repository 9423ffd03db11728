"""The test whether a text replaces another, without a model: both give a value of one subject's slot.

Or the newer text names the older value as ended, and all that the older text is about; or both texts are
equal up to a name or number. In doubt the answer is no. The caller orders the two by the times of the facts,
and lets no weaker source replace a stronger one. `Sharing` finds the texts to compare, by common words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.schemas.placeholders import without_digits
from memtape.state.text.claims import (
    FREE,
    GENERIC,
    MOST_VALUE_WORDS,
    SPEAKER,
    SPEAKS,
    Claim,
    Clause,
    ClauseReading,
    Ended,
    clauses_of,
    differ,
    is_value,
    kind_of,
    subject_of,
)
from memtape.state.text.lexicon import cues, word_list
from memtape.state.text.reading import Reading, read

_SERIAL = lazy(r"\A\s*[(\[#]*(?P<serial>\d{1,6})[.):\]]+\s+(?=\S)")
_CUES = cues("replacing")
_PERSONAL = word_list("slots of the speaker")
"""Slots of the speaker; any other slot needs a named subject, or a text without further content."""
_HOMES = ("home", "employer", "workplace")
"""Slots of a person that end when the person leaves or moves."""
_LEAST_ALIKE = 3


class Replacement(NamedTuple):
    """A newer text replaces an older one: the older value as said, empty where the newer text only ends it.

    `whole` says that the older text has no further content.
    """

    older: str
    whole: bool


def without_serial(text: str) -> str:
    """Return a text without the number of its place in a row."""
    found = _SERIAL.match(text)
    return text if found is None else text[found.end() :]


def replaces(one: Reading, other: Reading) -> Replacement | None:
    """Return why the newer of two texts of one family replaces the older, None where both may hold.

    Placeholders of secrets are no values: their digits depend on the key of a home.
    """
    if not can_replace(look_of(one.text), look_of(other.text)):
        return None
    older, newer = without_digits(one.text), without_digits(other.text)
    if _CUES.code.search(older) or _CUES.code.search(newer) or _CUES.of_several.search(older):
        return None
    first, second = _SERIAL.match(older), _SERIAL.match(newer)
    if first is not None and second is not None:
        if int(first["serial"]) >= int(second["serial"]):
            return None
        older, newer = older[first.end() :], newer[second.end() :]
    counted = _counted_by(older), _counted_by(newer)
    if all(counted) and counted[0] != counted[1]:
        return None
    before, now = clauses_of(read(older)), clauses_of(read(newer))
    if before.clauses and now.clauses:
        if before.supposes or now.supposes:
            return None
        is_change = any(clause.changed and not clause.denies for clause in now.clauses)
        frame = _CUES.row if first is not None and second is not None else _CUES.frame if is_change else None
        value = _by_slot(before, now)
        value = "" if value is None and _is_ended(before, now) else value
        value = _alike(older, newer, frame) if value is None else value
    else:
        value = _alike(older, newer, None)
    return None if value is None else Replacement(value, len(before.clauses) <= 1)


class Look(NamedTuple):
    """The parts of a text by which most pairs are no replacement, as `replaces` would find at length.

    `openings` and `framed` are the beginnings behind which a value may differ, `claims` those of all clauses,
    `changes` and `ends` say whether the text tells a change, and whether it may end a value.
    """

    is_serial: bool
    openings: tuple[str, ...]
    framed: tuple[str, ...]
    claims: tuple[Claim, ...]
    changes: bool
    ends: bool


# A text is compared with up to thirty others, long after its reading has left the cache.
@lru_cache(maxsize=32_768)
def look_of(text: str) -> Look:
    """Return the look of a text."""
    text = without_digits(text)
    is_serial, text = _SERIAL.match(text) is not None, without_serial(text)
    clauses, words = clauses_of(read(text)).clauses, _words(text)
    least = max(_LEAST_ALIKE, len(words) - MOST_VALUE_WORDS)
    starts = [" ".join(words[:count]) for count in range(least, len(words))]
    return Look(
        is_serial,
        openings=tuple(_plainly(it) for it in starts if _CUES.copula.search(it)),
        framed=tuple(_plainly(it) for it in starts if _CUES.frame.search(it) or _CUES.row.search(it)),
        claims=tuple(claim for clause in clauses for claim in clause.claims),
        changes=any(clause.changed and not clause.denies for clause in clauses),
        ends=any(clause.ended or _CUES.no_more.search(clause.text) for clause in clauses),
    )


def can_replace(older: Look, newer: Look) -> bool:
    """Return whether `replaces` need compare two texts."""
    if older.is_serial is not newer.is_serial:  # A number in front is a word of both then.
        return True
    if newer.ends or any(it in older.openings for it in newer.openings):
        return True
    has_frame = newer.changes or newer.is_serial
    if has_frame and any(it in older.framed for it in newer.framed):
        return True
    return any(old.slot == new.slot and _is_same(old, new) for new in newer.claims for old in older.claims)


@lru_cache(maxsize=8_192)
def _counted_by(text: str) -> frozenset[str]:
    return frozenset("".join(found).lower() for found in _CUES.per.findall(text))


def _by_slot(before: ClauseReading, now: ClauseReading) -> str | None:
    """Return the value that a newer text replaces in a slot with a single value, None for none."""
    is_alone = len(before.clauses) == len(now.clauses) == 1

    def claims(clauses: Iterable[Clause]) -> list[Claim]:
        told = (it for it in clauses if not (it.denies or _CUES.many.search(it.text)))
        return [claim for clause in told for claim in clause.claims]

    stood = claims(before.clauses)
    for new in claims(it for it in now.clauses if it.changed or not it.past):
        is_own = SPEAKER not in new.subject or is_alone or new.slot.split()[0] in _PERSONAL
        for old in stood if is_own else ():
            if old.slot == new.slot and _are_two(old, new) and _is_same(old, new):
                return old.value
    return None


def _are_two(old: Claim, new: Claim) -> bool:
    """Return whether two values are of one class and one kind, and differ."""
    is_of_class = old.cls == new.cls and differ(old.tokens, new.tokens)
    return is_of_class and (old.cls not in FREE or kind_of(old.value) == kind_of(new.value))


def _is_same(old: Claim, new: Claim) -> bool:
    """Return whether two claims have the same subject: they differ only in terms of its kind."""
    a, b = old.subject, new.subject
    if old.slot == "name" and b <= subject_of(old.value):
        return True  # "pebble was renamed to cobble"
    return bool(a & b) and (a ^ b <= GENERIC if (a & b) - GENERIC else a == b)


def _is_ended(before: ClauseReading, now: ClauseReading) -> bool:
    """Return whether a newer text ends a value of an older one, and names all that the older is about."""
    said = frozenset[str]().union(*(subject_of(_plain(clause.text)) for clause in now.clauses))
    for older in before.clauses:
        if older.denies or older.past or _CUES.no_more.search(older.text):
            continue
        about = older.about - GENERIC
        for newer in now.clauses:
            is_end = about and _CUES.no_more.search(newer.text)
            if is_end and subject_of(_plain(newer.text)) - GENERIC == about:
                return True
            if any(_is_of(older, it, said) for it in newer.ended):
                return True
    return False


def _plain(text: str) -> str:
    """Return a text without "from", "instead of" and the like, between a former value and its subject."""
    return re.sub(r"\b(?:from|instead of|rather than|not)\b", ",", text, flags=re.IGNORECASE)


def _is_of(older: Clause, ended: Ended, said: frozenset[str]) -> bool:
    """Return whether an ended value is one of an older clause, and the newer text names the subject."""
    value, besides = subject_of(ended.old) - GENERIC, ended.about - GENERIC
    if not value or not value <= older.about or any(subject_of(it.old) & value for it in older.ended):
        return False
    claim = next((it for it in older.claims if subject_of(it.value) - GENERIC == value), None)
    subject = (older.about - value if claim is None else claim.subject - {SPEAKER}) - GENERIC
    if subject:
        is_means = not (besides or ended.moved) and _is_means(older.text, ended.old)
        return is_means or (subject <= said and (besides <= older.about or bool(ended.new)))
    is_home = claim is not None and claim.slot in _HOMES
    return besides <= older.about and SPEAKS.search(older.text) is not None and is_home is ended.moved


def _is_means(text: str, name: str) -> bool:
    """Return whether a text of "we" ends with a name as its means: "we hold calls over Zoom"."""
    found = _CUES.means.search(text)
    return found is not None and found["name"] == name and _CUES.of_team.search(text) is not None


def _alike(older: str, newer: str, frame: re.Pattern[str] | None) -> str | None:
    """Return the older value of texts equal but for the value at their end, None for other texts.

    The value is a name or number, or any value behind a frame.
    """
    a, b = _words(older), _words(newer)
    if _begins_with_the(a) is not _begins_with_the(b):
        a, b = (it[1:] if _begins_with_the(it) else it for it in (a, b))
    alike = next(
        (n for n, (one, other) in enumerate(zip(a, b, strict=False)) if one.lower() != other.lower()),
        min(len(a), len(b)),
    )
    values, before = (" ".join(a[alike:]), " ".join(b[alike:])), " ".join(b[:alike])
    if alike < _LEAST_ALIKE or not all(0 < len(value.split()) <= MOST_VALUE_WORDS for value in values):
        return None
    is_copula = _CUES.copula.search(before) is not None
    is_frame = frame is not None and frame.search(before) is not None
    first, second = (tuple(value.lower().split()) for value in values)
    if not (is_copula or is_frame) or not differ(first, second) or kind_of(values[0]) != kind_of(values[1]):
        return None
    if any(map(str.isdigit, values[0])) and values[0][0].isupper() != values[1][0].isupper():
        return None
    are_numbers = all(value[:1].isdigit() and " " not in value for value in values)
    is_plain = is_copula and (are_numbers or all(is_value(value, "name") for value in values))
    are_bare = is_frame and all(is_value(it, "any") and not _CUES.relates.search(it) for it in values)
    return values[0] if is_plain or are_bare else None


def _begins_with_the(words: Sequence[str]) -> bool:
    return words[:1] in (["The"], ["the"])


def _plainly(opening: str) -> str:
    return opening.lower().removeprefix("the ")


def _words(text: str) -> list[str]:
    return _CUES.now.sub("", text).rstrip(" .!。").split()


MOST_HOLDING = 500
"""A term in more texts identifies none of them; it is looked up only for a text without any other term."""


class Sharing:
    """Texts by number, indexed by their terms. The index follows from the texts, in any order of arrival."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[int, None]] = {}
        self._terms: dict[int, tuple[str, ...]] = {}

    def put(self, number: int, reading: Reading) -> None:
        """Store a text under a number, replacing an older one."""
        self.drop(number)
        self._terms[number] = tuple(reading.terms())
        for term in self._terms[number]:
            self._numbers.setdefault(term, {})[number] = None

    def drop(self, number: int) -> None:
        """Remove a number's text, if present."""
        for term in self._terms.pop(number, ()):
            del self._numbers[term][number]
            if not self._numbers[term]:
                del self._numbers[term]

    def near(self, number: int, most: int) -> list[int]:
        """Return at most `most` texts by falling number of terms shared with a stored one, latest first."""
        near = self.near_terms(self._terms.get(number, ()), most + 1)
        return [other for other in near if other != number][:most]

    def near_terms(self, among: Iterable[str], most: int) -> list[int]:
        """Return the same by the number of given terms."""
        holding = [self._numbers[term] for term in among if term in self._numbers]
        telling = [numbers for numbers in holding if len(numbers) <= MOST_HOLDING] or holding
        shared = Counter(chain.from_iterable(telling))
        return sorted(sorted(shared, reverse=True), key=shared.__getitem__, reverse=True)[:most]
