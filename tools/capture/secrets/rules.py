"""The engine of the rules: reads `rules.toml`, and tries each rule only where one of its keywords stands.

One pass of a library's automaton finds all keywords of all rules. No rule and no exception may stand here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

MAX_LINE_CHARS = 400
AROUND_CHARS = 60, 100
"""How much a rule for a line, and for the near part of a line on both sides, reads at most."""
PIECE_CHARS = 65_536
"""A long text is searched in pieces, since all places found in one stand in memory at once."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_PART = re.compile(r"\{([A-Z]+)\}")


class Rule(msgspec.Struct, frozen=True):
    """A rule as in `rules.toml`."""

    id: str
    regex: str
    keywords: tuple[str, ...] = ()
    where: Literal["at", "line", "around", "anywhere"] = "at"
    begins: str = ""
    like: str = "form"


class FoundSecret(NamedTuple):
    """A secret in a text: from `start` to before `end`, and the kind that its placeholder names."""

    start: int
    end: int
    kind: str


@cache
def _read(name: str) -> dict[str, Any]:
    return msgspec.toml.decode(Path(__file__).with_name(name).read_bytes(), type=dict[str, Any])


@cache
def regex_of(text: str) -> re.Pattern[str]:
    """Return an expression of `rules.toml`, its lines joined and with the `{PARTS}` in their places.

    An expression is compiled when it is first tried: to compile all of them takes longer than a capture.
    """
    while _PART.search(text):
        text = _PART.sub(lambda found: _read("rules.toml")["parts"][found[1]], text)
    return re.compile("".join(text.split("\n")))


@cache
def denied_paths() -> tuple[str, ...]:
    """Return the globs of files that are never captured."""
    return tuple(_read("rules.toml")["denied_paths"].split())


@cache
def look_alikes() -> dict[int, int]:
    """Return a table from look-alike letters to Latin letters."""
    return str.maketrans(*_read("rules.toml")["look_alikes"])


@cache
def excepted(name: str) -> re.Pattern[str]:
    """Return an expression of `exceptions.toml`."""
    return re.compile("".join(_read("exceptions.toml")[name].split("\n")))


@cache
def words_of(name: str) -> frozenset[str]:
    """Return a list of words of `exceptions.toml`."""
    return frozenset(_read("exceptions.toml")["words"][name].split())


@cache
def rules() -> tuple[list[Rule], int, dict[str, list[int]], AhoCorasick]:
    """Return the rules, the number of forms among them, the rules of each keyword, and the automaton."""
    from ahocorasick_rs import AhoCorasick

    data = _read("rules.toml")
    forms, told = (msgspec.convert(data[name], list[Rule]) for name in ("forms", "rules"))
    for regex, names in data["prefixes"].items():
        for kind, *prefixes in map(str.split, names.split(",")):
            forms += [Rule(kind, re.escape(prefix) + regex, (prefix.lower(),)) for prefix in prefixes]
    for names, regex in data["commands"].items():
        commands = tuple(f"{name} " for name in names.split())
        told.append(Rule("password", regex, commands, "line", like="given"))
    sought: dict[str, list[int]] = {}
    for number, rule in enumerate([*forms, *told]):
        for keyword in rule.keywords:
            words = data["keywords"][keyword[1:]].split() if keyword.startswith("@") else [keyword]
            for word in words:
                sought.setdefault(word, []).append(number)
    return [*forms, *told], len(forms), sought, AhoCorasick(list(sought))


def matches(text: str, *, forms_only: bool = False) -> Iterator[tuple[Rule, re.Match[str]]]:
    """Yield the matches of the rules in a text, in the order of the rules. Takes time linear in the text."""
    every, forms, *_ = rules()
    places = _places(text)
    for number, rule in enumerate(every[:forms] if forms_only else every):
        if places[number] or not rule.keywords:
            for found in _tried(regex_of(rule.regex), rule, text, places[number]):
                yield rule, found


def _places(text: str) -> list[list[int]]:
    """Return, for each rule, where its keywords stand in a text, in order."""
    every, _, sought, automaton = rules()
    words, longest = list(sought.values()), max(map(len, sought))
    places: list[list[int]] = [[] for _ in every]
    # A few letters become two in lower case, which would move what follows; the automaton takes whole
    # characters only.
    lower = text.lower()
    lower = lower if len(lower) == len(text) else "".join(char.lower()[:1] for char in text)
    lower = lower if lower.isascii() else _SURROGATE.sub("\ufffd", lower)
    for begin in range(0, len(lower), PIECE_CHARS):
        piece = lower[begin : begin + PIECE_CHARS + longest - 1]
        for word, start, _ in automaton.find_matches_as_indexes(piece, overlapping=True):
            if start < PIECE_CHARS:  # What begins behind the piece is found in the next.
                for number in words[word]:
                    places[number].append(begin + start)
    return places


def _tried(regex: re.Pattern[str], rule: Rule, text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    if rule.where == "anywhere":
        yield from regex.finditer(text)
        return
    end = 0
    for place in sorted(set(places)):
        within = rule.where != "at" and text[place].isalnum() and text[place - 1 : place].isalnum()
        if place < end or within or (rule.begins and not regex_of(rule.begins).match(text, place)):
            continue
        if rule.where == "at":
            if found := regex.match(text, place):
                yield found
                end = found.end()
            continue
        first, last = place, place + MAX_LINE_CHARS
        if rule.where == "around":
            first = max(end, text.rfind("\n", 0, place) + 1, place - AROUND_CHARS[0])
            last = place + AROUND_CHARS[1]
        stop = text.find("\n", place, last)
        end = stop if stop >= 0 else min(len(text), last)
        yield from regex.finditer(text, first, end)
