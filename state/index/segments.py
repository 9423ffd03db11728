"""A segment of the search index: immutable arrays over texts and rows, their construction and merging.

A segment has `documents`, which are searched, and after them `others`, rows that are only stored. Both are in
order of arrival: row 0 to D are documents. The row of a document stands in a table, at its address there. The
further wordings of a document are documents too: they are right behind it under its key, and live and die
with it. Nothing here reads a file; the caller knows the meaning of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, NamedTuple, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

from memtape.state.index.entries import (
    FULL_CONFIDENCE,
    KINDS,
    ORIGINS,
    TURN,
    IndexEntry,
    RowGuard,
    TextTokens,
    flags_of,
    id_numbers,
    number_of,
)
from memtape.state.index.sorted_values import distinct, firsts, numbered, run_of

Array = NDArray[Any]
Flags = NDArray[np.bool_]
NO_SESSION = 0  # The number of no session, which no session has but by a chance of 2^-64.


class Segment(NamedTuple):
    """The arrays of a segment with D documents, R rows, T terms, P postings and S sessions; blobs are bytes.

    `terms` (T, ascending) and `starts` (T + 1) lead to `rows` (P, ascending within a term) and `counts` (as
    in `TextTokens`); `term_text` has the terms in UTF-8 in that order, each up to `term_ends`. Of documents,
    `sessions` has the place of its session in `session_keys` (S, ascending), `speakers` that of its speaker
    in the JSON list `names`, `spoken` the number of the id of the capture with the text, and `wordings` the
    distance to the document that it is a further wording of, 0 for none. `order` has the documents by
    session, turns first, then by time and id. `aliases` (ascending) are numbers of ids that name documents,
    `alias_rows` the document of each. Each row has `generations`, `offsets` and `tables`; `keys` are the
    rows' keys, ascending, and `by_key` the row of each. `addresses` (D) are the places of the documents' rows
    in their tables. The record of row r, which is no document, ends at `record_ends[r - D]`.
    """

    terms: Annotated[Array, "<u8"]
    starts: Annotated[Array, "<u4"]
    term_text: Annotated[Array, "|u1"]
    term_ends: Annotated[Array, "<u4"]
    rows: Annotated[Array, "<u4"]
    counts: Annotated[Array, "|u1"]
    ids: Annotated[Array, "<u8"]
    kinds: Annotated[Array, "|u1"]
    origins: Annotated[Array, "|u1"]
    flags: Annotated[Array, "<u4"]
    told: Annotated[Array, "<u2"]
    read: Annotated[Array, "|u1"]
    speakers: Annotated[Array, "<u4"]
    names: Annotated[Array, "|u1"]
    sessions: Annotated[Array, "<u4"]
    session_keys: Annotated[Array, "<u8"]
    at: Annotated[Array, "<i8"]
    ages_from: Annotated[Array, "<i8"]
    confidences: Annotated[Array, "<u2"]
    lengths: Annotated[Array, "<u4"]
    chars: Annotated[Array, "<u4"]
    said: Annotated[Array, "<u8"]
    spoken: Annotated[Array, "<u8"]
    wordings: Annotated[Array, "<u4"]
    order: Annotated[Array, "<u4"]
    keys: Annotated[Array, "<u8"]
    generations: Annotated[Array, "<i8"]
    offsets: Annotated[Array, "<i8"]
    tables: Annotated[Array, "|u1"]
    by_key: Annotated[Array, "<u4"]
    aliases: Annotated[Array, "<u8"]
    alias_rows: Annotated[Array, "<u4"]
    addresses: Annotated[Array, "<u4"]
    records: Annotated[Array, "|u1"]
    record_ends: Annotated[Array, "<u8"]

    @property
    def size(self) -> int:
        """How many documents there are."""
        return len(self.at)

    def record(self, row: int) -> bytes:
        """Return the record of a row that is no document."""
        place = row - self.size
        start = int(self.record_ends[place - 1]) if place else 0
        return self.records[start : int(self.record_ends[place])].tobytes()

    def postings(self, term: int) -> tuple[Array, Array]:
        """Return the rows that hold a term, by its number, ascending, and the counts of each."""
        part = run_of(self.terms, term)
        part = slice(int(self.starts[part.start]), int(self.starts[part.stop]))
        return self.rows[part], self.counts[part]

    def sizes(self) -> Array:
        """Return how many documents hold each term."""
        starts = self.starts.astype(np.int64)
        return starts[1:] - starts[:-1]

    def head_of(self, row: int) -> int:
        """Return the document of a further wording's row, or the row itself."""
        return row - int(self.wordings[row]) if row < self.size else row

    def with_wordings(self, row: int) -> range:
        """Return the places of a document and of the further wordings stored right behind it."""
        end = row + 1
        while end < self.size and int(self.wordings[end]) == end - row:
            end += 1
        return range(row, end)

    def rows_of(self, key: int) -> Array:
        """Return the rows under a key, living or not."""
        return self.by_key[run_of(self.keys, key)]

    def called(self, id: str) -> Array:
        """Return the documents that can be called by an id, living or not."""
        return self.alias_rows[run_of(self.aliases, number_of(id))]

    def row_keys(self) -> Array:
        """Return the key of each row."""
        keys = np.empty_like(self.keys)
        keys[self.by_key] = self.keys
        return keys

    def speaker_names(self) -> list[str]:
        """Return the names of all speakers."""
        return msgspec.json.decode(self.names.tobytes(), type=list[str])

    def term_list(self) -> list[str]:
        """Return the terms as text, in the order of their numbers."""
        ends = [0, *self.term_ends.tolist()]
        text = self.term_text.tobytes()
        return [text[start : end - 1].decode("utf-8", "surrogatepass") for start, end in pairwise(ends)]

    def terms_with(self, part: str) -> list[str]:
        """Return the terms that contain a text."""
        if part.encode("utf-8", "surrogatepass") not in self.term_text.tobytes():
            return []
        return [term for term in self.term_list() if part in term]


COLUMNS = (
    *("kinds", "origins", "flags", "told", "read", "at", "ages_from", "confidences", "lengths", "chars"),
    *("said", "spoken", "wordings"),
)
"""The columns that say something of each document by themselves."""
_ROW = ("generations", "offsets", "tables")


def array_types(kind: type) -> dict[str, str]:
    """Return the numpy types of the arrays of a kind of segment."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


SEGMENT_TYPES = array_types(Segment)


class IndexDocument(NamedTuple):
    """A text to be indexed: its entry, its tokens, and the guard, table and address of its row."""

    entry: IndexEntry
    tokens: TextTokens
    guard: RowGuard = RowGuard(0, 0, 0)
    table: int = 0
    address: int = 0


def segment_of(
    documents: Sequence[IndexDocument], others: Sequence[tuple[int, bytes, RowGuard]] = ()
) -> Segment:  # fmt: skip
    """Return a segment of documents, and of rows that are only stored: each with table, record and guard."""
    entries, taken = [its.entry for its in documents], [its.tokens for its in documents]
    names = list(dict.fromkeys(entry.speaker for entry in entries))
    name_places = {name: place for place, name in enumerate(names)}
    keys = [NO_SESSION if entry.session is None else number_of(entry.session) for entry in entries]
    session_keys, sessions = numbered(np.array(keys, "<u8"))
    guards = [*(its.guard for its in documents), *(guard for *_, guard in others)]
    records = [record for _, record, _ in others]
    return _finished(
        **_postings(taken),
        ids=np.array([id_numbers(entry.id) for entry in entries], "<u8").reshape(-1, 2),
        kinds=[KINDS.index(entry.kind) for entry in entries],
        origins=[ORIGINS.index(entry.origin) for entry in entries],
        flags=[flags_of(entry) for entry in entries],
        told=[its.told for its in taken],
        read=[its.read for its in taken],
        speakers=[name_places[entry.speaker] for entry in entries],
        names=np.frombuffer(msgspec.json.encode(names), np.uint8),
        sessions=sessions,
        session_keys=session_keys,
        at=[entry.at for entry in entries],
        ages_from=[entry.ages_from or 0 for entry in entries],
        confidences=[round(entry.confidence * FULL_CONFIDENCE) for entry in entries],
        lengths=[its.length for its in taken],
        chars=[len(entry.text) for entry in entries],
        said=[entry.said for entry in entries],
        spoken=[number_of(entry.spoken or entry.id) for entry in entries],
        wordings=[entry.wording for entry in entries],
        keys=[guard.key for guard in guards],
        generations=[guard.generation for guard in guards],
        offsets=[guard.offset for guard in guards],
        tables=[*(its.table for its in documents), *(table for table, *_ in others)],
        aliases=[number_of(id) for entry in entries for id in entry.ids],
        alias_rows=[row for row, entry in enumerate(entries) for _ in entry.ids],
        addresses=[its.address for its in documents],
        records=np.frombuffer(b"".join(records), np.uint8),
        record_ends=np.cumsum([len(record) for record in records], dtype=np.uint64),
    )


def _postings(taken: Sequence[TextTokens]) -> dict[str, Array]:
    """Return the arrays of a segment about terms, of documents given by their tokens."""
    numbers = {term: number_of(term) for term in dict.fromkeys(term for its in taken for term in its.terms)}
    ordered = sorted(numbers, key=numbers.__getitem__)
    encoded = [f"{term}\n".encode("utf-8", "surrogatepass") for term in ordered]
    place_of = {term: place for place, term in enumerate(ordered)}
    sizes = [len(its.terms) for its in taken]
    places = np.fromiter((place_of[term] for its in taken for term in its.terms), np.int64, sum(sizes))
    counts = np.fromiter((count for its in taken for count in its.terms.values()), np.uint8, len(places))
    by_term = np.argsort(places, kind="stable")
    return {
        "terms": np.array([numbers[term] for term in ordered], np.uint64),
        "starts": np.searchsorted(places[by_term], np.arange(len(ordered) + 1)),
        "term_text": np.frombuffer(b"".join(encoded), np.uint8),
        "term_ends": np.cumsum([len(data) for data in encoded], dtype=np.uint64),
        "rows": np.repeat(np.arange(len(taken)), sizes)[by_term],
        "counts": counts[by_term],
    }


def merged(segments: Sequence[Segment], living: Sequence[Flags]) -> Segment:
    """Return one segment with the living rows of several, in order; `living` has a flag for each row."""
    sized = [(its, part.size) for its, part in zip(living, segments, strict=True)]
    starts, every = np.cumsum([0, *(size for _, size in sized)]), np.concatenate(living)
    alive = np.concatenate([its[:size] for its, size in sized])
    moved = np.cumsum(alive, dtype="<u4") - np.uint32(1)
    is_document = np.concatenate([np.arange(len(its)) < size for its, size in sized])
    rows = np.concatenate([np.flatnonzero(every & is_document), np.flatnonzero(every & ~is_document)])

    def column(name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in segments])

    def documents(name: str) -> Array:
        """Return the documents that an array names, counted through the segments."""
        pairs = zip(segments, starts.tolist(), strict=False)
        return np.concatenate([getattr(part, name) + np.uint32(start) for part, start in pairs])

    names = list(dict.fromkeys(name for part in segments for name in part.speaker_names()))
    place_of = {name: place for place, name in enumerate(names)}
    own = [np.array([place_of[name] for name in part.speaker_names()], np.int64) for part in segments]
    session_keys = distinct(column("session_keys"))
    sessions = [np.searchsorted(session_keys, part.session_keys)[part.sessions] for part in segments]
    speakers = [places[part.speakers] for places, part in zip(own, segments, strict=True)]
    kept = np.concatenate([its[size:] for its, size in sized])
    records, record_ends = _gathered(
        [part.records for part in segments], [part.record_ends for part in segments], np.flatnonzero(kept)
    )
    called, held = documents("alias_rows"), documents("rows")
    return _finished(
        **_merged_postings(segments, alive[held], moved[held[alive[held]]]),
        ids=column("ids")[alive],
        speakers=np.concatenate(speakers)[alive],
        names=np.frombuffer(msgspec.json.encode(names), np.uint8),
        sessions=np.concatenate(sessions)[alive],
        session_keys=session_keys,
        aliases=column("aliases")[alive[called]],
        alias_rows=moved[called[alive[called]]],
        addresses=column("addresses")[alive],
        records=records,
        record_ends=record_ends,
        keys=np.concatenate([part.row_keys() for part in segments])[rows],
        **{name: column(name)[alive] for name in COLUMNS},
        **{name: column(name)[rows] for name in _ROW},
    )


def _merged_postings(segments: Sequence[Segment], kept: Flags, rows: Array) -> dict[str, Array]:
    """Return the kept postings of segments, merged; `rows` are their new rows."""
    # Of millions of postings there are few terms: numbers of 4 bytes take a third of the memory.
    every = distinct(np.concatenate([part.terms for part in segments]))
    numbers = [np.searchsorted(every, part.terms).astype("<u4") for part in segments]
    terms = [np.repeat(its, part.sizes()) for its, part in zip(numbers, segments, strict=True)]
    places = np.concatenate(terms)[kept]
    held = np.zeros(len(every), np.bool_)
    held[places] = True
    unique, places = every[held], (np.cumsum(held, dtype="<u4") - np.uint32(1))[places]
    # Rows of a term ascend in each segment, and segments follow each other: a stable sort keeps them so.
    by_term = np.argsort(places, kind="stable")
    sources = np.concatenate([segment.terms for segment in segments])
    by_source = np.argsort(sources, kind="stable")
    first = by_source[firsts(sources[by_source])]
    text, ends = _gathered(
        [segment.term_text for segment in segments],
        [segment.term_ends for segment in segments],
        first[np.searchsorted(sources[first], unique)],
    )
    starts = np.searchsorted(places[by_term], np.arange(len(unique) + 1, dtype="<u4"))
    counts = np.concatenate([segment.counts for segment in segments])[kept]
    postings = {"rows": rows[by_term], "counts": counts[by_term]}
    return {"terms": unique, "starts": starts, "term_text": text, "term_ends": ends, **postings}


def _gathered(blobs: Sequence[Array], ends: Sequence[Array], places: Array) -> tuple[Array, Array]:
    """Return pieces of blobs in a new order, with their ends; `places` counts the pieces of all in turn."""
    shifts = np.cumsum([0, *(len(blob) for blob in blobs)])
    stops = np.concatenate([its.astype(np.int64) + shift for its, shift in zip(ends, shifts, strict=False)])
    begins = np.append(0, stops[:-1])  # A piece begins where the one before it ends, also from blob to blob.
    whole = np.concatenate(blobs).data
    first, last = begins[places].tolist(), stops[places].tolist()
    joined = b"".join([whole[start:stop] for start, stop in zip(first, last, strict=True)])
    return np.frombuffer(joined, np.uint8), np.cumsum(stops[places] - begins[places])


def _finished(**arrays: Any) -> Segment:
    """Return a segment of these arrays (`keys` as of the rows), in their types, with the orders of them."""
    made = {name: np.ascontiguousarray(array, SEGMENT_TYPES[name]) for name, array in arrays.items()}
    not_turns = made["flags"] & TURN == 0
    keys = made["session_keys"][made["sessions"]]
    first, second = made["ids"].T
    made["order"] = np.lexsort((second, first, made["at"], not_turns, keys)).astype("<u4")
    by_key = np.argsort(made["keys"], kind="stable")
    made["by_key"], made["keys"] = by_key.astype("<u4"), made["keys"][by_key]
    by_alias = np.argsort(made["aliases"], kind="stable")
    made["aliases"], made["alias_rows"] = made["aliases"][by_alias], made["alias_rows"][by_alias]
    return Segment(**made)
