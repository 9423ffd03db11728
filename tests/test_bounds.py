"""Every rule on text ends after a number of steps that grows with the text alone, whatever the text says.

A step is a call of a function of Python, or a character that a pattern is given to read. So a rule is caught
that reads the rest of a text anew at each of its words. A pattern that can go back over what it has read is
given no whole text, unless `LINEAR` names it.
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pkgutil import resolve_name
from typing import Any

import pytest
from soaked import soaked

from memtape.schemas import patterns
from memtape.state.fold import near_verbatim
from memtape.state.text import (
    claims,
    instructions,
    markdown,
    names,
    open_ends,
    opposites,
    polarity,
    questions,
    replacements,
    statements,
)
from memtape.state.text.reading import read

LENGTHS = (24 * 1024, 64 * 1024)
"""So long are the texts, in characters: more than a pattern is given, and thousands of words."""
MOST_STEPS_OF_A_CHARACTER = 60
MOST_CHARS_OF_A_PATTERN = 20_480
AT = 1_790_000_000_000_000

PLAIN = """
terms.language_of terms.terms normal.normal_text
""".split()
RULES: dict[str, Callable[[str], object]] = {
    "open ends": lambda text: list(open_ends.open_ends(read(text), AT, of_agent=False)),
    "opposing": lambda text: opposites.oppose(read(text), read("Never deploy on Fridays.")),
    "orders": lambda text: instructions.heard_in(read(text)).orders,
    "points": lambda text: list(markdown.points(text)),
    "replacing by": lambda text: replacements.replaces(read("The port is 5433."), read(text)),
    "replacing of": lambda text: replacements.replaces(read(text), read("The port is 5433.")),
    "near verbatim": lambda text: near_verbatim.tokens_of(read(text)),
    "nods": lambda text: questions.is_nod(read(text)),
    "claims": lambda text: claims.clauses_of(read(text)),
    "sentences": lambda text: read(text).said,
    "polarity": lambda text: polarity.polarity(read(text)),
    "named files": lambda text: names.named_files(read(text)),
    "statements": lambda text: statements.statements(read(text), AT, of_agent=False),
    "statements of an agent": lambda text: statements.statements(read(text), AT, of_agent=True),
} | {name: resolve_name(f"memtape.state.text.{name}") for name in PLAIN}
WORDS = (
    "no, ", "no, it is 5. ", "always use it, ", "Ada Lovelace and ", "A.B.", "word-word-", '"', "(",
    "a/b/", "\n", "```\n", "I moved from A to B ", "the port of the ", "1 ", "不要",
)  # fmt: skip
"""Each is the worst that some rule has met, or might."""
LINEAR = (
    "(?P<fence>```|", "(`+[^`]*`+)", "`([a-z][a-z\\d]*", "[a-z]{2,}(?:-[a-z]{2,})+",
    "(?<![\\w*/.\\\\])(\\*\\*\\*|", "[^\\W\\d_]+",
    "\\w+(?:[./", "\\b[A-Za-z][\\w+.-]{0,30}://", "(?<![\\w/:.@=$-])@?((?:~/|", "[々-〇",
    "[ \\t]*(?:(?:[-*+]|", "[ ]{0,3}#{1,6}", "[{}]|</?\\w|",
)  # fmt: skip
"""How the patterns begin that read a whole text once: a match takes what it has read, or ends at a mark."""
GOES_BACK = re.compile(r"(?<!\\)(?:\.|\)|\[\^[^\]]*\])[*+](?!\+)")
COUNTED = ("match", "search", "fullmatch", "findall", "finditer", "split", "sub", "subn")


@pytest.fixture(scope="module", autouse=True)
def nothing_compiled() -> None:
    """Forget what patterns have compiled, so that each use of them is counted."""
    for lazy in [it for it in gc.get_objects() if type(it) is patterns._Lazy]:
        for name in [name for name in vars(lazy) if name != "_given"]:
            del vars(lazy)[name]


@contextmanager
def counted_steps() -> Iterator[tuple[list[int], dict[str, int]]]:
    """Count the steps of what is done meanwhile in a list of one, and the most that each pattern is given."""
    steps, given_to = [0], dict[str, int]()
    own = patterns._Lazy.__getattr__

    def counting(lazy: Any, name: str) -> Any:
        compiled = re.compile(*lazy._given)
        method = getattr(compiled, name)
        if name not in COUNTED:
            return method

        def read(*given: Any, **named: Any) -> Any:
            text, begin, end = (*given[name in ("sub", "subn") :], None, None)[:3]
            is_part = name in ("match", "search", "fullmatch", "findall", "finditer")
            begin, end = (begin or 0, len(text) if end is None else end) if is_part else (0, len(text))
            steps[0] += max(end - begin, 0)
            given_to[compiled.pattern] = max(end - begin, given_to.get(compiled.pattern, 0))
            return method(*given, **named)

        return read

    def call(frame: Any, event: str, _: Any) -> None:
        steps[0] += event == "call"

    patterns._Lazy.__getattr__ = counting
    sys.setprofile(call)
    try:
        yield steps, given_to
    finally:
        sys.setprofile(None)
        patterns._Lazy.__getattr__ = own


@pytest.mark.parametrize("length", soaked(LENGTHS, LENGTHS[0]))
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_reads_no_text_again_at_each_of_its_words(rule: str, length: int) -> None:
    found, given = dict[str, int](), dict[str, int]()
    for word in WORDS:
        text = (word * (length // len(word) + 1))[:length]
        with counted_steps() as (steps, given_to):
            RULES[rule](text)
        found[word] = steps[0] // length
        given |= {pattern: chars for pattern, chars in given_to.items() if chars > MOST_CHARS_OF_A_PATTERN}
    assert max(found.values()) <= MOST_STEPS_OF_A_CHARACTER, found
    assert [it for it in given if GOES_BACK.search(it) and not it.startswith(LINEAR)] == []
