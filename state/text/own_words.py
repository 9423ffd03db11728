"""The part of a text in the sender's own voice, which may set standing instructions.

A prompt often carries text by other authors: a mail, a log, a page. Own words are only a short text of one
paragraph without any sign of another voice, and such a text around a block that is set off. In doubt nothing
is. `polarity` decides whether own words are an instruction.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from hashlib import blake2b
from typing import TypeVar

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import cues
from memtape.state.text.normal import SENTENCE_END

ResultT = TypeVar("ResultT")

MOST_READ_CHARS = 20_000
"""A longer text is pasted as a whole, and is not looked at."""
MOST_REMEMBERED = 1_024
"""A text is asked about by each rule on instructions, and once for each of its statements."""
MOST_CHARS, MOST_LINES, MOST_SENTENCES = 400, 4, 6
"""The size of the longest text of a person's own, without the blocks that are set off."""

_CUES = cues("own_words")
_OF_SENTENCES = re.compile(r"[.!?…。！？]\s")
_RUN = re.compile(r"[^\W_]+")
_LONG_QUOTE_CHARS = 60
_BULLET = lazy(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_QUESTION = lazy(r"[?？؟][\"'”’»)\]*_]*\Z|(?:か|吗|呢)[。！]?\Z")
_PARAGRAPHS = lazy(r"\S[ \t]*\n[ \t]*\n\s*\S")


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
def own_words(text: str) -> str:
    """Return the part of a text in its sender's voice; empty in doubt."""
    if len(text) > MOST_READ_CHARS:
        return ""
    said = _CUES.block.sub("\n", text)
    is_set_off = said != text
    quotes = _CUES.quoted.findall(said)
    if any(len(quote) > _LONG_QUOTE_CHARS or _OF_SENTENCES.search(quote) for quote in quotes):
        return ""
    bare = _CUES.quoted.sub(" QUOTED ", said).replace("’", "'").strip()
    pieces = sentences(bare)
    is_long = len(bare) > MOST_CHARS or len(pieces) > MOST_SENTENCES
    if is_long or sum(map(bool, map(str.strip, bare.split("\n")))) > MOST_LINES:
        return ""
    if _CUES.of_a_record.search(bare) or _CUES.salutation.search(bare):
        return ""
    if is_set_off:  # A sentence that introduces a block may name the block's author.
        pieces = [piece for piece in pieces if not piece.endswith(":")]
    elif _PARAGRAPHS.search(bare) or any(map(_is_about_a_text, pieces)):
        return ""
    return "" if any(_CUES.attributed.search(_CUES.of_its_own.sub(" ", piece)) for piece in pieces) else said


def set_off_left_out(text: str) -> str:
    """Return a text without the blocks that are set off: possible own words; empty for a very long text."""
    return "" if len(text) > MOST_READ_CHARS else _CUES.block.sub("\n", text)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text without its quoted lines, fences and bullets."""
    pieces = SENTENCE_END.split(_CUES.block.sub("\n", text))
    found = (_BULLET.sub("", piece).strip() for piece in pieces)
    return [sentence for sentence in found if sentence]


def words_in(text: str) -> list[str]:
    """Return the runs of letters and digits of a text, in small letters."""
    return _RUN.findall(text.lower())


def unquoted(sentence: str) -> str:
    """Return a sentence with straight apostrophes, and with `QUOTED` in the place of each quotation."""
    return _CUES.quoted.sub("QUOTED", sentence.replace("’", "'")).strip()


def asks(said: str) -> bool:
    """Return whether a sentence is a question, other than a polite request: "Could you always test?"."""
    return is_question(said) and _CUES.polite.search(said) is None


def is_question(said: str) -> bool:
    """Return whether a sentence ends as a question."""
    return _QUESTION.search(said) is not None


def _is_about_a_text(sentence: str) -> bool:
    """Return whether a sentence asks for work on a text that must be the text beside it."""
    asks_about = is_question(sentence) and _CUES.about.search(sentence) is not None
    return asks_about or _CUES.works_on_text.search(sentence) is not None
