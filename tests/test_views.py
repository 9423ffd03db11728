"""The flow and the sinks with everything real: one home, one log, whatever the batches and epochs."""

from __future__ import annotations

import random
import shutil
from datetime import timedelta
from pathlib import Path

import msgspec
import numpy as np
import pytest
from builders import START, captured, forgotten, recalled, restored
from soaked import soaked

from memtape.flows import views as flows
from memtape.flows.projection import watermark_of
from memtape.schemas.events import Event
from memtape.schemas.rows import GoneRow, Guarded, MemoryRow, TurnRow, VectorRow
from memtape.schemas.scopes import partition_of
from memtape.sinks import row_tables
from memtape.sinks.home.files import FileLock
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.row_tables import vectors_table
from memtape.sinks.search_index import SearchIndex
from memtape.sinks.tables import Shard
from memtape.state.core.partition import Partition
from memtape.state.vectors.recorded import quantised, recorded
from memtape.tools.client import Client, tables
from memtape.tools.keep import found_views, projector
from memtape.tools.keep import verify as verifying
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.verify import verify

SCOPES = ("project:a", "project:b", "project:c", "global")
SEED = 11
WAYS = ((7, 0), (500, 10), (500, 0), (1, 1), (7, 10))
"""Events of a batch, and seconds of an epoch, of which zero is an epoch for each batch."""


def history(count: int, seed: int = SEED) -> list[Event]:
    """A history in which scopes interleave, texts repeat, and things are forgotten and restored."""
    rng = random.Random(seed)
    words = "port staging database redis anna deploys never on tuesday 8080 8081 the".split()
    events: list[Event] = []
    for number in range(count):
        scope = rng.choice(SCOPES)
        common = {"scope": scope, "sent": START + number * 60_000_000, "session": rng.choice(("s1", "s2"))}
        common["origin"] = "operator" if scope == "global" else rng.choice(("user", "agent"))
        what = rng.random()
        if what < 0.8:
            kind = rng.choice(("fact", "fact", "turn", "turn", "journal", "goal", "document"))
            text = " ".join(rng.choices(words, k=rng.randint(1, 4)))
            events.append(captured(text, f"{seed}-{number}", kind, **common))
        elif what < 0.9:
            events.append(recalled([f"{seed}-{rng.randrange(count)}"], f"{seed}-r{number}", **common))
        else:
            make = rng.choice((forgotten, restored))
            ids = [f"{seed}-{rng.randrange(count)}" for _ in range(3)]
            events.append(make(ids, f"{seed}-t{number}", **common))
    return events


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def filled(home: Home, count: int = 400) -> EmbeddedLog:
    log = EmbeddedLog(home.log_path)
    events = history(count)
    for at in range(0, count, 50):
        log.append(events[at : at + 50])
    return log


def project(home: Home, log: EmbeddedLog) -> int:
    with Owner(home, log) as owner:
        return owner.project()


def vault_bytes(home: Home) -> dict[str, bytes]:
    files = [path for path in sorted(home.vault.rglob("*")) if path.is_file()]
    return {path.relative_to(home.vault).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize(("ways",), soaked(((WAYS[:2],), (WAYS,)), (WAYS[:2],)))
def test_one_log_gives_one_view_in_any_way_of_runs(
    tmp_path: Path, ways: tuple[tuple[int, int], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches of 1, 7 and 500, epochs of 0, 1 and 10 s, at once and in steps: one state hash."""
    origin = Home(tmp_path / "origin")
    filled(origin, 150).close()
    hashes, vaults = {}, {}
    for number, (batch, epoch_s) in enumerate(ways):
        home = Home(tmp_path / f"home{number}")
        shutil.copy(origin.log_path, home.log_path)
        log = EmbeddedLog(home.log_path)
        monkeypatch.setattr(flows, "EPOCH", timedelta(seconds=epoch_s))
        monkeypatch.setattr(flows, "BATCH_EVENTS", batch)
        projector.project(BuildViews(home, log), projector.control_of(home, once=True))
        verdict = verify(home, log)
        assert verdict.ok, verdict.differences[:5]
        hashes[batch, epoch_s], vaults[batch, epoch_s] = verdict.state_hash, vault_bytes(home)
    assert len(set(hashes.values())) == 1, hashes
    first = next(iter(vaults.values()))
    assert first
    assert all(vault == first for vault in vaults.values())


def test_lancedb_opens_the_tables_of_a_partition_as_a_database(home: Home) -> None:
    """Lance writes them. Other tools read them by LanceDB, which knows their key and finds every row."""
    import lancedb  # It takes seconds, which no other test has to wait for.

    log = filled(home)
    project(home, log)
    for partition in sorted({partition_of(scope, log.partitions) for scope in SCOPES}):
        shard = Shard(home.current().shard(partition), partition)
        folder = shard.folder()
        assert folder is not None and folder in tables(home.path)
        database = lancedb.connect(folder.path)
        assert all(database.open_table(name).version == number for name, number in folder.versions.items())
        for name, row_type in (("memories", MemoryRow), ("turns", TurnRow)):
            table = database.open_table(name)
            found = table.search().where("NOT gone").select(["key", "text"]).to_list()
            expected = {(row.key, row.text) for row in shard.rows(row_type)}
            assert found and {(row["key"], row["text"]) for row in found} == expected
            assert table.schema.field("key").metadata == {b"lance-schema:unenforced-primary-key": b"true"}


def test_lancedb_finds_by_vector_what_the_cosines_of_recorded_vectors_say(tmp_path: Path) -> None:
    """A column of float16 has recorded vectors exactly."""
    import lancedb

    random = np.random.default_rng(SEED)
    made = [random.standard_normal(16).astype(np.float32) for _ in range(200)]
    key, shard = "m@1/16", Shard(tmp_path / "p00", 0)
    rows = [
        VectorRow(
            key=f"project:a/{n}:{key}", id=str(n), scope="project:a", embedder=key, vector=quantised(it)
        )
        for n, it in enumerate(made)
    ]
    shard.write([Guarded("vectors", row, 1, n) for n, row in enumerate(rows)])
    assert {row.vector for row in shard.rows(VectorRow)} == {row.vector for row in rows}
    vectors = np.stack([recorded(row.vector) for row in rows]).astype(np.float64)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    table = lancedb.connect(shard.path).open_table(vectors_table(key))
    for asked in range(5):
        near = table.search(vectors[asked].astype(np.float32)).distance_type("cosine").limit(10).to_list()
        assert [int(it["id"]) for it in near] == np.argsort(-(units @ units[asked]), kind="stable")[
            :10
        ].tolist()


def test_views_that_were_deleted_or_damaged_come_back_byte_for_byte(home: Home) -> None:
    log = filled(home)
    project(home, log)
    vault, state_hash = vault_bytes(home), verify(home, log).state_hash
    for lost in ("vault", "builds", "watermark.json"):
        if lost == "watermark.json":
            for manifest in home.current().path.rglob(lost):
                manifest.write_bytes(b"")
        else:
            shutil.rmtree(home.path / lost)
        assert not verify(home, log).ok or lost != "vault"
        project(home, log)
        verdict = verify(home, log)
        assert verdict.ok, verdict.differences[:5]
        assert verdict.state_hash == state_hash
        assert vault_bytes(home) == vault


def memory_row(text: str, key: str = "project:a/x") -> MemoryRow:
    return MemoryRow(key=key, id="x", scope="project:a", canonical="x", kind="fact", text=text, tags=("t",),
                     source=None, branch=None, path=None, actor="Ada", origin="user", session=None,
                     importance_given=None, seq=0, at=1, first_at=1, last_at=1, confirmations=0, ids=("x",),
                     members=(), echoes=(), replaced=False, hidden=False)  # fmt: skip


def test_a_write_is_idempotent_and_never_goes_back(tmp_path: Path) -> None:
    shard = Shard(tmp_path / "p00", 0)
    new = Guarded("memories", memory_row("new"), generation=0, offset=10)
    shard.write([new])
    for text, offset in (("old", 9), ("again", 10)):
        stale = Guarded("memories", memory_row(text), generation=0, offset=offset)
        shard.write([stale])
        assert [row.text for row in shard.rows(MemoryRow)] == ["new"]
    gone = Guarded("memories", GoneRow("project:a/x", "x", "project:a"), generation=0, offset=11)
    shard.write([gone])
    shard.write([new])
    assert shard.rows(MemoryRow) == []
    shard.write([Guarded("memories", memory_row("refolded"), generation=1, offset=3)])
    assert [row.text for row in shard.rows(MemoryRow)] == ["refolded"]


def test_a_write_that_is_repeated_adds_no_row_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the table was written and the index was not."""
    shard = Shard(tmp_path / "p00", 0)
    first, second = (msgspec.structs.replace(memory_row("one"), id=id, key=f"project:a/{id}") for id in "ab")
    shard.write([Guarded("memories", first, 0, 1)])
    with monkeypatch.context() as patch, pytest.raises(OSError, match="full"):
        patch.setattr(SearchIndex, "write", lambda *_: (_ for _ in ()).throw(OSError("full")))
        shard.write([Guarded("memories", second, 0, 2)])
    shard.write([Guarded("memories", second, 0, 2)])
    assert [row.id for row in shard.rows(MemoryRow)] == ["a", "b"]


@pytest.mark.parametrize(("rows", "merged", "writes"), [(row_tables.SMALL_ROWS, 8, 60), (3, 3, 160)])
def test_a_table_never_has_more_than_fifty_files(
    rows: int, merged: int, writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where many fragments are large, as of a million rows."""
    monkeypatch.setattr(row_tables, "SMALL_ROWS", rows)
    monkeypatch.setattr(row_tables, "MOST_SMALL", merged)
    monkeypatch.setattr(row_tables, "KEEP_VERSIONS", timedelta(0))
    shard, most = Shard(tmp_path / "p00", 0), 0
    for n in range(writes):
        row = msgspec.structs.replace(memory_row(f"text {n}"), id=f"x{n}", key=f"project:a/x{n}")
        shard.write([Guarded("memories", row, 0, n)])
        shard.write_watermark(watermark_of(Partition(0), ""))
        most = max(most, sum(path.is_file() for path in (tmp_path / "p00" / "memories.lance").rglob("*")))
    assert len(shard.rows(MemoryRow)) == writes and most <= row_tables.MOST_FILES, most


@pytest.mark.parametrize("reader", ["memtape.tools.keep.found_views", "memtape.schemas.ids", None])
def test_verify_names_what_differs(home: Home, reader: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where another process reads the views, and where it ends without a word."""
    monkeypatch.setattr(verifying, "LEAST_EVENTS", 0 if reader else 10_000)
    monkeypatch.setattr(verifying, "cores", lambda: 2)
    monkeypatch.setattr(found_views, "MODULE", reader)
    log = filled(home, 100)
    project(home, log)
    right = verify(home, log)
    assert right.ok and right.events
    page = next(home.vault.rglob("MEMORY.md"))
    page.write_text("edited\n")
    number = next(n for n in range(16) if Shard(home.current().shard(n), n).rows(TurnRow))
    shard = Shard(home.current().shard(number), number)
    row = shard.rows(TurnRow)[0]
    shard.write([Guarded("turns", GoneRow(row.key, row.id, row.scope), 5, 10_000)])
    verdict = verify(home, log)
    assert not verdict.ok and verdict.state_hash == right.state_hash
    lost = {(view, row.id, "missing") for view in ("turns", "index")}
    differences = {(found.view, found.id, found.what) for found in verdict.differences}
    assert differences == {("vault", "MEMORY.md", "changed"), *lost}


def test_dead_letters_are_counted_and_hold_nothing_of_the_payload(home: Home) -> None:
    log = filled(home, 50)
    secret = b'{"text": "swordfish"'
    (position,) = log.append_raw(3, [secret])
    log.append([captured("after it", "after", scope="project:a")])
    project(home, log)
    with Client(home.path, scope="project:a", log=log) as client:
        status = client.status()
        assert status.dead_letters == 1
        (letter,) = status.latest_dead_letters
        assert (letter.partition, letter.offset, letter.reason) == (3, position.offset, "not_json")
        assert status.lag == 0
        assert client.search("after it", quiet=True).results[0].text == "after it"
    files = [path for path in home.current().path.rglob("*") if path.is_file()]
    assert not any(b"swordfish" in path.read_bytes() for path in files)


def test_a_lock_is_held_by_one_thread_and_given_back(tmp_path: Path) -> None:
    from memtape.schemas.errors import Locked

    lock, other = FileLock(tmp_path / "lock", "It"), FileLock(tmp_path / "lock", "It")
    with lock:
        with pytest.raises(Locked, match="pid"):
            other.acquire(0.05)
        with pytest.raises(Locked):
            lock.acquire(0.05)
    other.acquire(0.05)
    other.release()
