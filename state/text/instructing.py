"""English sentences that set a standing instruction, useful to a later session.

A sentence is read at each start of a clause. An order, a convention of "we" or "this repo", or a statement
about kinds of things ("commit messages", "migrations") sets an instruction if it is general. A sentence that
points at the work at hand, reports or recalls, specifies the program being written, asks, supposes or mocks
sets none, whatever else is in it. Speakers, and other languages (`polarity`), are handled elsewhere.
"""

from __future__ import annotations

import re

from memtape.schemas.patterns import lazy
from memtape.state.text.instructing_forms import ANYWHERE, AT_START, MARKED
from memtape.state.text.instructing_none import GENERAL, NONE, ONCE
from memtape.state.text.instructing_pieces import one_of
from memtape.state.text.instructing_words import CUES

_I = re.IGNORECASE
MOST_CHARS = 400
"""A longer sentence is something pasted."""
_LEAD = lazy(
    r"(?:(?:please|pls|plz|also|and|but|so|plus|ok(?:ay)?|oh|hey|hi|btw|by the way|fyi|note(?: that)?|reminder"
    r"|important|again|yes|yeah|yep|exactly|great|thanks|thank you|no(?=,)|nope|well|actually"
    r"|(?:one|another) (?:more )?thing|though"
    r"|general(?:ly)?|in general|as a (?:general )?rule(?: of thumb)?|by default|just|then|(?:as|like) i said|as always"
    r"|listen|look|sorry|ah|alright|right|cool|perfect|nice|good|for the record|for (?:the )?future(?: reference)?"
    r"|in (?:the )?future|next time|(?:can|could|would|will) you|you can|i(?: want| need|'d like| would like) you to"
    r"|i (?:already )?told you|i said|you know|heads up|because|since|seriously|(?:and )?remember(?: that| to|(?=[,:]))"
    r"|make sure(?: that| to)?|be sure to|ensure(?: that)?|try to|take care to|let's settle it)\b[\s,:;.!–—-]*)*",
    _I,
)
"""Words without content before a clause."""
_BREAK = lazy(r"[,;:–—(]\s+|\.{2,}\s*|\s-+\s|\s(?=(?:and|but|so|because|since|then)\s)", _I)

_SINGLE_QUOTED = lazy(r"(?<!\w)'[^']{3,}'(?!\w)")
_POLITE = lazy(
    r"^(?:(?:please|hey|hi|ok),?\s+)*(?:can|could|would|will) you\s+(?:please\s+)?(?:always|never|stop|from now on)\b",
    _I,
)
_AT_A_CLAUSE, _AT_THE_START, _IS_MARKED, _IS_NONE = (
    lazy(one_of(patterns), _I) for patterns in (ANYWHERE, (*ANYWHERE, *AT_START), MARKED, NONE)
)


def may_instruct(lowered: str) -> bool:
    """Return whether a text in small letters has a word without which it sets nothing in English."""
    return any(map(lowered.__contains__, CUES))


def is_polite(said: str) -> bool:
    """Return whether a sentence is a polite request: "Could you please always answer in German?"."""
    return _POLITE.search(said) is not None


def sets_standing(said: str) -> bool:
    """Return whether an English sentence, with `QUOTED` for quotations, sets a standing instruction."""
    if len(said) > MOST_CHARS or not may_instruct(said.lower()):
        return False
    said = _SINGLE_QUOTED.sub("QUOTED", said)
    if not _seems_standing(said) or _IS_NONE.search(said):
        return False
    return GENERAL.search(said) is not None or ONCE.search(said) is None


def _seems_standing(said: str) -> bool:
    """Return whether a clause of a sentence has the form of an instruction; the first may have more forms."""
    if any(_AT_THE_START.match(said, place) for place in _openings(said, 0)):
        return True
    for found in _BREAK.finditer(said):
        if any(_AT_A_CLAUSE.match(said, place) for place in _openings(said, found.end())):
            return True
    return _IS_MARKED.search(said) is not None


def _openings(said: str, place: int) -> tuple[int, ...]:
    """Return the starts of a clause, with and without its words without content."""
    found = _LEAD.match(said, place)
    return (place,) if found is None or found.end() == place else (place, found.end())
