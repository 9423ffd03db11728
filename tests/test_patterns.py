"""No pattern goes back over the text of a user more than a fixed number of times for each of its characters.

Each pattern reads its own worst words within a time of the processor: each of its wide repeats, behind what stands
before the repeat, and each two of its characters, again and again. A pattern that the rules give a sentence at most, as
is met by running them on long texts, may go back within it.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from soaked import soaked

from memtape import state
from memtape.schemas import patterns
from memtape.state.fold import near_verbatim
from memtape.state.text import (
    asking,
    claims,
    instructions,
    markdown,
    named,
    normal,
    open_ends,
    opposing,
    own_words,
    polarity,
    replacing,
    statements,
    terms,
)
from memtape.state.text.statements import MOST_CHARS

DATA = Path(__file__).parent / "data"
LONG_CHARS, AT = 16 * 1024, 1_790_000_000_000_000
SENTENCE_CHARS = 1_024
"""What a pattern is given at most of which the rules give it one sentence."""
LONG_S, SENTENCE_S = 0.5, 0.25
"""The time for a long text, of which each step for each two of its characters would take ten, and for a sentence."""
FEW_WORDS, MANY_WORDS = 6, 300
"""So many words of a pattern are tried by `make test`, and by `make soak`."""
TRIED_FIRST = "a1 .\nA-\"'_/,é中(:\t" + "".join(map(chr, range(33, 127))) + "“”„«»。！"
"""Of a class of characters the first of these stands for it."""
WIDE = 16
"""A repeat of at least so many takes a text in."""
READING = ("match", "fullmatch", "search", "findall", "finditer", "split", "sub", "subn")
RULES: tuple[Callable[[str], object], ...] = (
    claims.reading,
    polarity.correction_of,
    asking.is_goodbye,
    asking.is_nod,
    named.named_files,
    near_verbatim.read,
    normal.normal_text,
    polarity.corrections_in,
    instructions.heard_in,
    own_words.own_words,
    named.people_named,
    polarity.polarity,
    terms.terms,
    lambda text: list(markdown.points(text)),
    lambda text: list(open_ends.open_ends(text, AT, of_agent=False)),
    lambda text: list(open_ends.open_ends(text, AT, of_agent=True)),
    lambda text: opposing.oppose(text, "Never deploy on Fridays."),
    lambda text: replacing.replaces("The port is 5433.", text),
    lambda text: replacing.replaces(text, "The port is 5433."),
    lambda text: replacing.replaces("The plan is to use Redis for the cache.", text),
    lambda text: replacing.replaces(text, "We use Postgres for the cache."),
    lambda text: statements.statements(text, AT, of_agent=False),
    lambda text: statements.statements(text, AT, of_agent=True),
)

Pattern = tuple[str, int]
"""An expression and its flags."""


@cache
def patterns_of_the_product() -> dict[Pattern, str]:
    """Return each pattern by which the rules read texts, with the module that has it."""
    found: dict[Pattern, str] = {}
    for info in pkgutil.walk_packages(state.__path__, f"{state.__name__}."):
        for it in expressions_within(importlib.import_module(info.name)):
            pattern = it._given if type(it) is patterns._Lazy else (it.pattern, it.flags & ~re.UNICODE)
            found.setdefault(pattern, info.name)
    return found


def expressions_within(module: ModuleType) -> Iterator[Any]:
    """Yield the expressions among the names of a module, and in its tables, also those of files of words."""
    waits = list(vars(module).values())
    for it in waits:
        if type(it) is patterns._Lazy or (isinstance(it, re.Pattern) and isinstance(it.pattern, str)):
            yield it
        elif isinstance(it, (list, tuple, dict)):
            held = list(it.values() if isinstance(it, dict) else it)
            waits += [one for one in held if isinstance(one, (list, tuple, dict, re.Pattern, patterns._Lazy))]


@pytest.fixture(scope="module")
def given() -> dict[Pattern, tuple[int, bool, bool]]:
    """Return the most that the rules give each pattern, whether it is matched at one place alone, and has runs."""
    found: dict[Pattern, tuple[int, bool, bool]] = {}

    def counting(lazy: Any, name: str) -> Any:
        method = getattr(re.compile(*lazy._given), name)
        if name not in READING:
            return method

        def read(*args: Any, **named: Any) -> Any:
            text, begin, end = (*args[name in ("sub", "subn") :], None, None)[:3]
            is_part = name not in ("sub", "subn", "split")
            chars = (end if is_part and end is not None else len(text)) - (begin or 0 if is_part else 0)
            most, anchored, spaced = found.get(lazy._given, (0, True, False))
            anchored = anchored and name in ("match", "fullmatch")
            found[lazy._given] = max(most, chars), anchored, spaced or "  " in text
            return method(*args, **named)

        return read

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patterns._Lazy, "__getattr__", counting)
        for module in [it for name, it in sys.modules.items() if name.startswith("memtape.")]:
            for lazy in expressions_within(module):
                for name in READING if type(lazy) is patterns._Lazy else ():
                    vars(lazy).pop(name, None)
        for text in texts_to_meet_rules():
            for rule in RULES:
                rule(text)
    return found


def texts_to_meet_rules() -> Iterator[str]:
    """Yield the sentences that rules are tested with, and long texts of all their words with and without ends."""
    said = list[str]()
    for path in sorted(DATA.glob("*.jsonl")):
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        said += [text for row in rows if isinstance(row, dict) and isinstance(text := row.get("text"), str)]
    salt = "never mention the trip again, forget that I moved from A to B, the port is 5433 instead of 5432 "
    yield from said[::3]
    yield from (text.replace(" ", "  ") for text in said[::9])
    bare = re.sub(r"[.!?…。！？\n]", " ", " ".join(said))
    yield from (one[:LONG_CHARS] for one in ("\n".join(said), " ".join(said), bare, salt * 999, "a" * 99_999))


# --- The worst words of a pattern ---

SRE = "re._{}" if sys.version_info >= (3, 11) else "sre_{}"
parser: Any = importlib.import_module(SRE.format("parser" if sys.version_info >= (3, 11) else "parse"))
compiler: Any = importlib.import_module(SRE.format("compiler" if sys.version_info >= (3, 11) else "compile"))
ops: Any = importlib.import_module(SRE.format("constants"))
SINGLE = (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN)
REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, getattr(ops, "POSSESSIVE_REPEAT", None))
LOOKS = (ops.ASSERT, ops.ASSERT_NOT)


def parts_of(op: Any, value: Any) -> list[Any]:
    """Return the sequences within a node."""
    if op is ops.BRANCH:
        return list(value[1])
    if op is ops.SUBPATTERN:
        return [value[3]]
    if op in REPEATS:
        return [value[2]]
    if op in LOOKS:
        return [value[1]]
    return [value] if op is getattr(ops, "ATOMIC_GROUP", None) else []


def nodes_of(items: Any) -> Iterator[tuple[Any, Any]]:
    for op, value in items:
        yield op, value
        for part in parts_of(op, value):
            yield from nodes_of(part)


def sample_of(items: Any, parsed: Any) -> str:
    """Return a text that a sequence of nodes takes, but for what it looks at beside."""
    made = ""
    for op, value in items:
        if op is ops.LITERAL:
            made += chr(value)
        elif op in SINGLE:
            takes = compiler.compile(parser.SubPattern(parsed.state, [(op, value)]), parsed.state.flags).fullmatch
            made += next(filter(takes, TRIED_FIRST), "")
        elif op in REPEATS:
            made += sample_of(value[2], parsed) * value[0]
        elif op not in LOOKS:
            made += "".join(sample_of(part, parsed) for part in parts_of(op, value)[:1])
    return made


def words_of(pattern: Pattern) -> list[tuple[str, str]]:
    """Return the worst words of a pattern: a beginning, and what comes after it again and again."""
    parsed = parser.parse(*pattern)
    found: dict[tuple[str, str], None] = {}

    def add_repeats(items: Any, before: str) -> None:
        for op, value in items:
            if op in REPEATS and value[1] >= WIDE:
                body = sample_of(value[2], parsed)
                found.update(dict.fromkeys([(before, body), ("", before + body), ("", f"{before}{body} ")]))
                found.update(dict.fromkeys([("", f"{before} ")]))
            for part in parts_of(op, value):
                add_repeats(part, before)
            before += sample_of([(op, value)], parsed)

    add_repeats(parsed, "")
    chars = dict.fromkeys("".join(sample_of([node], parsed) for node in nodes_of(parsed) if node[0] in SINGLE))
    found |= dict.fromkeys(("", one if one == other else one + other) for one, other in product(chars, repeat=2))
    return [it for it in found if it[1].strip("\0")]


class TooSlow(Exception):
    """A pattern took more time of the processor than it was given."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` where a pattern reads longer: `re` looks for signals every some thousand steps."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def is_slow(pattern: Pattern, text: str, seconds: float, *, anchored: bool = False) -> bool:
    read = re.compile(*pattern)
    try:
        with within(seconds):
            _ = read.match(text) if anchored else sum(1 for _ in read.finditer(text))
    except TooSlow:
        return True
    return False


def is_slow_on_its_words(pattern: Pattern, most_words: int, most: tuple[int, bool, bool]) -> bool:
    """Whether a pattern is slow on any of its words, repeated up to what the rules give it."""
    chars, anchored, spaced = most
    size, seconds = (2 * LONG_CHARS, LONG_S) if chars > SENTENCE_CHARS else (max(chars, MOST_CHARS), SENTENCE_S)
    words = words_of(pattern)
    for before, body in words[:: len(words) // most_words + 1]:
        text = (before + body * size)[:size]
        text = text if spaced or chars > SENTENCE_CHARS else re.sub(r"\s+", " ", text)
        if is_slow(pattern, text, seconds, anchored=anchored):
            return True
    return False


EVERYTHING = (LONG_CHARS, False, True)


@pytest.mark.parametrize("most_words", soaked((FEW_WORDS, MANY_WORDS), FEW_WORDS))
def test_no_pattern_goes_back_over_what_it_has_read_again_and_again(
    most_words: int, given: dict[Pattern, tuple[int, bool, bool]]
) -> None:
    every = patterns_of_the_product().items()
    assert [it for it in every if is_slow_on_its_words(it[0], most_words, given.get(it[0], EVERYTHING))] == []


@pytest.mark.parametrize("pattern", [r"(a+)+b", r"\w+:", r"(?:x|x)*y", r"a.*b.*c"])
def test_a_pattern_that_goes_back_is_found(pattern: str) -> None:
    assert is_slow_on_its_words((pattern, 0), MANY_WORDS, EVERYTHING)


@pytest.mark.parametrize("pattern", [r"\bab+c", r"(?<!\w)\w+:", r"\w{1,30}:", r"“[^“”]{0,400}”"])
def test_a_pattern_that_does_not_is_none(pattern: str) -> None:
    assert not is_slow_on_its_words((pattern, 0), MANY_WORDS, EVERYTHING)
