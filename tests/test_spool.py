"""Captures that a broker could not take: none is lost, none counts twice, and their order stays."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from builders import captured
from click.testing import CliRunner
from kafka_broker import free_ports
from met import events_of

from memtape.schemas.errors import InvalidEvent, LogAway, UnknownOutcome
from memtape.schemas.events import Captured, Event
from memtape.schemas.log import SPOOLED, Position
from memtape.sinks.home.folders import Home
from memtape.sinks.logs import kafka_topic, spool
from memtape.sinks.logs.memory import MemoryLog
from memtape.sinks.logs.opening import LOG_VARIABLE
from memtape.sinks.logs.spool import Spool
from memtape.tools.client import Client
from memtape.tools.commands import importing
from memtape.tools.commands.cli import main
from memtape.tools.importing import batches

A = "project:a"
UP, AWAY, UNSURE, KILLED = "up", "away", "unsure", "killed"


class Killed(Exception):
    """A process that ends between the append and what comes after it."""


def texts(log: MemoryLog) -> list[str]:
    return [event.body.text for event in events_of(log) if isinstance(event.body, Captured)]


@pytest.mark.parametrize("weather", list(itertools.product((UP, AWAY, UNSURE, KILLED), repeat=3)))
def test_each_capture_reaches_the_log_once_and_in_order(
    weather: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever becomes of each delivery: the broker is away, stores without a word, or a kill comes."""
    monkeypatch.setattr(spool, "BATCH_EVENTS", 2)
    log, kept, said = MemoryLog(), Spool(Home(tmp_path / "home")), list[str]()
    for number, becomes in enumerate((*weather, UP)):

        def append(events: Sequence[Event], becomes: str = becomes) -> list[Position]:
            if becomes == AWAY:
                raise LogAway("away")
            positions = log.append(events)
            if becomes in (UNSURE, KILLED):
                raise UnknownOutcome("unsure") if becomes == UNSURE else Killed
            return positions

        for batch in ([f"{number}.0"], [f"{number}.1", f"{number}.2"]):
            assert kept.add([captured(text, scope=A) for text in batch]) == [SPOOLED] * len(batch)
            said += batch
        before = kept.count()
        try:
            assert kept.deliver(append, log) <= before
        except (LogAway, UnknownOutcome, Killed):
            assert becomes != UP and kept.count()
    assert texts(log) == said and kept.count() == 0 == kept.deliver(log.append, log)


def test_a_line_that_was_cut_short_was_never_acknowledged(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    kept = Spool(home)
    kept.add([captured("whole", scope=A)])
    whole = home.spool_path.read_bytes()
    for cut in (1, len(whole) // 2, len(whole) - 1):
        home.spool_path.write_bytes(whole + whole[:cut])
        assert kept.count() == 1
    kept.add([captured("after", scope=A)])
    log = MemoryLog()
    assert kept.deliver(log.append, log) == 2 and texts(log) == ["whole", "after"]


def test_what_may_not_stand_on_the_log_does_not_wait_for_it(tmp_path: Path) -> None:
    kept = Spool(Home(tmp_path / "home"))
    with pytest.raises(InvalidEvent):
        kept.add([captured("fine", scope=A), captured("global", scope="global")])
    kept.add([captured("said <private>whispered</private>", scope=A)])
    assert kept.count() == 1 and b"whispered" not in Home(tmp_path / "home").spool_path.read_bytes()


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is on a broker that does not answer."""
    monkeypatch.setattr(kafka_topic, "OPEN_TIMEOUT_S", 0.2)
    monkeypatch.setenv(LOG_VARIABLE, f"kafka://127.0.0.1:{free_ports(1)[0]}/t")


@pytest.mark.usefixtures("away")
def test_a_capture_waits_in_the_home_while_the_broker_is_away(home: Path) -> None:
    def call(*words: str, **given: Any) -> Any:
        return CliRunner().invoke(main, [*words, "--home", str(home)], **given)

    first = call("capture", "The token is ghp_0123456789abcdefghijABCDEFGHIJ012345.", "--scope", A)
    assert first.exit_code == 0 and "in the spool" in first.stdout and "does not answer" in first.stderr
    words = ("--native-id", "n-1", "--scope", A, "--json")
    second = json.loads(call("capture", "Ada said this.", *words).stdout)
    assert second["spooled"] is True
    lines = call("capture", "-", "--scope", A, "--json", input='{"text": "One."}\n{"text": "Two."}\n')
    assert json.loads(lines.stdout)["spooled"] == 2
    assert json.loads(call("status", "--json").stdout)["spooled"] == 4
    for words in (("status", "--json"), ("search", "token"), ("forget", second["id"])):
        done = call(*words, *(() if "--json" in words else ("--scope", A)))
        assert done.exit_code == 1 and "4 captures wait in the spool" in done.output, words
    kept, log = Spool(Home(home)), MemoryLog()
    assert b"ghp_0123456789" not in Home(home).spool_path.read_bytes()
    assert kept.deliver(log.append, log) == 4
    assert texts(log)[1:] == ["Ada said this.", "One.", "Two."]


SAID = ["The gauge reads 7.", "The lamp is green.", "The gate closes late."]


@pytest.fixture
def export(tmp_path: Path) -> Path:
    file = tmp_path / "export" / "memories.json"
    file.parent.mkdir()
    file.write_text(json.dumps([{"id": f"m-{number}", "memory": text} for number, text in enumerate(SAID)]))
    (file.parent / "page.md").write_text("# A page\n")
    return file


@pytest.mark.parametrize("form", ["memories", "pages"])
@pytest.mark.usefixtures("away")
def test_an_import_takes_nothing_while_the_broker_is_away(form: str, home: Path, export: Path) -> None:
    what = [str(export), "--format", "mem0"] if form == "memories" else [str(export.parent), "--as", "pages"]
    done = CliRunner().invoke(main, ["import", *what, "--scope", A, "--home", str(home), "--json"])
    told = json.loads(done.stdout)
    assert done.exit_code == 1 and "Nothing was taken" in told["error"]
    assert "same command again" in told["hint"]
    assert Spool(Home(home)).count() == 0


class Leaving(MemoryLog):
    """A log whose broker goes away after some appends of captures."""

    left = 0

    def known(self, scope: str, ids: Sequence[str]) -> dict[str, int]:
        if self.left == 0:
            raise LogAway("The broker does not answer.")
        return super().known(scope, ids)

    def append(self, events: Sequence[Event]) -> list[Position]:
        self.left -= any(event.type == "captured" for event in events)
        return super().append(events)


@pytest.mark.parametrize("taken", range(len(SAID)))
def test_an_import_that_loses_its_broker_says_what_was_taken_and_goes_on(
    taken: int, home: Path, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Leaving()
    monkeypatch.setattr(batches, "MAX_RECORDS", 1)
    monkeypatch.setattr(importing, "_speaker", lambda path: Client(path, log=log))

    def take() -> Any:
        words = ["import", str(export), "--format", "mem0", "--scope", A, "--home", str(home)]
        return CliRunner().invoke(main, words)

    log.left = taken
    done = take()
    assert done.exit_code == 1 and "same command again" in done.stderr and len(texts(log)) == taken
    assert ("Nothing was taken." if not taken else f"{taken} text") in done.stderr
    log.left = 100
    assert take().exit_code == 0 and texts(log) == SAID
