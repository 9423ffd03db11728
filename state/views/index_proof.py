"""The content of a search index row by row, for comparison with the rows that it is made of.

Only content is compared: places, segments, order and addresses of rows are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from memtape.schemas.ids import digest_of
from memtape.schemas.rows import Guarded, LivingRow, TableName, VectorRow
from memtape.state.core.digests import RULES, digest, logical_row
from memtape.state.index.entries import number_of, usual_language
from memtape.state.index.parts import EVERY_TEXT, joined, languages_of, shown_of
from memtape.state.index.segments import COLUMNS, Flags, Segment, merged
from memtape.state.index.vectors import VectorSegment, merged_vectors
from memtape.state.views import indexed

ROWS_AT_ONCE = 5_000


def is_sound(segment: Segment) -> bool:
    """Return whether a segment's derived arrays match its own arrays."""
    again = merged([segment], [np.ones(len(segment.tables), np.bool_)])
    same = all(np.array_equal(own, other) for own, other in zip(segment, again, strict=True))
    return same and [number_of(term) for term in segment.term_list()] == segment.terms.tolist()


def usual_of(segments: Sequence[Segment], living: Sequence[Flags]) -> int:
    """Return the commonest language of the texts that are not hidden."""
    pairs = zip(segments, living, strict=True)
    told = [segment.told[shown_of(segment, alive, EVERY_TEXT)] for segment, alive in pairs]
    return usual_language(languages_of(joined(told, np.int64)))


def are_sound_vectors(segment: VectorSegment) -> bool:
    """Return whether a segment's derived arrays match its own vectors."""
    again = merged_vectors([segment], [np.ones(len(segment.keys), np.bool_)])
    return all(np.array_equal(own, other) for own, other in zip(segment, again, strict=True))


def content(segments: Sequence[Segment], living: Sequence[Flags]) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the table and key of every row that lives, with a digest of all that the index says of it."""
    for segment, alive in zip(segments, living, strict=True):
        yield from _content(segment, alive)


def vectors_content(
    embedder: str, segments: Sequence[tuple[VectorSegment, Flags]]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the table and the key of every vector of an embedder that lives, with its digest."""
    for segment, alive in segments:
        for row in np.flatnonzero(alive & (segment.squares > 0)).tolist():
            key, data = int(segment.keys[row]), segment.vectors[row].tobytes()
            yield ("vectors", f"{key:016x}:{embedder}"), digest_of(data)


def expected_content(rows: Sequence[tuple[TableName, LivingRow]]) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the expected `content` of an index of rows."""
    for _, row in rows:
        if isinstance(row, VectorRow):
            name = f"{indexed.vector_key(row):016x}:{row.embedder}"
            yield ("vectors", name), digest_of(row.vector)
    known = (*indexed.FOUND, *indexed.KEPT)
    kept = [(Guarded(table, row, 0, 0), 0) for table, row in rows if table in known]
    usual = usual_language(indexed.languages_of_rows(guarded.row for guarded, _ in kept))
    for start in range(0, len(kept), ROWS_AT_ONCE):
        segment = indexed.segment_of_rows(kept[start : start + ROWS_AT_ONCE], usual)
        yield from _content(segment, np.ones(len(segment.tables), np.bool_))


def index_leaf(number: int, expected: Mapping[str, Mapping[tuple[str, str], str]]) -> dict[str, str]:
    """Return the leaf of the state hash for the indexes of a partition's scopes, none if they are empty.

    Vectors are in the leaf of their own table, byte for byte.
    """
    found = ((name, *key, said) for name, its in expected.items() for key, said in its.items())
    digests = sorted(said for said in found if said[1] != "vectors")
    return {f"view/index/{number}@{RULES['index']}": digest(digests)} if digests else {}


def _content(segment: Segment, alive: Flags) -> Iterator[tuple[tuple[str, str], str]]:
    by_row = np.argsort(segment.rows, kind="stable")
    starts = np.searchsorted(segment.rows[by_row], np.arange(segment.size + 1))
    held = np.repeat(np.arange(len(segment.terms)), segment.sizes())[by_row]
    counts, terms, names = segment.counts[by_row], segment.term_list(), segment.speaker_names()
    called = [0] * len(segment.tables)
    for alias, row in zip(segment.aliases.tolist(), segment.alias_rows.tolist(), strict=True):
        called[row] ^= alias
    keys = segment.row_keys()
    for row in np.flatnonzero(alive).tolist():
        table = int(segment.tables[row])
        if table == indexed.GONE:
            continue
        said: list[object] = [int(keys[row]), called[row]]
        if row >= segment.size:
            said.append(logical_row(indexed.kept_at(segment, row)))
        else:
            part = slice(int(starts[row]), int(starts[row + 1]))
            held_terms = [terms[n] for n in held[part].tolist()]
            of_terms = sorted(zip(held_terms, counts[part].tolist(), strict=True))
            said += [int(getattr(segment, name)[row]) for name in COLUMNS]
            session = int(segment.session_keys[segment.sessions[row]])
            said += [segment.ids[row].tolist(), names[int(segment.speakers[row])], session, of_terms]
        # JSON has no place for numbers of more than 63 bits.
        plain = [str(value) if isinstance(value, int) and value >> 63 else value for value in said]
        number, name = row - segment.head_of(row), f"{int(keys[row]):016x}"
        name = f"{name} in wording {number}" if number else name
        yield (indexed.TABLE_NAMES[table], name), digest([plain])
