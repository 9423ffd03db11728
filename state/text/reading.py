"""One reading of a text for all rules: its blocks and its sentences, each found once, at its first use.

A block is set off from the text around it: a fence, quoted lines, an element, a long quotation. Positions in
`prose` and of sentences are those of the text. No rule lives here; `own_words` says whose words a text has.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, wraps
from hashlib import blake2b
from typing import NamedTuple, TypeVar

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import cues
from memtape.state.text.normal import SENTENCE_END

ResultT = TypeVar("ResultT")

MOST_READ_CHARS = 20_000
"""A longer text is pasted as a whole: it has no sentences."""
MOST_REMEMBERED = 1_024
"""Readings in the cache: each rule asks for the reading of a text."""
HIDDEN = "\x00"
"""The placeholder of a character of a block."""

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
    """The parts of a text."""

    def __init__(self, text: str) -> None:
        self.text = text

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
                stop = end if mark is None else mark.start()
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


def _hidden(found: re.Match[str]) -> str:
    return _SHOWN.sub(HIDDEN, found[0])


def has_foreign_letter(text: str) -> bool:
    """Return whether a text has a letter outside of a to z, so that cues of any language may be in it."""
    return not text.isascii() and _FOREIGN.search(text) is not None


def words_in(text: str) -> list[str]:
    """Return the runs of letters and digits of a text, in small letters."""
    return _RUN.findall(text.lower())


def remembered(most: int) -> Callable[[Callable[[str], ResultT]], Callable[[str], ResultT]]:
    """Return a decorator that caches a pure function's results for the last `most` new texts.

    The keys are digests, so that a long text takes no more memory than a short one.
    """

    def of(make: Callable[[str], ResultT]) -> Callable[[str], ResultT]:
        made: dict[bytes, ResultT] = {}

        @wraps(make)
        def again(text: str) -> ResultT:
            key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            try:
                return made[key]
            except KeyError:
                result = make(text)
            if len(made) >= most:
                made.pop(next(iter(made), key), None)
            made[key] = result
            return result

        return again

    return of


@remembered(MOST_REMEMBERED)
def read(text: str) -> Reading:
    """Return the reading of a text."""
    return Reading(text)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text without blocks and output of tools, each on one line."""
    return [" ".join(it.said.split()) for it in read(text).shown if not it.is_output]
