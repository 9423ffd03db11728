"""The claims of an English text, clause by clause: the values of slots, their subjects, and the ended values.

The slots, with one value at a time, are in `slots.txt`, patterns in `cues.txt`, and words in `words.txt`.
`replacements` decides whether one text replaces another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import SEARCH_STOP, cues, lines_of, word_list, word_pairs
from memtape.state.text.reading import Reading, kept
from memtape.state.text.terms import ENGLISH, is_common, worded_terms

MOST_CHARS, MOST_READ = 300, 2_000
"""A longer text has more than one subject; no value is looked for in a text above the second length."""
MOST_VALUE_WORDS = 5
SPEAKER = "<speaker>"  # The subject of a text that names none but the speaker.
GENERIC = word_list("generic")  # Stems for the kind of a thing, not for a single thing.
SAYS_NOTHING = word_list("says nothing")  # Stems without meaning for a text's subject.
_SYNONYMS = word_pairs("stems used for one another")
_NO_NAMES = word_list("no names")
_NO_VALUES = word_list("no values")
_NO_TERMS = SEARCH_STOP | _NO_NAMES

_I = re.IGNORECASE
_CUES = cues("claims")
SPEAKS = lazy(r"\b(?:i|me|my|mine|we|us|our|the user|user's)\b|\b(?:i|we)'", _I)
_ENDED = (
    *(_CUES.ended_by_move, _CUES.ended_for_new, _CUES.ended_by_new, _CUES.ended_by_deed),
    *(_CUES.ended_by_leaving, _CUES.is_gone),
)
"""Patterns that name an ended value."""

_FLAGS = (_CUES.denies, _CUES.past, _CUES.is_changed)
_KINDS = "clock frequency money percent duration size date email url".split()
SINGLE = tuple("clock money percent duration frequency size version email url date port name".split())
"""Classes of which a text may have a single value."""
_OF_DAYS = ("st", "nd", "rd", "th", "of")
_WHENS = {"date": "clock", "clock": "date"}  # The day and the clock of an event are two values.
_NUMBERS, _UNITS = map(word_pairs, ("numbers of a value", "beginnings of units"))

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


@kept
def clauses_of(reading: Reading) -> ClauseReading:
    """Return the claims of a text; none if it is too long, or not in English."""
    text = reading.text
    # A language may be guessed from a name in a short text.
    is_plain = text.isascii() and re.search(r"\b(?:is|are|the|my|our|now)\b", text, _I) is not None
    if len(text) > MOST_CHARS or not (is_plain or reading.language == ENGLISH):
        return ClauseReading((), True)
    text = _CUES.label.sub("", " ".join(text.replace("\u2019", "'").split()))
    pieces = [piece.strip(" ,*_-.!") for piece in _CUES.clause.split(text)]
    if len(pieces) > 1 and _CUES.opens.match(pieces[0]):
        pieces[:2] = [f"{pieces[0]}, {pieces[1]}"]
    supposes = _CUES.supposes.search(text) is not None
    return ClauseReading(tuple(map(_clause, filter(None, pieces))), supposes)


def _clause(text: str) -> Clause:
    said = re.sub(r",\s+not\b.*", "", text)
    denies, past, changed = (flag.search(said) is not None for flag in _FLAGS)
    claims = tuple(dict.fromkeys(_claims(text)))
    return Clause(text, claims, subject_of(text), tuple(_ended(text)), denies, past, changed)


@lru_cache(maxsize=512)
def subject_of(text: str) -> frozenset[str]:
    """Return the terms of a text's subject."""
    said = worded_terms(_CUES.change.sub(" ", text), ENGLISH)
    told = (_SYNONYMS.get(term, term) for word, term in said if word not in _NO_TERMS)
    return frozenset(told) - SAYS_NOTHING


VALUES: dict[str, re.Pattern[str]] = vars(cues("values"))
"""The pattern of the values of each class; a group in a pattern is the value."""
FREE = ("name", "any")
"""Classes that any words may belong to: their values are only where the words of a slot have them."""


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


SLOTS = _slots()  # The slots of the table, in its order.


@lru_cache(maxsize=1_024)
def spans_of(text: str, cls: str) -> tuple[Span, ...]:
    """Return where values of a class are in a text; of several, only the values after a change."""
    found = tuple(it.span(it.lastindex or 0) for it in VALUES[cls].finditer(text))
    if len(found) < 2:
        return found
    return tuple(span for span in found if not _CUES.former.search(text, 0, span[0])) or found


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
        parts = [next((_UNITS[start] for start in _UNITS if part.startswith(start)), part) for part in parts]
    elif cls in ("number", "money"):
        parts = [part.replace(",", "") for part in parts if cls == "number" or part[0].isdigit()]
        parts += ["k"] if cls == "money" and re.search(r"\d\s?k\b", low) else []
    elif cls == "date":
        parts = [part[:3] if part.isalpha() else part for part in parts if part not in _OF_DAYS]
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
        is_name = VALUES[cls].fullmatch(value) is not None and not value.endswith("'s")
        return is_name and first not in _NO_NAMES and (not is_common(first) or len(value.split()) > 1)
    is_done = re.match(r"[a-z]+ed\b|(?:built|kept|made|held|sold|run)\b", value) is not None
    return any(map(str.isalnum, value)) and first not in _NO_VALUES and not is_done


@lru_cache(maxsize=2_048)
def singles_of(text: str) -> tuple[Claim, ...]:
    """Return the values of a clause that are the only one of their class; the other terms are the subject."""
    found = list[Claim]()
    for cls in SINGLE if len(text) <= MOST_READ else ():
        held = [it for it in spans_of(text, cls) if cls != "name" or _CUES.leads.search(text, 0, it[0])]
        if len(held) == 1:
            rest = f"{text[: held[0][0]]} {text[held[0][1] :]}"
            found.append(_claim("", cls, text[slice(*held[0])], rest))
    return tuple(found)


def _claim(slot: str, cls: str, value: str, rest: str) -> Claim:
    value = value.strip(" '\"`")
    rest = VALUES[_WHENS[cls]].sub(" ", rest) if cls in _WHENS and not slot else rest
    return Claim(slot, cls, value, compared(value, cls), subject_of(rest))


def _claims(text: str) -> Iterator[Claim]:
    """Yield the claims of a clause about slots and settings."""
    for slot in SLOTS:
        classes = [cls for cls in slot.classes if cls in FREE or spans_of(text, cls)]
        for role, pattern in slot.patterns.items() if classes else ():
            for cue in pattern.finditer(text):
                for cls in classes:
                    span = _span(text, cue, role, cls)
                    if span is not None and (made := _made(text, slot, cue, cls, span, role == "nouns")):
                        yield made
    found = _CUES.setting.search(text)
    if found is not None:
        start, end = found.span("value")
        yield _claim("setting", "any", found["value"], f"{text[:start]} {text[end:]}")


def _made(text: str, slot: ValueSlot, cue: re.Match[str], cls: str, at: Span, is_noun: bool) -> Claim | None:
    """Return the claim of a cue and the span of its value; None without a subject."""
    first, second = sorted((at, cue.span()))
    behind = text[second[1] :].partition(",")[0] if cls in FREE and second == at else text[second[1] :]
    rest = f"{text[: first[0]]} {text[first[1] : second[0]]} {behind}"
    if cls in _WHENS and _WHENS[cls] in slot.classes:
        rest = VALUES[_WHENS[cls]].sub(" ", rest)
    for pattern in () if slot.keyed else slot.patterns.values():
        rest = pattern.sub(" ", rest)
    key = cue[0].lower().removesuffix("s").replace("colour", "color")
    name = f"{slot.name} {key}" if slot.keyed and is_noun else slot.name
    made = _claim(name, cls, text[slice(*at)], rest)
    if slot.numbered:
        return made if any(map(str.isdigit, "".join(sorted(made.subject)))) else None
    if made.subject or not (is_noun or SPEAKS.search(text)):
        return made if made.subject and made.value else None
    return made._replace(subject=frozenset([SPEAKER]))


def _span(text: str, cue: re.Match[str], role: str, cls: str) -> Span | None:
    """Return where the value of a cue is; None where it may be one of several."""
    if cls not in FREE:
        found = [it for it in spans_of(text, cls) if it[1] <= cue.start() or it[0] >= cue.end()]
        found = [it for it in found if not _is_named_by(text, it)]
        return found[0] if len({compared(text[slice(*it)], cls) for it in found}) == 1 else None
    if role == "owners":
        behind = VALUES["owner"].search(text[: cue.start()])
        return behind.span() if behind and is_value(behind[0], cls) else None
    link = _CUES.link.match(text, cue.end()) if role == "nouns" else cue
    if link is not None:
        return _whole(text, link.end(), cls)
    before = _CUES.before.search(text[: cue.start()])
    if before is None:
        return None
    return before.span("value") if is_value(before["value"], cls) else None


def _is_named_by(text: str, at: Span) -> bool:
    """Return whether a value is in the name of a subject, as May in "the captain for May is Ada"."""
    return _CUES.is_said.match(text, at[1]) is not None and bool(_CUES.for_which.search(text, 0, at[0]))


def _whole(text: str, start: int, cls: str) -> Span | None:
    """Return where a value of a free class is that begins at a place: a name, or the rest of the clause."""
    article = _CUES.article.match(text, start)
    start = start if article is None else article.end()
    if cls == "name":
        found = VALUES[cls].match(text, start)
        return found.span() if found and is_value(found[0], cls) else None
    cut = _CUES.value_ends.search(text, start + 1)
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
            moved = _CUES.moves.match(found[0]) is not None
            for old in re.split(r"\s+(?:and|or)\s+", found["old"]):
                if 0 < len(old.split()) <= MOST_VALUE_WORDS:
                    yield Ended(old, new, moved, about)
