"""A log that went back: an older state or another history of it stands where views were made of a later one.

Readers say so and answer from the log, the next projection makes the views anew and says so, and nothing kept
beside the views (snapshots, offsets, marks, positions, views of the past) is believed.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from builders import START, captured, erased
from click.testing import CliRunner
from kafka_broker import Broker
from soaked import soaked

from memtape.flows import projection
from memtape.schemas.events import Event
from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home
from memtape.sinks.home.marks import OffsetMarks
from memtape.sinks.logs.embedded import EmbeddedLog, MemoryLog
from memtape.sinks.logs.kafka import KafkaLog
from memtape.tools.capture.native_ids import MARKDOWN
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.importing.finding import ImportSource
from memtape.tools.importing.taking import Importer
from memtape.tools.keep.copying import copy_log
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.verify import verify
from memtape.tools.query import reading

PARTITIONS = 2
SCOPES = ("project:a", "project:b", "project:c")
ASKED = (*SCOPES, "project:old", "project:new")
KINDS = ("fact", "turn", "document")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.settings_path.write_text("catch_up = false\n")
    return home


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots come after a few events, and no search projects by itself."""
    monkeypatch.setattr(projection, "SNAPSHOT_EVENTS", 4)
    monkeypatch.setattr(reading, "INLINE_EVENTS", 0)


class InMemory:
    """A log of a home that can go back to where it was when `keep` was called."""

    def __init__(self, home: Home) -> None:
        self._log = MemoryLog(PARTITIONS)
        self._kept = sqlite3.connect(":memory:")

    def open(self) -> Log:
        return self._log

    def keep(self) -> None:
        self._log._db.backup(self._kept)

    def go_back(self) -> None:
        self._kept.backup(self._log._db)


class Backup:
    """`log.db` with its write-ahead file as they were copied, or the database alone."""

    def __init__(self, home: Home, with_wal: bool) -> None:
        self._path = home.log_path
        self._with_wal = with_wal
        EmbeddedLog(self._path, PARTITIONS).close()

    def open(self) -> Log:
        return EmbeddedLog(self._path)

    def keep(self) -> None:
        log = EmbeddedLog(self._path)
        if self._with_wal:
            # The last capture is in the write-ahead file alone, as it is while a process has the log open.
            log.append([captured("kept in the write-ahead file", scope="project:a", kind="turn")])
        for path in self._path.parent.glob("log.db*"):
            if self._with_wal or path.name == "log.db":
                shutil.copy(path, path.with_name(f"backup-{path.name}"))
        log.close()

    def go_back(self) -> None:
        for path in self._path.parent.glob("log.db*"):
            path.unlink()
        for path in self._path.parent.glob("backup-*"):
            shutil.copy(path, path.with_name(path.name.removeprefix("backup-")))


class LostWal(Backup):
    """A log whose write-ahead file is lost with what was not yet in the database."""

    def keep(self) -> None:
        self._holding = EmbeddedLog(self._path)  # While it is open nobody writes the file into the database.
        self._holding._db.execute("PRAGMA wal_autocheckpoint=0")
        self._holding._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy(self._path, self._path.with_name("backup-log.db"))

    def go_back(self) -> None:
        held = self._path.with_name("backup-log.db").read_bytes()
        assert self._path.read_bytes() == held  # All that came since stands in the write-ahead file.
        for path in self._path.parent.glob("log.db-*"):
            path.unlink()
        self._holding.close()
        self._path.write_bytes(held)
        for path in self._path.parent.glob("log.db-*"):
            path.unlink()


GOING: dict[str, Callable[[Home], InMemory | Backup]] = {
    "memory": InMemory,
    "a backup": lambda home: Backup(home, with_wal=False),
    "a backup with its WAL": lambda home: Backup(home, with_wal=True),
    "a lost WAL": lambda home: LostWal(home, with_wal=False),
}
KEPT = [("memory", 0), ("a lost WAL", 9)]


def said(history: str, count: int, first: int = 0) -> list[Event]:
    """Return captures of which each has a word of its own, the first of a history in a scope of its own."""
    events = []
    for number in range(first, first + count):
        scope = f"project:{history}" if number == first else SCOPES[number % len(SCOPES)]
        text = f"{history}{number} keeps the lighthouse"
        kind, sent = KINDS[number % len(KINDS)], START + number * 60_000_000
        events.append(captured(text, scope=scope, kind=kind, sent=sent))
    return events


def held(log: Log) -> dict[str, list[str]]:
    """Return the first word of every text that the log holds and that is not erased, by scope."""
    found: dict[str, list[str]] = {}
    for partition in range(log.partitions):
        for slot in log.read(partition, 0, 10_000, types=("captured",)):
            event = json.loads(slot.payload)
            if event["body"] is not None:
                found.setdefault(event["scope"], []).append(event["body"]["text"].split()[0])
    return {scope: sorted(words) for scope, words in found.items()}


def found(home: Home, log: Log) -> dict[str, list[str]]:
    """Return the first word of whatever searches, contexts and single looks give of each scope."""
    words: dict[str, list[str]] = {}
    for scope in ASKED:
        with Client(home, scope=scope, log=log) as client:
            results = client.search("keeps kept lighthouse", 1_000, quiet=True).results
            assert all(client.show(result.id).asked for result in results)
            assert not [text for text in lost_words(log) if text in client.context().text]
            if results:
                words[scope] = sorted(result.text.split()[0] for result in results)
    return words


def lost_words(log: Log) -> list[str]:
    """Return the words of all texts that only the history has which the log does not hold."""
    words = {word for words in held(log).values() for word in words}
    lost = [event.body.text.split()[0] for event in said("old", 9, 20)]
    return [word for word in lost if word not in words]


def end_of(log: Log) -> str:
    return ",".join(f"{number}/{end}" for number, end in enumerate(log.ends()))


def project(home: Home, log: Log) -> list[str]:
    notes: list[str] = []
    with Owner(home, log, notes.append) as owner:
        owner.project()
    return notes


def status(home: Home, log: Log) -> Any:
    with Client(home, scope="project:a", log=log) as client:
        return client.status()


@pytest.mark.parametrize(("how", "count"), soaked(product(GOING, (0, 3, 9, 14)), *KEPT))
def test_a_log_that_went_back_is_noticed_and_views_are_made_anew(home: Home, how: str, count: int) -> None:
    going = GOING[how](home)
    with closing(going.open()) as log:
        log.append(said("base", 8))
        project(home, log)
    going.keep()
    with closing(going.open()) as log:
        log.append(said("old", 9, 20))
        project(home, log)
        with Client(home, scope="project:a", log=log) as client:
            client.status(as_of=end_of(log))  # A view of the past is kept.
        assert not status(home, log).warnings
    going.go_back()
    log = going.open()
    log.append(said("new", count, 20))
    check_before(home, log)
    notes = project(home, log)
    assert any(note.startswith("The log is not as it was when the views were made") for note in notes), notes
    check_after(home, log)
    # And it is said once.
    log.append(said("later", 2, 50))
    assert project(home, log) == []
    check_after(home, log)
    log.close()


def check_before(home: Home, log: Log) -> None:
    """Readers find what the log holds and nothing else, and say that the views are not of it."""
    now = status(home, log)
    told = "The views are not of the log as it is: partition"
    assert now.warnings and all(told in line for line in now.warnings)
    assert now.lag > 0
    assert found(home, log) == {scope: words for scope, words in held(log).items() if scope in ASKED}
    with Client(home, scope="project:old", log=log) as client:
        assert client.search("lighthouse", quiet=True).warnings
    verdict = verify(home, log)
    assert not verdict.ok and "watermarks" in {difference.view for difference in verdict.differences}


def check_after(home: Home, log: Log) -> None:
    """Everything is as in a home that never knew another history."""
    verdict = verify(home, log)
    assert verdict.ok, verdict.differences[:5]
    now = status(home, log)
    assert (now.warnings, now.lag) == ((), 0)
    scopes = {scope: count.memories + count.turns for scope, count in now.scopes.items()}
    assert scopes == {scope: len(words) for scope, words in held(log).items()}
    assert found(home, log) == {scope: words for scope, words in held(log).items() if scope in ASKED}
    pages = "".join(path.read_text() for path in home.vault.rglob("*.md"))
    assert not [word for word in lost_words(log) if word in pages]
    other = Home(home.path.with_name("undisturbed"))
    project(other, log)
    assert verify(other, log).state_hash == verdict.state_hash
    shutil.rmtree(other.path)
    # Views of the past at positions that both histories have.
    with Client(home, scope="project:a", log=log) as client:
        past = client.status(as_of=end_of(log))
        assert (past.memories, past.turns) == (now.memories, now.turns)


def test_marks_positions_and_blanked_slots_of_another_history_are_none(home: Home, tmp_path: Path) -> None:
    """What was embedded, imported and blanked is so on the log that it was done for, and on no other."""
    note = tmp_path / "note.md"
    note.write_text("The lighthouse of old0 was painted red.\n")
    going = InMemory(home)
    log = going.open()
    log.append(said("base", 8))
    going.keep()
    log.append(said("old", 9, 20))
    ends = log.ends()
    with Client(home, scope="project:a", origin="user", log=log) as client:
        assert Importer(client).take([ImportSource(note, MARKDOWN, note.name)]).taken == 1
        assert Importer(client).take([ImportSource(note, MARKDOWN, note.name)]).unchanged == 1
        OffsetMarks(home.embedding_path, log).write("e@1:4", ends)
        assert OffsetMarks(home.embedding_path, log).read("e@1:4") == ends
        log.append([erased(["base2 keeps the lighthouse"], "e1", scope="project:c")])
        with Owner(home, log) as owner:
            assert owner.scrub()[1] == 1
        going.go_back()
        log.append(said("new", 14, 20))
        assert OffsetMarks(home.embedding_path, log).read("e@1:4") == [0] * PARTITIONS
        OffsetMarks(home.embedding_path, log).write("e@1:4", log.ends())
        assert OffsetMarks(home.embedding_path, log).read("e@1:4") == log.ends()
        assert Importer(client).take([ImportSource(note, MARKDOWN, note.name)]).taken == 1
        log.append([erased(["base2 keeps the lighthouse"], "e2", scope="project:c")])
        project(home, log)
        assert "base2" not in held(log)["project:c"]
        assert verify(home, log).ok


def test_commands_say_what_happened(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTAPE_HOME", str(home.path))
    going = Backup(home, with_wal=False)

    def call(*words: str) -> Any:
        return CliRunner().invoke(main, list(words))

    asked = ("search", "lighthouse", "--quiet", "--scope", "project:a")
    for colour in ("white", "red"):
        call("capture", f"The lighthouse is {colour}.", "--scope", "project:a")
        call("run", "--once")
        if colour == "white":
            going.keep()
    going.go_back()
    assert "VIEWS         The views are not of the log as it is: partition" in call("status").stdout
    assert "red" not in (before := call(*asked)).stdout and "white" in before.stdout
    assert "The views are not of the log as it is: partition" in before.stderr
    checked = call("verify")
    assert (checked.exit_code, "unexpected: watermarks" in checked.stdout) == (1, True)
    made = call("run", "--once")
    assert (made.exit_code, "so they are made anew: partition" in made.stderr) == (0, True)
    assert call("verify").exit_code == 0
    assert json.loads(call(*asked, "--json").stdout)["warnings"] == []


@pytest.mark.slow
def test_a_topic_of_kafka_that_was_made_anew_is_noticed(home: Home, kafka: Broker, tmp_path: Path) -> None:
    """Once as another log, and once as an older copy of the same log that got other events."""
    from kafka import KafkaAdminClient

    url = kafka.url()
    with closing(KafkaLog(url, PARTITIONS)) as log:
        log.append(said("base", 3))
        copy_log(log, str(tmp_path / "kept.db"))
        log.append(said("old", 9, 20))
        project(home, log)
    admin = KafkaAdminClient(bootstrap_servers=kafka.server)

    def delete() -> None:
        admin.delete_topics([log.target.topic])
        while log.target.topic in admin.list_topics():
            time.sleep(0.05)

    delete()
    with closing(EmbeddedLog(tmp_path / "kept.db")) as kept:
        copy_log(kept, url)
    with closing(KafkaLog(url)) as log:
        log.append(said("new", 10, 20))
        check_before(home, log)
        assert any("The log is not as it was" in note for note in project(home, log))
        check_after(home, log)
    delete()
    with closing(KafkaLog(url, PARTITIONS)) as log:
        log.append(said("new", 9, 40))
        assert all("are of another log" in line for line in status(home, log).warnings)
        assert found(home, log) == {scope: words for scope, words in held(log).items() if scope in ASKED}
        assert any("are of another log" in note for note in project(home, log))
        assert not status(home, log).warnings
        assert verify(home, log).ok
    admin.close()
