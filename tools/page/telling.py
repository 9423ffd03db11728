"""Values in templates: times, counts, sizes, kinds. The words of a view are in the view."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from memtape.schemas.times import DAY_US, HOUR_US, US_PER_S, format_time
from memtape.schemas.visible import many, one_line, visible
from memtape.tools.ask.naming import LEAST_CHARS, LEAST_NEW_CHARS
from memtape.tools.capture.writing import now_us
from memtape.tools.page.asked import PageQuery

MINUTE_US = 60 * US_PER_S
_STEPS = ((DAY_US, "day"), (HOUR_US, "hour"), (MINUTE_US, "minute"))
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_BYTES = ("B", "kB", "MB", "GB", "TB")


def when(at: int | None) -> Markup:
    """Return a time in words, with the full time as a tooltip."""
    if at is None:
        return Markup("never")
    whole = format_time(at)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(whole, whole, ago(at, now_us()))


def ago(at: int, now: int) -> str:
    """Return how long ago a time is, or how far ahead: `3 hours ago`, `in 2 days`, `just now`."""
    apart = abs(now - at)
    for step, name in _STEPS:
        if apart >= step:
            told = many(apart // step, name)
            return f"{told} ago" if at <= now else f"in {told}"
    return "just now"


def size(count: int) -> str:
    """Return a number of bytes in units of 1,000."""
    value, unit = float(count), 0
    while value >= 1_000 and unit < len(_BYTES) - 1:
        value, unit = value / 1_000, unit + 1
    return f"{value:.0f} {_BYTES[unit]}" if unit == 0 or value >= 100 else f"{value:.1f} {_BYTES[unit]}"


def short(id: str) -> str:
    """Return a distinguishing prefix of an id; ids of version 7 begin with a time and need a longer one."""
    return id[:LEAST_NEW_CHARS] if id[14:15] == "7" else id[:LEAST_CHARS]


def linked(text: str, asked: PageQuery) -> Markup:
    """Return a text with a link on each id."""
    told, at = Markup(), 0
    for found in _ID.finditer(text):
        told += Markup('{}<a class="id" href="{}">{}</a>').format(
            text[at : found.start()], asked.link("/memory", id=found[0]), short(found[0])
        )
        at = found.end()
    return told + text[at:]


def coded(text: str) -> Markup:
    """Return a sentence with the words between backticks as code."""
    parts = text.split("`")
    told = (Markup("<code>{}</code>" if place % 2 else "{}").format(part) for place, part in enumerate(parts))
    return Markup("").join(told)


FILTERS: dict[str, Callable[..., Any]] = {
    "when": when,
    "iso": format_time,
    "size": size,
    "share": "{:.2f}".format,
    "many": many,
    "visible": visible,
    "line": one_line,
    "coded": coded,
    "linked": linked,
    "short": short,
}
"""The functions of templates by name. Texts of memories go through `visible` or `line`, and are escaped."""
