"""The index entries of a scope's rows: which texts are searchable, and how each is tokenized.

A searchable row stands in its table, and the index has its address. A row of the other tables has a record in
the index: ranking reads it before any text is known. Each further wording of a memory is an entry behind the
memory's own: equal except for its text and capture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from memtape.schemas import rows as values
from memtape.schemas.events import Origin
from memtape.state.index import entries
from memtape.state.index.entries import IndexEntry
from memtape.state.index.parts import languages_of
from memtape.state.index.segments import IndexDocument, Segment, segment_of
from memtape.state.ranking.lanes import MODELS_CONFIDENCE
from memtape.state.subjects.captures import FAMILIES, normal_digest
from memtape.state.text.instructions import NOTHING_HEARD, heard_in
from memtape.state.text.reading import Reading, read
from memtape.state.views.context import INSTRUCTING

ANSWERING: tuple[Origin, ...] = ("agent", "model", "tool", "web")
"""Origins whose turns count as an assistant's answers: all except people."""
FOUND: tuple[values.TableName, ...] = ("memories", "turns", "summaries")
"""Tables with searchable rows."""
KEPT: tuple[values.TableName, ...] = ("tombstones", "uses", "edges", "conflicts", "pages")
"""Tables whose rows a search reads beside the texts."""
INDEXED: tuple[values.TableName, ...] = (*FOUND, *KEPT, "vectors")
"""Every table with rows in the index."""
TABLE_NAMES: tuple[values.TableName, ...] = tuple(values.TABLES)
TABLE_OF: dict[type, values.TableName] = {row_type: name for name, row_type in values.TABLES.items()}
GONE = len(TABLE_NAMES)  # The table number of a removed row.


def key_of(table: values.TableName, id: str) -> int:
    """Return the key of a row in its scope's index."""
    return entries.number_of(f"{table}/{id}")


def vector_key(row: values.Row) -> int:
    """Return the key of a vector, or of a removed vector, unique among the vectors of an embedder."""
    return entries.number_of(row.id.partition(":")[0])


def embedder_of(row: values.Row) -> str:
    """Return the embedder of a vector, or of a removed one."""
    return row.embedder if isinstance(row, values.VectorRow) else row.id.partition(":")[2]


def table_number(table: values.TableName) -> int:
    """Return the index's number of a table."""
    return TABLE_NAMES.index(table)


class RowAddress(NamedTuple):
    """The place of a searchable row: its table, its address there, and the event behind the wanted row.

    A row is replaced at its address, so that the event (generation and offset) says which row was read.
    """

    table: int
    address: int
    generation: int
    offset: int


Take = Callable[[Sequence[RowAddress]], list[Any]]
"""Returns the rows at some addresses, in their order. Raises an error for a row that was replaced since."""


def no_rows(addresses: Sequence[RowAddress]) -> list[Any]:
    """Return no rows: what an index without a text takes. Raises `LookupError` for any address."""
    if addresses:
        raise LookupError("This index has no tables.")
    return []


def address_of(segment: Segment, place: int) -> RowAddress:
    """Return where the row of a document stands; of another wording, the row of its memory."""
    head = segment.head_of(place)
    columns = (segment.tables, segment.addresses, segment.generations, segment.offsets)
    return RowAddress(*(int(column[head]) for column in columns))


def kept_at(segment: Segment, place: int) -> Any:
    """Return the row at a place behind the documents. Raises `msgspec.MsgspecError` for a damaged record."""
    return _DECODERS[int(segment.tables[place])].decode(segment.record(place))


# msgspec looks at a type when it first meets it, and two threads that do so at once crash the process.
_DECODERS = [msgspec.msgpack.Decoder(values.TABLES[name]) for name in TABLE_NAMES]


def texts_of(row: values.Row) -> tuple[str, ...]:
    """Return the searchable texts of a row, the canonical text first; none for a row without texts.

    A turn's text includes the captions of its media, a summary's its keywords.
    """
    match row:
        case values.TurnRow():
            return ("\n".join((row.text, *row.captions)),)
        case values.MemoryRow():
            return (row.text, *(wording.text for wording in row.wordings))
        case values.SummaryRow():
            return (f"{row.text}\n{' '.join(row.keywords)}",)
        case _:
            return ()


def entries_of(row: values.MemoryRow | values.TurnRow | values.SummaryRow) -> list[IndexEntry]:
    """Return a memory, turn or summary as the index takes it in, with each other wording of a memory."""
    if isinstance(row, values.SummaryRow):  # It has no speaker and no session, and the time of its last text.
        (text,), said = texts_of(row), said_number(read(row.text))
        its = (text, None, "", row.last_at, row.kind, row.id, entries.SUMMARY, said, (row.id,))
        return [IndexEntry(*its)]
    if isinstance(row, values.TurnRow):
        return [text_entry(row, row.captions, None)]
    head = text_entry(row, (), row.last_at if row.kind in FAMILIES else None)
    # Another wording is called by no id.
    others = (
        head._replace(text=text, said=said_number(read(text)), ids=(), spoken=id, wording=number)
        for number, (id, text) in enumerate(map(msgspec.structs.astuple, row.wordings), start=1)
    )
    return [head, *others]


def text_entry(shown: values.Displayed, captions: Sequence[str], ages_from: int | None) -> IndexEntry:
    """Return the index entry of a displayed text.

    `ages_from` is in microseconds, None for a text that does not age. Only people's texts instruct.
    """
    memory, turn = shown if isinstance(shown, values.MemoryRow) else None, shown.kind == "turn"
    row = shown if isinstance(shown, (values.MemoryRow, values.TurnRow)) else None
    text = "\n".join((shown.text, *captions))
    heard = heard_in(read(shown.text)) if shown.origin in INSTRUCTING else NOTHING_HEARD
    flags = (
        entries.TURN * turn
        | entries.ANSWERS * (turn and shown.origin in ANSWERING)
        | entries.HIDDEN * (row is not None and row.hidden)
        | entries.AGES * (ages_from is not None)
        | entries.TAGGED * bool(shown.tags)
        | entries.CUED * bool(heard.orders or heard.standing or heard.doubted)
        | entries.ORDERS * bool(heard.orders)
        | entries.ARCHIVED * (shown.archived_at is not None)
        | entries.PINNED * shown.pinned
        | entries.REPLACED * (memory is not None and values.is_replaced(memory))
        | entries.CONTRADICTED * (memory is not None and memory.contradicts is not None)
    )
    return IndexEntry(
        text,
        shown.session,
        shown.actor,
        shown.at,
        shown.kind,
        shown.id,
        flags,
        said_number(read(text if turn else shown.text)),
        tuple(dict.fromkeys((shown.id, *(() if memory is None else memory.ids)))),
        "" if memory is None else memory.canonical,
        shown.origin,
        ages_from=ages_from,
        confidence=MODELS_CONFIDENCE if shown.origin == "model" and not turn else 1,
    )


def languages_of_rows(rows: Iterable[values.Row]) -> list[int]:
    """Return by language the number of visible texts in this language alone.

    Summaries repeat other texts, and are not counted.
    """
    shown = (row for row in rows if isinstance(row, (values.MemoryRow, values.TurnRow)) and not row.hidden)
    return languages_of([entries.told_of(read(text)) for row in shown for text in texts_of(row)])


def segment_of_rows(rows: Iterable[tuple[values.Guarded, int]], usual: int) -> Segment:
    """Return a segment of rows, each with the address of a searchable one in its table.

    `usual` is the language of texts that may be in several.
    """
    documents, others = [], []
    for guarded, address in rows:
        table, row = guarded.table, guarded.row
        guard = entries.RowGuard(key_of(table, row.id), guarded.generation, guarded.offset)
        if isinstance(row, (values.MemoryRow, values.TurnRow, values.SummaryRow)):
            for entry in entries_of(row):
                taken = entries.take(read(entry.text), usual)
                documents.append(IndexDocument(entry, taken, guard, table_number(table), address))
        elif isinstance(row, values.GoneRow):
            others.append((GONE, b"", guard))
        else:
            others.append((table_number(table), msgspec.msgpack.encode(row), guard))
    return segment_of(documents, others)


def said_number(reading: Reading) -> int:
    """Return 64 bits of the digest of a normalised text, equal for equal texts."""
    return int.from_bytes(normal_digest(reading)[:8], "little")


def said_of_row_id(row_id: str) -> int:
    """Return the number of `said_number` of a tombstone on a text, by the id of its row."""
    return int.from_bytes(bytes.fromhex(row_id.removeprefix("text:"))[:8], "little")
