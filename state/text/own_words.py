"""The part of a text in the sender's own voice, which may set standing instructions.

A prompt often carries text by other authors: a mail, a log, a page. Own words are only a short text of one
paragraph without any sign of another voice, and such a text around a block that is set off. In doubt nothing
is. `polarity` decides whether own words are an instruction.
"""

from __future__ import annotations

import re

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import cues
from memtape.state.text.reading import HIDDEN, MOST_READ_CHARS, Reading

MOST_CHARS, MOST_LINES, MOST_SENTENCES = 400, 4, 6
"""The size of the longest text of a person's own, without its blocks."""

_CUES = cues("own_words")
_OF_SENTENCES = re.compile(r"[.!?…。！？]\s")
_LONG_QUOTE_CHARS = 60
_QUESTION = lazy(r"[?？؟][\"'”’»)\]*_]*\Z|(?:か|吗|呢)[。！]?\Z")
_PARAGRAPHS = lazy(r"\S[ \t]*\n[ \t]*\n\s*\S")
_BLOCK = lazy(rf"{HIDDEN}(?:[{HIDDEN}\n]*{HIDDEN})?")


def is_own(reading: Reading) -> bool:
    """Return whether a text, without its blocks, is in its sender's voice; in doubt it is not."""
    if len(reading.text) > MOST_READ_CHARS or HIDDEN in reading.text:
        return False
    said = _BLOCK.sub("\n", reading.unblocked)
    quotes = _CUES.quoted.findall(said)
    if any(len(quote) > _LONG_QUOTE_CHARS or _OF_SENTENCES.search(quote) for quote in quotes):
        return False
    bare = _CUES.quoted.sub(" QUOTED ", said).replace("’", "'").strip()
    if len(bare) > MOST_CHARS or sum(map(bool, map(str.strip, bare.split("\n")))) > MOST_LINES:
        return False
    pieces = [unquoted(it.said) for it in reading.shown]
    if len(pieces) > MOST_SENTENCES or _CUES.of_a_record.search(bare) or _CUES.salutation.search(bare):
        return False
    if said != reading.text:  # A sentence that introduces a block may name the block's author.
        pieces = [piece for piece in pieces if not piece.endswith(":")]
    elif _PARAGRAPHS.search(bare) or any(map(_is_about_a_text, pieces)):
        return False
    return not any(_CUES.attributed.search(_CUES.of_its_own.sub(" ", piece)) for piece in pieces)


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
