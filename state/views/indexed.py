"""What the search index takes in of the rows of a scope: which are texts that can be found, and how each is read.

Everything of a row stands in its record, so that who searches needs no table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from memtape.schemas.events import Origin
from memtape.schemas.rows import TABLES, Displayed, LivingRow, MemoryRow, TableName, TurnRow
from memtape.state.index.documents import Document
from memtape.state.index.entries import Entry, number_of
from memtape.state.ranking.lanes import MODELS_CONFIDENCE
from memtape.state.subjects.captures import FAMILIES, normal_digest
from memtape.state.text.polarity import has_cue
from memtape.state.views.context import INSTRUCTING

ANSWERING: tuple[Origin, ...] = ("agent", "model", "tool")
"""Origins whose turns are taken for an assistant's answers."""
FOUND: tuple[TableName, ...] = ("memories", "turns")
"""Tables whose rows are texts that can be found."""
KEPT: tuple[TableName, ...] = ("tombstones", "uses", "edges")
"""Tables whose rows a search reads beside the texts. Vectors are read of their own table."""
TABLE_NAMES: tuple[TableName, ...] = tuple(TABLES)
GONE = len(TABLE_NAMES)
"""The number of no table: that of a row that is no more."""


def key_of(table: TableName, id: str) -> int:
    """Return the key of a row in its scope's index."""
    return number_of(f"{table}/{id}")


def table_number(table: TableName) -> int:
    """Return the number by which the index knows a table."""
    return TABLE_NAMES.index(table)


def record_of(row: LivingRow) -> bytes:
    """Return all of a row. A field that comes later has its default where an older record is read."""
    return msgspec.msgpack.encode(row)


def row_of_record(table: int, record: bytes) -> Any:
    """Return the row of a record. Raises `msgspec.MsgspecError` for what is none."""
    return _DECODERS[table].decode(record)


_DECODERS = [msgspec.msgpack.Decoder(TABLES[name]) for name in TABLE_NAMES]


def text_of(row: MemoryRow | TurnRow) -> str:
    """Return what of a memory or turn is searched: its text, with what is written under its media."""
    return "\n".join((row.text, *row.captions)) if isinstance(row, TurnRow) else row.text


def entry_of(row: MemoryRow | TurnRow) -> Entry:
    """Return a memory or turn as the index takes it in."""
    if isinstance(row, TurnRow):
        return text_entry(row, row.captions, None, record_of(row), hidden=row.hidden)
    ages_from = row.last_at if row.kind in FAMILIES else None
    return text_entry(row, (), ages_from, record_of(row), ids=row.ids, spoken=row.canonical, hidden=row.hidden)


def text_entry(
    shown: Displayed,
    captions: Sequence[str],
    ages_from: int | None,
    record: bytes,
    *,
    ids: Sequence[str] = (),
    spoken: str = "",
    hidden: bool = False,
) -> Entry:
    """Return what is displayed as the index takes it in, with the other fields of an `Entry`."""
    turn = shown.kind == "turn"
    text = "\n".join((shown.text, *captions))
    document = Document(
        text,
        shown.session,
        shown.actor,
        turn,
        turn and shown.origin in ANSWERING,
        shown.at,
        kind=shown.kind,
        id=shown.id,
        ages_from=ages_from,
        confidence=MODELS_CONFIDENCE if shown.origin == "model" and not turn else 1,
    )
    return Entry(
        document,
        record,
        said_number(text if turn else shown.text),
        tuple(dict.fromkeys((shown.id, *ids))),
        spoken,
        shown.origin,
        hidden,
        bool(shown.tags),
        shown.origin in INSTRUCTING and has_cue(shown.text),
    )


def said_number(text: str) -> int:
    """Return 64 bits of the digest of a normalised text, by which texts are called the same."""
    return int.from_bytes(normal_digest(text)[:8], "little")


def said_of_row_id(row_id: str) -> int:
    """Return the number of `said_number` of a tombstone on a text, by the id of its row."""
    return int.from_bytes(bytes.fromhex(row_id.removeprefix("text:"))[:8], "little")
