"""Secrets in tables: the values of a column named for passwords, or of a manifest for Secrets.

The tables are those of Markdown and of databases, with bars, and those with commas, semicolons or tabs.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from memtape.schemas.patterns import lazy
from memtape.tools.capture.secrets.assigned import (
    KEY,
    NAME_MARKS,
    PASSWORD,
    is_no_secret,
    key_like,
    password_like,
    stems_of_names,
)
from memtape.tools.capture.secrets.known import FoundSecret
from memtape.tools.capture.secrets.places import Places, compiled, either, marks

_SEPARATORS = "|\t;,"
_LABEL = rf"(?i)(?:(?P<password>(?:{PASSWORD})s?|pws?|pass)|(?:{KEY}|api[\s_-]?tokens?)s?)(?![^\s\"'`*|;,])"
_HEAD = lazy(r"[ \"]?[\w -]{2,40}\"?\r?")
_RULE = lazy(r"[\s|+:=,;-]*")
_MAX_LINE, _MAX_ROWS = 400, 100

_MANIFEST = lazy(r"^(?P<in>[ \t]*)kind:[ \t]*[\"']?Secret\b", re.MULTILINE)
_END = lazy(r"^---", re.MULTILINE)
_DATA = lazy(r"^(?P<in>[ \t]*)data:[ \t]*\n", re.MULTILINE)
_DATUM = lazy(
    r"[ \t]+[\"']?[\w.-]{1,253}[\"']?:[ \t]*(?:[|>]-?\s+)?[\"']?"
    r"(?P<value>[A-Za-z0-9+/]{4,65536}={0,2})[\"']?[ \t]*(?:\n|\Z)"
)
_MAX_MANIFEST = 20_000
_KINDS = marks(("kind:",))
MAY_HEAD = either(NAME_MARKS, _KINDS)
"""One of these is in every table and manifest with secrets."""


def table_secrets(places: Places) -> Iterator[FoundSecret]:
    """Yield the values in columns of passwords and keys, and the data of Secrets. Takes linear time."""
    text = places.text
    if places.may(_KINDS) and "Secret" in text and "data:" in text:
        yield from _manifests(text)
    if "\n" not in text or not any(mark in text for mark in _SEPARATORS):
        return
    read = 0
    for label in places.matches(_LABEL, stems_of_names(places)):
        if label.start() < read:
            continue
        start = max(
            text.rfind("\n", max(0, label.start() - _MAX_LINE), label.start()) + 1, label.start() - _MAX_LINE, 0
        )
        stop = text.find("\n", label.end(), label.end() + _MAX_LINE)
        if stop >= 0:
            read = yield from _column(text, start, stop)


def _column(text: str, start: int, stop: int) -> Generator[FoundSecret, None, int]:
    """Yield the values below each cell of a line that is named for a secret; return where the table was left."""
    head = text[start:stop]
    mark = next((mark for mark in _SEPARATORS if mark in head), None)
    if mark is None:
        return stop
    cells = head.split(mark)
    if mark != "|" and not all(map(_HEAD.fullmatch, cells)):
        return stop
    named = {place: found for place, cell in enumerate(cells) if (found := _named(cell))}
    for _ in range(_MAX_ROWS if named else 0):
        start = stop + 1
        end = text.find("\n", start, start + _MAX_LINE)
        stop = end if end >= 0 else min(len(text), start + _MAX_LINE)
        row = text[start:stop]
        if not _RULE.fullmatch(row):
            values = row.split(mark)
            if len(values) != len(cells):
                return start
            for place, label in named.items():
                before = start + sum(len(value) + 1 for value in values[:place])
                yield from _value(values[place], before, label)
        if end < 0:
            break
    return stop


def _named(cell: str) -> re.Match[str] | None:
    return compiled(_LABEL).fullmatch(cell.strip(" \t\"'`*"))


def _value(cell: str, place: int, label: re.Match[str]) -> Iterator[FoundSecret]:
    value = cell.strip(" \t\r\"'`*")
    start = place + cell.find(value)
    if password_like(value, quoted=True, shouted=False) if label["password"] else key_like(value):
        yield FoundSecret(start, start + len(value), "password" if label["password"] else "assigned-secret")


def _manifests(text: str) -> Iterator[FoundSecret]:
    read = 0
    for manifest in _MANIFEST.finditer(text):
        if manifest.start() < read:
            continue
        first = text.rfind("\n---", max(0, manifest.start() - _MAX_MANIFEST), manifest.start())
        last = _END.search(text, manifest.end(), manifest.end() + _MAX_MANIFEST)
        stop = last.start() if last else min(len(text), manifest.end() + _MAX_MANIFEST)
        read = stop
        for data in _DATA.finditer(text, max(first, manifest.start() - _MAX_MANIFEST, 0), stop):
            place = data.end()
            while (datum := _DATUM.match(text, place, stop)) and len(data["in"]) < len(datum[0]) - len(
                datum[0].lstrip()
            ):
                if not is_no_secret(datum["value"]):
                    yield FoundSecret(*datum.span("value"), "assigned-secret")
                place = datum.end()
