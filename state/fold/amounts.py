"""Numbers, units, sums, dates and times of English, each in one form, in a row of tokens.

A normalised token begins with `_READ`, which is white space and so in no original token: a room W5 is no
Friday.
"""

from __future__ import annotations

from memtape.schemas.patterns import lazy

_READ = "\x1f"
_INTEGER = lazy(r"\d{1,4}")
_DAY = lazy(r"([1-9]|0[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?")
_ISO_DATE = lazy(r"(\d{4})[-/](\d\d)[-/](\d\d)")
_THOUSANDS = lazy(r"\d{1,3}(?:,\d{3})+")
_CLOCK = lazy(r"(\d\d?):(\d\d)")
_MONEY = lazy(r"([$€£])(\d[\d.,]*)|(\d[\d.,]*)([$€£])")
_GLUED = lazy(r"(\d[\d.,]*)-?([A-Za-z]+)")
_NUMBER = lazy(r"\d[\d.,]*")


def _counted(names: str, first: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(names.split(), first)}


_NUMBERS = _counted(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen twenty",
    2,
) | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_MONTHS = _counted("january february march april may june july august september october november december", 1)
_MONTHS |= _counted("jan feb mar apr may jun jul aug sep oct nov dec", 1) | {"sept": 9}
_DOUBTFUL = frozenset("may march mar jan jun jul sep dec august".split())
"""Months that are words or names too, unless they have their capital."""
_WEEKDAYS = _counted("monday tuesday wednesday thursday friday saturday sunday", 1)
_SHORT_DAYS = {"mon": 1, "tue": 2, "tues": 2, "wed": 3, "thu": 4, "thur": 4, "thurs": 4, "fri": 5, "sat": 6, "sun": 7}
_CURRENCIES = {"dollars": "$", "usd": "$", "euros": "€", "eur": "€", "gbp": "£"}
"""Left out: pounds, which weigh too, and one `dollar`, as in five dollar bills."""
_UNITS = {
    "s": "second", "sec": "second", "secs": "second", "seconds": "second", "min": "minute", "mins": "minute",
    "minutes": "minute", "h": "hour", "hr": "hour", "hrs": "hour", "hours": "hour", "days": "day", "weeks": "week",
    "months": "month", "years": "year", "yrs": "year", "kb": "KB", "mb": "MB", "gb": "GB", "tb": "TB",
    "gigabytes": "GB", "megabytes": "MB", "terabytes": "TB", "terabyte": "TB", "kilobytes": "KB", "milliseconds": "ms",
    "msec": "ms", "percent": "%",
}  # fmt: skip
_GLUED_UNITS = _UNITS.keys() | set("second minute hour day week month year KB MB GB TB KiB MiB GiB TiB ms".split())
_UNITS_OF_TIME = frozenset("second minute hour day night week month quarter year morning evening afternoon".split())
"""What `a` and `per` may stand before: `5 km a week`."""
_BEFORE_DATE = frozenset(
    "on is was by before after until till since to from due ends starts in for between and".split()
)
_AFTER_DATE = frozenset(
    "at by to and or until for from with in on of is was because if when but so as the a we i you he she they our"
    " my every all , . ; : ) ( ? !".split()
)
_TOLD = frozenset(
    (
        *(*_NUMBERS, *_MONTHS, *_WEEKDAYS, *(day + "s" for day in _WEEKDAYS), *_SHORT_DAYS, *_CURRENCIES),
        *(*_UNITS, "one", "twice", "a", "an", "noon", "midnight"),
    )
)
_BEFORE_DAY = frozenset("on by every each until till next last since from to before after this".split())


def with_amounts(tokens: list[str]) -> list[str]:
    """Return tokens with numbers, units, sums, dates and times each in one form."""
    if not any(map(_may_tell, tokens)):
        return tokens
    tokens = _unglued(tokens)
    read: list[str] = []
    index = 0
    while index < len(tokens):
        if not _may_tell(tokens[index]):
            read.append(tokens[index])
            index += 1
            continue
        found = _date_at(tokens, index) or _time_at(tokens, index)
        if found:
            read.append(found[0])
            index = found[1]
        else:
            read += _number(tokens, index)
            index += 1
    return read


def _may_tell(token: str) -> bool:
    """Return whether a token may be part of a number, date or time; the test skips most tokens quickly."""
    return token.lower() in _TOLD if token.isalpha() else True


def is_number(token: str) -> bool:
    """Return whether a token is a number, with or without a sign of money."""
    return token[:1].isdigit() or (token[:1] in "$€£" and token[1:2].isdigit())


def _unglued(tokens: list[str]) -> list[str]:
    """Return tokens with numbers apart from their units, and the units in one form."""
    read: list[str] = []
    for index, token in enumerate(tokens):
        if token[:1].isdigit() and not token[-1].isdigit():
            glued = _GLUED.fullmatch(token)
            unit = glued[2] if glued else ""
            if glued and unit in _GLUED_UNITS and not (unit == "s" and _is_decade(glued[1], read)):
                read += [glued[1], _UNITS.get(unit, unit)]
                continue
        before = tokens[index - 1] if index else ""
        counted = is_number(before) or before in _NUMBERS
        read.append(_UNITS[token] if token in _UNITS and counted else token)
    return read


def _is_decade(number: str, before: list[str]) -> bool:
    """Return whether `90s` are years, as in `the 1990s`, `in the 90s` and `her early 30s`."""
    if number[-1] != "0" or not before:
        return False
    in_the = before[-1] == "the" and (len(number) == 4 or before[-2:-1] in (["in"], ["of"], ["since"], ["from"]))
    return in_the or before[-1] in ("in", "his", "her", "their", "my", "our", "early", "late", "mid")


def _number(tokens: list[str], index: int) -> tuple[str, ...]:
    token = tokens[index]
    lower = token.lower()
    before = tokens[index - 1] if index else ""
    after = tokens[index + 1].lower() if index + 1 < len(tokens) else ""
    if token in _NUMBERS and before and before not in ("called", "named"):
        return (str(_NUMBERS[token]),)
    if token == "one" and after in _UNITS_OF_TIME:
        return ("1",)
    if token == "twice" and before:
        return ("2", "times")
    if token in ("a", "an") and after in _UNITS_OF_TIME and index and _is_amount(tokens[max(0, index - 2) : index]):
        return ("per",)
    if token in ("noon", "midnight"):
        return (f"{_READ}T{12 if token == 'noon' else 0:02}:00",)
    if (
        token[-1:].isdigit()
        and before not in ("port", "ports", "pages", "lines", "rooms")
        and _THOUSANDS.fullmatch(token)
    ):
        return (token.replace(",", ""),)
    if lower in _WEEKDAYS:
        return (f"{_READ}W{_WEEKDAYS[lower]}",)
    if lower[-1:] == "s" and lower[:-1] in _WEEKDAYS:
        return (f"{_READ}W{_WEEKDAYS[lower[:-1]]}s",)
    if lower in _SHORT_DAYS and token[0] != lower[0] and before in _BEFORE_DAY:
        return (f"{_READ}W{_SHORT_DAYS[lower]}",)
    if before[-1:].isdigit() and (lower in _CURRENCIES or token.strip() in ("$", "€", "£")):
        return (_CURRENCIES.get(lower, token.strip()),)
    money = _MONEY.fullmatch(token)
    if money:
        amount = money[2] or money[3]
        return amount.replace(",", "") if _THOUSANDS.fullmatch(amount) else amount, money[1] or money[4]
    return (token,)


def _is_amount(before: list[str]) -> bool:
    """Return whether the words end with an amount, so that an article after them starts a unit of time."""
    return any(map(is_number, before)) or before[-1] in ("once", "twice", "times", "$", "€")


def _date_at(tokens: list[str], index: int) -> tuple[str, int] | None:
    """Return the date that starts at a token and its end: a day and a month, or a month and a year."""
    iso = _ISO_DATE.fullmatch(tokens[index])
    if iso:
        return f"{_READ}D{int(iso[1])}-{int(iso[2])}-{int(iso[3])}", index + 1
    found = _day_and_month(tokens, index)
    if not found:
        month = _month(tokens, index)
        if month and _is_year(tokens[index + 1 : index + 2]):
            return f"{_READ}D{tokens[index + 1]}-{month}", index + 2
        return None
    day, month, at = found
    if tokens[at : at + 1] == [","] and _is_year(tokens[at + 1 : at + 2]):
        at += 1
    year = tokens[at] if _is_year(tokens[at : at + 1]) else ""
    at += bool(year)
    # `We gave June 5 apples` has no date; a day before its month is one wherever it stands.
    if (
        not year
        and tokens[index + 1].isdigit()
        and _month(tokens, index)
        and at < len(tokens)
        and tokens[at] not in _AFTER_DATE
    ):
        return None
    return f"{_READ}D{year}-{month}-{day}", at


def _day_and_month(tokens: list[str], index: int) -> tuple[int, int, int] | None:
    """Return the day and the month at a token, in either order, and where they end."""
    month = _month(tokens, index)
    if month:
        day = _DAY.fullmatch(tokens[index + 1]) if index + 1 < len(tokens) else None
        return (int(day[1]), month, index + 2) if day else None
    day = _DAY.fullmatch(tokens[index])
    if not day:
        return None
    at = index + 1
    while tokens[at : at + 1] and tokens[at] in (".", "of"):
        at += 1
    month = _month(tokens, at) if at < len(tokens) else 0
    return (int(day[1]), month, at + 1) if month else None


def _month(tokens: list[str], index: int) -> int:
    """Return the month named by a token, 0 for none.

    A month that is also a word needs a capital, or a date around it.
    """
    lower = tokens[index].lower()
    month = _MONTHS.get(lower, 0)
    if not month or lower not in _DOUBTFUL or tokens[index] != lower:
        return month
    at = index - 1
    while at >= 0 and (_DAY.fullmatch(tokens[at]) or tokens[at] == "of"):
        at -= 1
    return month if at >= 0 and tokens[at] in _BEFORE_DATE else 0


def _is_year(tokens: list[str]) -> bool:
    return len(tokens) == 1 and len(tokens[0]) == 4 and tokens[0].isdigit() and tokens[0][:2] in ("19", "20")


def _time_at(tokens: list[str], index: int) -> tuple[str, int] | None:
    """Return the time of day at a token and its end; `9:00` alone is no time: it may be in the evening."""
    token = tokens[index]
    if not token[0].isdigit():
        return None
    clock = _CLOCK.fullmatch(token)
    if not clock and not (_INTEGER.fullmatch(token) and index + 1 < len(tokens)):
        return None
    hour, minute = (int(clock[1]), int(clock[2])) if clock else (int(token), 0)
    after = tokens[index + 1].lower() if index + 1 < len(tokens) else ""
    if after in ("am", "pm") and 1 <= hour <= 12:
        return f"{_READ}T{hour % 12 + 12 * (after == 'pm'):02}:{minute:02}", index + 2
    if clock and (hour > 12 or clock[1][0] == "0") and hour < 24:
        return f"{_READ}T{hour:02}:{minute:02}", index + 1
    return None
