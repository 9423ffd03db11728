"""No pattern goes back over the text of a user more than a fixed number of times for each of its characters.

`backtracking` counts the steps of a pattern on its own worst words: what each of its wide repeats takes,
behind what stands before it, and each two of its characters, again and again. A pattern that the rules give a
sentence at most may go back within it.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import backtracking
import pytest
import test_bounds
from backtracking import REPEATS, SINGLE, Backtracking, Chars, TooManySteps, ops, parts_of
from soaked import soaked
from tables import DATA, rows
from test_bounds import AT

from memtape import state
from memtape.schemas import patterns
from memtape.state.text import open_ends, polarity, questions, replacements
from memtape.state.text.lexicon import Cues, cues
from memtape.state.text.reading import read
from memtape.state.text.statements import MOST_CHARS

LONG_CHARS = 16 * 1024
SENTENCE_CHARS = 1_024
"""What a pattern is given at most of which the rules give it one sentence."""
MOST_GROWTH, LEAST_STEPS = 2.3, 1_000
"""By so much the steps grow at most where a text becomes twice as long, but for a few."""
MOST_STEPS_OF_A_SENTENCE, MOST_STEPS = 4_000_000, 300_000
FEW_WORDS = 3
"""`make test` tries so many words of a pattern, and `make soak` all, which alone reads the longest."""
LONGEST_CHARS = 15_000
TRIED_FIRST = "a1 .\nA-\"'_/,é中(:\t" + "".join(map(chr, range(33, 127))) + "“”„«»。！"
"""Of a class of characters the first of these stands for it."""
WIDE = 16
"""A repeat of at least so many takes a text in."""
READING = ("match", "fullmatch", "search", "findall", "finditer", "split", "sub", "subn")
RULES: tuple[Callable[[str], object], ...] = (
    *test_bounds.RULES.values(), polarity.correction_of, lambda text: questions.is_goodbye(read(text)),
    lambda text: questions.only_asks(read(text)),
    lambda text: list(open_ends.open_ends(read(text), AT, of_agent=True)),
    lambda text: replacements.replaces(read("The plan is to use Redis for the cache."), read(text)),
    lambda text: replacements.replaces(read(text), read("We use Postgres for the cache.")),
)  # fmt: skip

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


@cache
def reading_of(pattern: Pattern) -> Backtracking:
    return Backtracking(*pattern)


def expressions_within(module: ModuleType) -> Iterator[Any]:
    """Yield the expressions among the names of a module, and in its tables, also those of files of words."""
    waits = list(vars(module).values())
    for it in waits:
        if type(it) is patterns._Lazy or (isinstance(it, re.Pattern) and isinstance(it.pattern, str)):
            yield it
        elif isinstance(it, (Cues, list, tuple, dict)):
            it = vars(it) if isinstance(it, Cues) else it
            held = list(it.values() if isinstance(it, dict) else it)
            waits += [one for one in held if isinstance(one, (list, tuple, dict, re.Pattern, patterns._Lazy))]


@pytest.fixture(scope="module")
def given() -> dict[Pattern, tuple[int, bool, bool]]:
    """Return the most that the rules give each pattern, whether it is matched at one place, and has runs."""
    found: dict[Pattern, tuple[int, bool, bool]] = {}
    own = patterns._Lazy.__getattr__

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
            for it in expressions_within(module):  # They are asked for their methods anew.
                for name in READING if type(it) is patterns._Lazy else ():
                    vars(it).pop(name, None)
        for text in texts_to_meet_rules():
            for rule in RULES:
                rule(text)
    assert own is patterns._Lazy.__getattr__
    return found


def texts_to_meet_rules() -> Iterator[str]:
    """Yield the sentences that rules are tested with, and long texts of all their words, with ends or not."""
    every = (row for path in sorted(DATA.glob("*.jsonl")) for row in rows(path.stem))
    said = [text for row in every if isinstance(row, dict) and isinstance(text := row.get("text"), str)]
    salt = "never mention the trip again, forget that I moved from A to B, the port is 5433 instead of 5432 "
    yield from (*said[::3], "Mira Kolb now owns the parser.", "and what is the port of the gateway")
    yield from (text.replace(" ", "  ") for text in said[::9])
    without_ends = re.sub(r"[.!?…。！？\n]", " ", " ".join(said))
    for one in ("\n".join(said), " ".join(said), without_ends, salt * 999, "a" * 99_999):
        yield one[:LONG_CHARS]


def sample_of(items: Any, flags: int) -> str:
    """Return a text that a sequence of nodes takes, but for what it looks at beside."""
    made = ""
    for op, value in items:
        if op is ops.LITERAL:
            made += chr(value)
        elif op in SINGLE:
            takes = Chars(op, value, flags)
            made += next((char for char in TRIED_FIRST if takes[char]), "")
        elif op in REPEATS:
            made += sample_of(value[2], flags) * value[0]
        elif op not in backtracking.LOOKS:
            made += "".join(sample_of(part, flags) for part in parts_of(op, value)[:1])
    return made


def repeats_of(items: Any, flags: int, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield what stands before each wide repeat of a sequence, and what the repeat takes once."""
    for op, value in items:
        if op in REPEATS and value[1] >= WIDE:
            yield before, sample_of(value[2], flags)
        for part in parts_of(op, value):
            yield from repeats_of(part, flags, before)
        before += sample_of([(op, value)], flags)


def words_of(read: Backtracking) -> list[tuple[str, str]]:
    """Return the worst words of a pattern: a beginning, and what comes after it again and again."""
    found: dict[tuple[str, str], None] = {}
    for before, body in repeats_of(read.parsed, read.flags):
        alone = (before + body, f"{before}{body} ", f"{before} ")
        found |= dict.fromkeys([(before, body), *(("", it) for it in alone)])
    nodes = backtracking.nodes_of(read.parsed)
    wide = [value[2][0] for op, value in nodes if op in REPEATS and value[1] >= WIDE and len(value[2]) == 1]
    sets = [Chars(*it, read.flags) for it in wide if it[0] in SINGLE]
    begins, alike = backtracking.Beginning(read.parsed, read.flags), dict[tuple[bool, ...], str]()
    for char in dict.fromkeys("".join(sample_of([node], read.flags) for node in nodes if node[0] in SINGLE)):
        alike.setdefault((begins.may(char), *(its[char] for its in sets)), char)
    pairs = [(char, other) for char in alike.values() for other in alike.values()]
    found |= dict.fromkeys(("", char if char == other else char + other) for char, other in pairs)
    return [it for it in found if it[1].strip("\0")]


def steps_of(read: Backtracking, text: str, most: int, *, anchored: bool) -> int:
    try:
        read.match(text, most) if anchored else read.spans(text, most)
    except TooManySteps:
        return most + 1
    return read.steps


def grows(read: Backtracking, word: tuple[str, str], *, anchored: bool) -> bool:
    """Whether a text of a word that is twice as long takes more than twice the steps, short and long."""
    before, body = word

    def steps(text: str, most: int) -> int:
        return steps_of(read, text, most, anchored=anchored)

    count = max(12, 64 // len(body))
    few = steps(before + body * count, MOST_STEPS)
    if steps(before + body * 2 * count, 3 * few + LEAST_STEPS) <= 2.2 * few + LEAST_STEPS:
        return False
    once, twice = ((before + body * chars)[:chars] for chars in (1_024, 2_048))
    few = steps(once, MOST_STEPS)
    return steps(twice, 3 * few + LEAST_STEPS) > MOST_GROWTH * few + LEAST_STEPS


@pytest.fixture(autouse=True)
def deep(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200_000)
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.parametrize("most_words", soaked((FEW_WORDS, sys.maxsize), FEW_WORDS))
def test_no_pattern_goes_back_often(most_words: int, given: dict[Pattern, tuple[int, bool, bool]]) -> None:
    bad = list[tuple[str, str, object, int]]()
    for pattern, module in patterns_of_the_product().items():
        if most_words == FEW_WORDS and len(pattern[0]) > LONGEST_CHARS:
            continue
        read, (chars, anchored, spaced) = reading_of(pattern), given.get(pattern, (LONG_CHARS, False, True))
        words = words_of(read)
        for word in words[:: len(words) // most_words + 1]:
            text = (word[0] + word[1] * MOST_CHARS)[: max(chars, MOST_CHARS)]
            text, most = text if spaced else re.sub(r"\s+", " ", text), MOST_STEPS_OF_A_SENTENCE
            if chars > SENTENCE_CHARS:
                is_bad = grows(read, word, anchored=anchored)
            else:
                is_bad = steps_of(read, text, most, anchored=anchored) > most
            if is_bad:
                bad.append((module, pattern[0], word, chars))
                break
    assert bad == []


def test_a_rule_reads_by_cues_of_its_section() -> None:
    for path in Path(state.__path__[0]).rglob("*.py"):
        said = path.read_text(encoding="utf-8")
        for name, section in re.findall(r'^(\w+) = cues\("(\w+)"\)$', said, re.MULTILINE):
            assert set(re.findall(rf"\b{name}\.(\w+)", said)) <= vars(cues(section)).keys(), path


def test_a_pattern_that_goes_back_is_found_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for pattern in (r"\bab+c", r"(?<!\w)\w+:", r"\w{1,30}:", r"“[^“”]{0,400}”"):
        read = Backtracking(pattern)
        assert [it for it in words_of(read) if grows(read, it, anchored=False)] == []
    monkeypatch.setattr(sys.modules[__name__], "MOST_STEPS", 50_000)
    for pattern, word in {r"(a+)+b": "a", r"\w+:": "a", r"(?:x|x)*y": "x", r"a.*b.*c": "ab"}.items():
        read = Backtracking(pattern)
        assert any(grows(read, it, anchored=False) for it in [*words_of(read), ("", word)])


def test_the_matcher_finds_what_re_finds() -> None:
    texts = [text[:200] for text in texts_to_meet_rules()][::60]
    found = 0
    for number, pattern in enumerate(it for it in patterns_of_the_product() if len(it[0]) <= LONGEST_CHARS):
        text = texts[number % len(texts)]
        expected = [match.span() for match in re.compile(*pattern).finditer(text)]
        assert reading_of(pattern).spans(text) == expected, pattern
        found += len(expected)
    assert found > 300
