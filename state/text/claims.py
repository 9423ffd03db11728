"""What a clause claims of slots that hold one value: which slot of what subject has which value. English only.

The words are in `slots`. What a text of several clauses tells is in `telling`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text import slots as words
from memtape.state.text.lexicon import SEARCH_STOP
from memtape.state.text.slot_values import FREE, VALUES
from memtape.state.text.slots import SLOTS, Slot
from memtape.state.text.terms import ENGLISH, is_common, worded_terms

MOST_VALUE_WORDS = 7
MOST_OPENING = 4
MOST_APART = 40
"""So many characters at most stand between a verb and the value that it tells."""
SPEAKER = "<speaker>"
"""The subject of a text that names none but who speaks."""

_I = re.IGNORECASE
_CHANGING = "changed|set|moved|reset|raised|lowered|increased|reduced|switched|renamed|extended|cut"
_LINK = lazy(
    r"(?P<of>(?:\s+(?:of|for|on|in|at|from|behind|to)\s+(?:(?!\b(?:is|are|was|were|to)\b)[^:=;,]){1,50}?)?)\s*,?\s*"
    r"(?:\b(?:is|are|will be|becomes?|became|remains|stands at|has become|went|goes"
    rf"|(?:was |is |has been |were )?(?:{_CHANGING})(?=[^.;]{{0,30}}\bto\b))\b|[:=→]|->)\s*"
    r"(?:(?:now|still|currently|back|set to|at|to|in|on|with|by|called|named|held|kept|again)\b\s*)*(?:the\s+|an?\s+)?"
    r"(?:from\s+[^,;]{1,30}?\s+to\s+)?"
)
"""What stands between a noun and its value."""
_SET = lazy(rf"\b(?:{_CHANGING}|swapped|updated|put|made)\s+(?:the|our|my|its|their)\s", _I)
_TO = lazy(r"\s+(?:from\s+[^,;]{1,30}?\s+)?to\s+(?:the\s+|an?\s+)?")
_AS = lazy(
    r"(?:\b(?:use|uses|using|run|runs|have|chose|picked|adopted|take|made|switched to|moved to)\s+)"
    r"(?P<value>[^,;:]{2,40}?)\s+(?:as|for)\s+(?:(?:the|our|my|their|his|her|its|a|an)\s+)?(?:[\w-]+\s+){0,3}\Z",
    _I,
)
_INVERSE = lazy(
    r"^(?:.{0,60},\s+)?(?P<value>[A-Z\d`'\"][^,;:]{0,40}?)\s+(?:is|are|acts as|serves as|has become|became|becomes"
    r"|will be|takes over as|took over as|has taken over as|has the role of|was (?:appointed|elected|named))\s+"
    r"(?:now\s+|currently\s+)?(?:(?:the|our|my|your|his|her|their|its|[A-Z][\w-]*['’]s)\s+)?(?:new\s+)?"
    r"(?:[\w-]+\s+){0,3}\Z"
)
_DEFINITE = lazy(
    r"^(?:[Tt]he|[Oo]ur|[Mm]y|[A-Z][\w-]*['’]s)\s+(?P<of>[\w'’ /-]{3,50}?)\s+(?:is|will be)\s+"
    r"(?:now\s+|currently\s+)?(?P<value>.+)\Z"
)
_LABEL = lazy(
    r"^(?P<of>(?:current|working|default|main|primary|preferred|favou?rite)\s+[\w /-]{3,40}):\s+(?P<value>.+)\Z", _I
)
_SPEAKS = lazy(r"\b(?:i|me|my|mine|we|us|our|the user|user's)\b|\b(?:i|we)'", _I)
_HOUSES = ("flat", "apartment", "apt", "room", "suite", "house")
_VALUE_ENDS = lazy(r"\s*(?:\(|,\s|\s-\s|\bsince\b|\bas of\b|\bfrom (?:now|next|this)\b)")
_TAIL = lazy(
    r"\s+(?:for|of|during|(?:on|in|at)(?=\s(?:the\s)?(?:\w+days?|weekends?|\w+ings?|summer|winter|night|home|work)\b))\b[^,;(]*",
    _I,
)
"""What follows a value and says of what, or when, it is one."""
_DOES = lazy(r"\s+(?:is|are|was|were|has|had|will|can|must|ships?|supports?|adds?|needs?|takes?|took)\b", _I)
_LEADS = lazy(
    r"\b(?:to|in|on|from|with|via|through|at|by|is|are|uses?|using|called|into|onto|under|be|and)\s+(?:the\s+)?\Z", _I
)
"""What stands before a name that is a value."""
_UNTIL = lazy(r"[^.;]{0,30}?\bto\b", _I)
_FORMER = lazy(r"\b(from|instead of|rather than|not|was|were)\s+(?:the\s+)?\Z", _I)
_MOVED_FROM = lazy(r"\b(?:from|instead of|rather than)\s+\S+(?:\s+\S+)?(?=\s+to\b|\s*[,.]|\s*\Z)", _I)
_CHANGE = lazy(
    rf"{words.NOW}|\b(?:as of|since|starting(?: in)?|effective) \w+|\bfrom (?:this |next )?(?:week|month|year"
    rf"|january|february|march|april|may|june|july|august|september|october|november|december|\w+day)"
    rf"|\bfrom now on\b|\bthis (?:week|month|year)\b"
    r"|\b(?:a|an|per) (?:month|year|week|day|minute|second|hour|night)\b"
    r"|\b(?:after all|at last|at the latest|in the end|for good|for sure|for certain|of course|as (?:agreed|planned"
    r"|expected|promised|usual)|anywhere on earth|ad interim)\b",
    _I,
)
"""What says since or until when, how sure, and nothing of what it is about."""
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORDS = {word: str(n) for n, word in enumerate(_NUMBERS.split())} | {
    "a": "1",
    "an": "1",
    "fifteen": "15",
    "twenty": "20",
    "thirty": "30",
    "forty": "40",
    "sixty": "60",
}
_UNITS = {"ms": "ms", "millis": "ms", "mi": "min", "mo": "month", "s": "s", "h": "h", "d": "d", "w": "w", "y": "y"}
_PARTS = lazy(r"\d[\d.,:]*|[^\W\d_]+")
_REGULAR = lazy(
    r"\b(hourly|daily|nightly|weekly|monthly|quarterly|yearly)\s+(?!(?:\w+\s+)?(?:budget|rent|fees?|prices?|costs?|salary|bill"
    r"|payment|subscription|premium|allowance)\b)(?!(?:for|in|at|on|by|and|to|from|since|with)\b)[a-z]"
)
"""Which of several a thing is, as the weekly backup."""
_OWNED = lazy(r"(?:\b(?:my|our|his|her|their|your)|'s)\s+(own|work|home|personal|private)\s+[a-z]")
_JOINERS = frozenset("the and at on in our my".split())
_GRAMMAR = frozenset(
    "yeah yes yep hey hi hello thanks wow oh ok okay gonna wanna lol haha btw "
    "user user's i'm i've we've it's that's there's let's us me you any some all every etc".split()
)
_NO_NAMES = frozenset(
    "i we the this that it he she they you my our your there what who which for from if when as in on".split()
)
_DONE = lazy(
    r"(?:\w+ed|done|kept|made|sent|held|built|written|run)\s+(?:with|in|by|on|at|through|via|for|from|as|to)\b"
)
_NO_VALUES = frozenset(
    """
    not no still always never often usually sometimes very too so quite really more less better worse that what how why
    where when whether because if being going good bad great fine nice important useful used required needed optional
    wrong right correct same different only just one of all both many some any here there
    """.split()
)
_TYPES = tuple("clock weekday money percent duration frequency size version email url date port name".split())

_DIGITAL = ("port", "version", "money", "percent", "size", "phone")
_DIGIT = re.compile(r"\d")
_KINDS = tuple("clock frequency weekday money percent duration size date email url".split())

_WHENS = {"date": "clock", "clock": "date", "weekday": "clock"}
"""Of what happens at a time the day is one value, and the time another."""

_SETTING = lazy(r"(?<![\w./-])(?:--?[a-z]+(?:-[a-z]+)+|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*)(?![\w/(-]|\.\w)")
"""The name of a setting, as in configuration: max_connections, maxRetries, --keep-alive."""
_SETS = lazy(
    r"['\"`]?(?:\s+(?:in|of|for|on)\s+(?:the\s+)?[\w-]+(?:\s+[\w-]+)?)?"
    r"(?:\s*[:=]\s*|\s+(?:(?:is|was|has been|got|now|stands|stays|went|goes)\s+)*"
    r"(?:(?:set|raised|lowered|increased|reduced|changed|bumped|cut|back|up|down|now|at|to|from \S+)\s+)*)"
    r"['\"`]?(?P<value>-?\d[\w.,%]*|true|false|on|off|yes|no|enabled|disabled)(?=['\"`]?(?:[\s.,;)]|\Z))",
    _I,
)
"""What stands between the name of a setting and its value, which is a number or a switch."""

Span = tuple[int, int]
Match = re.Match[str]


class Claim(NamedTuple):
    """That a slot of a subject, by its terms, has a value; `value` is as it was said, `tokens` are to compare it by.

    `names` are those terms of the subject that are names or numbers.
    """

    slot: str
    cls: str
    value: str
    tokens: tuple[str, ...]
    subject: frozenset[str]
    names: frozenset[str]


def kind_of(value: str) -> str:
    """Return the class of a value by its looks, `free` of words and names."""
    found = next((cls for cls in _KINDS if _value(cls).search(value)), "free")
    if (
        found == "clock"
        and len(re.findall(r"[A-Za-z]{2,}", value)) > len(re.findall(r"[ap]m\b|past|half|quarter|day", value)) + 1
    ):
        return "free"
    if found == "free" and _value("phone").fullmatch(value):
        return "phone"
    return "number" if found == "free" and _value("number").fullmatch(value) else found


def differ(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Whether two values are not one: neither says no more than a part of the other."""
    return bool(a and b) and not (set(a) <= set(b) or set(b) <= set(a))


@lru_cache(maxsize=512)
def subject_of(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the terms that say what a text is about, and those of them that are names or numbers."""
    capitals = {word.lower() for word in re.findall(r"(?<=\s)[A-Z][\w-]*|\b[A-Z]{2,}\b", text)}
    kinds = _REGULAR.findall(text.lower())
    kinds += _OWNED.findall(text.lower())
    held, names = [], []
    for word, term in worded_terms(text, ENGLISH):
        if word in kinds:
            held.append(word)
            continue
        term = words.SYNONYMS.get(term, term)
        if term in words.SAYS_NOTHING or word in words.MORE or word in SEARCH_STOP or word in _GRAMMAR:
            continue
        held.append(term)
        if word in capitals or any(map(str.isdigit, word)):
            names.append(term)
    return frozenset(held), frozenset(names)


def without_change(text: str) -> str:
    return _CHANGE.sub(" ", text)


# --- Values ---


@cache
def _value(cls: str) -> re.Pattern[str]:
    return re.compile(VALUES[cls], 0 if cls == "name" else _I)


@lru_cache(maxsize=512)
def _typed(text: str, cls: str) -> list[Match]:
    """Return where values of a class stand in a text, of several those alone that it was changed to."""
    found = list(_value(cls).finditer(text)) if cls not in _DIGITAL or _DIGIT.search(text) else []
    if len(found) > 1:
        return [it for it in found if not _is_former(text, it)] or found
    return found


def _is_former(text: str, value: Match) -> bool:
    """Whether a value is the one that was changed for another, as in "from this to that"."""
    found = _FORMER.search(text, 0, value.start())
    return found is not None and (found[1].lower() != "from" or bool(_UNTIL.match(text, value.end())))


def compared(value: str, cls: str) -> tuple[str, ...]:
    """Return a value in a form in which one that is written otherwise is the same."""
    low = value.lower().strip()
    if cls == "clock" and low[:1].isdigit():
        hour, minute = (*re.findall(r"\d+", low), "0")[:2]
        return f"{int(hour) + 12 * ('p' in low and hour != '12')}h", f"{int(minute)}m"
    parts = [_NUMBER_WORDS.get(part, part) for part in _PARTS.findall(low.rpartition(":")[2] if cls == "port" else low)]
    if cls == "duration":
        parts = [next((unit for start, unit in _UNITS.items() if part.startswith(start)), part) for part in parts]
    elif cls == "number":
        parts = [part.replace(",", "") for part in parts]
    elif cls == "money":
        thousands = "000" if re.search(r"\dk\b|\d k\b", low) else ""
        parts = [part.replace(",", "") + thousands for part in parts if part[0].isdigit()]
    elif cls == "date":
        parts = [part[:3] if part.isalpha() else part for part in parts if part not in ("st", "nd", "rd", "th", "of")]
    elif cls in ("weekday", "when"):
        parts = [part.removesuffix("s") for part in parts]
    elif cls == "clock":
        return tuple(parts)
    if cls in ("duration", "size", "when"):
        return ("".join(parts),)  # Two hours and two days share a number, and are not one value.
    return tuple(part for part in parts if cls == "state" or part not in _JOINERS)


def _is_value(value: str, cls: str) -> bool:
    first = value.split()[0].lower().strip("'\"`,") if value.split() else ""
    if cls == "name":
        return first not in _NO_NAMES and (not is_common(first) or len(value.split()) > 1)
    return any(map(str.isalnum, value)) and first not in _NO_VALUES and not _DONE.match(value)


@lru_cache(maxsize=2_048)
def singles_of(text: str) -> tuple[Claim, ...]:
    """Return the values of a clause that are the only one of their class; what is about the rest."""
    return tuple(_singles(text))


def _singles(text: str) -> Iterator[Claim]:
    for cls in _TYPES:
        found = [it for it in _typed(text, cls) if cls != "name" or _LEADS.search(text, 0, it.start())]
        if len(found) == 1:
            rest = text[: found[0].start()] + " " + text[found[0].end() :]
            if cls in _WHENS:
                rest = _value(_WHENS[cls]).sub(" ", rest)
            subject, names = subject_of(without_change(_MOVED_FROM.sub(" ", rest)))
            yield Claim("", cls, found[0][0], compared(found[0][0], cls), subject, names)


# --- Claims ---


@cache
def _cues() -> tuple[tuple[Slot, str, re.Pattern[str]], ...]:
    """Return of each slot what finds its nouns, its verbs, and the verbs behind its value; compiled when first used."""
    given = ((slot, role, getattr(slot, role)) for slot in SLOTS for role in ("nouns", "verbs", "owners"))
    return tuple(
        (slot, role, lazy(rf"(?:(?<![\w-])|(?=:))(?:{cue}){'s?' if role == 'nouns' else ''}(?![\w-])", _I))
        for slot, role, cue in given
        if cue
    )


@cache
def _cues_by_opening() -> dict[str, tuple[int, ...]]:
    """Return which cues begin with some letters, so that most of them need not be looked for in a text."""
    found: dict[str, dict[int, None]] = {}
    for n, (slot, role, _) in enumerate(_cues()):
        for opening in _openings(getattr(slot, role)):
            found.setdefault(opening[:MOST_OPENING], {})[n] = None
    return {opening: tuple(numbers) for opening, numbers in found.items()}


def cues_near(text: str) -> list[int]:
    """Return the numbers of those cues that may be in a text, by how its words begin."""
    by_opening = _cues_by_opening()
    words_begun = dict.fromkeys(re.findall(r"[a-z]+|:", text.lower()))
    found = (by_opening.get(word[:size], ()) for word in words_begun for size in range(1, MOST_OPENING + 1))
    return sorted(dict.fromkeys(number for numbers in found for number in numbers))


def _openings(pattern: str) -> Iterator[str]:
    """Yield the letters with which what matches begins, of each alternative; what may be left out is passed over."""
    depth, start = 0, 0
    for n, char in enumerate(f"{pattern}|"):
        depth += (char == "(") - (char == ")")
        if char == "|" and not depth:
            yield from _openings_of(pattern[start:n])
            start = n + 1


def _openings_of(alternative: str) -> Iterator[str]:
    if alternative.startswith("("):
        end = _closing(alternative)
        inner, rest = alternative[1:end], alternative[end + 1 :]
        if not inner.startswith("?=") and not inner.startswith("?!"):
            yield from _openings(inner.removeprefix("?:"))
        if rest.startswith("?") or inner.startswith(("?=", "?!")):
            yield from _openings_of(rest.removeprefix("?"))
        return
    letters = re.match(r"\W?([a-z]+)([?*]?)", alternative)
    if letters:
        yield letters[1][:-1] if letters[2] else letters[1]
    elif alternative.startswith(":"):
        yield ":"


def _closing(pattern: str) -> int:
    """Return where the bracket is closed that a pattern begins with."""
    depth = 0
    for n, char in enumerate(pattern):
        depth += (char == "(") - (char == ")")
        if not depth:
            return n
    return len(pattern)


def claims_of(text: str) -> Iterator[Claim]:
    """Yield what a clause claims of slots, and of what is called by a definite noun."""
    for number in cues_near(text):
        slot, role, pattern = _cues()[number]
        for cue in pattern.finditer(text):
            key = cue[0].lower().removesuffix("s").replace("colour", "color").replace("favour", "favor")
            name = f"{slot.name} {key}" if slot.keyed and role == "nouns" else slot.name
            if role == "owners":
                yield from _made(text, slot.name, "name", cue, _before(text, cue))
                continue
            for cls in slot.values:
                span = _of_noun(text, cue, cls) if role == "nouns" else _behind(text, cue, cls)
                yield from _made(text, name, cls, cue, span, is_noun=role == "nouns")
    yield from _settings(text)
    for pattern, cls in ((_DEFINITE, "name"), (_LABEL, "any")):
        found = pattern.search(text)
        span = None if found is None else _whole(text, found.start("value"), cls)
        if found is not None and span is not None:
            subject, names = subject_of(text[: found.end("of")])
            if subject:
                yield Claim("is", "any", text[slice(*span)], compared(text[slice(*span)], "any"), subject, names)


def _settings(text: str) -> Iterator[Claim]:
    """Yield the value that a setting is said to have, which is known by how its name is written."""
    found = _SETTING.search(text)
    link = found and _SETS.match(text, found.end())
    if found is None or link is None or len(_SETTING.findall(text)) > 1:
        return
    value = link["value"].rstrip(".,;'\"`")
    of = found[0].lower()
    subject, names = subject_of(without_change(f"{text[: found.start()]} {text[found.end() : link.start('value')]}"))
    if compared(value, "any"):
        yield Claim("setting", "any", value, compared(value, "any"), subject | {of}, names | {of})


def _made(text: str, slot: str, cls: str, cue: Match, span: Span | None, *, is_noun: bool = False) -> Iterator[Claim]:
    """Yield the claim of a cue and the span of its value, where it has a subject."""
    if span is None or not text[slice(*span)].strip():
        return
    value = text[slice(*span)].strip(" '\"`")
    subject, names = subject_of(without_change(_MOVED_FROM.sub(" ", _rest(text, cue, span, is_free=cls in FREE))))
    modifiers, _ = subject_of(" ".join(cue[0].split()[:-1]))
    if is_noun and (slot in words.MODIFIED or (not subject and slot not in words.OF_SPEAKER)):
        subject |= modifiers
    if not subject and ((is_noun and slot != "name") or _SPEAKS.search(text)):
        subject = frozenset([SPEAKER])
    if subject:
        yield Claim(slot, cls, value, compared(value, cls), subject, names)


def _rest(text: str, cue: Match, span: Span, *, is_free: bool) -> str:
    """Return a text without a cue and its value; what follows a free value tells of that, mostly."""
    gap = next((cue.span(n) for n in range(1, cue.re.groups + 1) if cue[n]), (0, 0))
    end = len(text)
    if is_free and span[0] >= cue.end():
        found = _TAIL.match(text, span[1])
        end = found.end() if found else span[1]
    return "".join(
        " " if (cue.start() <= n < cue.end() and not gap[0] <= n < gap[1]) or span[0] <= n < span[1] else text[n]
        for n in range(end)
    )


def _of_noun(text: str, cue: Match, cls: str) -> Span | None:
    """Return where the value stands that a noun has."""
    if cls not in FREE:
        return _near(text, cue, cls, anywhere=True)
    link = _LINK.match(text, cue.end()) or (_SET.search(text, 0, cue.start()) and _TO.match(text, cue.end()))
    if link:
        return _whole(text, link.end(), cls)
    for pattern in (_AS, _INVERSE):
        found = pattern.search(text[: cue.start()])
        if found is not None and _is_value(found["value"], cls):
            return found.span("value")
    return None


def _behind(text: str, cue: Match, cls: str) -> Span | None:
    """Return where the value stands that a verb gives."""
    if cls not in FREE:
        return _near(text, cue, cls, anywhere=False)
    start = re.compile(r"\s*(?:now\s+|currently\s+)?(?:the\s+|an?\s+)?").match(text, cue.end())
    return _whole(text, start.end() if start else cue.end(), cls)


def _before(text: str, cue: Match) -> Span | None:
    """Return where the name stands that does what a verb says."""
    found = re.compile(rf"(?:{VALUES['name']})(?=\s+(?:now\s+|has\s+)?\Z)").search(text[: cue.start()])
    return found.span() if found and _is_value(found[0], "name") else None


def _near(text: str, cue: Match, cls: str, *, anywhere: bool) -> Span | None:
    """Return where the one value of a class is that a cue tells; None where it may be one of several."""
    found = [it for it in _typed(text, cls) if it.end() <= cue.start() or it.start() >= cue.end()]
    if len({compared(it[0], cls) for it in found}) != 1:
        return None
    first = found[0]
    if cue.end() <= first.start() and _DOES.match(text, first.end()) and not text[cue.end() : first.start()].strip():
        return None  # It says which of them does something, as "version 2 is due".
    is_near = 0 <= first.start() - cue.end() <= MOST_APART or 0 <= cue.start() - first.end() <= 1
    return first.span() if anywhere or is_near else None


def _whole(text: str, start: int, cls: str) -> Span | None:
    """Return where a value of a free class is that begins at a place: a name, or the rest of the clause."""
    if cls == "name":
        found = _value("name").match(text, start)
        return found.span() if found and _is_value(found[0], cls) else None
    cut = None if text[start:].lower().startswith(_HOUSES) else _VALUE_ENDS.search(text, start + 1)
    end = cut.start() if cut else len(text)
    value = text[start:end]
    return (start, end) if 0 < len(value.split()) <= MOST_VALUE_WORDS and _is_value(value, cls) else None
