"""Recovery, rebuilding and the past: a restart goes on, a rebuild changes nothing, any position is asked."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from builders import MINUTE, captured
from replaying import replay
from soaked import soaked
from test_vault_people import page_of
from test_views import filled, history, project, vault_bytes
from test_views import home as home  # A fixture.

from memtape.flows import projection
from memtape.schemas import codec, events
from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import slots_between
from memtape.schemas.rows import GoneRow, Guarded, TurnRow
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import format_time
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.page_files import kept
from memtape.sinks.tables import Shard
from memtape.sinks.vault import Vault
from memtape.state.core import digests
from memtape.tools.client import Client
from memtape.tools.keep import rebuild as rebuilding
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.owning import rebuild_as_owner
from memtape.tools.keep.verify import Verification, verify
from memtape.tools.query.as_of import parse_position


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots after every 40 events, so that a small history has several."""
    monkeypatch.setattr(projection, "SNAPSHOT_EVENTS", 40)


@pytest.fixture(scope="module")
def projected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose log of 100 events is projected, for copies."""
    home = Home(tmp_path_factory.mktemp("origin") / "home")
    log = filled(home, 100)
    project(home, log)
    log.close()
    return home.path


@pytest.fixture(scope="module")
def in_steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose log of 240 events was projected after every 60, each time with snapshots, for copies."""
    home = Home(tmp_path_factory.mktemp("steps") / "home")
    log = EmbeddedLog(home.log_path)
    whole = history(240)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projection, "SNAPSHOT_EVENTS", 15)
        for at in range(0, len(whole), 60):
            log.append(whole[at : at + 60])
            project(home, log)
    log.close()
    return home.path


@pytest.fixture(scope="module")
def before(projected: Path) -> str:
    """The state hash of the home that is projected at once, whose views are as its log says."""
    home = Home(projected)
    return sound(home, EmbeddedLog(home.log_path)).state_hash


@pytest.fixture
def log(projected: Path, home: Home) -> EmbeddedLog:
    """The log of a home that is a copy of the one projected at once."""
    return copied(projected, home)


@pytest.fixture
def stepped(in_steps: Path, home: Home, often: None) -> EmbeddedLog:
    """The log of a home that is a copy of the one projected in steps."""
    return copied(in_steps, home)


def copied(origin: Path, home: Home) -> EmbeddedLog:
    shutil.copytree(origin, home.path, dirs_exist_ok=True)
    return EmbeddedLog(home.log_path)


def sound(home: Home, log: EmbeddedLog) -> Verification:
    verdict = verify(home, log)
    assert verdict.ok, verdict.differences[:5]
    return verdict


def rebuild(home: Home, log: EmbeddedLog) -> rebuilding.Rebuilt:
    return rebuild_as_owner(home, log, lambda _: None)


DAMAGE = {
    "a snapshot cut short": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "a snapshot with a flipped bit": lambda path: path.write_bytes(
        (data := path.read_bytes())[:-30] + bytes([data[-30] ^ 4]) + data[-29:]
    ),
    "an empty snapshot": lambda path: path.write_bytes(b""),
    "a snapshot of another version": lambda path: path.write_bytes(b"memtape snapshot 9\n{}\n"),
    "a missing snapshot": lambda path: path.unlink(),
}


@pytest.mark.parametrize("name", soaked(DAMAGE, "a snapshot with a flipped bit"))
def test_a_doubtful_snapshot_is_discarded_and_said(home: Home, stepped: EmbeddedLog, name: str) -> None:
    """One snapshot of a partition with views is kept, from which a restart goes on."""
    log = stepped
    expected = sound(home, log)
    assert expected.events > 240
    views = [shard for shard in BuildViews(home, log).shards if shard.exists()]
    assert views and all(
        len(list(home.current().snapshots(its.partition).glob("*.snapshot"))) == 1 for its in views
    )
    for path in (snapshots := list(home.current().state.rglob("*.snapshot"))):
        DAMAGE[name](path)
    notes: list[str] = []
    log.append([captured("one more", f"more {name}", scope=f"project:{name}") for name in "abc"])
    with Owner(home, log, notes.append) as owner:
        owner.project()
    assert snapshots and sound(home, log).state_hash != expected.state_hash
    if "missing" not in name:
        assert notes
        assert all("was discarded" in note for note in notes)


def test_a_snapshot_holds_no_text_of_a_turn(home: Home, often: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that change later, pages of the day and a state that is folded on read it of the log."""
    monkeypatch.setattr(projection, "HELD", 3)
    with Client(home.path, scope="project:a", origin="user") as client:
        texts = [f"The zebra-quartz number {n} is blue." for n in range(50)]
        said = [client.capture(text, "turn", session="s").id for text in texts]
        client.project()
        snapshots = list(home.current().path.rglob("*.snapshot"))
        assert snapshots and all(b"zebra" not in path.read_bytes() for path in snapshots)
        client.forget(said[3])
        client.pin(said[7])
        client.capture("The zebra-quartz number 50 is blue.", "turn", session="s")
        client.project()
        (page,) = [data for path, data in vault_bytes(home).items() if "/logs/" in path]
        told = [f"number {n} is blue".encode() in page for n in range(51)]
        assert told == [n != 3 for n in range(51)]
        (found,) = client.search("zebra-quartz number 7", 1).results
        assert found.text == "The zebra-quartz number 7 is blue."
        assert client.verify().ok


def test_views_ahead_of_their_log_are_made_anew_with_a_sentence(home: Home, log: EmbeddedLog) -> None:
    log._db.execute("DELETE FROM slots WHERE offset > 5")
    log._db.execute("DELETE FROM meta WHERE key LIKE 'end of %'")
    notes: list[str] = []
    with Owner(home, log, notes.append) as owner:
        owner.project()
    assert len(notes) == 1 and "ends at offset 6, before" in notes[0]
    sound(home, log)


def test_a_rebuild_gives_the_same_views_and_appends_nothing(home: Home, stepped: EmbeddedLog) -> None:
    log = stepped
    ends, before, vault = log.ends(), sound(home, log), vault_bytes(home)
    made = rebuild(home, log)
    assert (made.build, home.current().number) == (2, 2)
    assert log.ends() == ends
    after = sound(home, log)
    assert after.state_hash == before.state_hash
    assert vault_bytes(home) == vault
    assert [build.number for build in home.builds()] == [2]
    log.append([captured("one more", "more", scope="project:a")])
    project(home, log)
    sound(home, log)


def break_views(home: Home, log: EmbeddedLog, how: str) -> None:
    number = next(n for n in range(16) if Shard(home.current().shard(n), n).rows(TurnRow))
    path = home.current().shard(number)
    match how:
        case "flipped bits":
            for data in (path / "memories.lance" / "data").iterdir():
                content = bytearray(data.read_bytes())
                for place in range(0, len(content), 41):
                    content[place] ^= 0x15
                data.write_bytes(content)
        case "a changed row":
            shard = Shard(path, number)
            row = shard.rows(TurnRow)[0]
            shard.write([Guarded("turns", GoneRow(row.key, row.id, row.scope), 5, 10_000)])
        case "an edited page":
            next(home.vault.rglob("MEMORY.md")).write_text("edited\n")
        case "a page too many":
            Vault(home).write([page_of("1999-01-01", "stray")], [])
        case "a deleted shard":
            shutil.rmtree(path)


BROKEN = ("flipped bits", "a changed row", "an edited page", "a page too many", "a deleted shard")
"""Beside the files that `test_damaged_views.py` damages."""


@pytest.mark.parametrize("how", soaked(BROKEN, *BROKEN[:2], BROKEN[3]))
def test_damage_is_found_and_mended_by_a_rebuild(home: Home, log: EmbeddedLog, before: str, how: str) -> None:
    vault = vault_bytes(home)
    break_views(home, log, how)
    verdict = verify(home, log)
    assert not verdict.ok
    assert verdict.differences
    rebuild(home, log)
    assert sound(home, log).state_hash == before
    beside = {name.removeprefix("vault/") for name in kept(home)}
    assert len(beside) == (how == "an edited page")
    assert {name: data for name, data in vault_bytes(home).items() if name not in beside} == vault


@pytest.mark.slow
def test_searches_are_served_while_builds_are_switched(home: Home, log: EmbeddedLog) -> None:
    answers: list[object] = []
    with Client(home.path, scope="project:a", log=log) as client:
        before = client.search("port staging", 50, quiet=True).results
        stop = threading.Event()

        def ask() -> None:
            while not stop.is_set():
                try:
                    answers.append(client.search("port staging", 50, quiet=True).results)
                except MemtapeError as error:
                    answers.append(error)

        asker = threading.Thread(target=ask)
        asker.start()
        for _ in range(2):
            rebuild(home, log)
        stop.set()
        asker.join()
    assert before and len(answers) > 2 and all(answer == before for answer in answers)


def test_a_cut_rebuild_goes_on(home: Home, stepped: EmbeddedLog, monkeypatch: pytest.MonkeyPatch) -> None:
    log = stepped
    before = sound(home, log).state_hash

    def cut(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for step in ("verify", "mend_vault"):
        monkeypatch.setattr(rebuilding, step, cut)
        with pytest.raises(KeyboardInterrupt):
            rebuild(home, log)
        monkeypatch.undo()
        project(home, log)
        assert sound(home, log).state_hash == before
    rebuild(home, log)
    assert sound(home, log).state_hash == before


@pytest.mark.slow
def test_a_living_projector_gives_way_to_a_rebuild(home: Home, log: EmbeddedLog, before: str) -> None:
    daemon = subprocess.Popen([sys.executable, "-m", "memtape", "run", "--home", str(home.path)])
    try:
        while home.lock("projector").holder() is None:
            assert daemon.poll() is None
            time.sleep(0.02)
        notes: list[str] = []
        made = rebuild_as_owner(home, log, notes.append)
        assert (made.build, len(notes)) == (2, 1)
        assert f"pid {daemon.pid}" in notes[0]
        log.append([captured("one more", "more", scope="project:a")])
        # The projector went on with the new build.
        with Client(home.path, scope="project:a", log=log) as client:
            while client.status().lag:
                assert daemon.poll() is None
                time.sleep(0.05)
    finally:
        daemon.terminate()
    assert daemon.wait(300) == 0
    assert sound(home, log).state_hash != before


@pytest.mark.parametrize("what", ["memories", "words"])
def test_changed_rules_make_the_views_anew(
    home: Home, log: EmbeddedLog, before: str, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Also another list of words, which is in no leaf of the state hash."""
    if what == "words":
        monkeypatch.setattr(digests, "words_digest", lambda: "another")
    else:
        monkeypatch.setitem(digests.RULES, what, 99)
    notes: list[str] = []
    with Owner(home, log, notes.append) as owner:
        owner.project()
        owner.project()
    assert f"rules have changed ({what})" in notes[0] and len(notes) == 1
    assert home.current().number == 2
    assert (sound(home, log).state_hash != before) is (what == "memories")


def test_a_dead_letter_that_has_become_readable_is_read(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    log = filled(home, 100)
    older = {type: it for type, it in events.EVENT_TYPES.items() if type != "captured"}
    monkeypatch.setattr(codec, "EVENT_TYPES", older)  # As a reader of an older version would see it.
    monkeypatch.setattr(codec, "_as_capture", lambda payload: None)
    with Client(home.path, scope="project:a", log=log) as client:
        project(home, log)
        assert client.status().dead_letters > 10
        monkeypatch.undo()
        project(home, log)
        assert client.status().dead_letters == 0
    sound(home, log)


def test_every_position_of_the_past_can_be_asked(home: Home, stepped: EmbeddedLog) -> None:
    log = stepped
    number = partition_of("project:a", 16)
    with Client(home.path, scope="project:a", log=log) as client:
        for offset in (1, 7, 33, log.ends()[number]):
            scope = replay(slots_between(log, number, 0, offset)).partitions[number].scopes.get("project:a")
            status = client.status(as_of=f"{number}/{offset}")
            living = list(scope.memories.living()) if scope else []
            assert (status.scopes["project:a"].memories if "project:a" in status.scopes else 0) == len(living)
            assert status.lag == 0
            found = client.search("port staging", 1_000, as_of=f"{number}/{offset}")
            captures = scope.captures.by_seq.values() if scope else ()
            ids = {scope.captures.by_seq[it.name].id for it in living} if scope else set()
            ids |= {capture.id for capture in captures if not capture.hidden}
            assert {result.id for result in found.results if result.scope == "project:a"} <= ids
        assert not log.read(number, 0, 10_000, types=("recalled",))[-1].offset >= log.ends()[number]
        ends = log.ends()
        client.search("port", as_of="1d")
        assert log.ends() == ends


def test_as_of_a_time_or_a_position(home: Home) -> None:
    log = EmbeddedLog(home.log_path)
    # A whole second after the settings, which the log was made with just now.
    start = time.time_ns() // 1_000_000_000 * 1_000_000 + MINUTE
    sent = [start + n * MINUTE for n in range(10)]
    turns = [captured(f"number {n}", n, "turn", scope="project:a", sent=at) for n, at in enumerate(sent)]
    then = format_time(start + 4 * MINUTE)
    log.append(turns)
    with Client(home.path, scope="project:a", log=log) as client:
        client.project()
        answer = client.search("number", 50, as_of=then)
        assert {result.id for result in answer.results} == {turn.id for turn in turns[:5]}
        assert client.show(turns[2].id, as_of=then).turn is not None
        with pytest.raises(MemtapeError):
            client.show(turns[9].id, as_of=then)
    log = filled(home, 50)
    ends = dict(enumerate(log.ends()))
    assert parse_position("3/1", log, 0) == ends | {3: 1}
    assert parse_position("3/1,4/0", log, 0) == ends | {3: 1, 4: 0}
    for wrong in ("99/1", "3/100000", "someday", "3/", "-1/2", "3:1"):
        with pytest.raises(MemtapeError):
            parse_position(wrong, log, 0)


def test_a_diff_names_what_was_added_folded_revised_and_forgotten(home: Home) -> None:
    with Client(home.path, scope="project:a", origin="user") as client:
        first = client.capture("The staging database listens on port 5433.")
        assert first.partition is not None and first.offset is not None
        number, start = first.partition, first.offset + 1
        client.capture("the staging db listens on port 5433")
        moved = client.capture("The staging database listens on port 5434.")
        client.capture("Hello.", "turn")
        middle = client.log.ends()[number]
        client.forget(first.id)
        end = client.log.ends()[number]
        client.restore(first.id)
        changes = client.diff(f"{number}/{start}", f"{number}/{middle}")
        assert [(changed.id, changed.revises) for changed in changes.revised] == [(moved.id, first.id)]
        assert changes.added == []  # What is new is named once.
        assert [(changed.id, len(changed.captures)) for changed in changes.folded] == [(first.id, 1)]
        assert (changes.turns, changes.forgotten) == (1, [])
        forgotten = client.diff(f"{number}/{middle}", f"{number}/{end}").forgotten
        assert [changed.id for changed in forgotten] == [first.id]
        assert [changed.id for changed in client.diff(f"{number}/{end}", "0s").restored] == [first.id]
        with pytest.raises(MemtapeError, match="before the first"):
            client.diff(f"{number}/{end}", f"{number}/{start}")
