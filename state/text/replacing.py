"""Whether a text replaces another, without a model: both tell one slot of one thing, and it holds one value at a time.

English; of other languages only texts count that are equal but for a value. When in doubt the answer is no. The caller
orders the two by what happened when, then by arrival, and sees to it that a weaker source replaces no stronger one.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text import slots as words
from memtape.state.text.frames import Value, are_of_one_kind, changed_value, is_of_several, words_alike
from memtape.state.text.telling import SPEAKER, Claim, Clause, differ, told
from memtape.state.text.terms import terms

How = Literal["frame", "slot", "moved", "ended", "serial"]
_I = re.IGNORECASE
_SERIAL = lazy(r"\A\s*[(\[#]*(?P<serial>\d{1,6})[.):\]]+\s+(?=\S)")
_COPULA = lazy(
    r"\b(?:is|are|was|were|in|of|by|to|at|from|with|on|for|as|plays|speaks|named|called)(?: the)?"
    r"(?: (?:city|country|continent|sport|position|language|field) of)?\Z",
    _I,
)
_ABROAD = lazy(r"(?:\b(?:ist|sind|heißt|lautet|es|está|son|est|sont|è|sono|é|são|är)|是|：)\s*(?:\w+\s+)?\Z", _I)
_OWN = lazy(r"\b(?:am|is|are|i|we)\b|'(?:m|re)\b", _I)
_CODE = lazy(
    r"[<>{}]|\A\s*(?://|SELECT |INSERT |UPDATE |curl -)"
    r"|\w\(\S|\s=\s|==|\A\s*(?:if|for|while|def|class|import|return)\b.*[:;]\s*\Z"
)
"""What code has; a line of it tells nothing that another line replaces."""
_PER = lazy(r"\bper\s+(\w+)", _I)
_DOUBTS = lazy(r"\A\W*(?:if|when|whenever|unless|maybe|perhaps|suppose|assuming|imagine|should)\b", _I)
_RELATES = frozenset("is are was were has have of by to at from with on in for as".split())
"""Words that no plain value holds: with one of them, more is told than a value."""
LEAST_ALIKE, MOST_VALUE_WORDS = 3, 5
MOST_CLAUSES = 2
MOST_IF_CHANGED = 3
MOST_EXTRA = 1
"""So many terms may one side have more than the other where both are about the same thing."""


class Replacement(NamedTuple):
    """Why a newer text replaces an older one: by which rule, in which slot, and the two values as they were said.

    `frame` is of texts that are equal but for the value. `whole` says that the older text tells nothing besides.
    """

    how: How
    slot: str
    older: str
    newer: str
    whole: bool
    frame: Value | None = None


def replaces(older: str, newer: str) -> Replacement | None:
    """Return why the newer of two texts of one family replaces the older, None where both may hold."""
    first, second = _SERIAL.match(older), _SERIAL.match(newer)
    if any(_CODE.search(text) or "?" in text or _DOUBTS.match(text) for text in (older, newer)):
        return None
    if is_of_several(older) or _PER.findall(older) != _PER.findall(newer):
        return None
    if first is not None and second is not None and int(first["serial"]) >= int(second["serial"]):
        return None
    framed = _by_frame(older, newer)
    if framed is not None:
        return framed
    before, now = told(older), told(newer)
    if now.supposes or now.adds or before.adds:
        return None
    alone = len(before.clauses) == 1
    for clause in now.clauses:
        if clause.past and not clause.changed:
            continue
        for one in before.clauses:
            found = _by_slot(one, clause, is_alone=alone and len(now.clauses) == 1) or _by_move(one, clause)
            is_state = found is not None and found.slot in ("status", "state")
            if found is not None and are_of_one_kind(found.older, found.newer, is_state=is_state):
                return found._replace(whole=alone and found.whole)
    return _by_end(before.clauses[0], now.clauses) if alone else None


def _by_frame(older: str, newer: str) -> Replacement | None:
    """Compare texts that are equal but for a value: in a slot, behind serials, or in a language without rules."""
    value = changed_value(older, newer)
    if value is not None:
        return Replacement("frame", "", value.older, value.newer, True, value)
    first, second = _SERIAL.match(older), _SERIAL.match(newer)
    if first is None or second is None:
        value = _same_but_end(older, newer, _ABROAD)
    else:
        value = _same_but_end(older[first.end() :], newer[second.end() :], _COPULA)
    how: How = "frame" if first is None else "serial"
    return None if value is None else Replacement(how, "", value.older, value.newer, True, value)


def _same_but_end(older: str, newer: str, copula: re.Pattern[str]) -> Value | None:
    """Return the values with which two statements end that begin alike."""
    a, b = older.rstrip(" .!").split(), newer.rstrip(" .!").split()
    alike = words_alike(a, b)
    before, values = " ".join(b[:alike]), (a[alike:], b[alike:])
    if alike < LEAST_ALIKE or not all(0 < len(value) <= MOST_VALUE_WORDS for value in values):
        return None
    if any(not _RELATES.isdisjoint(word.lower() for word in value) for value in values):
        return None  # Another thing is told, as "is married to" beside "is employed by", or of something else.
    return Value(before, " ".join(values[0]), " ".join(values[1]), "") if copula.search(before) else None


def _by_slot(older: Clause, newer: Clause, *, is_alone: bool) -> Replacement | None:
    """Compare what two clauses claim of slots that hold one value."""
    if newer.denies and not newer.changed:
        return None
    for now in newer.claims:
        for before in older.claims:
            if now.slot != before.slot or now.cls != before.cls or not differ(before.tokens, now.tokens):
                continue
            if SPEAKER in now.subject and not is_alone and now.slot.split()[0] not in words.PERSONAL:
                continue
            is_changed = newer.changed or newer.now
            renamed = now.slot == "name" and is_changed and now.subject <= frozenset(terms(before.value))
            if renamed or _is_same(before, now):
                is_whole = renamed or _is_covered(before, now)
                return Replacement("slot", now.slot, before.value, now.value, is_whole)
    return None


def _by_move(older: Clause, newer: Clause) -> Replacement | None:
    """Compare clauses of one value each, where the newer says that this was changed."""
    if not (newer.changed or newer.now) or older.denies or older.many or newer.many:
        return None
    if not newer.changed and (older.many_now or newer.many_now):
        return None
    for now in newer.singles:
        for before in older.singles:
            if not any(map(str.isalpha, before.subject & now.subject)):
                continue  # A number that both have is no thing.
            most = MOST_IF_CHANGED if newer.changed else 0
            if now.cls == before.cls and differ(before.tokens, now.tokens) and _is_same(before, now, most):
                return Replacement("moved", now.cls, before.value, now.value, _is_covered(before, now))
    return None


def _by_end(older: Clause, newer: tuple[Clause, ...]) -> Replacement | None:
    """Compare with a text that says that something ended, and names it and what it was of."""
    said = frozenset[str]().union(*(clause.subject for clause in newer))
    if older.denies or older.ended or older.past or len(newer) > MOST_CLAUSES:
        return None
    missing = older.subject - said
    if missing and (
        len(missing) > 1 or missing & (older.names | words.QUALIFIES) or len(older.subject) > MOST_IF_CHANGED
    ):
        return None
    if missing:  # It is one thing that was named, and something that was done with it.
        ended = any(older.names & it for clause in newer for it in clause.ended)
        return Replacement("ended", "", older.text, newer[0].text, True) if ended else None
    if not older.subject - words.GENERIC or (len(older.subject) == 1 and not _OWN.search(older.text)):
        return None
    ended = any(older.subject & it for clause in newer for it in clause.ended)
    return Replacement("ended", "", older.text, newer[0].text, True) if ended else None


def _is_same(before: Claim, now: Claim, most: int = 0) -> bool:
    """Whether two claims are about the same thing: one says little more of it, or so much as says of what kind it is.

    Both may say a little more where there are `most` terms of that in all.
    """
    a, b = before.subject, now.subject
    more, less = a - b, b - a
    if not a & b or (more | less) & (words.QUALIFIES | before.names | now.names | {SPEAKER}):
        return False
    more, less = more - words.GENERIC, less - words.GENERIC
    if not (a & b) - words.GENERIC:
        return not (more or less)
    return len(more | less) <= MOST_EXTRA or len(more | less) <= most


def _is_covered(before: Claim, now: Claim) -> bool:
    """Whether the older text is about little that the newer one is not about."""
    return len(before.subject - now.subject) <= MOST_EXTRA
