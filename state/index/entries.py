"""The index entry of a text: its terms, its language, and other properties known before a search.

Tokenizing a text costs more than all other steps, so a text is tokenized once, at its write.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple, get_args

from memtape.schemas.events import Kind, Origin
from memtape.state.text.normal import signs
from memtape.state.text.questions import ANSWERS_HOLD, held, is_nod, only_asks
from memtape.state.text.reading import MOST_REMEMBERED, Reading, kept, read
from memtape.state.text.terms import ENGLISH, TOLD_LANGUAGES

KINDS = ("", *sorted(get_args(Kind)))
"""Kinds in the order in which equals are shown; a text without one is first."""
ORIGINS = ("", *get_args(Origin))

TURN, ANSWERS, HIDDEN, ENDS_ASKING, ASKS, AGES, TAGGED, CUED = (1 << n for n in range(8))
"""Flags of a text: said in a session, an answer of an assistant, hidden, a question at its end, with a
question mark, of a kind that ages, with tags, and a turn or memory in which a person instructs."""
HOLDS = tuple(1 << n for n in range(8, 8 + len(ANSWERS_HOLD)))
"""Flags for what a text holds that a question can ask for, in the order of `ANSWERS_HOLD`."""
EMPTY_WORDS = 1 << 14
"""The flag of a turn that only lets an agent go on, such as "ok": it stays in its session, unsearchable."""
ORDERS = 1 << 15  # The flag of a text in which a person gives an order about memory.
ARCHIVED, SUMMARY = 1 << 16, 1 << 17
"""The flags of a text that is archived, and of a summary. Only who chooses them is shown them."""
ONLY_ASKS = 1 << 18  # The flag of a turn that asks, and states nothing.
PINNED, REPLACED, CONTRADICTED = (1 << n for n in range(19, 22))
"""Flags of a pinned text, and of a memory that another replaced or contradicts, for lists alone."""
SHORT_CHARS = 120
"""A turn without a question mark at its end is read for asking alone only up to this length."""
IN_LOWER_CASE = 1 << 7
"""Beside the count of a term in a text: the text has a word of that term in lower case."""
MOST_COUNT = IN_LOWER_CASE - 1
FULL_CONFIDENCE = 1_000

_RAW_WORD = re.compile(r"\w+")


class TextTokens(NamedTuple):
    """The tokens of a text, read in one language: `told` has a bit for each possible language.

    `terms` has the count of each term, in order, with `IN_LOWER_CASE` if it applies. `length` counts all.
    """

    told: int
    read: int
    length: int
    terms: dict[str, int]


class IndexEntry(NamedTuple):
    """A text as the index stores it, said at `at` in microseconds UTC.

    `flags` has the flags of the row; the words of the text decide the others. A `HIDDEN` text is not found
    until unhidden. `said` is equal for texts with the same content. `ids` are all ids of the text; `spoken`
    is the id of the capture with the text, by default `id`. `wording` is 0 for the canonical text, and n for
    the nth of the wordings right behind it. `ages_from` is None for a text that does not age, `confidence` 1
    without contrary evidence. `kind` and `id` order equals.
    """

    text: str
    session: str | None
    speaker: str
    at: int
    kind: str
    id: str
    flags: int
    said: int
    ids: tuple[str, ...] = ()
    spoken: str = ""
    origin: str = ""
    wording: int = 0
    ages_from: int | None = None
    confidence: float = 1


class RowGuard(NamedTuple):
    """The key of a row, and the event behind it, by generation and offset."""

    key: int
    generation: int
    offset: int


@lru_cache(maxsize=8_192)
def number_of(text: str) -> int:
    """Return 64 bits of blake2b of a text, the number of terms, sessions and keys."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@kept
def told_of(reading: Reading) -> int:
    """Return the languages that a text may be in, a bit each in the order of `TOLD_LANGUAGES`."""
    return sum(1 << TOLD_LANGUAGES.index(language) for language in reading.languages)


def language_read(told: int, usual: int) -> int:
    """Return the language of tokenizing: the usual language if the text allows it, else the first allowed."""
    if not told or told >> usual & 1:
        return usual
    return (told & -told).bit_length() - 1


def usual_language(sure: Iterable[int]) -> int:
    """Return the language of most texts in a single language, by their counts; English without any."""
    counts = list(sure)
    if not any(counts):
        return TOLD_LANGUAGES.index(ENGLISH)
    return min(range(len(counts)), key=lambda number: (-counts[number], TOLD_LANGUAGES[number]))


@lru_cache(MOST_REMEMBERED)
def take(reading: Reading, usual: int) -> TextTokens:
    """Return the tokens of a text: its terms, and each emoji.

    `usual` is the number of the language of a text that may be in several.
    """
    told = told_of(reading)
    language = language_read(told, usual)
    raw = frozenset(_RAW_WORD.findall(reading.text))
    pairs = reading.worded_terms(TOLD_LANGUAGES[language])
    pairs = [*pairs, *((sign, sign) for sign in signs(reading.text))]
    counts = dict(Counter([term for _, term in pairs]))
    if len(pairs) > MOST_COUNT:
        counts = {term: min(count, MOST_COUNT) for term, count in counts.items()}
    for term in dict.fromkeys([term for word, term in pairs if word in raw]):
        counts[term] |= IN_LOWER_CASE
    return TextTokens(told, language, len(pairs), counts)


def flags_of(entry: IndexEntry) -> int:
    """Return the flags of a text, by its row and its words."""
    reading = read(entry.text)
    is_turn, ends_asking = bool(entry.flags & TURN), entry.text.rstrip().endswith("?")
    may_only_ask = is_turn and (ends_asking or len(entry.text) <= SHORT_CHARS)
    flags = (
        entry.flags
        | ENDS_ASKING * ends_asking
        | ASKS * ("?" in entry.text)
        | EMPTY_WORDS * (is_turn and is_nod(reading))
        | ONLY_ASKS * (may_only_ask and only_asks(reading))
    )
    return flags | sum(flag for flag, is_held in zip(HOLDS, held(reading), strict=True) if is_held)


def id_numbers(id: str) -> tuple[int, int]:
    """Return two numbers in the order of ids: the 128 bits of a UUID, else the first 16 bytes of a text."""
    bare = id.replace("-", "")
    if len(id) == 36 and len(bare) == 32:
        try:
            return int(bare[:16], 16), int(bare[16:], 16)
        except ValueError:
            pass
    data = id.encode("utf-8", "surrogatepass")[:16].ljust(16, b"\0")
    return int.from_bytes(data[:8], "big"), int.from_bytes(data[8:], "big")
