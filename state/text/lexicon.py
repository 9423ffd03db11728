"""The lists of words behind `text`, in files beside this one, each with its source and its licence.

A word is in a list only if the list's effect is right for every reading of the word. Words of two readings
stay out, since a missed fold costs a line and a wrong fold costs a fact. No code that reads a text lives
here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from typing import Any

from memtape.schemas.patterns import lazy

WORD_FILES = (
    *("common_words.txt", "cues.txt", "kinds.txt", "slots.txt", "words.txt"),
    *("judge.json", "worth.json"),
)


@cache
def words_digest() -> str:
    """Return the digest of the files of words, 8 hex digits, a part of the version of the rules."""
    return blake2b(b"".join(map(data_of, WORD_FILES)), digest_size=4).hexdigest()


@cache
def common_words() -> dict[str, list[str]]:
    """Return the commonest words of each language, by its ISO 639-1 code."""
    return {code: words for code, *words in map(str.split, lines_of("common_words.txt"))}


@cache
def data_of(name: str) -> bytes:
    """Return a file of words beside this file."""
    spec = find_spec(__package__ or "")
    assert spec is not None and spec.submodule_search_locations
    loader: Any = spec.loader
    data: bytes = loader.get_data(f"{spec.submodule_search_locations[0]}/{name}")
    return data


def lines_of(name: str, joint: str = " ") -> Iterator[str]:
    """Yield the lines of a file of words, each joined with the indented lines behind; no comments."""
    whole = ""
    for line in (*data_of(name).decode().splitlines(), ""):
        if line.startswith("    "):
            whole += joint + line.strip()
        elif not line.startswith("#"):
            if whole:
                yield whole
            whole = line


class Cues:
    """The patterns of a section of `cues.txt` under their names, each compiled at its first use."""

    def __getattr__(self, name: str) -> re.Pattern[str]:
        raise AttributeError(f"A section of cues has no {name}.")


def cues(section: str) -> Cues:
    """Return the patterns of a section of `cues.txt`."""
    return _sections()[section]


@cache
def _sections() -> dict[str, Cues]:
    found, made = dict[str, Cues](), dict[str, str]()
    for line in lines_of("cues.txt", joint=""):
        if line.startswith("["):
            section = found[line.strip("[]")] = Cues()
            made.clear()
        else:
            said, _, pattern = line.partition(": ")
            name, _, flags = said.partition(" ")
            made[name] = _PART.sub(lambda part: made.get(part[1]) or word_pattern(part[1]), pattern)
            if not name.startswith("_"):
                letters = flags[1:-1] if flags else "i"
                vars(section)[name] = lazy(made[name], sum(_FLAGS[letter] for letter in letters))
    return found


_PART = lazy(r"\{([a-z_ ]+)\}")
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


@cache
def _lists() -> dict[str, list[str]]:
    pairs = (line.partition(": ") for line in lines_of("words.txt"))
    return {name: words.split() for name, _, words in pairs}


def word_list(name: str) -> frozenset[str]:
    """Return a list of `words.txt`."""
    return frozenset(_lists()[name])


def phrases(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the phrases `word+word` of a list of `words.txt`, in order."""
    return tuple(tuple(phrase.split("+")) for phrase in _lists()[name])


def word_pairs(name: str) -> dict[str, str]:
    """Return the pairs `word=other` of a list of `words.txt`."""
    return {word: other for word, _, other in (pair.partition("=") for pair in _lists()[name])}


def word_pattern(name: str) -> str:
    """Return a pattern of any word of a list whose words are patterns; `_` stands for a space."""
    return "(?:" + "|".join(_lists()[name]).replace("_", " ") + ")"


NAMES = word_list("names")
CONTRACTIONS = {word: tuple(full.split("+")) for word, full in word_pairs("contractions").items()}
SEARCH_STOP = word_list("search stop")  # Words too common to search by.
