"""How much of a text is new: the share of its rare terms that no earlier text has.

Talk comes back to what was said before, with thanks, praise and questions. The text that brings a thing up
answers more questions about it than the texts that come back to it.
"""

from __future__ import annotations

import numpy as np

from memtape.state.index.parts import Floats, Ints
from memtape.state.index.segments import Array, Segment
from memtape.state.index.sorted_values import numbered, stands
from memtape.state.index.texts import Texts

RARE_TEXTS = 32
"""A term in more texts than that is not rare: so few texts of a term are read for a question."""
NEVER = np.iinfo(np.int64).max


def newness(texts: Texts, places: Ints) -> Floats:
    """Return the share of rare terms that are new, from 0 to 1, in each of some texts, given ascending.

    A term is new in a text if no shown text of an earlier time has the term.
    """
    pairs = list[tuple[Ints, Array]]()
    for part, start, end in zip(texts.parts, texts.starts, texts.starts[1:], strict=False):
        rows, terms = _terms_of(part.segment, places[(places >= start) & (places < end)] - start)
        pairs.append((rows + start, terms))
    if not any(len(rows) for rows, _ in pairs):
        return np.zeros(len(places))
    unique, term = numbered(np.concatenate([terms for _, terms in pairs]))
    owners = np.searchsorted(places, np.concatenate([rows for rows, _ in pairs]))
    sized = zip(texts.parts, texts.shown_sizes, strict=True)
    is_rare = np.sum([_counts(part.segment, sizes, unique) for part, sizes in sized], axis=0) <= RARE_TEXTS
    since = np.full(len(unique), NEVER)
    for part in texts.parts:
        rows, owner = _rows_of(part.segment, unique, is_rare)
        shown = part.shown[rows]
        np.minimum.at(since, owner[shown], part.segment.at[rows[shown]])
    rare = is_rare[term]
    new = rare & (texts.column("at", places)[owners] <= since[term])
    whole = np.maximum(1, np.bincount(owners[rare], minlength=len(places)))
    share: Floats = np.bincount(owners[new], minlength=len(places)) / whole
    return share


def _terms_of(segment: Segment, rows: Ints) -> tuple[Ints, Array]:
    """Return pairs of some rows and their terms, by number: both in one order."""
    asked = np.zeros(segment.size, np.bool_)
    asked[rows] = True
    held = np.flatnonzero(asked.take(segment.rows)) if len(rows) else rows
    terms = segment.terms[np.searchsorted(segment.starts, held, "right") - 1]
    return segment.rows[held].astype(np.int64), terms


def _stands(segment: Segment, terms: Array) -> tuple[Ints, Ints]:
    """Return the numbers of the terms in a segment, among given terms, and their places in the segment."""
    here = np.flatnonzero(stands(segment.terms, terms))
    return here, np.searchsorted(segment.terms, terms[here])


def _counts(segment: Segment, sizes: Array, terms: Array) -> Ints:
    """Return in how many texts each of some terms is, by the `sizes` of the terms of a segment."""
    counts = np.zeros(len(terms), np.int64)
    here, places = _stands(segment, terms)
    counts[here] = sizes[places]
    return counts


def _rows_of(segment: Segment, terms: Array, chosen: Array) -> tuple[Ints, Ints]:
    """Return the rows of the chosen ones of some terms, and the number of the term of each."""
    here, places = _stands(segment, terms)
    here, places = here[chosen[here]], places[chosen[here]]
    begins = segment.starts[places].astype(np.int64)
    sizes = segment.starts[places + 1].astype(np.int64) - begins
    ends = np.cumsum(sizes)
    spots = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begins - (ends - sizes), sizes)
    return segment.rows[spots].astype(np.int64), np.repeat(here, sizes)
