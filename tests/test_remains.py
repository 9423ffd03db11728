"""The eye of the proof: whatever a home's files still hold is found, whatever their formats say is deleted."""

from __future__ import annotations

import json
import sqlite3
from base64 import b64encode
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import lance
import numpy as np
import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structure_making import make as make_structure

from memtape.schemas.rows import Basis, Guarded, VectorRow
from memtape.sinks.home.folders import Build
from memtape.sinks.markdown import escape
from memtape.sinks.remains import STRUCTURE_PATH, Needles, SearchedFile, search_home, without_structure
from memtape.sinks.snapshots import Snapshots
from memtape.sinks.tables import Shard, _vectors_table
from memtape.state.text.traces import Traces, is_searched, parts
from memtape.state.vectors.recorded import quantised

CANARY = (
    'The *vault* opens at dawn, says "Zebrafish-Quokka",\nand C:\\new is <b>where</b> [it](is) — größer als 東京の予算.'
)
ID = "019a7b3c-0001-7d2e-9f10-5c8e4b2a0001"
OTHER = "Nothing of the kind stands here, and nobody asked."


def look(home: Path, text: str = CANARY) -> list[SearchedFile]:
    needles = Needles(ids=(ID,), texts=(text,), words=("zebrafish", "quokka"))
    return [place for place in search_home(home, needles) if place.found or place.unreadable]


def kinds(home: Path, text: str = CANARY) -> set[str]:
    places = look(home, text)
    assert not any(place.unreadable for place in places), places
    return {finding.kind for place in places for finding in place.found}


def table(home: Path, texts: list[str]) -> lance.LanceDataset:
    folder = home / "builds/1/lance/p00"
    folder.mkdir(parents=True, exist_ok=True)
    return lance.write_dataset(pa.table({"text": texts}), folder / "t.lance", mode="overwrite")


def old_version(home: Path) -> None:
    made = table(home, [CANARY, *[OTHER] * 50])
    made.delete("text LIKE '%Quokka%'")
    made.cleanup_old_versions(timedelta(0))
    assert made.count_rows() == 50


def orphan(home: Path) -> None:
    table(home, [CANARY])
    for path in (home / "builds/1/lance/p00/t.lance/_versions").iterdir():
        path.unlink()


def snapshot(home: Path) -> None:
    snapshots = Snapshots(Build(home / "builds/1"), 0, Basis("log", "rules", 0))
    snapshots.write(12, "", b"\xdc\x00" + CANARY.encode() + b"\xc0")


def database(home: Path, text: str, statement: str = "", secure: str = "OFF") -> None:
    with sqlite3.connect(home / "log.db", isolation_level=None) as db:
        db.execute(f"PRAGMA secure_delete={secure}")
        db.execute("CREATE TABLE t (k INTEGER, o INTEGER, payload BLOB, PRIMARY KEY (k, o)) WITHOUT ROWID")
        payload = orjson.dumps({"body": {"text": text}, "id": "x"})
        db.execute("INSERT INTO t VALUES (1, 1, ?)", [payload])
        db.executemany("INSERT INTO t VALUES (2, ?, ?)", [(number, OTHER.encode()) for number in range(200)])
        if statement:
            db.execute(statement)
    db.close()


def write_ahead(home: Path) -> None:
    db = sqlite3.connect(home / "log.db", isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("CREATE TABLE t (payload BLOB)")
    db.execute("INSERT INTO t VALUES (?)", [orjson.dumps({"text": CANARY})])
    wal = (home / "log.db-wal").read_bytes()
    db.execute("DELETE FROM t")
    db.close()
    (home / "log.db-wal").write_bytes(wal)


def file(name: str, data: bytes) -> Callable[[Path], None]:
    def write(home: Path) -> None:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return write


PLACES: dict[str, Callable[[Path], None]] = {
    "an old version of a table": old_version,
    "a data file that no version names": orphan,
    "a free page of a database": lambda home: database(home, CANARY, "DELETE FROM t"),
    "a changed row of a database": lambda home: database(home, CANARY, "UPDATE t SET payload = x'00' WHERE k = 1"),
    "a write-ahead file": write_ahead,
    "a snapshot": snapshot,
    "a page of Markdown": file(
        "vault/a.md", "".join(f"> {escape(line)}\n" for line in CANARY.split("\n")).encode()
    ),
    "JSON": file("requests/x.json", orjson.dumps({"text": CANARY})),
    "JSON in ASCII": file("log.txt", json.dumps({"text": CANARY}).encode()),
    "an unfinished file": file("builds/1/state/p00/.a.snapshot.new", CANARY.encode()),
    "a file that nobody knows": file(".stray", b"\x00\xff\x01" + CANARY.encode() + b"\xfe"),
    "a long file": file("big", OTHER.encode() * 90_000 + CANARY.encode() + OTHER.encode() * 1_000),
}  # fmt: skip


VECTOR, LIKE_IT = quantised(np.arange(1, 17, dtype=np.float32)), quantised(np.arange(2, 18, dtype=np.float32))


def vectors(home: Path, rows: list[bytes]) -> Shard:
    """A table of vectors as the views have one."""
    shard = Shard(home / "builds/1/lance/p00", 0)
    key = "m@1/16"
    made = [
        VectorRow(key=f"project:a/{number}:{key}", id=str(number), scope="project:a", embedder=key, vector=vector)
        for number, vector in enumerate(rows)
    ]
    shard.write([Guarded("vectors", row, 0, number) for number, row in enumerate(made)], [])
    return shard


def old_vectors(home: Path) -> None:
    vectors(home, [VECTOR, LIKE_IT])
    table = lance.dataset(home / f"builds/1/lance/p00/{_vectors_table('m@1/16')}.lance")
    table.delete("id = '0'")


VECTOR_PLACES: dict[str, Callable[[Path], None]] = {
    "a table": lambda home: vectors(home, [LIKE_IT, VECTOR]) and None,
    "an old version of a table": old_vectors,
    "a snapshot": file("builds/1/state/p00/1.snapshot", b"\x00" * 99 + VECTOR + b"\x00"),
    "the log": lambda home: database(home, b64encode(VECTOR).decode()),
}


@pytest.mark.parametrize("place", VECTOR_PLACES)
def test_a_vector_is_found_in(place: str, tmp_path: Path) -> None:
    VECTOR_PLACES[place](tmp_path)
    places = search_home(tmp_path, Needles(ids=(), texts=(), words=(), vectors=(VECTOR,)))
    assert {finding.kind for place in places for finding in place.found} == {"vector"}
    other = Needles(ids=(), texts=(), words=(), vectors=(quantised(np.arange(3, 19, dtype=np.float32)),))
    assert not [place for place in search_home(tmp_path, other) if place.found]
    assert not [place for place in places if place.unreadable]


@pytest.mark.parametrize("place", PLACES)
def test_a_canary_is_found_in(place: str, tmp_path: Path) -> None:
    PLACES[place](tmp_path)
    assert {"text", "word"} <= kinds(tmp_path)


def test_what_was_overwritten_or_made_anew_is_not_found(tmp_path: Path) -> None:
    database(tmp_path, CANARY, "UPDATE t SET payload = x'00' WHERE k = 1", "ON")
    table(tmp_path, [OTHER])
    assert kinds(tmp_path) == set()


def test_an_id_may_stand_in_headers_and_gone_rows_and_nowhere_else(tmp_path: Path) -> None:
    rows = pa.table({"key": [f"s/{ID}"], "id": [ID], "text": [None], "gone": [True]})
    lance.write_dataset(rows, tmp_path / "t.lance")
    file("log.db", ID.encode())(tmp_path)
    assert kinds(tmp_path) == set()
    file("vault/a.md", ID.encode())(tmp_path)
    assert kinds(tmp_path) == {"id"}


def test_a_living_row_that_names_an_id_is_found(tmp_path: Path) -> None:
    rows = pa.table({"id": ["x"], "members": [[{"id": ID, "how": "same"}]], "gone": [False]})
    lance.write_dataset(rows, tmp_path / "t.lance")
    assert kinds(tmp_path) == {"id"}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.lance", b"not lance"),
        ("b.lance", b""),
        ("log.db", b"SQLite format 3\x00"),
        ("log.db", b"SQLite format 3\x00" + bytes(range(256)) * 40),
        ("log.db-wal", b"\x00" * 31),
        ("log.db-wal", b"\x37\x7f\x06\x82" + b"\xff" * 9_000),
        ("empty", b""),
    ],
)
def test_a_file_that_is_not_what_it_says_stops_nothing(name: str, data: bytes, tmp_path: Path) -> None:
    file(name, data)(tmp_path)
    file("z", CANARY.encode())(tmp_path)
    found = {place.path: place for place in look(tmp_path)}
    assert found["z"].found
    if name.endswith(".lance"):
        assert found[name].unreadable


WORDS = ("Zebrafish-Quokka", "vault 8080", "größer als", "予算は三百万円")
texts = st.tuples(st.text(max_size=150), st.sampled_from(WORDS), st.text(max_size=150)).map("".join).filter(is_searched)


@given(texts)
def test_any_text_is_found_in_any_form(text: str) -> None:
    traces = Traces(parts(text))
    number = traces.texts.index(text)
    quoted = "\n".join(f"> {escape(line)}" for line in text.split("\n"))
    for form in (text, f"before. {text} !after", f"  {text.upper().lower()}" if text.isascii() else text, quoted):
        if form is quoted and any(not char.isprintable() and char != "\n" for char in text):
            continue  # What cannot be seen is shown by a name on a page, and found in the other places.
        assert number in traces.find(form).texts


def test_words_are_found_whole_and_in_any_case() -> None:
    traces = Traces((), ("quokka", "größe"))
    assert traces.find("A QUOKKA, GRÖSSE").words == ["quokka"]
    assert traces.find("quokkas").words == []


def test_the_words_of_structure_are_those_of_a_new_home() -> None:
    """`structure_making.py` writes the file anew where a format, a library or a page has changed."""
    assert STRUCTURE_PATH.read_text(encoding="utf-8").splitlines() == make_structure()


def test_what_every_home_says_proves_nothing() -> None:
    needles = Needles(
        ids=("1",), texts=("MEMORY.md", "memory of the lighthouse"), words=("memories", "lighthouse"), vectors=(b"v",)
    )
    assert without_structure(needles) == Needles(
        ids=("1",), texts=("memory of the lighthouse",), words=("lighthouse",), vectors=(b"v",)
    )
