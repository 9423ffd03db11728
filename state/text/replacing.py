"""Whether a text replaces another, without a model: both tell one thing of one subject, which has one value at a time.

English, and the plainest frames of German, Spanish, French and Chinese; of other languages texts that are equal but for
a value. When in doubt the answer is no. The caller orders the two by what happened when, then by arrival, and sees to
it that a weaker source replaces no stronger one. What texts tell is in `claims`, `stating`, `ending` and `abroad`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product
from typing import Literal, NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text import slots as words
from memtape.state.text.abroad import ended_abroad, told_abroad
from memtape.state.text.claims import SPEAKER, Claim, differ, kind_of, singles_of
from memtape.state.text.ending import WORDS as ENDING
from memtape.state.text.frames import Value, are_of_one_kind, changed_value, is_of_several, measured_anew, words_alike
from memtape.state.text.relations import LIKE, NOTE
from memtape.state.text.telling import Clause, Told, told
from memtape.state.text.terms import terms

How = Literal["frame", "slot", "stated", "moved", "ended", "serial"]
_I = re.IGNORECASE
_SERIAL = lazy(r"\A\s*[(\[#]*(?P<serial>\d{1,6})[.):\]]+\s+(?=\S)")
_COPULA = lazy(
    r"\b(?:is|are|was|were|in|of|by|to|at|from|with|on|for|as|plays|speaks|named|called)(?: the)?"
    r"(?: (?:city|country|continent|sport|position|language|field) of)?\Z",
    _I,
)
_ABROAD = lazy(r"(?:\b(?:ist|sind|heißt|lautet|es|está|son|est|sont|è|sono|é|são|är)|是|：)\s*(?:\w+\s+)?\Z", _I)
_PLACES = frozenset("in im am auf bei an en a à au aux dans sur chez em no na op i på".split())
_OWN = lazy(r"\b(?:am|is|are|i|we)\b|'(?:m|re)\b", _I)
_WE_LEFT = lazy(r"\b(?:i|we)(?:['’]ve| have)? (?:left|quit|moved (?:out|away))\b", _I)
_OURS = lazy(r"\b(?:i|we|me|us|my|our)\b", _I)
"""What somebody leaves ends for who leaves it, and for nobody else there."""
_CODE = lazy(
    r"[{}]|</?\w|\w>|<\s*\d|\A\s*(?://|SELECT |INSERT |UPDATE |curl -)"
    r"|\w\(\S|\s=\s(?!\S+\Z)|\w\s?==\s?\w|\A\s*(?:if|for|while|def|class|import|return)\b.*[:;]\s*\Z"
)
"""What code has; a line of it tells nothing that another line replaces."""
_KEYED = lazy(r"\A\w+=\S+(?=\s+\w+=)")
"""The first of several keys says of what a line is."""
_PER = lazy(
    r"\b(?:per|an?(?= (?:second|minute|hour|day|night|week|month|year)\b))\s+(\w+)|\b(month|year|week|hour"
    r"|quarter)ly\b",
    _I,
)
_SPANS = {"second", "minute", "hour", "day", "night", "week", "month", "quarter", "year"}
_SAYS_CHANGE = lazy(f"{words.MOVED}|{words.NOW}", _I)
_TAIL = lazy(r"\b(?:on|at|to|for|in|by|an?|per|of|with|from)\s+.*\Z", _I)
_BEHIND = lazy(r"\s*(?:of|for|on|in|at|to|from)\s+(?:the\s+|an?\s+)?\w+", _I)
_MEANS = lazy(r"\b(?:through|via|using)\s+(?P<value>\S+(?:\s+\S+)?)\Z", _I)
"""Whatever the verb says, what stands so at the end is what something is done with."""
_DOUBTS = lazy(r"\A\W*(?:if|when|whenever|unless|maybe|perhaps|suppose|assuming|imagine|should)\b", _I)
_RELATES = frozenset("is are was were has have of by to at from with on in for as".split())
"""Words that no plain value holds: with one of them, more is told than a value."""
LEAST_ALIKE, MOST_VALUE_WORDS = 3, 5
MOST_CLAUSES = 2
MOST_IF_CHANGED = 3
FREE = ("free", "noun", "tongue", "any", "name")
ANEW = ("*", NOTE)
LETTERS = frozenset(f"*{NOTE}")
MEASURES = ("v", "p", *ANEW)
ENDED_WITH = ("hours", "clock", "money", "percent", "frequency", "duration")
"""Classes of values that end with what they are of."""


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


def without_serial(text: str) -> str:
    """Return a text without the number of its place in a row."""
    found = _SERIAL.match(text)
    return text if found is None else text[found.end() :]


def replaces(older: str, newer: str) -> Replacement | None:
    """Return why the newer of two texts of one family replaces the older, None where both may hold."""
    first, second = _SERIAL.match(older), _SERIAL.match(newer)
    if not (_states(older) and _states(newer)):
        return None
    if is_of_several(older) or not (_is_per(older, newer) and _is_per(newer, older)):
        return None
    keyed = _KEYED.match(older), _KEYED.match(newer)
    if keyed[0] and keyed[1] and keyed[0][0] != keyed[1][0]:
        return None
    if first is not None and second is not None and int(first["serial"]) >= int(second["serial"]):
        return None
    framed = _by_frame(older, newer)
    if framed is not None:
        return framed if _SAYS_CHANGE.search(newer) or _tail(framed.older) == _tail(framed.newer) else None
    abroad = _by_abroad(older, newer)
    if abroad is not None:
        return abroad
    before, now = told(older), told(newer)
    if now.supposes or not before.clauses:
        return None
    return _by_value(before, now) or _by_name(before, now)


def _is_per(text: str, other: str) -> bool:
    """Whether the other text counts by what a text counts by, or has the word at least."""
    counted, others = _counted_by(text), _counted_by(other)
    return counted <= others or (
        not others & _SPANS and (counted <= _SPANS or all(it in other.lower() for it in counted))
    )


# A text is compared with up to thirty others, one after the other.
@lru_cache(maxsize=8_192)
def _states(text: str) -> bool:
    """Whether a text may state something: it is no code, no question and no doubt."""
    return not (_CODE.search(text) or "?" in text or _DOUBTS.match(text))


@lru_cache(maxsize=8_192)
def _counted_by(text: str) -> frozenset[str]:
    return frozenset("".join(found).lower() for found in _PER.findall(text))


def _by_value(before: Told, now: Told) -> Replacement | None:
    """Compare clause by clause what two texts tell, where neither adds to the other."""
    if now.adds or before.adds:
        return None
    alone = len(before.clauses) == 1
    for clause in now.clauses:
        if clause.past and not clause.changed:
            continue
        for one in before.clauses:
            found = (
                _by_slot(one, clause, is_alone=alone and len(now.clauses) == 1)
                or _by_move(one, clause)
                or _by_relation(one, clause)
            )
            if found is not None:
                return found._replace(whole=alone and found.whole)
    return _by_end(before.clauses[0], now.clauses) if alone else None


def _by_frame(older: str, newer: str) -> Replacement | None:
    """Compare texts that are equal but for a value: in a slot, behind serials, or in a language without rules."""
    value = changed_value(older, newer)
    if value is None and measured_anew(older, newer):
        return Replacement("frame", "measure", older, newer, True)
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
    if any(value[0].lower() in _PLACES for value in values):
        return None  # Where something is, and how, both open so.
    return Value(before, " ".join(values[0]), " ".join(values[1]), "") if copula.search(before) else None


def _by_slot(older: Clause, newer: Clause, *, is_alone: bool) -> Replacement | None:
    """Compare what two clauses claim of slots that hold one value."""
    is_changed = newer.changed or newer.now
    if (newer.denies or older.many or newer.many) and not newer.changed:
        return None
    for now in newer.claims:
        for before in older.claims:
            if now.slot != before.slot or not _are_two(before, now):
                continue
            is_state = now.cls == "state"
            if not is_changed and not _are_of_the_same(
                older.text, before.value, newer.text, now.value, is_state=is_state
            ):
                continue
            if SPEAKER in now.subject and not is_alone and now.slot.split()[0] not in words.PERSONAL:
                continue
            if now.slot == "is" and not _is_exactly(before, now):
                continue
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
    most = MOST_IF_CHANGED if newer.changed else 0
    for now in singles_of(newer.text):
        for before in singles_of(older.text):
            if not any(map(str.isalpha, before.subject & now.subject)):
                continue  # A number that both have is no thing.
            is_close = _is_changed(before, now) if now.cls == "name" else _is_same(before, now, most)
            if _are_two(before, now) and is_close:
                return Replacement("moved", now.cls, before.value, now.value, _is_covered(before, now))
    return None


def _by_abroad(older: str, newer: str) -> Replacement | None:
    """Compare what two texts of one language state that is not English."""
    (language, before), (other, now) = told_abroad(older), told_abroad(newer)
    if language != other:
        return None
    ended = ended_abroad(newer, language)
    for one in before:
        if one.value & ended and one.subject & frozenset(terms(newer, language)):
            return Replacement("ended", one.how, " ".join(sorted(one.value)), newer, True)
        for it in now:
            is_alike = one.how == it.how or "note" in (one.how, it.how) or "any" in (one.how, it.how)
            is_alike = is_alike and one.is_time == it.is_time
            if is_alike and one.subject == it.subject and not (one.value <= it.value or it.value <= one.value):
                return Replacement("stated", it.how, " ".join(sorted(one.value)), " ".join(sorted(it.value)), True)
    return None


def _by_relation(older: Clause, newer: Clause) -> Replacement | None:
    """Compare what two clauses state of one subject by any verb, where the newer says that something changed."""
    if newer.denies or older.denies or not (newer.changed or newer.now):
        return None
    many = older.many or newer.many
    for now in (*newer.stated, *newer.claims):
        for before in (*older.stated, *older.claims):
            if many and before.slot != "n":
                continue
            if not _are_two(before, now) or not _are_alike(before, now):
                continue
            if (
                _is_exactly(before, now)
                or (newer.changed and _is_changed(before, now))
                or (newer.now and len(before.subject & now.subject) > 1 and _is_same(before, now))
            ):
                return Replacement("stated", now.slot, before.value, now.value, _is_covered(before, now))
    return None


def _tail(value: str) -> str:
    """Return what of a value says when, where or for what it is one: "a year" of "180 euros a year"."""
    found = _TAIL.search(value)
    return "" if found is None else found[0].lower().strip(" .!")


def _are_of_the_same(older: str, before: str, newer: str, now: str, *, is_state: bool) -> bool:
    """Whether nothing in or behind two values says that they are of different things, as "of RAM" and "of disk".

    A state has such words of its own, as "in review" has.
    """
    behind = [_BEHIND.match(text, text.find(value) + len(value)) for text, value in ((older, before), (newer, now))]
    said = [found[0].lower().split()[-1] for found in behind if found is not None]
    is_alike = is_state or _tail(before) == _tail(now)
    return is_alike and (len(said) < 2 or said[0] == said[1])


def _are_two(before: Claim, now: Claim) -> bool:
    """Whether two values are of one class, and are not one value."""
    is_free = now.cls in FREE
    is_alike = before.cls == now.cls or (
        {before.cls, now.cls} <= {"free", "noun"} and any(it.slot in ANEW or "r" in it.slot for it in (before, now))
    )
    return (
        is_alike
        and differ(before.tokens, now.tokens)
        and (not is_free or (are_of_one_kind(before.value, now.value) and kind_of(before.value) == kind_of(now.value)))
    )


def _are_alike(before: Claim, now: Claim) -> bool:
    """Whether two claims say the same of what they are about: their letters do, or both give one measure of it."""
    slots = before.slot, now.slot
    if before.cls not in FREE:
        return slots == ("n", "n") or any(slot in MEASURES for slot in slots)
    if not all(slot.startswith("a:") or slot == "does" or set(slot) <= LETTERS for slot in slots):
        return False  # It is of a slot that is known by its words.
    if slots[0] == slots[1]:
        return True
    if any(slot in ANEW for slot in slots):
        return True
    if "does" in slots:
        return any({"m", "b"} & set(slot) and ":" not in slot for slot in slots)
    if "r" in slots[0] + slots[1]:
        return any(slot in ("p", "m") for slot in slots)
    return any(letter in LIKE.get(other, "") for letter in slots[0] for other in slots[1])


def _is_exactly(before: Claim, now: Claim) -> bool:
    """Whether two claims are of one subject but for what says of what kind it is."""
    return bool(before.subject & now.subject - words.GENERIC) and before.subject ^ now.subject <= words.GENERIC


def _is_changed(before: Claim, now: Claim) -> bool:
    """Whether a claim that something changed is of what another was about; it may say why, and of what besides."""
    shared = before.subject & now.subject - words.GENERIC
    more, less = before.subject - now.subject - words.GENERIC, now.subject - before.subject - words.GENERIC
    if not shared or (more | less) & words.QUALIFIES or more & before.names:
        return False
    if len(shared) == 1:
        return not (more or less)  # The billing service and the billing page share a word.
    return not more and len(less) <= MOST_IF_CHANGED


def _by_end(older: Clause, newer: tuple[Clause, ...]) -> Replacement | None:
    """Compare with a text that says that something ended, and names it and what it was of."""
    said = frozenset[str]().union(*(clause.subject for clause in newer))
    if older.denies or older.ended or older.past or len(newer) > MOST_CLAUSES:
        return None
    about = older.subject - _measures(older)
    if about - said:
        return None
    if not about - words.GENERIC or (len(about) == 1 and not _OWN.search(older.text)):
        return None
    every = about == older.subject  # "No longer on Sundays" ends no opening hours of all days.
    ended = any(about & it and (every or it - ENDING <= about) for clause in newer for it in clause.ended)
    return Replacement("ended", "", older.text, newer[0].text, True) if ended else None


def _measures(clause: Clause) -> frozenset[str]:
    """Return the terms of when, how long and how much a clause says: who ends a thing need not name these."""
    said = (terms(claim.value) for claim in clause.claims if claim.cls in ENDED_WITH)
    return frozenset(term for value in said for term in value if any(map(str.isdigit, term)))


def _by_name(older: Told, newer: Told) -> Replacement | None:
    """Compare with a text that names what ended, which the older has as what something is, or what it is done with."""
    said = frozenset[str]().union(*(clause.subject for clause in newer.clauses))
    for clause, one in product(newer.clauses, older.clauses):
        if one.past or one.denies or (_WE_LEFT.search(clause.text) and not _OURS.search(one.text)):
            continue
        for gone in clause.gone:
            named = gone.terms - words.GENERIC
            scope = clause.subject - gone.together - ENDING
            if (
                named
                and named <= frozenset(terms(one.text)) - _gone_of(one)
                and _is_of(one, named, said - gone.terms, scope)
            ):
                return Replacement("ended", "", one.text, clause.text, len(older.clauses) == 1)
    return None


def _gone_of(clause: Clause) -> frozenset[str]:
    return frozenset[str]().union(*(gone.terms for gone in clause.gone))


def _is_of(one: Clause, named: frozenset[str], said: frozenset[str], scope: frozenset[str]) -> bool:
    """Whether what ended is what a clause tells of something: both name that, or it ended altogether."""
    others = one.subject - named
    if (others & said) - words.GENERIC:
        is_contrast = (others - said) & words.QUALIFIES and (said - others) & words.QUALIFIES
        return not is_contrast and len(others - said) <= MOST_IF_CHANGED
    told_by = [claim.value for claim in (*one.stated, *one.claims)]
    means = _MEANS.search(one.text)
    told_by += [means["value"]] if means is not None else []
    return (
        any(named <= frozenset(terms(value)) for value in told_by)
        and not scope - words.GENERIC - words.SAYS_NOTHING
        and not one.many
    )


def _is_same(before: Claim, now: Claim, most: int = 0) -> bool:
    """Whether two claims are about the same thing: they say no more of it than of what kind it is.

    Both may say a little more where there are at most `most` terms of that in all.
    """
    a, b = before.subject, now.subject
    more, less = a - b, b - a
    if not a & b or (more | less) & (words.QUALIFIES | before.names | now.names | {SPEAKER}):
        return False
    more, less = more - words.GENERIC, less - words.GENERIC
    if not (a & b) - words.GENERIC:
        return not (more or less)
    return len(more | less) <= most


def _is_covered(before: Claim, now: Claim) -> bool:
    """Whether the older text is about nothing that the newer one is not about."""
    return before.subject - words.GENERIC <= now.subject
