"""Patterns of the values of slots, by class. English only. No code that reads a text lives here."""

from __future__ import annotations

_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"  # noqa: E501
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_NUMBER = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|sixty|ninety"
_COUNT = rf"(?:\d[\d,.]*|{_NUMBER})"
_SPAN = (
    r"(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|hours?|hrs?|h|days?|d|weeks?|wks?|months?|years?|yrs?"
    r"|fortnights?)"
)
_WORD = r"[A-Z][\w'’&.-]*"

VALUES: dict[str, str] = {
    "port": r"(?<![\w.:/-])(?:[\w.-]*[A-Za-z][\w.-]*:|:)?\d{2,5}(?![\w/%-]|[.,]\d|\s*(?:%|percent|euros?|dollars?))",
    "version": r"(?<![\w.])v?\d+(?:\.\d+)+(?:[-.]?(?:rc|beta|alpha|b)\d*)?(?![\w%])"
    r"|(?<=\bversion )\d+(?![\w.]*\w)|(?<=[a-z] )(?:1\d|2\d|[4-9])(?= LTS\b)",
    "release": r"\b(?P<of>[A-Z][a-z]*(?:[ -]?[A-Z][a-z]+)*)[ -]?v?\d+(?:\.\d+)*(?![\w%])",
    "clock": r"(?<![\w.:])(?:\d{1,2}[:.]\d\d(?:\s*[ap]\.?m\b)?|\d{1,2}\s*[ap]\.?m\b"
    r"|(?<=\b(?:at|to) )\d{1,2}(?:\s+o['’]clock)?(?![\w:.,%]|\s*[A-Za-z]{3})"
    r"|(?:half|quarter) past \w+|quarter to \w+|noon|midday|midnight)(?![:\d])",
    "hours": r"\b\d{1,2}(?:[:.]\d\d)?\s*(?:[ap]m)?\s*(?:to|-|–|until"
    r"|till)\s*\d{1,2}(?:[:.]\d\d)?\s*(?:[ap]m)?(?![\w:%-])",
    "weekday": rf"\b{_WEEKDAY}\b(?:\s+(?:and|to)\s+{_WEEKDAY})?",
    "date": rf"\b\d{{4}}-\d\d-\d\d\b|\b(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b(?:,?\s+\d{{4}})?"
    rf"|\b{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?"
    rf"|\b(?:(?:early|mid|late|end of|beginning of|start of)[ -])?(?:january|february|march|april|june|july|august"
    r"|september|october|november|december)\b(?:\s+\d{4})?"
    rf"|\bmay \d{{4}}\b|(?:(?<=\b(?:in|to|by|of) )|(?<=\bfor )|(?<=\buntil ))may\b(?!\s+\d)"
    rf"|\b(?:next\s+|this\s+)?{_WEEKDAY}\b|\bQ[1-4]\b(?:\s+\d{{4}})?"
    rf"|\bthe \d{{1,2}}(?:st|nd|rd|th)\b",
    "money": r"(?:[$€£¥]|\b(?:EUR|USD|GBP|CHF)\s?)\s?\d[\d,.]*(?:\s?[kKmM]\b)?"
    r"|\b\d[\d,.]*\s?(?:[kK]\s?)?(?:[$€£¥]|euros?\b|dollars?\b|pounds?\b|francs?\b|EUR\b|USD\b|GBP\b|CHF\b|cents?\b)",
    "percent": r"\b\d+(?:\.\d+)?\s?(?:%|percent\b|per cent\b)",
    "duration": rf"(?<![\w.])(?:an?[\s-](?=\w{{3}})|{_COUNT}[\s-]?(?:and a half[\s-])?){_SPAN}\b",
    "size": r"(?<![\w.])\d[\d,.]*\s?(?:[kmgt]i?b?|bytes?|rows|lines|px|pixels|points?|chars|characters|requests?"
    r"|rps|qps"
    r"|items?|users?|people|seats?|pages?|words?|megabytes?|gigabytes?|nodes?|replicas?|connections?|kilos?"
    r"|[kmgt]?bps|[kmg]?watts?|[kM]?W|k?Wh|km|m|cm|kg|g|l|litres?|degrees|°C)\b",
    "frequency": rf"\b(?:every\s+(?:other\s+)?(?:\d+\s+|{_COUNT}\s+)?(?:{_SPAN}|{_WEEKDAY}|morning|evening|night"
    rf"|quarter"
    r"|weekday|fortnight)\b|(?:once|twice|(?:\w+) times)\s+(?:a|an|per|every)\s+\w+|daily|weekly|monthly|nightly|hourly"
    r"|yearly|quarterly|biweekly|fortnightly)",
    "when": rf"\b{_WEEKDAY}\b(?:(?:,| at| from)?\s+\d{{1,2}}[:.]?\d*(?:\s*[ap]m)?\b)?"
    rf"|\b\d{{1,2}}:\d\d(?: on {_WEEKDAY})?\b",
    "phone": r"(?<![\w.])\+?\d[\d\s()-]{2,18}\d(?![\w.:])",
    "email": r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "url": r"\b(?:https?://[^\s,;]+|(?:[a-z\d-]+\.)+(?:com|org|net|io|dev|local|internal|app|example|test|de|uk|eu|lan"
    r"|corp|cloud|co|ai)(?:\.[a-z]{2})?\b(?:/[^\s,;]*)?)",
    "slug": r"(?<![\w/])(?:[\w.]+[/-])+[\w.]*\w|`[^`]+`|\b(?:main|master|trunk|develop)\b",
    "number": rf"(?<![\w.:/-])(?:\d[\d,.]*\d|\d+)(?![\w%:/-])|\b(?:{_NUMBER})\b",
    "state": r"\b(?:(?:in (?:review|progress|staging|production|testing|qa)|under (?:review|investigation)|on hold"
    r"|to ?do"
    r"|(?:re)?open(?:ed)?|closed|merged|deployed|done|finished|completed?|blocked|unblocked|pending|approved|rejected"
    r"|accepted|declined|fixed|resolved|unresolved|failing|failed|passing|passed|green|red|released|shipped|cancell?ed"
    r"|active|inactive|paused|stalled|queued|signed|unsigned|paid|unpaid|sent|draft(?:ed)?|published|scheduled"
    r"|confirmed|applied|verified|assigned|reverted|installed|started|ready|rolled back|waiting(?: for \w+)?"
    r"|blocked on \w+|online|offline|down|up|broken|working|enabled|disabled|occupied|vacant|full|empty|archived"
    r"|abandoned"
    r"|in (?:transit|backlog)|delivered|delayed|started|not started|(?:on|off)(?=\s*\Z))(?: and |\b)){1,2}(?<! and )",
    "title": rf"(?:{_WORD}(?:\s+{_WORD}){{0,3}}|[a-z][\w.]*(?:[-_/][\w.]+)+|`[^`]+`|[a-z]{{3,}}(?=\W*\Z))",
    "name": rf"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.?\s+)?{_WORD}(?:\s+(?:(?:van|von|de|der|of|la)\s+)*{_WORD}){{0,3}}",
}
"""The pattern of the values of each class. Values of classes not in `FREE` are recognized by it."""
FREE = ("name", "title", "release", "any")
"""Classes that any words may belong to: their values are where a frame has them, and nowhere else."""
