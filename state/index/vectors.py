"""Vectors of the search index: segments, their construction and merging, and the vectors of a scope.

Each vector has a sketch, a bit for each component, by which a question finds the vectors that may be near.
Nothing here reads a file, and nothing is ranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.state.index.parts import Floats, Ints
from memtape.state.index.segments import Flags
from memtape.state.index.sorted_values import stands

Array = NDArray[Any]
Vectors = NDArray[np.int16]
"""Quantised vectors (`state/vectors/recorded.py`), one a row; of zeros where there is none."""

WORD_BITS = 64
MOST_ROWS = 65_536
"""No merge makes a segment of more vectors: of 384 dimensions these take 50 megabytes."""


class VectorSegment(NamedTuple):
    """Vectors of N texts under one embedder of D dimensions, in the order of their keys, none twice.

    `keys` (N) are the numbers of the ids of the texts' captures; `generations` and `offsets` (N) are guards.
    `vectors` (N, D) are quantised, zeros for removed ones, `squares` (N) their sums of squares. `sketches` (D
    / 64, N) have a bit for each component greater than 0.
    """

    keys: Annotated[Array, "<u8"]
    generations: Annotated[Array, "<i8"]
    offsets: Annotated[Array, "<i8"]
    vectors: Annotated[Array, "<i2"]
    squares: Annotated[Array, "<u4"]
    sketches: Annotated[Array, "<u8"]

    @property
    def by_key(self) -> Array:
        """The row of each key."""
        return np.arange(len(self.keys))


def vector_segment_of(rows: Sequence[tuple[int, int, int, bytes]], dimensions: int) -> VectorSegment:
    """Return a segment of (key, generation, offset, quantised vector), each key once; no bytes if removed."""
    rows = sorted(rows, key=lambda row: row[0])
    vectors = np.zeros((len(rows), dimensions), "<i2")
    for place, (_, _, _, data) in enumerate(rows):
        if data:
            vectors[place] = np.frombuffer(data, "<i2")
    keys, generations, offsets = ([row[n] for row in rows] for n in range(3))
    return _finished(np.array(keys, "<u8"), np.array(generations, "<i8"), np.array(offsets, "<i8"), vectors)


def merged_vectors(segments: Sequence[VectorSegment], living: Sequence[Flags]) -> VectorSegment:
    """Return one segment of the living rows of several."""
    keys, generations, offsets, vectors = (
        np.concatenate([getattr(part, name)[alive] for part, alive in zip(segments, living, strict=True)])
        for name in ("keys", "generations", "offsets", "vectors")
    )
    order = np.argsort(keys, kind="stable")
    return _finished(keys[order], generations[order], offsets[order], vectors[order])


def _finished(keys: Array, generations: Array, offsets: Array, vectors: Array) -> VectorSegment:
    squares = np.square(vectors, dtype=np.int32).sum(axis=1, dtype=np.int64).astype("<u4")
    return VectorSegment(keys, generations, offsets, vectors, squares, sketches_of(vectors))


def sketches_of(vectors: Array) -> Array:
    """Return a bit for each component greater than 0, in words of 64 bits: shape (D / 64, N).

    A sketch depends on its vector alone, so that sketches of all segments can be compared.
    """
    bits = np.packbits(vectors > 0, axis=1)
    words = -(-vectors.shape[1] // WORD_BITS)
    padded = np.zeros((len(vectors), words * 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return np.ascontiguousarray(padded.view("<u8").T)


class TextVectors:
    """The vectors of one scope's texts. Dots of quantised vectors are exact in float32, in any order of sums.

    `rows` has for each text the number of its vector, counted through the segments, and -1 for none.
    """

    def __init__(self, segments: Sequence[VectorSegment], rows: Ints) -> None:
        self._segments = segments
        self._starts = np.cumsum([0, *(len(part.keys) for part in segments)])
        self._rows = rows
        self.known: Flags = rows >= 0
        self.dimensions = segments[0].vectors.shape[1] if segments else 0

    def taken(self, places: Ints) -> Vectors:
        """Return the vectors of some texts, a row each, zeros for none."""
        taken = np.zeros((len(places), self.dimensions), np.int16)
        rows = self._rows[places]
        for start, part in zip(self._starts.tolist(), self._segments, strict=False):
            here = np.flatnonzero((rows >= start) & (rows < start + len(part.keys)))
            taken[here] = part.vectors[rows[here] - start]
        return taken

    def lengths(self, places: Ints) -> Floats:
        """Return the lengths of the vectors of some texts, 1 for none."""
        lengths: Floats = np.sqrt(self._squares[self._rows[places]].astype(np.float64))
        return lengths

    def cosines(self, places: Ints) -> Floats:
        """Return the cosines between some texts, shape (places, places), 0 for a text without a vector."""
        taken, lengths = self.taken(places).astype(np.float32), self.lengths(places)
        cosines: Floats = (taken @ taken.T) / np.outer(lengths, lengths)
        return cosines

    @cached_property
    def _squares(self) -> Array:
        """The sum of squares of each vector, and last that of none."""
        return np.concatenate([*(part.squares for part in self._segments), np.ones(1, "<u4")])

    def distances(self, query: Vectors) -> NDArray[np.uint16]:
        """Return in how many bits the sketch of each text differs from that of a question."""
        every = np.zeros(int(self._starts[-1]) + 1, np.uint16)
        asked = sketches_of(query[np.newaxis])[:, 0]
        for start, part in zip(self._starts.tolist(), self._segments, strict=False):
            differing = every[start : start + len(part.keys)]
            for word, own in zip(part.sketches, asked, strict=True):
                differing += np.bitwise_count(word ^ own)
        return every[self._rows]

    def shown(self, shown: Flags) -> TextVectors:
        """Return the same without the vectors of texts that are not shown."""
        return TextVectors(self._segments, np.where(shown, self._rows, -1))


def text_vectors(matrix: Vectors) -> TextVectors:
    """Return the vectors of texts that are given in the texts' order."""
    numbers = np.arange(len(matrix))
    segment = _finished(numbers.astype("<u8"), numbers, numbers, np.ascontiguousarray(matrix, "<i2"))
    return TextVectors([segment], np.where(segment.squares > 0, numbers, -1))


def joined_rows(spoken: Array, segments: Sequence[tuple[VectorSegment, Flags]]) -> Ints:
    """Return for each capture, by the number of its id, the number of its live vector, -1 for none."""
    rows, start = np.full(len(spoken), -1), 0
    for part, alive in segments:
        living = np.flatnonzero(alive & (part.squares > 0))
        known = stands(part.keys[living], spoken)
        rows[known] = start + living[np.searchsorted(part.keys[living], spoken[known])]
        start += len(part.keys)
    return rows
