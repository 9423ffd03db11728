"""A home whose log is elsewhere: by `MEMTAPE_LOG` or its settings, for every command, on a real broker."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from builders import captured, forgotten
from kafka_broker import Broker, free_ports, new_topic
from test_ids import call, document

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.kafka import KafkaLog
from memtape.sinks.logs.opening import LOG_VARIABLE, log_url
from memtape.tools.client import Client
from memtape.tools.query import reading

SCOPE = ("--scope", "project:test")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    for name in ("MEMTAPE_SESSION", LOG_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def everything(url: str) -> list[bytes]:
    """What stands on a topic, in all partitions."""
    with closing(KafkaLog(url)) as log:
        return [slot.payload for number in range(log.partitions) for slot in log.read(number, 0, 1_000)]


def test_environment_before_settings_before_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert log_url(Home(home)) is None
    (home / "settings.toml").write_text('log = "kafka://localhost:1/settings"\n')
    assert log_url(Home(home)) == "kafka://localhost:1/settings"
    monkeypatch.setenv(LOG_VARIABLE, "kafka://localhost:1/environment")
    assert log_url(Home(home)) == "kafka://localhost:1/environment"
    monkeypatch.setenv(LOG_VARIABLE, "")
    assert log_url(Home(home)) == "kafka://localhost:1/settings"


def test_what_names_no_log_is_refused_and_makes_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_user = "names no user before its hosts"
    for value, said in (("captures", "is no URL"), ("kafka://ada:secret@localhost:1/t", by_user)):
        monkeypatch.setenv(LOG_VARIABLE, value)
        result = call("capture", "x", *SCOPE)
        assert result.exit_code == 1 and said in result.stderr and "secret" not in result.output
        assert not (home / "log.db").exists()


@pytest.fixture
def on_kafka(kafka: Broker, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A topic of few partitions, so that no command waits for many."""
    url = kafka.url(new_topic())
    KafkaLog(url, 2).close()
    monkeypatch.setenv(LOG_VARIABLE, url)
    return url


@pytest.mark.slow
def test_every_command_works_on_a_log_on_kafka(on_kafka: str, home: Path) -> None:
    first = document("capture", "The staging database listens on port 5433.", *SCOPE, "--tag", "infra")
    document("capture", "the staging db listens on port 5433", *SCOPE)
    document("capture", "Ship the tide alerts in November.", "--kind", "goal", *SCOPE)
    time.sleep(0.01)
    before = document("log", *SCOPE)["events"][-1]
    position = f"{before['partition']}/{before['offset'] + 1}"
    document("capture", "We deploy on Tuesdays.", *SCOPE)

    found = document("search", "staging port", *SCOPE)
    assert [result["id"] for result in found["results"]] == [first["id"]]
    assert (found["results"][0]["confirmations"], found["lag"]) == (1, 0)
    assert document("show", first["id"], *SCOPE)["memory"]["confirmations"] == 1
    events = document("show", "--why", first["id"], *SCOPE)["events"]
    assert [event["how"] for event in events] == ["new", "similar"]
    assert document("run", "--once")["stopped"] is False

    status = document("status")
    assert (status["log"], status["memories"], status["lag"]) == (on_kafka, 3, 0)
    assert document("search", "deploy", *SCOPE, "--as-of", position)["results"] == []
    assert [document("status", "--as-of", when)["memories"] for when in (position, "0s")] == [2, 3]
    assert document("show", first["id"], *SCOPE, "--as-of", position)["memory"]["confirmations"] == 1
    added = document("admin", "diff", position, "0s", *SCOPE)["added"]
    assert [memory["text"] for memory in added] == ["We deploy on Tuesdays."]

    door = document("capture", "The door code is violet-marmalade.", *SCOPE)["id"]
    proof = document("erase", door, *SCOPE)
    assert (proof["ok"], proof["before"]["looked_for"]["texts"]) == (True, 1)
    assert b"marmalade" not in b"".join(everything(on_kafka))
    # Erasing tries things out in a home of its own, which must not have the log that the environment names.
    log = document("log", *SCOPE, "--type", "captured", "--limit", "99")["events"]
    texts = [slot["event"]["body"] for slot in log]
    assert [body and body["text"][:3] for body in texts] == ["The", "the", "Shi", "We ", None]
    assert b'"project:a"' not in b"".join(everything(on_kafka))

    verdict = document("verify")
    assert verdict["ok"]
    assert document("rebuild")["state_hash"] == verdict["state_hash"]
    assert not (home / "log.db").exists()


@pytest.mark.slow
def test_kafka_is_read_in_the_background(kafka: Broker, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "INLINE_EVENTS", 0)
    with closing(KafkaLog(kafka.url(), 4)) as log, Client(scope="project:test", log=log) as client:
        client.capture("Use tabs.")
        assert client.search("tabs", quiet=True).lag == 1
        deadline = time.monotonic() + 300
        while not client.status().memories and time.monotonic() < deadline:
            time.sleep(0.2)
        assert client.status().memories == 1
    assert not (home / "log.db").exists()


@pytest.mark.slow
def test_a_broker_that_is_not_there_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    from memtape.sinks.logs import kafka_topic

    monkeypatch.setattr(kafka_topic, "OPEN_TIMEOUT_S", 1.0)
    monkeypatch.setenv(LOG_VARIABLE, f"kafka://127.0.0.1:{free_ports(1)[0]}/t")
    result = call("search", "x", *SCOPE)
    assert (result.exit_code, "does not answer" in result.stderr) == (1, True)
    assert len(result.stderr.splitlines()) == 2
    with pytest.raises(MemtapeError):
        Client(scope="project:test").log.append([forgotten(["x"], "f", scope="project:test")])


def test_what_waited_for_kafka_is_delivered_once(kafka: Broker, home: Path, monkeypatch: Any) -> None:
    """By the next command that reaches the broker, after a kill in between, and by a projector that runs."""
    from memtape.sinks.logs import kafka_topic
    from memtape.sinks.logs.opening import open_log
    from memtape.sinks.logs.spool import Spool
    from memtape.tools.keep.workers import WORKERS

    monkeypatch.setattr(kafka_topic, "OPEN_TIMEOUT_S", 0.2)
    monkeypatch.setenv(LOG_VARIABLE, f"kafka://127.0.0.1:{free_ports(1)[0]}/t")
    ids = [document("capture", text, *SCOPE)["id"] for text in ("First.", "Second.")]
    waiting = Home(home).spool_path.read_bytes()
    monkeypatch.setattr(kafka_topic, "OPEN_TIMEOUT_S", 15.0)
    monkeypatch.setenv(LOG_VARIABLE, kafka.url(new_topic()))
    last = document("capture", "Third.", *SCOPE)["id"]
    assert document("status")["spooled"] == 0 and not Home(home).spool_path.exists()
    Home(home).spool_path.write_bytes(waiting)  # The process was killed before it took the spool away.
    events = document("log", "--type", "captured", *SCOPE)["events"]
    assert [it["event"]["id"] for it in events] == [*ids, last]
    log = open_log(Home(home))
    Spool(Home(home)).add([captured("Fourth.", scope=SCOPE[1])])
    worker = WORKERS["deliver"].make(Home(home), log, lambda note: pytest.fail(note))
    worker.catch_up()
    worker.catch_up()
    assert worker.done == 1
    log.close()


# Stands for an environment without the extra: nothing of these packages is found.
WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
from importlib import util
found = util.find_spec
util.find_spec = lambda name, package=None: None if name in {absent!r} else found(name, package)
from memtape.__main__ import main
sys.argv[0] = "memtape"
main()
"""


def ran(home: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command where neither the client of Kafka nor zstandard is installed."""
    code = WITHOUT.format(absent=("kafka", "zstandard", "lz4", "snappy"))
    words = (sys.executable, "-c", code, *words, "--home", str(home))
    asked: Any = {"capture_output": True, "text": True, "timeout": 120, "check": False}
    return subprocess.run(words, env=os.environ | environment, **asked)


@pytest.mark.slow
def test_without_the_client_of_kafka_a_log_on_kafka_says_what_to_install(tmp_path: Path) -> None:
    kept = ran(tmp_path / "home", "capture", "The pier opens at six.", "--scope", "project:pier")
    assert kept.returncode == 0, kept.stderr
    found = ran(tmp_path / "home", "search", "pier", "--scope", "project:pier")
    assert found.returncode == 0 and "The pier opens at six." in found.stdout, found.stderr
    away, home = "kafka://127.0.0.1:1/captures", tmp_path / "home"
    for done in (ran(home, "status", MEMTAPE_LOG=away), ran(home, "admin", "copy", "--to", away)):
        assert done.returncode == 1 and "Traceback" not in done.stderr
        told = ("the client of Kafka is not installed", "pip install '.[kafka]'")
        assert all(said in done.stderr for said in told)
