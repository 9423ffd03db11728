"""The slots that hold one value at a time (`slots.txt`), and the patterns of the classes of their values.

English only. No code that reads a text lives here.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from memtape.state.text.lexicon import lines_of

_MONTH = "(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
_LONG_MONTH = "january|february|march|april|june|july|august|september|october|november|december"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_NUMBER = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|sixty|ninety"
_SPAN = r"(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|hours?|hrs?|h|days?|d|weeks?|months?|years?)"
_WORD = r"[A-Z][\w'&.-]*"

VALUES = {
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
    "name": rf"(?-i:(?:(?:Dr|Mr|Mrs|Ms|Prof)\.?\s+)?{_WORD}(?:\s+(?:(?:van|von|de|der|of"
    rf"|la)\s+)*{_WORD}){{0,3}})",
}
"""The pattern of the values of each class; a group in a pattern is the value."""
FREE = ("name", "any")
"""Classes that any words may belong to: their values are where the words of a slot have them, and nowhere else."""


class Slot(NamedTuple):
    """A slot with one value at a time, a row of `slots.txt`: its classes, and its patterns by their role."""

    name: str
    classes: list[str]
    patterns: dict[str, re.Pattern[str]]
    keyed: bool
    numbered: bool


@cache
def slots() -> list[Slot]:
    """Return the slots of the table, in its order."""
    found = list[Slot]()
    for line in lines_of("slots.txt"):
        name, _, rest = line.strip().partition(": ")
        if line.startswith(" "):
            cues = rest.replace("; ", "|")
            plural = "s?" if name == "nouns" and not found[-1].numbered else ""
            found[-1].patterns[name] = re.compile(rf"(?:(?<![\w-])|(?=:))(?:{cues}){plural}(?![\w-])", re.IGNORECASE)
        else:
            classes, _, flag = rest.partition("; ")
            found.append(Slot(name, classes.split(), {}, flag == "keyed", flag == "numbered"))
    return found
