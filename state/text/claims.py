"""The claims of an English text, clause by clause: the values of slots, their subjects, and the ended values.

The slots, with one value at a time, are in `slots.txt`, and lists of words in `words.txt`. `replacing` decides
whether one text replaces another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import SEARCH_STOP, lines_of, word_list, word_pairs
from memtape.state.text.terms import ENGLISH, is_common, language_of, worded_terms

MOST_CHARS, MOST_READ = 300, 2_000
"""A longer text has more than one subject; no value is looked for in a text above the second length."""
MOST_VALUE_WORDS = 5
SPEAKER = "<speaker>"
"""The subject of a text that names none but the speaker."""
GENERIC = word_list("generic")
"""Stems for the kind of a thing, not for a single thing."""
SAYS_NOTHING = word_list("says nothing")
"""Stems without meaning for a text's subject."""
_SYNONYMS = word_pairs("stems used for one another")
_NO_NAMES = word_list("no names")
_NO_VALUES = word_list("no values")

_I = re.IGNORECASE
_CLAUSE = lazy(
    r"(?<!\b(?:Dr|Mr|Ms|St|No|vs))(?<!\bMrs)(?<!\bProf)(?<=[\w)'\"”`%])[.!](?=\s|\Z)|;\s|\s[—–]\s|\n"
    r"|,?\s+\b(?:but|which|because|so that|whereas|while|although|though)\b|,\s+(?=(?:and|so|it|we|they|he"
    r"|she|i|who|where)\b)|\sand\s+(?=(?:it|we|they|he|she|i|is|are|has|needs?)\b)",
    _I,
)
_OPENS = lazy(r"(?:for|in|on|at|with|as) \S+(?: \S+)?\Z", _I)
"""An opening that names the subject of the next clause."""
_LABEL = lazy(r"\A[\w ]{3,40}:\s+(?=(?:the|our|my|we|i)\b)", _I)
"""A label of the kind of text that follows."""
_LINK = lazy(
    r"(?:\s+(?:of|for|on|in|at)\s+(?:(?!\b(?:is|are|was|were|to)\b)[^:=;,]){1,50}?)?\s*,?\s*(?:\b(?:is|are"
    r"|will be|becomes?|became|has become|(?:was |is |has been )?(?:changed|set|switched"
    r"|renamed)(?: from [^,;]{1,30}?)?(?= to\b))\b|[:=→]|->)\s*(?:(?:now|still|currently|back|set|at|in|to"
    r"|called)\b\s*)*|\s+(?=(?-i:[A-Z\d])[\w-]*\W*\Z)",
    _I,
)
"""The words between a noun and its value; "room Nordsee" has none."""
_BEFORE = lazy(
    r"(?P<value>(?-i:(?:[A-Z][\w'.&+#-]*)(?: [A-Z\d][\w'.-]*){0,3}|[a-z][\w.-]+))\s+(?:as|for|is|acts as"
    r"|serves as|has become|became|becomes|will be|took over as)\s+(?:now\s+)?(?:(?:the|our|my|his|her|their"
    r"|its|an?|(?-i:[A-Z])[\w-]*'s)\s+)?(?:[\w-]+\s+){0,2}\Z",
    _I,
)
"""A value before the noun of its slot: "Mira is our treasurer"."""
_ARTICLE = lazy(r"\s*(?:(?:now|currently)\s+)?(?:(?:the|our|my|his|her|its|an?)\s+)*", _I)
_VALUE_ENDS = lazy(r"\s*(?:[(,;]|\s-\s)|\s+(?:since|as of|from|for|these days|now|nowadays|instead|as|to)\b")
_SETTING = lazy(
    r"(?<![\w./-])(?P<of>--?[a-z]+(?:-[a-z]+)+|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*)['\"`]?\s*(?:[:=]|is|is set to|now|to)\s*"
    r"(?P<value>-?\d[\w.,%]*|true|false|on|off|yes|no|enabled|disabled)(?=['\"`]?(?:[\s.,;)]|\Z))"
)
SPEAKS = lazy(r"\b(?:i|me|my|mine|we|us|our|the user|user's)\b|\b(?:i|we)'", _I)
_FORMER = lazy(r"\b(?:from|instead of|rather than|not|was|were)\s+(?:the\s+)?\Z", _I)
_LEADS = lazy(
    r"\b(?:to|in|on|from|with|via|through|at|by|is|are|uses?|using|called|under|be|and)\s+(?:the\s+)?\Z",
    _I,
)
_CHANGED = (
    r"\b(?:now|nowadays|these days|from now on|as of|since|effective|no longer|any ?more|instead|again|back"
    r"|new|meanwhile|moved|switched|changed|migrated|upgraded|downgraded|bumped|raised|lowered|increased"
    r"|decreased|reduced|extended|postponed|pushed|rescheduled|scaled|renamed|rewritten|replaced|went (?:up"
    r"|down)|became|become|another)\b"
)
_CHANGE = lazy(
    r"\b(?:since|as of|after|because of) (?:the |last |this )?\w+|,\s+not\b.*\Z"
    rf"|\b(?:from|instead of|rather than|not)\s+\S+(?:\s+\S+)?(?=\s+to\b|\s*[,.]|\s*\Z)|{_CHANGED}"
    r"|\b(?:this|next|last) (?:week|month|year)|\b(?:a|an|per) (?:month|year|week|day|minute|second|hour)\b"
    r"|\b(?:after all|at last|at the latest|for good|of course|as (?:agreed|planned|usual))\b",
    _I,
)
"""Words for a change, a start or a certainty, without the subject."""
_OLD = r"(?P<old>(?:(?!\s(?:with|by|to|for|in|on|at|as|since|because|from|now|we|i|they|it)\b)[^,;:.(]){1,50})"
_ENDED = tuple(
    lazy(pattern, _I)
    for pattern in (
        r"\b(?:moved|switched|changed|migrated|upgraded|downgraded|renamed|rewritten|converted|went|ported)\b"
        r"\s+(?:[\w' -]{0,30}?\s)?from\s+(?P<old>[^,;]{1,40}?)\s+to\s+(?P<new>[^,;.]{1,40})",
        rf"(?:(?P<new>\S+(?: \S+)?)\s+)?\b(?:instead of|rather than|in place of)\s+{_OLD}",
        rf"(?:(?P<new>[\w.-]+)\s+(?:has\s+|have\s+)?)?\breplac(?:ed|es)\s+{_OLD}",
        rf"\b(?:dropped|ditched|retired|removed|got rid of|sold|abandoned|scrapped|cancelled"
        rf"|forget(?: about)?"
        rf"|quit|left|moved (?:off|away from|out of)|(?:stopped|no longer|don't|do not) \w+)\s+{_OLD}",
        r"(?:\A|(?<=, ))(?P<old>[^,;:]{1,40}?)\s+(?:(?:is|are|was|has|have|been|both|now)\s+)+(?:gone"
        r"|history|dropped|replaced|retired|sold|shut down|removed)\b",
    )
)
"""Patterns that name an ended value."""
_MOVES = lazy(r"(?:moved|left|relocated|went|quit)\b|.{0,12}\b(?:work|liv)", _I)
DENIES = lazy(r"(?<![\w-])(?:not|never|no(?! longer)|none|without|neither|nor|cannot)(?![\w-])|n['’]t\b", _I)
_FLAGS = (
    DENIES,
    lazy(
        r"\b(?:was|were|used to|had|yesterday|last (?:week|month|year|night)|ago|back then|previously"
        r"|once)\b",
        _I,
    ),
    lazy(_CHANGED, _I),
)
_SUPPOSES = lazy(
    r"\?|\b(?:might|(?-i:may)(?! (?:take|use|have|be|go)\b)|could|would|maybe|perhaps|probably|possibly"
    r"|considering|thinking|think|guess|plan(?:ning)? to|want(?:s|ed)? to|if|when|unless|whether|suggest"
    r"|propose[ds]?|proposal|(?-i:let's)|until|e\.g|for example|such as|hope|wish|seems|rumou?r|apparently"
    r"|temporar(?:y|ily)|for the time being|for instance|typically|usually|roughly|approximately|around"
    r"|about \d|estimated?)\b|\b(?:also|too|as well|in addition|additionally|besides|an? (?:second|third"
    r"|extra|additional|other)|extra|either|another(?! (?:extension|delay|change|move|rise|update))"
    r"|alternatively|plus|(?:the|our|my) (?:second|other))\b",
    _I,
)
"""Signs of a supposition, a plan or an example, and of a value beside another: such a text replaces nothing."""
_KINDS = "clock frequency money percent duration size date email url".split()
SINGLE = tuple("clock money percent duration frequency size version email url date port name".split())
"""Classes of which a text may have a single value."""
_WHENS = {"date": "clock", "clock": "date"}
"""The day and the clock of an event are two values."""
_NUMBERS = {word: str(n) for n, word in enumerate("zero one two three four five six seven eight nine ten".split())}
_UNITS = {"ms": "ms", "millis": "ms", "mi": "min", "mo": "month", "s": "s", "h": "h", "d": "d", "w": "w", "y": "y"}

Span = tuple[int, int]


class Claim(NamedTuple):
    """A slot of a subject, by its terms, has a value; `value` is as said, `tokens` are its compared form."""

    slot: str
    cls: str
    value: str
    tokens: tuple[str, ...]
    subject: frozenset[str]


class Ended(NamedTuple):
    """A value ended by a clause, the new value, whether a person moved, and the clause's other terms."""

    old: str
    new: str
    moved: bool
    about: frozenset[str]


class Clause(NamedTuple):
    """A clause with its claims, subject terms, ended values and words of change."""

    text: str
    claims: tuple[Claim, ...]
    about: frozenset[str]
    ended: tuple[Ended, ...]
    denies: bool
    past: bool
    changed: bool


class ClauseReading(NamedTuple):
    """The clauses of a text, and whether the text only supposes, or adds to other texts."""

    clauses: tuple[Clause, ...]
    supposes: bool


@lru_cache(maxsize=8_192)
def reading(text: str) -> ClauseReading:
    """Return the claims of a text; none if it is too long, or not in English."""
    if len(text) > MOST_CHARS or not _is_english(text):
        return ClauseReading((), True)
    text = _LABEL.sub("", " ".join(text.replace("\u2019", "'").split()))
    pieces = [piece.strip(" ,*_-.!") for piece in _CLAUSE.split(text)]
    if len(pieces) > 1 and _OPENS.match(pieces[0]):
        pieces[:2] = [f"{pieces[0]}, {pieces[1]}"]
    return ClauseReading(tuple(_clause(piece) for piece in pieces if piece), _SUPPOSES.search(text) is not None)


def _is_english(text: str) -> bool:
    """Return whether a text is English, or so short that another language was guessed from a name."""
    is_plain = text.isascii() and re.search(r"\b(?:is|are|the|my|our|now)\b", text, _I) is not None
    return is_plain or language_of(text) == ENGLISH


def _clause(text: str) -> Clause:
    said = re.sub(r",\s+not\b.*", "", text)
    denies, past, changed = (flag.search(said) is not None for flag in _FLAGS)
    return Clause(
        text, tuple(dict.fromkeys(_claims(text))), subject_of(text), tuple(_ended(text)), denies, past, changed
    )


@lru_cache(maxsize=512)
def subject_of(text: str) -> frozenset[str]:
    """Return the terms of a text's subject."""
    told = ((word, _SYNONYMS.get(term, term)) for word, term in worded_terms(_CHANGE.sub(" ", text), ENGLISH))
    return frozenset(
        term for word, term in told if not (term in SAYS_NOTHING or word in SEARCH_STOP or word in _NO_NAMES)
    )


# --- Classes of values, and slots ---

_MONTH = "(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
_LONG_MONTH = "january|february|march|april|june|july|august|september|october|november|december"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_NUMBER = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|sixty|ninety"
_SPAN = r"(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|hours?|hrs?|h|days?|d|weeks?|months?|years?)"
_WORD = r"[A-Z][\w'&.-]*"

_NAME = (
    rf"(?-i:(?:(?:Dr|Mr|Mrs|Ms|Prof)\.?\s+)?{_WORD}(?:\s+(?:(?:van|von|de|der|of"
    rf"|la)\s+)*{_WORD}){{0,3}})"
)
VALUES = {
    cls: lazy(pattern, _I)
    for cls, pattern in {
        "port": r"(?<![\w.:/-])(?:[\w.-]*[A-Za-z][\w.-]*:|:)?\d{2,5}(?![\w/%-]|[.,]\d|\s*(?:%|percent|euros?"
        r"|dollars?))",
        "version": r"(?<![\w.])v?\d+(?:\.\d+)+(?:[-.]?(?:rc|beta|alpha|b)\d*)?(?![\w%])"
        r"|(?<=\bversion )\d+(?![\w.]*\w)|\b(?-i:[A-Z])[\w+#]*[ -](v?\d+(?:\.\d+)*)(?![\w%.:])",
        "clock": r"(?<![\w.:])(?:\d{1,2}[:.]\d\d(?:\s*[ap]\.?m\b)?|\d{1,2}\s*[ap]\.?m\b"
        r"|(?<=\b(?:at|to) )\d{1,2}(?![\w:.,%]|\s*[A-Za-z]{3})|noon|midday|midnight)(?![:\d])",
        "date": rf"\b\d{{4}}-\d\d-\d\d\b|\b(?:the\s+)?\d{{1,2}}(?:st|nd|rd"
        rf"|th)?\s+(?:of\s+)?{_MONTH}\b(?:,?\s+\d{{4}})?"
        rf"|\b{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?|\b(?:{_LONG_MONTH})\b(?:\s+\d{{4}})?"
        rf"|(?:(?<=\b(?:in|to) )|(?<=\buntil ))may\b(?!\s+\d)|\b{_WEEKDAY}\b|\bQ[1-4]\b(?:\s+\d{{4}})?"
        r"|\bthe \d{1,2}(?:st|nd|rd|th)\b",
        "money": r"(?:[$€£¥]|\b(?:EUR|USD|GBP|CHF)\s?)\s?\d[\d,.]*(?:\s?[kKmM]\b)?"
        r"|\b\d[\d,.]*\s?(?:[kK]\s?)?(?:[$€£¥]|euros?\b|dollars?\b|pounds?\b|francs?\b|EUR\b|USD\b|GBP\b|CHF\b"
        r"|cents?\b)",
        "percent": r"\b\d+(?:\.\d+)?\s?(?:%|percent\b|per cent\b)",
        "duration": rf"(?<![\w.])(?:an?[\s-](?=\w{{3}})|(?:\d[\d,.]*"
        rf"|{_NUMBER})[\s-]?(?:and a half[\s-])?){_SPAN}\b",
        "size": r"(?<![\w.])\d[\d,.]*\s?(?:[kmgt]i?b?|bytes?|rows|lines|px|pixels|characters|requests?|items?"
        r"|users?|people|pages?|words?|nodes?|replicas?|connections?|kilos?|[kmgt]?bps|watts?|km|m|cm|kg|g|l"
        r"|litres?|degrees)\b",
        "frequency": rf"\b(?:every\s+(?:other\s+)?(?:\w+\s+)?(?:{_SPAN}|{_WEEKDAY}|morning|evening|night"
        rf"|quarter)\b"
        r"|(?:once|twice|(?:\w+) times)\s+(?:a|an|per)\s+\w+|(?:dai|week|month|night|hour|year|quarter)ly)",
        "phone": r"(?<![\w.])\+?\d[\d\s()-]{2,18}\d(?![\w.:])",
        "email": r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
        "url": r"\b(?:https?://[^\s,;]+|(?:[a-z\d-]+\.)+(?:com|org|net|io|dev|local|internal|app|example|test|de"
        r"|uk|eu)\b(?:/[^\s,;]*)?)",
        "slug": r"(?<![\w/])(?:[\w.]+[/-])+[\w.]*\w|`[^`]+`|\b(?:main|master|trunk|develop)\b",
        "number": rf"(?<![\w.:/-])(?:\d[\d,.]*\d|\d+)(?![\w%:/-])|\b(?:{_NUMBER})\b",
        "state": r"\b(?:(?:in (?:review|progress|staging|production|testing)|on hold|to ?do|(?:re)?open(?:ed)?"
        r"|closed|merged|deployed|done|finished|completed?|blocked|pending|approved|rejected|fixed|resolved"
        r"|failing|failed|passing|passed|released|shipped|cancell?ed|active|inactive|paused|paid|unpaid|sent"
        r"|drafted|published|scheduled|confirmed|started|ready|waiting|online|offline|broken|enabled|disabled"
        r"|delivered|delayed)(?: and |\b)){1,2}(?<! and )",
        "name": _NAME,
    }.items()
}
"""The pattern of the values of each class; a group in a pattern is the value."""
FREE = ("name", "any")
"""Classes that any words may belong to: their values are where the words of a slot have them, and nowhere else."""
_OWNER = lazy(rf"(?:{_NAME})(?=\s+(?:now\s+|has\s+)?\Z)")
"""A name before the words for an owner."""


class ValueSlot(NamedTuple):
    """A slot with one value at a time, a row of `slots.txt`: its classes, and its patterns by their role."""

    name: str
    classes: list[str]
    patterns: dict[str, re.Pattern[str]]
    keyed: bool
    numbered: bool


def _slots() -> list[ValueSlot]:
    found = list[ValueSlot]()
    for line in lines_of("slots.txt"):
        name, _, rest = line.strip().partition(": ")
        if line.startswith(" "):
            cues = rest.replace("; ", "|")
            plural = "s?" if name == "nouns" and not found[-1].numbered else ""
            found[-1].patterns[name] = lazy(rf"(?:(?<![\w-])|(?=:))(?:{cues}){plural}(?![\w-])", _I)
        else:
            classes, _, flag = rest.partition("; ")
            found.append(ValueSlot(name, classes.split(), {}, flag == "keyed", flag == "numbered"))
    return found


SLOTS = _slots()
"""The slots of the table, in its order."""


# --- Values ---


@lru_cache(maxsize=1_024)
def spans_of(text: str, cls: str) -> tuple[Span, ...]:
    """Return where values of a class are in a text; of several, only the values after a change."""
    found = tuple(it.span(it.lastindex or 0) for it in VALUES[cls].finditer(text))
    return tuple(span for span in found if not _FORMER.search(text, 0, span[0])) or found


def kind_of(value: str) -> str:
    """Return the class of a value by its looks, `free` of words and names."""
    found = next((cls for cls in _KINDS if VALUES[cls].search(value)), "free")
    return "number" if found == "free" and any(map(str.isdigit, value)) else found


def compared(value: str, cls: str) -> tuple[str, ...]:
    """Return the normal form of a value, equal for all its spellings."""
    low = value.lower().strip()
    if cls == "clock" and low[:1].isdigit():
        hour, minute = (*re.findall(r"\d+", low), "0")[:2]
        return f"{int(hour) + 12 * ('p' in low and hour != '12')}h", f"{int(minute)}m"
    parts = re.findall(r"\d[\d.,:]*|[^\W\d_]+", low.rpartition(":")[2] if cls == "port" else low)
    parts = [_NUMBERS.get(part, part) for part in parts]
    if cls == "duration":
        parts = [next((unit for start, unit in _UNITS.items() if part.startswith(start)), part) for part in parts]
    elif cls in ("number", "money"):
        parts = [part.replace(",", "") for part in parts if cls == "number" or part[0].isdigit()]
        parts += ["k"] if cls == "money" and re.search(r"\d\s?k\b", low) else []
    elif cls == "date":
        parts = [part[:3] if part.isalpha() else part for part in parts if part not in ("st", "nd", "rd", "th", "of")]
    # Two hours and two days share a number, and are not one value.
    parts = ["".join(parts)] if cls in ("duration", "size") else parts
    return tuple(part for part in parts if part not in ("the", "and", "at", "on", "in", "our", "of", "my"))


def differ(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Return whether two values are not one: neither says no more than a part of the other."""
    return bool(a and b) and not (set(a) <= set(b) or set(b) <= set(a))


def is_value(value: str, cls: str) -> bool:
    """Return whether words at the place of a value are a name, or a thing at least."""
    first = value.split()[0].lower().strip("'\"`,") if value.split() else ""
    if cls == "name":
        is_name = first not in _NO_NAMES and not value.endswith("'s") and VALUES[cls].fullmatch(value) is not None
        return is_name and (not is_common(first) or len(value.split()) > 1)
    is_done = re.match(r"[a-z]+ed\b|(?:built|kept|made|held|sold|run)\b", value) is not None
    return any(map(str.isalnum, value)) and first not in _NO_VALUES and not is_done


@lru_cache(maxsize=2_048)
def singles_of(text: str) -> tuple[Claim, ...]:
    """Return the values of a clause that are the only one of their class; the other terms are the subject."""
    found = list[Claim]()
    for cls in SINGLE if len(text) <= MOST_READ else ():
        held = [it for it in spans_of(text, cls) if cls != "name" or _LEADS.search(text, 0, it[0])]
        if len(held) == 1:
            rest = f"{text[: held[0][0]]} {text[held[0][1] :]}"
            found.append(_claim("", cls, text[slice(*held[0])], rest))
    return tuple(found)


def _claim(slot: str, cls: str, value: str, rest: str) -> Claim:
    value = value.strip(" '\"`")
    rest = VALUES[_WHENS[cls]].sub(" ", rest) if cls in _WHENS and not slot else rest
    return Claim(slot, cls, value, compared(value, cls), subject_of(rest))


# --- Claims ---


def _claims(text: str) -> Iterator[Claim]:
    """Yield the claims of a clause about slots and settings."""
    for slot in SLOTS:
        classes = [cls for cls in slot.classes if cls in FREE or spans_of(text, cls)]
        for role, pattern in slot.patterns.items() if classes else ():
            for cue in pattern.finditer(text):
                for cls in classes:
                    span = _span(text, cue, role, cls)
                    made = None if span is None else _made(text, slot, cue, cls, span, is_noun=role == "nouns")
                    if made is not None:
                        yield made
    found = _SETTING.search(text)
    if found is not None:
        yield _claim("setting", "any", found["value"], f"{text[: found.start('value')]} {text[found.end('value') :]}")


def _made(text: str, slot: ValueSlot, cue: re.Match[str], cls: str, span: Span, *, is_noun: bool) -> Claim | None:
    """Return the claim of a cue and the span of its value; None without a subject."""
    first, second = sorted((span, cue.span()))
    behind = text[second[1] :].partition(",")[0] if cls in FREE and second == span else text[second[1] :]
    rest = f"{text[: first[0]]} {text[first[1] : second[0]]} {behind}"
    if cls in _WHENS and _WHENS[cls] in slot.classes:
        rest = VALUES[_WHENS[cls]].sub(" ", rest)
    for pattern in () if slot.keyed else slot.patterns.values():
        rest = pattern.sub(" ", rest)
    key = cue[0].lower().removesuffix("s").replace("colour", "color")
    made = _claim(f"{slot.name} {key}" if slot.keyed and is_noun else slot.name, cls, text[slice(*span)], rest)
    if slot.numbered:
        return made if any(map(str.isdigit, "".join(sorted(made.subject)))) else None
    if made.subject or not (is_noun or SPEAKS.search(text)):
        return made if made.subject and made.value else None
    return made._replace(subject=frozenset([SPEAKER]))


def _span(text: str, cue: re.Match[str], role: str, cls: str) -> Span | None:
    """Return where the value of a cue is; None where it may be one of several."""
    if cls not in FREE:
        found = [it for it in spans_of(text, cls) if it[1] <= cue.start() or it[0] >= cue.end()]
        return found[0] if len({compared(text[slice(*it)], cls) for it in found}) == 1 else None
    if role == "owners":
        behind = _OWNER.search(text[: cue.start()])
        return behind.span() if behind and is_value(behind[0], cls) else None
    link = _LINK.match(text, cue.end()) if role == "nouns" else cue
    if link is not None:
        return _whole(text, link.end(), cls)
    before = _BEFORE.search(text[: cue.start()])
    if before is None:
        return None
    return before.span("value") if is_value(before["value"], cls) else None


def _whole(text: str, start: int, cls: str) -> Span | None:
    """Return where a value of a free class is that begins at a place: a name, or the rest of the clause."""
    article = _ARTICLE.match(text, start)
    start = start if article is None else article.end()
    if cls == "name":
        found = VALUES[cls].match(text, start)
        return found.span() if found and is_value(found[0], cls) else None
    cut = _VALUE_ENDS.search(text, start + 1)
    end = cut.start() if cut else len(text)
    value = text[start:end]
    return (start, end) if 0 < len(value.split()) <= MOST_VALUE_WORDS and is_value(value, cls) else None


def _ended(text: str) -> Iterator[Ended]:
    """Yield the values that a clause names as ended."""
    for pattern in _ENDED:
        for found in pattern.finditer(text):
            if re.search(r"\b(?:never|not|to|if)\s+\Z", text[: found.start()], _I):
                continue
            before, behind = text[: found.start()].rpartition(", ")[2], text[found.end() :].partition(", ")[0]
            new = found.groupdict().get("new") or ""
            about = subject_of(f"{before} {behind}")
            moved = _MOVES.match(found[0]) is not None
            for old in re.split(r"\s+(?:and|or)\s+", found["old"]):
                if 0 < len(old.split()) <= MOST_VALUE_WORDS:
                    yield Ended(old, new, moved, about)
