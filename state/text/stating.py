"""What a clause states of any subject, by a verb and a preposition: where it is, with what or by whom it is done.

The words are in `relations`. Slots that are known by their nouns and verbs are in `claims`. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text import relations as words
from memtape.state.text.claims import Claim, compared, kind_of, subject_of, without_change
from memtape.state.text.slots import QUALIFIES
from memtape.state.text.terms import ENGLISH, is_common, worded_terms

MOST_VALUE_WORDS = 6
MOST_NOTE_WORDS = 6
FREE, NOUN = "free", "noun"
TIMES = ("clock", "date")
"""A day of the week may be one of several."""

_I = re.IGNORECASE
_WORD = lazy(r"(?:[^\s,;()\"“”]|(?<=\d),(?=\d))+")
_TIME = lazy(
    r"\b(?:over the (?:weekend|summer|winter|holidays)|(?:yesterday|tomorrow|this|last|next)(?: (?:morning|afternoon"
    r"|evening|night|week|month|year|spring|summer|autumn|winter|quarter|weekend|\w+day))|yesterday|tomorrow"
    r"|(?:since|in|from|as of|until|by|on|of) (?:early |late |mid |last |this |next )?(?:(?:january|february|march"
    r"|april|may|june|july|august|september|october|november|december)(?: \d{4})?|\w+day|\d{4})(?: on)?)\b"
    r"|\b(?:after|because of|due to|thanks to)\b[^,]*?(?=,|\s(?:we|i|they|it|he|she)\s|\Z)"
    r"|\bto (?:save|avoid|cut|reduce)\b[^,]*?(?=,|\s(?:we|i|they|it|he|she|the)\s|\Z)",
    _I,
)
"""Since when, and why: neither says of what a clause is."""
_NOTE = lazy(r"^(?P<of>[^:=]{2,60}?)\s*(?:(?<!\d):(?=\s)|\s=\s|->)\s*(?P<value>\S.*)\Z")
_EXISTS = lazy(r"\bthere(?:'s| is| are| was)\b|\bone of\b|\b(?:some|several|many|most|part) of\b", _I)
_AS = lazy(
    r"\b(?:uses?|using|run|take|have|chose|picked|adopted|keep|to)\s+(?P<value>[^,;:]{2,40}?)\s+as\s+"
    r"(?P<of>(?:the|our|my|its|their|his|her|an?)\s+[\w -]{2,40})",
    _I,
)
_NAME = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.?\s+)?[A-Z][\w'’&.-]*(?:\s+[A-Z][\w'’&.-]*)?"
_DOES = lazy(
    rf"^(?P<value>{_NAME}|[a-z][\w-]*)\s+(?:now\s+|currently\s+|is (?:what|who|the one (?:that|who))\s+)?"
    r"(?P<verb>looks after|takes care of|is (?:in charge of|responsible for)|[a-z]*[^\Wsiau]s)\s"
)
_IS_DONE = lazy(
    rf"\b(?:is|are|gets?)\s+(?:now\s+)?(?P<verb>(?:\w+ed|run|taught|led|kept|fed|overseen|done|taken care)(?: \w+)?)\s+"
    rf"by\s+(?P<value>{_NAME})"
)
_HAS_ROLE = lazy(
    rf"^(?P<value>{_NAME})\s+(?:(?:has |have )?(?:took|taken|takes) over(?: as)? (?P<job>[^,;(]+?)(?=\s+from\b|[,;(]"
    rf"|\Z)"
    r"|(?:is|will be|becomes?|became|has become)\s+(?:now\s+)?"
    rf"(?:the|our|my|{_NAME}'s)\s+(?:new\s+)?(?P<of>[^,;(]+))"
)
_IS_OF_THING = re.compile(r"(?:the|our|my|his|her|their)\Z")
_COUNTED = lazy(
    r"\b(?:has|have)\s+(?:now\s+)?(?P<value>\d+|(?:two|three|four|five|six|seven|eight|nine|ten"
    r"|twelve))\s+(?P<of>[a-z]\w+)"
)
_SHORT = ("Dr.", "Mr.", "Mrs.", "Ms.", "Prof.", "Fr.", "St.")
_ARTICLE = lazy(r"(?:(?:the|an?|our|my|your|his|her|its|their)\s+)?", _I)


class _Word(NamedTuple):
    low: str
    start: int
    end: int
    is_last: bool
    """Whether something stands behind it that ends a phrase."""


def stated(text: str) -> Iterator[Claim]:
    """Yield what a clause states: the slot is the letters of `relations`, the class that of its value."""
    if _EXISTS.search(text):
        return
    yield from _noted(text)
    said = [_word(text, it) for it in _WORD.finditer(text)]
    for n in range(1, len(said)):
        letters, begin = _relation(said, n)
        preposition = words.PREPOSITIONS.get(said[n].low)
        of_object, verb = ("", None) if preposition is None else _of_object(said, n, preposition[0])
        if of_object and (not letters or begin == n):
            rest = text if verb is None else f"{text[: verb.start]}{' ' * (verb.end - verb.start)}{text[verb.end :]}"
            yield from _behind(rest, said, n, n, of_object)
        elif letters:
            yield from _behind(text, said, begin, n, letters)
        elif said[n].low in ("is", "are") and n + 1 < len(said):
            yield from _measured(text, said, n)
    yield from _done_by(text)
    count = _COUNTED.search(text)
    if count:
        yield from _made(f"{text[: count.start()]} {count['of']} {count['value']}", *_counted(count))
    for found in (_AS.search(text), _HAS_ROLE.match(text)):
        if found:
            yield from _made(
                text,
                found.span("value"),
                found.start(),
                found.start("job" if found.groupdict().get("job") else "of"),
                words.NOTE,
            )


def _counted(count: re.Match[str]) -> tuple[tuple[int, int], int, int, str]:
    """Return where the number stands in "subject, what is counted, number", and what it says."""
    start = count.start() + len(count["of"]) + 2
    return (start, start + len(count["value"])), start, start, "n"


def _word(text: str, found: re.Match[str]) -> _Word:
    bare = found[0] if found[0] in _SHORT else found[0].rstrip(".,:;!?'\"`")
    behind = text[found.end() : found.end() + 1]
    return _Word(bare.lower(), found.start(), found.start() + len(bare), len(bare) < len(found[0]) or behind in ",;()")


def _families(word: str) -> tuple[str, ...]:
    found = worded_terms(word, ENGLISH)
    return words.VERBS.get(found[-1][1], ()) if found else ()


def _letters(families: tuple[str, ...], preposition: str) -> str:
    found = "".join(words.RELATIONS.get((family, preposition), "") for family in families)
    return "*" if "*" in found else found


def _relation(said: list[_Word], n: int) -> tuple[str, int]:
    """Return what a preposition says together with the verb before it, and at which word they begin."""
    preposition = words.PREPOSITIONS.get(said[n].low, ("",))[0]
    if not preposition or said[n].is_last:
        return "", n
    at = n - 1
    while at > 0 and said[at].low in words.ADVERBS and not said[at].is_last:
        at -= 1
    word = said[at].low
    is_be = word in words.BE or word.endswith(("'s", "'re"))
    letters = "" if is_be and not at else _letters(("be",) if is_be else _families(word), preposition)
    if not letters:
        is_at = "p" if _IS_OF_THING.match(said[0].low) and said[n - 1].low.endswith("s") else "at"
        at, letters = n, is_at if preposition == "at" else ""
    elif _families(word)[:1] == ("act",):
        at = n  # What is done says of what it is told, and not how.
    elif is_be and word != "be" and letters == "p" and at == 1 and said[0].start == 0 and not said[0].low.endswith("s"):
        return "", n  # Somebody is in many places.
    while 0 < at < n and said[at - 1].low in words.BEFORE_VERBS:
        at -= 1
    return letters, at


def _of_object(said: list[_Word], n: int, preposition: str) -> tuple[str, _Word | None]:
    """Return what a preposition says of the object of who speaks, or is spoken to, and a verb without weight."""
    first = 0
    while first < n and said[first].low in words.PRONOUNS | words.BEFORE_OBJECTS:
        first += 1
    between = said[first + 1 : n]
    if not between or any(word.low in words.PREPOSITIONS or word.is_last for word in between):
        return "", None
    families = _families(said[first].low)
    return _letters(families, preposition), None if families[:1] == ("act",) else said[first]


def _behind(text: str, said: list[_Word], begin: int, n: int, letters: str) -> Iterator[Claim]:
    """Yield the claim of a relation whose value stands behind a word."""
    last = n + 1
    while (
        last < len(said) and last - n <= MOST_VALUE_WORDS and (last == n + 1 or said[last].low not in words.VALUE_ENDS)
    ):
        last += 1
        if said[last - 1].is_last:
            break
    if last > n + 1 and said[n + 1].low not in words.VALUE_ENDS:
        yield from _made(text, (said[n + 1].start, said[last - 1].end), said[begin].start, said[n].end, letters)


def _measured(text: str, said: list[_Word], n: int) -> Iterator[Claim]:
    """Yield the claim of a name or a number that stands behind "is"."""
    is_name = text[said[n + 1].start].isupper()
    for made in _behind(text, said, n, n, words.NOTE if is_name else "v"):
        if is_name or made.cls != FREE:
            yield made


def _made(text: str, value: tuple[int, int], begin: int, end: int, letters: str) -> Iterator[Claim]:
    """Yield the claim of a value; of what it is says the rest of the text without what stands from `begin` to `end`."""
    bare = _ARTICLE.sub("", text[slice(*value)], count=1)
    if not bare or bare.split()[0].lower() in words.NO_VALUES:
        return
    start, stop = min(begin, value[0]), max(end, value[1])
    subject, names = _about(text[:start])
    more, more_names = _about(re.split(r"[,(]", text[stop:])[0])
    if not subject and not more:
        subject = frozenset(term for word, term in worded_terms(text[:start], ENGLISH) if word not in words.PRONOUNS)
    told = (more & QUALIFIES) | more_names if subject else more or _about(text[begin:end])[0]
    subject, names = subject | told, names | more_names
    cls = _class(text[slice(*value)])
    if letters == "b" and not bare[0].isupper():
        return  # By mail, and by year, nobody does it.
    if letters == "at":  # Of what verb this is nobody knows; that it is a time is enough.
        letters = "p" if cls in TIMES else ""
    if letters and any(any(map(str.isalpha, term)) for term in subject):
        yield Claim(letters, cls, bare, compared(bare, cls), subject, names)
        for term in sorted(subject) if letters == words.NOTE and cls in (FREE, NOUN) and len(subject) > 1 else ():
            slot = words.ROLES.get(term) or _any_letters(term)
            if slot:  # The noun says what the verb does: "CRM admin", "firmware build".
                yield Claim(slot, cls, bare, compared(bare, cls), subject - {term}, names - {term})


def _class(value: str) -> str:
    """Return the class of a value: of words those with an article are another than names are."""
    cls = kind_of(value)
    if cls == FREE and value.lower() in words.TONGUES:
        return "tongue"
    return NOUN if cls == FREE and _ARTICLE.sub("", value, count=1) != value else cls


def _about(text: str) -> tuple[frozenset[str], frozenset[str]]:
    return subject_of(_TIME.sub(" ", without_change(text))) if text.strip() else (frozenset(), frozenset())


def _any_letters(term: str) -> str:
    found = (_letters(words.VERBS.get(term, ()), it) for it in ("at", "with", "from", "to"))
    return "".join(dict.fromkeys("".join(found).replace("*", "")))


def _noted(text: str) -> Iterator[Claim]:
    """Yield the claim of a note: a subject, a colon, and a value."""
    found = _NOTE.match(text)
    if found is None:
        return
    of, value = found["of"], re.split(r",(?!\d)|[;(]|\.\s", found["value"])[0].rstrip(" .")
    is_label = of.split()[0].lower() in words.LABELS or len(of.split()) > MOST_NOTE_WORDS
    if not is_label and 0 < len(value.split()) <= MOST_VALUE_WORDS:
        start = len(of) + 1
        yield from _made(f"{of} {value}", (start, start + len(value)), start, start, words.NOTE)


def _done_by(text: str) -> Iterator[Claim]:
    """Yield who or what does something: before a verb, or behind `by` where it is done."""
    active, passive = _DOES.match(text), _IS_DONE.search(text)
    if active and kind_of(active["value"]) == FREE and not is_common(active["value"].lower()):
        role = _role(active["verb"])
        families = _families(active["verb"].split()[0])
        is_verb = role or (families and families[0] != "act")
        cut = active.end("verb" if is_verb else "value")
        yield from _made(text, active.span("value"), 0, cut, role or "does")
    if passive:
        role = _role(passive["verb"])
        begin = passive.start() if role else passive.end("verb")
        yield from _made(text, passive.span("value"), begin, passive.start("value"), role or "b")


def _role(verb: str) -> str:
    """Return the slot of what one does for something, empty where many may do that."""
    found = (words.ROLES.get(term) for _, term in worded_terms(verb, ENGLISH))
    return next(filter(None, found), "")
