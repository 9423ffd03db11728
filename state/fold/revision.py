"""The test for a revision: two similar texts give two values of the same thing, or one denies the other.

The value stands behind the verb, and nothing else differs. So "Dock 2 is free" does not revise "Dock 1 is
free". Which value holds, and whether a thing may have both, is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memtape.schemas.patterns import lazy
from memtape.state.fold.near_verbatim import Tokens
from memtape.state.text.claims import MOST_VALUE_WORDS
from memtape.state.text.lexicon import word_set
from memtape.state.text.terms import IRREGULAR

_NUMBERED = lazy(r"(?:^|[\s(#$€£:])(?:v|[a-z]+-)?\d", re.IGNORECASE)
_OPENING = frozenset("on in at for by with to of what who whoever whatever which why how as per".split())
MOST_ASKED = 16
"""Similar texts compared at most, the most similar first."""
_LEAST_BEFORE = 3
"""So many words before a value at the end hold a verb, though no list has it."""
_NEGATIONS = word_set("not never no none nobody nothing neither nor cannot without hardly rarely")
_ROLES = word_set(
    """
    in on at inside within to into onto from for with via through by of about regarding concerning before after
    until till since during between among against without over under below above behind near per as like off out
    up down across except besides toward towards upon than along instead
    """
)
"""What says how a phrase belongs to the rest."""
_BEFORE_VALUES = word_set(
    """
    not never no neither nor cannot only even hardly barely rarely seldom all every each some any many few several
    most both half more less fewer another other either and or but must should may might can could would will
    shall ought approximately roughly around at-least at-most almost nearly still yet again already just also too
    ever enough least first last next same has have had was were did is are am be been being get gets do does =
    called named due
    """
)
"""Auxiliary verbs and what binds a value to them."""
_ATTRIBUTES = word_set(
    """
    port name owner version address size color deadline status price budget title email number url limit timeout
    location password branch region maintainer lead manager birthday capital wife husband son daughter brother
    sister mother father partner boss cost salary rate interval length capacity version default format language
    type
    """
)
"""What something has one of."""
_VERBS = word_set(
    """
    use need run work live keep store save send take make get give go come read write call open close start stop
    restart deploy build test check fix delete remove add create update change move set put ask answer reply
    respond tell say think know like love hate prefer want eat drink play drive walk travel fly sleep buy sell pay
    cost own manage maintain handle review approve reject sign join leave meet visit help support host serve
    listen depend require allow block log cache queue retry fail pass expire end begin finish complete wait rotate
    back merge push pull commit release ship plan schedule postpone cancel book use show display print return
    throw raise lower reduce increase connect link load fetch download upload install configure enable disable
    monitor watch track learn teach study speak report lead hold contain include belong stay remain become turn
    switch reset clear clean drop purge archive backup restore sync copy rename replace convert parse render
    compile lint format validate verify ensure avoid follow consume produce publish subscribe encrypt decrypt scan
    crash reboot measure notify
    """
)
"""Verbs common in texts of revisions."""


def _inflected(verb: str) -> Iterator[str]:
    """Yield the regular forms of a verb."""
    bare = verb.removesuffix("e")
    yield from (verb, verb + "s", verb + "es", bare + "ed", bare + "ing")
    yield from (verb + verb[-1] + "ed", verb + verb[-1] + "ing")
    if verb.endswith("y"):
        yield from (verb[:-1] + "ies", verb[:-1] + "ied")


_VERB_FORMS = frozenset(form for verb in _VERBS for form in _inflected(verb))


def gives_another_value(a: Tokens, b: Tokens) -> bool:
    """Return whether two texts, by their near-verbatim keys, give two values of the same thing.

    An affirmed text and its denial count as two values.
    """
    if _denies(a) is not _denies(b):
        return _affirmed(a) == _affirmed(b)
    one, other = list(a), list(b)
    before = words_alike(one, other)
    after = min(words_alike(one[::-1], other[::-1]), min(len(one), len(other)) - before)
    values = one[before : len(one) - after], other[before : len(other) - after]
    if not before or not all(0 < len(value) <= MOST_VALUE_WORDS for value in values):
        return False
    if any(value[0] in _ROLES or not _NEGATIONS.isdisjoint(value) for value in values):
        return False
    if frozenset(values[0]) <= frozenset(values[1]) or frozenset(values[1]) <= frozenset(values[0]):
        return False  # One only says more.
    if not _are_of_one_kind(*(" ".join(value) for value in values)):
        return False
    told = any(map(_is_verb, one[:before])) or one[before - 1] in _ATTRIBUTES
    behind = one[len(one) - after :] if after else []
    return (told or (not behind and before >= _LEAST_BEFORE)) and not any(map(_is_finite, behind))


def words_alike(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the number of equal words at the beginning of two rows, whatever their case."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((n for n, (one, other) in pairs if one.lower() != other.lower()), min(len(a), len(b)))


def _denies(key: Tokens) -> bool:
    return not _NEGATIONS.isdisjoint(key)


def _affirmed(key: Tokens) -> list[str]:
    """Return the words of a text without its negation."""
    said = ("can" if token == "cannot" else token for token in key)
    return [token for token in said if token not in _NEGATIONS and token not in ("do", "does")]


def _is_verb(token: str) -> bool:
    return token in _BEFORE_VALUES or IRREGULAR.get(token, token) in _VERB_FORMS


def _is_finite(token: str) -> bool:
    """Return whether a word is a finite verb, with its subject before it."""
    return token in _BEFORE_VALUES or (token.endswith("s") and _is_verb(token))


def _are_of_one_kind(older: str, newer: str) -> bool:
    """Return whether two values may fill one slot: both or none have a number, and the same preposition."""
    openings, numbered = [], []
    for value in (older, newer):
        first = value.split()[0].lower()
        openings.append(first if first in _OPENING else "")
        numbered.append(_NUMBERED.search(value) is not None)
    return numbered[0] == numbered[1] and openings[0] == openings[1]
