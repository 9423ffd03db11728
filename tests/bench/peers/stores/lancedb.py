"""LanceDB's own hybrid search: a table with a full-text index and vectors, fused by its default reranker."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa

from bench.peers.store import Found, Store, Text

DIMENSIONS = 384
SCHEMA = pa.schema(
    [("key", pa.string()), ("text", pa.string()), ("vector", pa.list_(pa.float32(), DIMENSIONS))]
)


class LanceDb(Store):
    """One table. Rows are merged by key; the full-text index is brought up to date by `optimize`."""

    package = "lancedb"

    def __init__(self, folder: Path, url: str, model: str) -> None:
        super().__init__(folder, url, model)
        database = lancedb.connect(folder)
        self._table = database.create_table("texts", schema=SCHEMA, exist_ok=True)
        self._table.create_fts_index("text", replace=True)

    def add(self, texts: Sequence[Text]) -> None:
        vectors = self.embed([text.text for text in texts])
        flat = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), DIMENSIONS)
        keys, said = [text.key for text in texts], [text.text for text in texts]
        rows = pa.table([pa.array(keys), pa.array(said), flat], schema=SCHEMA)
        self._table.merge_insert("key").when_matched_update_all().when_not_matched_insert_all().execute(rows)

    def settle(self) -> None:
        self._table.optimize()

    def search(self, question: str, limit: int = 10) -> list[Found]:
        return self._asked(self._table, question, limit)

    def delete(self, key: str) -> None:
        self._table.delete(f"key = '{key}'")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # It says that other readers would fail; there are none.
            self._table.optimize(cleanup_older_than=timedelta(0))

    def moment(self) -> Any:
        return self._table.version

    def search_at(self, question: str, moment: Any) -> list[Found]:
        self._table.checkout(moment)
        try:
            return self._asked(self._table, question, 10)
        finally:
            self._table.checkout_latest()

    def _asked(self, table: Any, question: str, limit: int) -> list[Found]:
        asked = table.search(query_type="hybrid").vector(self.embed([question])[0]).text(question)
        return [Found(row["text"]) for row in asked.limit(limit).to_list()]
