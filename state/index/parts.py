"""A part of a scope's texts: a segment with a mask of shown texts. Also makes a segment of loose texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.state.index.entries import ARCHIVED, HIDDEN, SUMMARY, IndexEntry, take, told_of, usual_language
from memtape.state.index.segments import Flags, IndexDocument, Segment, segment_of
from memtape.state.text.reading import read
from memtape.state.text.terms import TOLD_LANGUAGES

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Choice(NamedTuple):
    """The texts searched: current ones, `archived` ones too, or `summaries` alone.

    Texts up to the time `past`, in microseconds, are archived with their project as a whole.
    """

    archived: bool = False
    summaries: bool = False
    past: int | None = None

    def takes(self, flags: Any, at: Any) -> Any:
        """Return a mask of the searched texts, by flags and times; hidden texts are never searched."""
        apart = HIDDEN | SUMMARY | (0 if self.archived or self.summaries else ARCHIVED)
        wanted = flags & apart == (SUMMARY if self.summaries else 0)
        return wanted & (at > self.past) if self.past is not None and apart & ARCHIVED else wanted


AT_HAND = Choice()  # The texts of an ordinary search.
EVERY_TEXT = Choice(archived=True)  # All that was said and is not hidden.
SUMMARIES = Choice(summaries=True)  # The summaries of aged texts.


class MaskedSegment(NamedTuple):
    """A segment, and a mask of the documents that a search shows."""

    segment: Segment
    shown: Flags


def shown_of(segment: Segment, living: Flags, choice: Choice = AT_HAND) -> Flags:
    """Return which documents of a segment are shown, where `living` has a flag for each row."""
    shown: Flags = living[: segment.size] & choice.takes(segment.flags, segment.at)
    return shown


def shown_sizes(part: MaskedSegment) -> NDArray[Any]:
    """Return in how many shown texts each term of a part is."""
    segment = part.segment
    if part.shown.all() or not len(segment.terms):
        return segment.sizes()
    return np.add.reduceat(part.shown[segment.rows], segment.starts[:-1], dtype=np.uint32)


def column_of(parts: Sequence[MaskedSegment], starts: Sequence[int], name: str, places: Ints) -> Any:
    """Return a column's values for texts at ascending places."""
    cuts = np.searchsorted(places, starts)
    taken = [
        getattr(part.segment, name)[places[cuts[n] : cuts[n + 1]] - starts[n]]
        for n, part in enumerate(parts)
        if cuts[n] < cuts[n + 1]
    ]
    if taken:
        return np.concatenate(taken) if len(taken) > 1 else taken[0]
    return getattr(parts[0].segment, name)[:0] if parts else np.zeros(0, np.int64)


def joined(arrays: Sequence[Any], dtype: Any) -> Any:
    """Concatenate arrays into an array of type `dtype`."""
    return np.concatenate(arrays).astype(dtype, copy=False) if arrays else np.zeros(0, dtype)


def languages_of(told: Sequence[int] | NDArray[Any]) -> list[int]:
    """Return for each language the number of texts in this language alone, as in `told_of`."""
    its = np.asarray(told, np.int64)
    sure = its[(its != 0) & (its & (its - 1) == 0)]
    languages = len(TOLD_LANGUAGES)
    counts: list[int] = np.bincount(sure, minlength=1 << languages)[1 << np.arange(languages)].tolist()
    return counts


def part_of(texts: Sequence[IndexEntry], usual: int | None = None, choice: Choice = AT_HAND) -> MaskedSegment:
    """Return texts not stored elsewhere as a part, in their order.

    `usual` is the language of texts that may be in several; by default derived from these.
    """
    readings = [read(entry.text) for entry in texts]
    if usual is None:
        usual = usual_language(languages_of(list(map(told_of, readings))))
    segment = segment_of(
        [IndexDocument(it, take(its, usual)) for it, its in zip(texts, readings, strict=True)]
    )
    return MaskedSegment(segment, choice.takes(segment.flags, segment.at))


MOST_KEPT_BYTES = 16_000_000  # Of a cache of terms: a common one takes 0.8 MB of 100,000 texts.


EVERY = slice(None)  # All texts: takes no memory where most have a score.


class TermRows(NamedTuple):
    """The texts of a term, its counts (uint8) or scores in each, and whether any has it in lower case."""

    rows: Any
    values: NDArray[Any]
    lower: bool = False

    @property
    def bytes(self) -> int:
        """How much memory these take, about."""
        return self.values.nbytes + (0 if self.rows is EVERY else self.rows.nbytes) + 100


class TermCache:
    """A cache by term of the last used ones, of about `MOST_KEPT_BYTES`.

    The cache holds no reference to its owner: a cycle of large arrays would outlive its last use.
    """

    def __init__(self) -> None:
        self._held: dict[str, TermRows] = {}
        self._bytes = 0

    def of(self, term: str, make: Callable[[str], TermRows]) -> TermRows:
        """Return the texts of a term, by `make` on a miss."""
        known = self._held.pop(term, None)
        if known is None:
            known = make(term)
            self._bytes += known.bytes
        self._held[term] = known
        while self._bytes > MOST_KEPT_BYTES and len(self._held) > 1:
            self._bytes -= self._held.pop(next(iter(self._held))).bytes
        return known
