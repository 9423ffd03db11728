"""Standing instructions: sentences of a person for all later sessions, found by explicit cues.

An English sentence is read at each start of a clause. A general order, a convention of "we" or "this repo",
or a statement about kinds of things ("commit messages must …") instructs. Other languages are read by their
words for always, never and from now on. A sentence that points at the work at hand, reports, supposes, asks,
or specifies the program being written instructs nothing, whatever else is in it. `own_words` decides whose
words a text has.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import cues, phrases, word_list
from memtape.state.text.normal import normal_text
from memtape.state.text.orders import is_order, orders_of
from memtape.state.text.own_words import MOST_CHARS, asks, is_own, unquoted
from memtape.state.text.reading import HIDDEN, Reading, has_foreign_letter, kept, words_in

MOST_WORDS = 32_768
"""Words in the cache of whether they may instruct, and sentences in that of whether they do."""
MOST_DOUBTED = 12  # A text with more is a document; its first sentences are asked about.

_CUES = cues("instructions")
_SINGLE_QUOTED = lazy(r"(?<!\w)'[^']{3,}'(?!\w)")

_ABROAD = tuple(vars(cues("instructions_abroad")).values())

# --- Words of any form; most texts have none, and are read no further ---

_ALONE = word_list("words of an instruction")
_NEXT_TO = frozenset(phrases("pairs of an instruction"))
_WHEN, _ANY = frozenset({"when", "before", "after"}), frozenset({"a", "an", "any", "new"})
_WORDS_ABROAD = word_list("words of an instruction abroad")


def may_instruct(text: str, words: Sequence[str]) -> bool:
    """Return whether a text has the words of a standing instruction; `words` are those of the text."""
    return (
        has_foreign_letter(text)
        or any(map(_is_cue, words))
        or not _NEXT_TO.isdisjoint(pairwise(words))
        or not (_WHEN.isdisjoint(words) or _ANY.isdisjoint(words))
    )


@lru_cache(MOST_WORDS)
def _is_cue(word: str) -> bool:
    return word in _ALONE or word in _WORDS_ABROAD or _CUES.names_kind.fullmatch(word) is not None


class Heard(msgspec.Struct, frozen=True, array_like=True):
    """The instructions in a text: standing sentences, orders about memory, and doubtful sentences.

    `doubted` are in force only if a person says so, since they may be pasted.
    """

    standing: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()

    @property
    def instructs(self) -> bool:
        """Whether any of the text certainly instructs."""
        return bool(self.standing or self.orders)


NOTHING_HEARD = Heard()


@kept
def heard_in(reading: Reading) -> Heard:
    """Return the instructions in a text; only words of the sender's own instruct for certain.

    A rule about "it" or "that" includes the sentence before, or is none without such a sentence, unless the
    text behind a colon explains them.
    """
    standing = _standing_in(reading) if may_instruct(reading.text, reading.words) else ()
    orders = orders_of(reading)
    if not (standing or orders):
        return NOTHING_HEARD
    return Heard(standing, orders) if is_own(reading) else Heard(doubted=standing[:MOST_DOUBTED])


def is_for_all_projects(sentence: str) -> bool:
    """Return whether an instructing sentence says that it holds in all projects."""
    return _CUES.is_everywhere.search(sentence.replace("’", "'")) is not None


def same_instruction(reading: Reading) -> str:
    """Return a form of an instruction, equal for its repetitions."""
    return normal_text(reading.text).strip(" .!。！").casefold()


def _standing_in(reading: Reading) -> tuple[str, ...]:
    found, before = list[str](), None
    for sentence in reading.shown:
        if sets_standing(sentence.said):
            leans = cues("statements").leans_on.search(sentence.said)
            if leans is None or ":" in sentence.said[leans.end() :]:
                found.append(sentence.said)
            elif before is not None and not is_order(unquoted(before.said)):
                both = reading.unblocked[before.start : sentence.end]
                found = [it for it in found if it != before.said] + [both] * (HIDDEN not in both)
        before = sentence
    return tuple(found)


def sets_standing(sentence: str) -> bool:
    """Return whether a sentence alone sets a standing instruction."""
    said = _SINGLE_QUOTED.sub("QUOTED", unquoted(sentence))
    return len(said) <= MOST_CHARS and may_instruct(said, words_in(said)) and _is_standing(said)


@lru_cache(MOST_WORDS)
def _is_standing(said: str) -> bool:
    """Return whether a sentence has a form of an instruction; asked for its statement, and for its text."""
    has_form = _has_form(said) or _has_form_abroad(said)
    return has_form and not (asks(said) or is_order(said) or _CUES.is_none.search(said))


def _has_form_abroad(said: str) -> bool:
    is_plain = said.isascii() and _WORDS_ABROAD.isdisjoint(words_in(said))
    return not is_plain and any(form.search(said) for form in _ABROAD)


def _has_form(said: str) -> bool:
    """Return whether a clause of a sentence has the form of an instruction; the first may have more forms."""
    for place in (0, *(found.end() for found in _CUES.clause_break.finditer(said))):
        forms = _CUES.at_a_clause if place else _CUES.at_the_start
        lead = _CUES.lead.match(said, place)
        if any(forms.match(said, at) for at in dict.fromkeys((place, lead.end() if lead else place))):
            return True
    return _CUES.marked.search(said) is not None
