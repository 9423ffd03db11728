"""The past: folded once for several states of it, worked out once for readers, and asked by many at once."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import START, captured, erased
from forking import python
from test_damaged_views import _empty

from memtape.schemas.metrics import told_of_progress
from memtape.schemas.rows import MemoryRow, made_from
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.state.core.digests import state_leaves
from memtape.state.views.diff import Changes, changes_since, seen_of
from memtape.tools.client import Client
from memtape.tools.keep import states
from memtape.tools.keep.erasing import plan
from memtape.tools.keep.states import state_at
from memtape.tools.query import as_of
from memtape.tools.query.as_of import PastViews
from memtape.tools.query.looking import edges_of

SCOPE = "project:harbour"
SAID = ("The port of the gauge is {}.", "Always measure the tide before boat {}.",
        "In all my projects, use British spelling, rule {}.", "We moved the crane to berth {}.",
        "The pilot boat {} needs paint.")  # fmt: skip


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which things were said, forgotten, used and restored."""
    home = tmp_path_factory.mktemp("lived") / "home"
    with Client(home, scope=SCOPE, actor="Ada", origin="user", session="s") as client:
        rng, ids = random.Random(3), list[str]()
        for number in range(60):
            kind = "turn" if number % 3 == 0 else "fact"
            ids.append(client.capture(rng.choice(SAID).format(rng.randint(1, 9)), kind=kind).id)
            if number % 11 == 5:
                client.forget(rng.choice(ids))
            if number % 13 == 6:
                client.use(rng.sample(ids, 2))
            if number % 17 == 8 and (hidden := client.hidden()):
                client.restore(hidden[0].id)
        client.project()
    return home


@pytest.fixture
def client(lived: Path, tmp_path: Path) -> Iterator[Client]:
    shutil.copytree(lived, tmp_path / "home")
    with Client(tmp_path / "home", scope=SCOPE, actor="Ada", origin="user", session="s") as client:
        yield client


def test_a_state_from_a_snapshot_of_the_past_is_that_which_was_folded_at_once(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = partition_of(SCOPE, client.log.partitions)
    end, build = client.log.ends()[number], client.home.current()

    def leaves(offset: int) -> dict[str, str]:
        return state_leaves([state_at(client.log, build, number, offset)])

    at_once = {offset: leaves(offset) for offset in range(1, end + 1, 7)}
    monkeypatch.setattr(states, "LEAST_STEP", 8)
    rng = random.Random(5)
    for _ in range(12):
        for offset in sorted(rng.choices(list(at_once), k=2)):
            assert leaves(offset) == at_once[offset]
    left = sorted(path.name for path in build.snapshots(number).glob("past/*"))
    assert 1 <= len(left) <= states.PARTS
    told = list[tuple[int, int]]()
    with told_of_progress(lambda phase, done, total: told.append((done, total))):
        last = leaves(end - 1)
    assert told[-1][0] == told[-1][1] <= end // states.PARTS * 2 + 8
    for path in build.snapshots(number).rglob("*.snapshot"):
        path.unlink()
    assert last == leaves(end - 1)


def test_an_erasure_leaves_no_snapshot_of_the_past(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    number = partition_of(SCOPE, client.log.partitions)
    monkeypatch.setattr(states, "LEAST_STEP", 8)
    id = client.capture("The keys of the lighthouse lie under the third stone.").id
    client.capture("And nothing else.")
    for path in client.home.path.rglob("*.snapshot"):
        path.unlink()  # So that the fold goes over places where a snapshot of the past is left.
    state_at(client.log, client.home.current(), number, client.log.ends()[number] - 1)
    assert any(client.home.path.rglob("past/*.snapshot"))
    client.erase(plan(client.home, client.log, SCOPE, [id], only=False))
    assert not any(b"third stone" in path.read_bytes() for path in client.home.path.rglob("*.snapshot"))


def test_what_changed_is_what_two_states_say_that_were_folded_apart(client: Client) -> None:
    number = partition_of(SCOPE, client.log.partitions)
    end, build, rng = client.log.ends()[number], client.home.current(), random.Random(9)
    for _ in range(10):
        first, second = sorted((rng.randint(1, end), rng.randint(1, end)))
        old, new = (state_at(client.log, build, number, offset) for offset in (first, second))
        before = old.scopes.get(SCOPE)
        apart = changes_since({} if before is None else {SCOPE: seen_of(before)}, new, SCOPE)
        told = client.diff(f"{number}/{first}", f"{number}/{second}")
        assert made_from(Changes, told) == apart


def test_what_is_worked_out_once_is_what_whoever_comes_new_works_out(client: Client) -> None:
    """One client goes on asking while things are said and projected; each time another one comes new."""
    rng = random.Random(11)

    def asked(of: Client) -> list[object]:
        pages = [of.context(budget).text for budget in (200, 900)]
        listed = [of.proposals(), of.stale(9), of.read(edges_of), of.edges(), of.conflicts().conflicts]
        return [*pages, *listed, of.context(500, since=0).items]

    steps = (lambda ids: client.capture(rng.choice(SAID).format(rng.randint(10, 99))),
             lambda ids: client.forget(rng.choice(ids)), lambda ids: client.use(rng.sample(ids, 2)),
             lambda ids: client.capture("Never mention the crane again.", kind="turn"),
             lambda ids: client.project())  # fmt: skip
    for number in range(8):
        steps[number % 5]([result.id for result in client.recent(20).results])
        again = asked(client)
        assert asked(client) == again
        with Client(client.home.path, scope=SCOPE, actor="Ada", origin="user", session="s") as fresh:
            assert asked(fresh) == again, number


A = "project:a"
READERS, ROUNDS, TEXTS = 3, 6, 12

# Asks each position in turn. It waits at each for a line on stdin, so that all ask at the same moment.
READER = """
import sys
from memtape.tools.client import Client
with Client(sys.argv[1], scope="project:a") as client:
    for line in sys.stdin:
        found = client.search("lighthouse", 100, as_of=line.strip()).results
        print(len(found), client.status(as_of=line.strip()).memories, flush=True)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    log = EmbeddedLog(home.log_path, 1)
    log.append([captured(f"lighthouse {number}", scope=A, sent=START) for number in range(TEXTS)])
    log.close()
    return home


def view_names(home: Home) -> list[str]:
    return sorted(path.name for path in home.as_of.iterdir())


@pytest.mark.slow
def test_readers_of_one_past_position_at_once_all_find_it(home: Home) -> None:
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    readers = [python(READER, home.path, text=True, bufsize=1, **pipes) for _ in range(READERS)]
    first = 2  # Behind the settings and the tick.
    try:
        for number in range(1, ROUNDS + 1):
            for reader in readers:
                reader.stdin.write(f"0/{first + number}\n")
            for reader in readers:
                line = reader.stdout.readline()
                assert line.split() == [str(number)] * 2, line or reader.communicate()
        assert [reader.communicate()[1] for reader in readers] == [""] * READERS
    finally:
        for reader in readers:
            reader.kill()
    assert len(view_names(home)) == ROUNDS


def test_a_damaged_view_of_the_past_is_made_again_when_it_is_asked_for(home: Home) -> None:
    with Client(home, scope=A) as client:
        for pattern in ("memories.lance/data/*", "memories.lance/_versions/*", "watermark.json", "index/*/*"):
            assert len(client.search("lighthouse", 100, as_of="0/7").results) == 5
            for path in home.as_of.glob(f"p*/{pattern}"):
                _empty(path)
        assert len(client.search("lighthouse", 100, as_of="0/7").results) == 5
        assert len(view_names(home)) == 1


def test_an_erasure_while_a_view_is_made_leaves_none(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    log = EmbeddedLog(home.log_path)
    rows_at = as_of.rows_at

    def interrupted(*given: object) -> object:
        monkeypatch.setattr(as_of, "rows_at", rows_at)
        log.append([erased(["lighthouse 1"], "e", scope=A, sent=START)])
        return rows_at(*given)

    monkeypatch.setattr(as_of, "rows_at", interrupted)
    shard = PastViews(home, log, {0: 7}).shard(0)
    assert sorted(row.text for row in shard.rows(MemoryRow)) == [f"lighthouse {n}" for n in (0, 2, 3, 4)]
    assert view_names(home) == [shard.path.name]
