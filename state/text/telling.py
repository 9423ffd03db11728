"""What an English text tells, clause by clause: what it claims and states, what has ended, and what it says of change.

The words are in `slots`. Whether one text replaces another is not here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text import slots as words
from memtape.state.text.abroad import LANGUAGES
from memtape.state.text.claims import Claim, Match, claims_of, subject_of
from memtape.state.text.ending import Gone, ended_in
from memtape.state.text.stating import stated
from memtape.state.text.terms import ENGLISH, language_of

MOST_CHARS = 300
"""A longer text tells more than one thing."""
_I = re.IGNORECASE
_MOVED, _NOW, _ENDED, _DENIES = (lazy(it, _I) for it in (words.MOVED, words.NOW, words.ENDED, words.DENIES))
_SUPPOSES, _PAST, _ADDS = (lazy(it, _I) for it in (words.SUPPOSES, words.PAST, words.ADDS))
_MANY, _MANY_IF_NOW = lazy(words.MANY, _I), lazy(words.MANY_IF_NOW, _I)
_CLAUSE = lazy(
    r"(?<!\b(?:Dr|Mr|Ms|St|Fr|Sr|Jr|Nr|No|vs))(?<!\bMrs)(?<!\bProf)(?<!\bp)(?<=[\w)'\"”`%])[.!?](?=\s|\Z)|;\s"
    r"|\s[—–]\s|\n|,?\s+\b(?:but|which|because|since (?=the|it|we|they|i\b)|so that"
    r"|whereas|while|although|though)\b|,\s+(?=(?:and|so|it|we|they|he|she|i|due|booked|payable|where|who|when|lo)\b)"
    r"|\sand\s+(?=(?:it|we|they|he|she|i|is|are|has|needs?|uses?|must|should|then)\b)",
    _I,
)
_SOURCE = lazy(
    r"^(?:[\w .-]{0,30}\b(?:notes?|list|book|log|minutes|memo|adr|mails?|e-mail|wiki|ticket|handbook|readme|changelog"
    r"|imprint|page|poster|calendar)\b(?:,? (?:p\.|page|no\.?|#|of|from|\w+ \d+|\d+)[^:]{0,12})?:\s+|adr-?\d+:\s+"
    rf"|(?:(?:another|one more|an? (?:second|third|new|last)|new|final|last)\s+)?(?:{words.CHANGES}|news|reminder"
    r"|notice|heads[- ]up):\s+"
    r"|[\w ]{2,40}? (?:said|says|told me|told us|wrote|mentioned)(?: that)?\s+|according to [\w ]{2,40},\s+)",
    _I,
)
"""Who or what says so; the statement stands behind it."""
_PLAIN = lazy(r"\b(?:is|are|the|my|our|has|with|now)\b", _I)
_BESIDES = lazy(r"(?<=\w),\s+(?:please\s+)?(?:not?|never|nothing|neither)\b.*\Z", _I)
"""What is denied beside what a clause says: \"10 nodes, not 25\"."""
_OPENS = lazy(r"(?:for|in|on|at|with|as) \S+(?: \S+)?\Z", _I)
"""An opening that says of what the next clause is."""


_OWN_CLAUSE = lazy(
    r"^(?P<first>[^,]+),\s+(?P<rest>(?!(?:and|or|who|which)\b)[\w'.-]+(?: (?!(?:and|or)\b)[\w'.-]+){0,3}"
    r" (?:is|are|has|have|will|takes?|took|runs?|goes|go|does|do|happens?|lives?|works?|uses?|comes?|sits?|handles?"
    r"|serves?|now)\s.+)\Z",
    _I,
)
"""A comma behind which stands a subject with a verb of its own."""


class Clause(NamedTuple):
    """A clause: what it claims, its terms, those that are names or numbers, and what it does.

    `ended` has the terms of each thing that
    ended. `changed` says that something was changed, and `now` that it holds now. `many` is of what may hold beside
    others, and `many_now` of what may unless it was changed.
    """

    text: str
    claims: tuple[Claim, ...]
    stated: tuple[Claim, ...]
    subject: frozenset[str]
    names: frozenset[str]
    ended: tuple[frozenset[str], ...]
    gone: tuple[Gone, ...]
    changed: bool
    now: bool
    denies: bool
    past: bool
    many: bool
    many_now: bool


class Told(NamedTuple):
    """What a text tells: its clauses, whether it only supposes, and whether it adds to what others said."""

    clauses: tuple[Clause, ...]
    supposes: bool
    adds: bool


@lru_cache(maxsize=8_192)
def told(text: str) -> Told:
    """Return what a text tells; nothing of one that is too long, or not in English."""
    if len(text) > MOST_CHARS or not _is_english(text):
        return Told((), True, True)
    text = _SOURCE.sub("", text.replace("\u2019", "'"))
    pieces = [piece.strip(" ,*_-") for part in _CLAUSE.split(text) for piece in _apart(part)]
    if len(pieces) > 1 and _OPENS.match(pieces[0]):
        pieces[:2] = [f"{pieces[0]}, {pieces[1]}"]
    return Told(
        tuple(_clause(piece) for piece in pieces if piece), bool(_SUPPOSES.search(text)), bool(_ADDS.search(text))
    )


def _apart(text: str) -> tuple[str, ...]:
    """Return what a clause says ended, and what it tells behind a comma of something else, each by itself."""
    found = _OWN_CLAUSE.match(text)
    if found is None or not any(any(ended_in(part)) for part in found.groups()):
        return (text,)
    return found["first"], found["rest"]


def _is_english(text: str) -> bool:
    """Whether a text is English, or so short that another language was guessed from a name."""
    language = language_of(text)
    return language == ENGLISH or (language not in LANGUAGES and text.isascii() and _PLAIN.search(text) is not None)


def _clause(text: str) -> Clause:
    subject, names = subject_of(text)
    said = _BESIDES.sub("", text) or text
    return Clause(
        text=text,
        claims=tuple(dict.fromkeys(claims_of(said))),
        stated=tuple(dict.fromkeys(stated(said))),
        subject=subject,
        names=names,
        ended=tuple(
            subject_of(_ended_in(text, found))[0]
            for found in _ENDED.finditer(text)
            if not _DENIES.search(text, max(0, found.start() - 12), found.start())
        ),
        gone=tuple(dict.fromkeys(ended_in(text))),
        changed=bool(_MOVED.search(text)),
        now=bool(_NOW.search(text)),
        denies=bool(_DENIES.search(said)),
        past=bool(_PAST.search(text)),
        many=bool(_MANY.search(text)),
        many_now=bool(_MANY_IF_NOW.search(text)),
    )


def _ended_in(text: str, cue: Match) -> str:
    """Return the part of a clause that names what ended: behind the cue, before it where it ends or is passive."""
    behind = text[cue.end() :]
    if not behind.strip(" .") or re.match(r"\s*(?:from|out|in|on|by|since|as|this|last|to)\b", behind):
        return f"{text[: cue.start()]} {cue[0]}"
    return f"{cue[0]} " + re.split(r",|\band\b", behind)[0]
