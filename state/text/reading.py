"""One reading of a text for all rules: each of its parts is found once, at its first use.

A block is set off from the text around it: a fence, quoted lines, an element, a long quotation. Positions in
`prose` and of sentences are those of the text. No rule lives here; `own_words` says whose words a text has.
A reading follows from its text alone, so that any process may make it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache, wraps
from typing import Any, NamedTuple, TypeVar

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import cues
from memtape.state.text.normal import SENTENCE_END
from memtape.state.text.terms import ENGLISH, languages_told, worded_terms

ResultT = TypeVar("ResultT")

MOST_READ_CHARS = 20_000  # A longer text is pasted as a whole: it has no sentences.
MOST_REMEMBERED = 2_048  # Readings in the cache: a batch of events is folded, and then indexed.
HIDDEN = "\x00"  # The placeholder of a character of a block.

_CUES = cues("reading")
_BLOCK_MARKS = ("```", "~~~", '"""', "'''", ">")
_QUOTATION_MARKS = ('"', "“", "„", "«")
_CODE_ENDS = ("{", "}", ";")
_ABBREVIATION_CHARS = 10
_FOREIGN = lazy(r"[^\W\d_a-zA-Z]")
_LINE, _SHOWN, _RUN = lazy(r"[^\n]+"), lazy(r"[^\n]"), re.compile(r"[^\W_]+")
_MARKS = lazy(r"\s*(?:[-*+•·>#]+\s+|\d{1,3}[.)]\s+)*(?:\[[ xX]\]\s*)?(?:[*_]+(?![^\n]*[*_]))?")
"""Marks of an item, and of an emphasis that goes on behind the sentence."""


class Sentence(NamedTuple):
    """A sentence without the marks of an item, from `start` to `end` of its text.

    `is_output` says that its line is one of a tool, of code, or of a finished task.
    """

    start: int
    end: int
    said: str
    is_output: bool


class Reading:
    """The parts of a text: blocks, sentences, words, terms, the language, results of rules."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: dict[str, Any] = {}
        self._terms: dict[str, list[tuple[str, str]]] = {}

    @cached_property
    def words(self) -> list[str]:
        """The runs of letters and digits, in small letters."""
        return words_in(self.text)

    @cached_property
    def languages(self) -> list[str]:
        """The possible languages of the text by itself, none without a sign."""
        return languages_told(self.text)

    @property
    def language(self) -> str:
        """The language of the text by itself, English if possible."""
        return next(iter(self.languages), ENGLISH)

    def worded_terms(self, language: str = "") -> list[tuple[str, str]]:
        """Return each word with its term, in order, as in a language, by default the text's own."""
        language = language or self.language
        if language not in self._terms:
            self._terms[language] = worded_terms(self.text, language)
        return self._terms[language]

    def terms(self, language: str = "") -> dict[str, None]:
        """Return the terms, each once, in order."""
        return dict.fromkeys([term for _, term in self.worded_terms(language)])

    @cached_property
    def unblocked(self) -> str:
        """The text with `HIDDEN` in the place of each character of a block, except long quotations."""
        has_mark = any(map(self.text.__contains__, _BLOCK_MARKS))  # Most turns have none.
        return _CUES.block.sub(_hidden, self.text) if has_mark else self.text

    @cached_property
    def prose(self) -> str:
        """The same, long quotations hidden too."""
        has_mark = any(map(self.text.__contains__, _QUOTATION_MARKS))
        return _CUES.long_quotation.sub(_hidden, self.unblocked) if has_mark else self.unblocked

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of the text, without those that are hidden whole; none of a very long text."""
        found, prose = list[Sentence](), self.prose
        for line in _LINE.finditer(prose) if len(self.text) <= MOST_READ_CHARS else ():
            is_output = line[0].rstrip().endswith(_CODE_ENDS) or _CUES.output.match(line[0]) is not None
            begin, end = line.span()
            for mark in [*SENTENCE_END.finditer(prose, begin, end), None]:
                stop = end if mark is None else mark.start() + 1
                is_stop = mark is not None and prose[stop - 1] == "."
                if is_stop and _CUES.abbreviated.search(prose, max(begin, stop - _ABBREVIATION_CHARS), stop):
                    continue
                opened = _MARKS.match(prose, begin, stop)
                first = begin if opened is None else opened.end()
                said = prose[first:stop].rstrip()
                if said.strip(HIDDEN):
                    found.append(Sentence(first, first + len(said), said, is_output))
                begin = stop if mark is None else mark.end()
        return tuple(found)

    @cached_property
    def shown(self) -> tuple[Sentence, ...]:
        """The sentences without any hidden part."""
        return tuple(it for it in self.sentences if HIDDEN not in it.said)

    @cached_property
    def said(self) -> tuple[str, ...]:
        """The shown sentences, without output of tools, each on one line."""
        return tuple(" ".join(it.said.split()) for it in self.shown if not it.is_output)


def _hidden(found: re.Match[str]) -> str:
    return _SHOWN.sub(HIDDEN, found[0])


def has_foreign_letter(text: str) -> bool:
    """Return whether a text has a letter outside of a to z, so that cues of any language may be in it."""
    return not text.isascii() and _FOREIGN.search(text) is not None


def words_in(text: str) -> list[str]:
    """Return the runs of letters and digits of a text, in small letters."""
    return _RUN.findall(text.lower())


def kept(rule: Callable[[Reading], ResultT]) -> Callable[[Reading], ResultT]:
    """Return a rule that keeps its result with the reading."""

    @wraps(rule)
    def again(reading: Reading) -> ResultT:
        if rule.__name__ not in reading.found:
            reading.found[rule.__name__] = rule(reading)
        result: ResultT = reading.found[rule.__name__]
        return result

    return again


@lru_cache(MOST_REMEMBERED)
def read(text: str) -> Reading:
    """Return the reading of a text."""
    return Reading(text)
