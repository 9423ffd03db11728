"""Rows in memory over written views: those of a fold of the whole log, whatever happens in a home."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from test_model import PARTITIONS, SCOPES, Life

from memtape.schemas.rows import GoneRow
from memtape.schemas.scopes import partition_of
from memtape.state.views.indexed import FOUND, KEPT, TABLE_OF
from memtape.tools.client import Client
from memtape.tools.keep.states import rows_at, state_at
from memtape.tools.query import reading

TABLES = [row_type for row_type, name in TABLE_OF.items() if name in (*FOUND, *KEPT)]


def test_rows_in_memory_are_those_of_the_whole_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = int(os.environ.get("MEMTAPE_SEED") or 7)
    print(f"\nMEMTAPE_SEED={seed}")
    life, met = Life(tmp_path / "home", seed, monkeypatch), 0
    monkeypatch.setattr(reading, "AGAIN_S", float("inf"))
    try:
        for _ in range(150):
            life.step()
            client = life.client()
            monkeypatch.setattr(reading, "INLINE_EVENTS", 10**9)
            client.reader.catch_up(client.scope)
            met += _compare(life, client)
    except BaseException:
        print(f"It went wrong in step {len(life.done)}, {life.done[-1]}.")
        raise
    finally:
        life.log.close()
    assert met > 30


def _compare(life: Life, client: Client) -> bool:
    """Compare all rows of a client's scope; return whether some were in memory alone."""
    views, number = client.reader, partition_of(client.scope, PARTITIONS)
    end = life.log.ends()[number]
    if views.watermark(number).offset < end:  # What is behind changes no answer.
        return False
    state = state_at(life.log, life.home.current(), number, end)
    wanted = {
        (its.table, its.row.key): its.row
        for rows in rows_at(state, end)
        for its in rows
        if its.row.scope == client.scope and not isinstance(its.row, GoneRow)
    }
    opened = views.opened(client.scope)
    found = {(TABLE_OF[it], row.key): row for it in TABLES for row in opened.rows(it)}
    assert found == {key: row for key, row in wanted.items() if key[0] in (*FOUND, *KEPT)}
    return views.unwritten(number) > 0


def test_a_closed_client_leaves_written_views(tmp_path: Path) -> None:
    with Client(tmp_path, scope=SCOPES[0], origin="user") as client:
        for port in (5433, 5434, 5435):
            client.capture(f"The staging database listens on port {port}.")
            (first, *_) = client.search("staging port").results
            assert str(port) in first.text
        number = partition_of(client.scope, client.log.partitions)
        assert client.reader.unwritten(number) > 0
    with Client(tmp_path, scope=SCOPES[0]) as client:
        # The last search is not projected.
        assert client.reader.watermark(number).offset >= client.log.ends()[number] - 1
