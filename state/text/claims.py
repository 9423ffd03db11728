"""The claims of an English text, clause by clause: the values of slots, their subjects, and ended values.

The tables are in `slots` and `slot_values`. `replacing` decides whether one text replaces another.
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
from memtape.state.text.slots import FRAMES, SLOTS, ValueSlot
from memtape.state.text.terms import ENGLISH, is_common, language_of, terms, worded_terms

MOST_CHARS = 300
"""A longer text has more than one subject."""
MOST_READ = 2_000
"""No value is looked for in a longer text."""
MOST_VALUE_WORDS, MOST_APART = 5, 30
"""Words of a value, and characters between a verb and its value."""
SPEAKER = "<speaker>"
"""The subject of a text that names none but the speaker."""

_I = re.IGNORECASE
_CLAUSE = lazy(
    r"(?<!\b(?:Dr|Mr|Ms|St|Fr|Sr|Jr|Nr|No|vs))(?<!\bMrs)(?<!\bProf)(?<=[\w)'\"”`%])[.!](?=\s|\Z)|;\s|\s[—–]\s|\n"
    r"|,?\s+\b(?:but|which|because|so that|whereas|while|although|though)\b"
    r"|,\s+(?=(?:and|so|it|we|they|he|she|i|who|where)\b)|\sand\s+(?=(?:it|we|they|he|she|i|is|are|has|needs?)\b)",
    _I,
)
_OPENS = lazy(r"(?:for|in|on|at|with|as) \S+(?: \S+)?\Z", _I)
"""An opening that names the subject of the next clause."""
_LABEL = lazy(r"\A[\w ]{3,40}:\s+(?=(?:the|our|my|we|i)\b)", _I)
"""A label of the kind of text that follows."""
_LINK = lazy(
    r"(?:\s+(?:of|for|on|in|at)\s+(?:(?!\b(?:is|are|was|were|to)\b)[^:=;,]){1,50}?)?\s*,?\s*"
    r"(?:\b(?:is|are|will be|becomes?|became|remains|has become|(?:was |is |has been )?(?:changed|set|switched"
    r"|renamed)(?: from [^,;]{1,30}?)?(?= to\b))\b|[:=→]|->)\s*(?:(?:now|still|currently|back|set|at|to|called)\b\s*)*"
    r"(?:the\s+|an?\s+)?|\s+(?=(?-i:[A-Z\d])[\w-]*\W*\Z)",
    _I,
)
"""The words between a noun and its value; "room Nordsee" has none."""
_AS = lazy(r"\b(?:uses?|run|have|chose|picked|adopted|take|made)\s+(?P<value>[^,;:]{2,40}?)\s+(?:as|for)\s+"
           r"(?:(?:the|our|my|his|her|its|an?)\s+)?(?:[\w-]+\s+){0,2}\Z", _I)  # fmt: skip
_INVERSE = lazy(
    r"^(?:.{0,60},\s+)?(?P<value>[A-Z\d`'\"][^,;:]{0,40}?)\s+(?:is|acts as|serves as|has become|became|becomes"
    r"|will be|took over as|takes over as)\s+(?:now\s+)?(?:(?:the|our|my|his|her|their|its|[A-Z][\w-]*['’]s)\s+)?"
    r"(?:new\s+)?(?:[\w-]+\s+){0,2}\Z"
)
_DEFINITE = lazy(r"^(?:The|Our|My)\s+(?P<of>[\w'’ -]{3,50}?)\s+(?:is|will be)\s+(?:now\s+)?(?P<value>.+)\Z")
_FRAME = lazy(
    rf"\b(?P<verb>[a-z]+)\s+(?:(?:now|only|directly|over|up|out|it|them|[A-Z]\w+)\s+)?"
    rf"(?P<by>{'|'.join(by for _, by in FRAMES.values())})\s+(?P<the>(?:the|an?|our|my)\s+)?(?P<value>.+)\Z",
    _I,
)
_VALUE_ENDS = lazy(r"\s*(?:[(,;]|\s-\s)|\s+(?:since|as of|from|for|these days|now|nowadays|instead|as|to)\b")
_SETTING = lazy(
    r"(?<![\w./-])(?P<of>--?[a-z]+(?:-[a-z]+)+|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*)['\"`]?\s*(?:[:=]|is|is set to|now|to)\s*"
    r"(?P<value>-?\d[\w.,%]*|true|false|on|off|yes|no|enabled|disabled)(?=['\"`]?(?:[\s.,;)]|\Z))"
)
_PLAIN = lazy(r"\b(?:is|are|the|my|our|now)\b", _I)
_SPEAKS = lazy(r"\b(?:i|me|my|mine|we|us|our|the user|user's)\b|\b(?:i|we)'", _I)
_FORMER = lazy(r"\b(from|instead of|rather than|not|was|were)\s+(?:the\s+)?\Z", _I)
_MOVED_FROM = lazy(r"\b(?:from|instead of|rather than|not)\s+\S+(?:\s+\S+)?(?=\s+to\b|\s*[,.]|\s*\Z)", _I)
_LEADS = lazy(r"\b(?:to|in|on|from|with|via|through|at|by|is|are|uses?|using|called|under|be|and)\s+(?:the\s+)?\Z", _I)
_CHANGE = lazy(
    r"\b(?:since|as of|after|because of) (?:the |last |this )?\w+|,\s+not\b.*\Z"
    rf"|{words.CHANGED}|\b(?:this|next|last) (?:week|month|year)"
    r"|\b(?:a|an|per) (?:month|year|week|day|minute|second|hour)\b"
    r"|\b(?:after all|at last|at the latest|for good|for sure|of course|as (?:agreed|planned|usual)|ad interim)\b"
    r"|\b(?:monday|tuesday|wednesday|thursday|friday)(?= the\b)",
    _I,
)
"""Words for a start or a certainty, without the subject."""
_STOPS = "with|by|to|for|in|on|at|as|since|because|from|last|this|these|now|we|i|they|it"
_NAMED_GONE = rf"(?P<old>(?:(?!\s(?:{_STOPS})\b)[^,;:.(]){{1,50}})"
_GONE = tuple(
    lazy(pattern, _I)
    for pattern in (
        rf"{words.MOVED}\s+(?:[\w' -]{{0,30}}?\s)?from\s+(?P<old>[^,;]{{1,40}}?)\s+to\s+(?P<new>[^,;.]{{1,40}})",
        rf"(?:(?P<new>\S+(?: \S+)?)\s+)?\b(?:instead of|rather than|in place of)\s+{_NAMED_GONE}",
        rf"\b(?:dropped|ditched|retired|removed|got rid of|sold|abandoned|scrapped|cancelled"
        rf"|forget(?: about)?|replac(?:ed|es)|quit|left|moved (?:off|away from|out of)"
        rf"|(?:stopped|no longer|don't|do not) (?:us(?:e|ing)|driv(?:e|ing)|work(?:ing)? (?:at|for)"
        rf"|liv(?:e|ing) in))\s+{_NAMED_GONE}",
        r"(?:\A|,\s+)(?P<old>[^,;:]{1,40}?)\s+(?:(?:is|are|was|has|have|got|gets|been|both|now)\s+)+(?:gone|history"
        r"|dropped|replaced|retired|discontinued|sold|shut down|taken out|removed)\b"
        r"|\A(?P<left>[^,;:]{1,40}?)\s+(?:retired|resigned|stepped down)",
        r"\b(?P<old>[A-Z][\w.-]*)'s (?:place|job|role|successor|replacement)\b",
    )
)
"""Patterns that name an ended value."""
_ARTICLES = lazy(r"\A(?:(?:the|our|my|his|her|its|an?|old)\s+)+", _I)
_DIGITS = frozenset("port version release money percent size phone".split())
_TYPES = tuple("clock weekday money percent duration frequency size version email url date port name".split())
_KINDS = tuple("clock frequency weekday money percent duration size date email url".split())
_WHENS = {"date": "clock", "clock": "date", "weekday": "clock"}
"""The day and the clock of an event are two values."""
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORDS = {word: str(n) for n, word in enumerate(_NUMBERS.split())} | {"a": "1", "an": "1", "fifteen": "15"}
_UNITS = {"ms": "ms", "millis": "ms", "mi": "min", "mo": "month", "s": "s", "h": "h", "d": "d", "w": "w", "y": "y"}
_PARTS = lazy(r"\d[\d.,:]*|[^\W\d_]+")
_JOINERS = frozenset("the and at on in our my of".split())
_NO_VALUES = frozenset(
    "not no still always never often usually sometimes very too so quite really more less better worse that what how"
    " why where when whether because if being good bad great fine nice important useful used required needed optional"
    " wrong right correct same different only just one of all both many some any here there".split()
)
_FLAGS = {name: lazy(pattern, _I) for name, pattern in (
    ("denies", words.DENIES), ("past", words.PAST), ("changed", words.CHANGED),
    ("supposes", words.SUPPOSES), ("adds", words.ADDS))}  # fmt: skip

Match = re.Match[str]
Span = tuple[int, int]


class Claim(NamedTuple):
    """A slot of a subject, by its terms, has a value; `value` is as said, `tokens` are its compared form."""

    slot: str
    cls: str
    value: str
    tokens: tuple[str, ...]
    subject: frozenset[str]


class Gone(NamedTuple):
    """A value ended by a clause, the new value, whether a person moved, and the clause's other terms."""

    old: str
    new: str
    moved: bool
    about: frozenset[str]


class Clause(NamedTuple):
    """A clause: its claims by slot and by frame, its subject terms, and its statements about change."""

    text: str
    claims: tuple[Claim, ...]
    framed: tuple[Claim, ...]
    about: frozenset[str]
    gone: tuple[Gone, ...]
    denies: bool
    past: bool
    changed: bool


class ClauseReading(NamedTuple):
    """The clauses of a text, and whether the text only supposes, or adds to other texts."""

    clauses: tuple[Clause, ...]
    supposes: bool
    adds: bool


@lru_cache(maxsize=8_192)
def reading(text: str) -> ClauseReading:
    """Return the claims of a text; none if it is too long, or not in English."""
    if len(text) > MOST_CHARS or not _is_english(text):
        return ClauseReading((), True, True)
    text = _LABEL.sub("", " ".join(text.replace("\u2019", "'").split()))
    pieces = [piece.strip(" ,*_-.!") for piece in _CLAUSE.split(text)]
    if len(pieces) > 1 and _OPENS.match(pieces[0]):
        pieces[:2] = [f"{pieces[0]}, {pieces[1]}"]
    return ClauseReading(
        tuple(_clause(piece) for piece in pieces if piece),
        *(_FLAGS[name].search(text) is not None for name in ("supposes", "adds")),
    )


def _is_english(text: str) -> bool:
    """Return whether a text is English, or so short that another language was guessed from a name."""
    return language_of(text) == ENGLISH or (
        text.isascii() and re.search(r"\b(?:is|are|the|my|our|now)\b", text, _I) is not None
    )


def _clause(text: str) -> Clause:
    said = re.sub(r",\s+not\b.*", "", text)
    flags = (_FLAGS[name].search(said) is not None for name in ("denies", "past", "changed"))
    claims = tuple(dict.fromkeys(_claims(text)))
    return Clause(text, claims, tuple(_framed(text)), subject_of(text), tuple(_gone(text)), *flags)


@lru_cache(maxsize=512)
def subject_of(text: str) -> frozenset[str]:
    """Return the terms of a text's subject."""
    told = ((word, words.SYNONYMS.get(term, term)) for word, term in worded_terms(_CHANGE.sub(" ", text), ENGLISH))
    return frozenset(
        term
        for word, term in told
        if term not in words.SAYS_NOTHING and word not in SEARCH_STOP and word not in words.NO_NAMES
    )


def plain(text: str) -> str:
    """Return a value without an article before it."""
    return _ARTICLES.sub("", text.strip(" .,!'\"`"))


# --- Values ---


@cache
def pattern_of(cls: str) -> re.Pattern[str]:
    """Return the expression that finds values of a class."""
    return re.compile(VALUES[cls], 0 if cls in ("name", "title", "release") else _I)


@lru_cache(maxsize=1_024)
def _typed(text: str, cls: str) -> tuple[Match, ...]:
    """Return the matches of a class's values in a text; of several, only the values after a change."""
    if cls in _DIGITS and not re.search(r"\d", text):
        return ()
    found = tuple(pattern_of(cls).finditer(text))
    return tuple(it for it in found if not _FORMER.search(text, 0, it.start())) or found


def kind_of(value: str) -> str:
    """Return the class of a value by its looks, `free` of words and names."""
    bare = plain(value).lower()
    if bare in words.TONGUES or bare in words.LANGUAGES:
        return "tongue" if bare in words.TONGUES else "language"
    found = next((cls for cls in _KINDS if pattern_of(cls).search(value)), "free")
    return "number" if found == "free" and any(map(str.isdigit, value)) else found


def compared(value: str, cls: str) -> tuple[str, ...]:
    """Return the normal form of a value, equal for all its spellings."""
    low = value.lower().strip()
    if cls == "clock" and low[:1].isdigit():
        hour, minute = (*re.findall(r"\d+", low), "0")[:2]
        return f"{int(hour) + 12 * ('p' in low and hour != '12')}h", f"{int(minute)}m"
    parts = [_NUMBER_WORDS.get(part, part) for part in _PARTS.findall(low.rpartition(":")[2] if cls == "port" else low)]
    if cls == "duration":
        parts = [next((unit for start, unit in _UNITS.items() if part.startswith(start)), part) for part in parts]
    elif cls in ("number", "money"):
        parts = [part.replace(",", "") for part in parts if cls == "number" or part[0].isdigit()]
        parts += ["k"] if cls == "money" and re.search(r"\d\s?k\b", low) else []
    elif cls == "date":
        parts = [part[:3] if part.isalpha() else part for part in parts if part not in ("st", "nd", "rd", "th", "of")]
    elif cls in ("weekday", "when"):
        parts = [part.removesuffix("s") for part in parts]
    if cls in ("duration", "size", "when"):
        return ("".join(parts),)  # Two hours and two days share a number, and are not one value.
    return tuple(part for part in parts if cls == "state" or part not in _JOINERS)


def differ(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Return whether two values are not one: neither says no more than a part of the other."""
    return bool(a and b) and not (set(a) <= set(b) or set(b) <= set(a))


def _is_value(value: str, cls: str) -> bool:
    first = value.split()[0].lower().strip("'\"`,") if value.split() else ""
    if cls in ("name", "title"):
        is_name = first not in words.NO_NAMES and not value.endswith("'s")
        return is_name and (not is_common(first) or len(value.split()) > 1)
    is_done = re.match(r"[a-z]+ed\b|(?:built|kept|made|held|sold|run)\b", value) is not None
    return any(map(str.isalnum, value)) and first not in _NO_VALUES and not is_done


@lru_cache(maxsize=2_048)
def singles_of(text: str) -> tuple[Claim, ...]:
    """Return the values of a clause that are the only one of their class; the other terms are the subject."""
    found = list[Claim]()
    for cls in _TYPES if len(text) <= MOST_READ else ():
        held = [it for it in _typed(text, cls) if cls != "name" or _LEADS.search(text, 0, it.start())]
        if len(held) == 1:
            rest = f"{text[: held[0].start()]} {text[held[0].end() :]}"
            rest = pattern_of(_WHENS[cls]).sub(" ", rest) if cls in _WHENS else rest
            found.append(_claim("", cls, held[0][0], _MOVED_FROM.sub(" ", rest)))
    return tuple(found)


def _claim(slot: str, cls: str, value: str, rest: str) -> Claim:
    value = value.strip(" '\"`")
    return Claim(slot, cls, value, compared(value, cls), subject_of(rest))


# --- Claims ---


@cache
def _cues() -> tuple[tuple[ValueSlot, str, re.Pattern[str]], ...]:
    """Return for each slot the patterns of its nouns, its verbs, and the verbs behind its value."""
    given = ((slot, role, getattr(slot, role)) for slot in SLOTS for role in ("nouns", "verbs", "owners"))
    return tuple(
        (slot, role, lazy(rf"(?:(?<![\w-])|(?=:))(?:{cue}){'s?' if role == 'nouns' else ''}(?![\w-])", _I))
        for slot, role, cue in given
        if cue
    )


def _claims(text: str) -> Iterator[Claim]:
    """Yield the claims of a clause about slots, settings, and things named by a definite noun."""
    for slot, role, pattern in _cues():
        classes = [cls for cls in slot.values if cls in FREE or _typed(text, cls)]
        for cue in pattern.finditer(text) if classes else ():
            key = cue[0].lower().removesuffix("s").replace("colour", "color")
            name = f"{slot.name} {key}" if slot.keyed and role == "nouns" else slot.name
            for cls in classes:
                span = {"nouns": _of_noun, "verbs": _behind, "owners": _before}[role](text, cue, cls)
                made = None if span is None else _made(text, name, cls, cue, span, is_noun=role == "nouns")
                if made is not None and (not slot.numbered or re.search(r"\d", " ".join(sorted(made.subject)))):
                    yield made
    found = _SETTING.search(text)
    if found is not None:
        rest = f"{text[: found.start('value')]} {text[found.end('value') :]}"
        yield _claim("setting", "any", found["value"], rest)
    found = _DEFINITE.search(text)
    span = None if found is None else _whole(text, found.start("value"), "name")
    if found is not None and span is not None and span[1] == len(text) and len(subject_of(found["of"])) > 1:
        yield _claim("is", "name", text[slice(*span)], found["of"])


def _made(text: str, slot: str, cls: str, cue: Match, span: Span, *, is_noun: bool) -> Claim | None:
    """Return the claim of a cue and the span of its value; None without a subject."""
    gap = next((cue.span(n) for n in range(1, cue.re.groups + 1) if cue[n]), (0, 0))
    rest = "".join(
        " " if (cue.start() <= n < cue.end() and not gap[0] <= n < gap[1]) or span[0] <= n < span[1] else char
        for n, char in enumerate(text)
    )
    if cls in FREE and span[0] >= cue.end():
        rest = rest[: span[1]] + rest[span[1] :].partition(",")[0]
    for row, role, pattern in _cues():
        rest = pattern.sub(" ", rest) if row.name == slot and not row.numbered and role != "owners" else rest
    made = _claim(slot, cls, text[slice(*span)], _MOVED_FROM.sub(" ", rest))
    if made.subject or not (is_noun or _SPEAKS.search(text)):
        return made if made.subject and made.value else None
    return made._replace(subject=frozenset([SPEAKER]))


def _of_noun(text: str, cue: Match, cls: str) -> Span | None:
    """Return the span of a noun's value."""
    if cls not in FREE:
        return _near(text, cue, cls, len(text))
    link = _LINK.match(text, cue.end())
    if link:
        return _whole(text, link.end(), cls)
    found = _AS.search(text[: cue.start()]) or _INVERSE.search(text[: cue.start()])
    return found.span("value") if found is not None and _is_value(found["value"], cls) else None


def _behind(text: str, cue: Match, cls: str) -> Span | None:
    """Return the span of a verb's value."""
    if cls not in FREE:
        return _near(text, cue, cls, MOST_APART)
    start = re.compile(r"\s*(?:now\s+|currently\s+)?(?:the\s+|an?\s+)?").match(text, cue.end())
    return _whole(text, start.end() if start else cue.end(), cls)


def _before(text: str, cue: Match, cls: str) -> Span | None:
    """Return the span of the name that is the subject of a verb."""
    found = re.compile(rf"(?:{VALUES['name']})(?=\s+(?:now\s+|has\s+)?\Z)").search(text[: cue.start()])
    return found.span() if found and _is_value(found[0], cls) else None


def _near(text: str, cue: Match, cls: str, most: int) -> Span | None:
    """Return the span of a cue's value of a class; None if it may be one of several."""
    found = [it for it in _typed(text, cls) if it.end() <= cue.start() or it.start() >= cue.end()]
    if len({compared(it[0], cls) for it in found}) != 1:
        return None
    first = found[0]
    is_near = 0 <= first.start() - cue.end() <= most or 0 <= cue.start() - first.end() <= (
        1 if most < len(text) else most
    )
    return first.span() if is_near else None


def _whole(text: str, start: int, cls: str) -> Span | None:
    """Return where a value of a free class is that begins at a place: a name, or the rest of the clause."""
    if cls != "any":
        found = pattern_of(cls).match(text, start)
        return found.span() if found and _is_value(found[0], cls) else None
    cut = _VALUE_ENDS.search(text, start + 1)
    end = cut.start() if cut else len(text)
    value = text[start:end]
    return (start, end) if 0 < len(value.split()) <= MOST_VALUE_WORDS and _is_value(value, cls) else None


def _framed(text: str) -> Iterator[Claim]:
    """Yield the claim that a clause makes by a verb and a preposition of the table of frames."""
    start = 0
    while (found := _FRAME.search(text, start)) is not None:
        start = found.end("verb")
        verb = "".join(terms(re.sub(r"\Are(?=writ|wrote|buil)", "", found["verb"].lower()), ENGLISH)[:1])
        slot = next((name for name, (_, by) in FRAMES.items() if re.fullmatch(by, found["by"], _I)), "")
        span = _whole(text, found.start("value"), "any")
        verb = "keep" if verb in ("stay", "store") else verb
        if verb in _frame_verbs(slot) and span is not None:
            rest = f"{text[: found.start('verb')]} {text[found.end('verb') : found.start('by')]} {text[span[1] :]}"
            rest = rest.replace(" over ", " ")
            made = _claim(f"{slot} {verb}", "any", text[slice(*span)], rest)
            yield made if made.subject or not _SPEAKS.search(text) else made._replace(subject=frozenset([SPEAKER]))


@cache
def _frame_verbs(slot: str) -> frozenset[str]:
    return frozenset(terms(FRAMES[slot][0], ENGLISH))


def _gone(text: str) -> Iterator[Gone]:
    """Yield the values that a clause names as ended."""
    for pattern in _GONE:
        for found in pattern.finditer(text):
            groups = found.groupdict()
            old, new = groups.get("old") or groups.get("left") or "", groups.get("new") or ""
            if re.search(r"\b(?:never|not|to|if)\s+\Z", text[: found.start()], _I):
                continue
            moved = re.match(
                r"(?:moved|left|relocated|transferred|went|came|quit)\b|.{0,12}\b(?:work|liv)", found[0], _I
            )
            about = subject_of(f"{text[: found.start()].rpartition(', ')[2]} {text[found.end() :].partition(', ')[0]}")
            for name in re.split(r"\s+(?:and|or)\s+", old):
                if 0 < len(name.split()) <= MOST_VALUE_WORDS:
                    yield Gone(plain(name), plain(new), moved is not None, about)
