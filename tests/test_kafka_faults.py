"""A topic, its producers and its projector under everything that befalls them at once, on a real broker.

Producers are processes that append until they are told that it is there; the broker dies, stops and hangs meanwhile,
and the projector is killed. What then stands in the views is counted.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from builders import erased
from kafka_broker import PASSWORD, USER, Broker, new_topic
from soaked import soaked
from test_kafka import Open
from test_kafka import opened as opened  # A fixture.
from test_views import history, vault_bytes

from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log
from memtape.schemas.rows import TurnRow
from memtape.sinks.home.folders import Home
from memtape.sinks.logs import kafka_topic
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.logs.kafka import KafkaLog
from memtape.sinks.logs.kafka_topic import PASSWORD_VARIABLE
from memtape.sinks.tables import Shard
from memtape.tools.keep.copying import copy_log
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.verify import verify

ROOT = Path(__file__).resolve().parent.parent
SEED = 17
PARTITIONS = 4
PRODUCERS = 4
BATCHES, BATCH_EVENTS = 100, 50
SCOPES = tuple(f"project:s{number}" for number in range(8))
HUNG_S = 20.0
DEADLINES_S = ("60", "6")
"""Half of the producers wait for a broker that hangs; the others are told that the outcome is unknown, and repeat."""
CALM_S = 2.0
A = "project:a"
WAIT_S = 300.0

PRODUCER = """
import sys, time
from builders import START, captured
from memtape.schemas.errors import MemtapeError
from memtape.sinks.logs.kafka import KafkaLog
url, producer, deadline, batches, size, *scopes = sys.argv[1:]
log = KafkaLog(url, deadline_s=float(deadline))
for batch in range(int(batches)):
    numbers = range(batch * int(size), (batch + 1) * int(size))
    events = [
        captured(f"{producer} {n}", f"{producer} {n}", "turn", scope=scopes[n % len(scopes)], sent=START + n * 10**6)
        for n in numbers
    ]
    while True:
        try:
            log.append(events)
            break
        except MemtapeError:
            time.sleep(0.2)
    time.sleep(0.1)
log.close()
"""
PROJECTOR = """
import sys
from pathlib import Path
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.kafka import KafkaLog
from memtape.tools.keep.owner import Owner
log = KafkaLog(sys.argv[1])
with Owner(Home(Path(sys.argv[2])), log) as owner:
    owner.serve()
"""


class Storm(NamedTuple):
    """A topic after everything has befallen it, a home that was projected meanwhile, and the state hash of that."""

    url: str
    home: Home
    state_hash: str


@pytest.fixture(scope="module")
def storm(kafka: Broker, tmp_path_factory: pytest.TempPathFactory) -> Storm:
    """Four processes append while the broker is killed, ended and frozen, and one projector after another is killed."""
    if kafka.folder is None:
        pytest.skip("the broker is not ours to stop")
    home, url = Home(tmp_path_factory.mktemp("storm") / "home"), kafka.url()
    KafkaLog(url, PARTITIONS).close()
    producers = [
        _start(PRODUCER, url, str(number), DEADLINES_S[number % 2], str(BATCHES), str(BATCH_EVENTS), *SCOPES)
        for number in range(PRODUCERS)
    ]
    over, kills = threading.Event(), [0]
    killer = threading.Thread(target=_kill_projectors, args=[url, home, over, kills])
    killer.start()
    try:
        time.sleep(CALM_S)
        for end in (kafka.kill, kafka.stop):
            end()
            kafka.start()
            time.sleep(CALM_S)
        with kafka.frozen():
            time.sleep(HUNG_S)
        living = sum(producer.poll() is None for producer in producers)
        said = [producer.communicate(timeout=120) for producer in producers]
    finally:
        over.set()
        killer.join(60)
        for producer in producers:
            producer.kill()
    assert [producer.returncode for producer in producers] == [0] * PRODUCERS, said
    assert living == PRODUCERS, "the faults came too late to befall anybody"
    assert kills[0] >= 3
    with closing(KafkaLog(url)) as log:
        return Storm(url, home, projected(home, log))


@pytest.mark.slow
@pytest.mark.soak(short="test_nothing_acknowledged_is_lost_when_the_broker_is_killed")
def test_nothing_acknowledged_is_lost_twice_or_out_of_order_and_the_hash_is_that_of_an_undisturbed_home(
    storm: Storm, opened: Open, tmp_path: Path
) -> None:
    rows = _turns(storm.home)
    by_source: dict[tuple[str, str], list[int]] = {}
    for row in sorted(rows, key=lambda row: (row.scope, row.seq)):
        producer, number = row.text.split()
        by_source.setdefault((row.scope, producer), []).append(int(number))
    found = {(producer, number) for (_, producer), numbers in by_source.items() for number in numbers}
    wanted = {(str(producer), number) for producer in range(PRODUCERS) for number in range(BATCHES * BATCH_EVENTS)}
    unordered = sum(a > b for numbers in by_source.values() for a, b in itertools.pairwise(numbers))
    assert (wanted - found, len(rows) - len(found), unordered) == (set(), 0, 0)
    home = Home(tmp_path / "undisturbed")
    assert projected(home, opened(None, storm.url)) == storm.state_hash
    assert vault_bytes(home) == vault_bytes(storm.home)


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "workers"), soaked([("PLAIN", 1), ("SCRAM-SHA-512", 2)], ("PLAIN", 1)))
def test_a_log_is_kept_and_projected_over_tls_with_a_password(
    kafka: Broker, opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str, workers: int
) -> None:
    if not kafka.secret or kafka.folder is None:
        pytest.skip("no OpenSSL to make a certificate with, or the broker is not ours")
    url = f"kafka://{kafka.secret}/{new_topic()}?security=SASL_SSL&mechanism={mechanism}&user={USER}"
    monkeypatch.setenv(PASSWORD_VARIABLE, PASSWORD)
    with monkeypatch.context() as impatient:
        impatient.setattr(kafka_topic, "OPEN_TIMEOUT_S", 3.0)
        with pytest.raises(MemtapeError, match=r"(?i)certificate"):
            opened(PARTITIONS, url)
        url += f"&cafile={kafka.folder / 'ca.pem'}"
        impatient.setenv(PASSWORD_VARIABLE, "wrong")
        with pytest.raises(MemtapeError, match=f"does not let {USER} in|does not answer"):
            opened(PARTITIONS, url)
    log, home = opened(PARTITIONS, url), Home(tmp_path / "home")
    log.append(history(100))
    projected(home, log, workers)
    assert not any(PASSWORD.encode() in path.read_bytes() for path in home.path.rglob("*") if path.is_file())


@pytest.mark.slow
@pytest.mark.soak(short="test_views_of_a_log_on_kafka_are_what_the_log_says")
def test_a_topic_has_the_state_hash_of_an_embedded_log_with_the_same_slots(opened: Open, tmp_path: Path) -> None:
    log = opened(PARTITIONS)
    events = history(800)
    for at in range(0, 800, 50):
        log.append(events[at : at + 50])
    log.append([erased([f"11-{n}"], f"e{n}", scope=events[n].scope, origin="operator") for n in (3, 77)])
    log.append_raw(2, [b"poison"])
    projected(Home(tmp_path / "first"), log)  # It blanks what is erased, which puts ticks on the topic.
    origin = Home(tmp_path / "embedded")
    copy_log(log, str(origin.log_path))
    expected = projected(origin, EmbeddedLog(origin.log_path)), vault_bytes(origin)
    for workers in (1, 2):
        home = Home(tmp_path / f"{workers} workers")
        assert (projected(home, log, workers), vault_bytes(home)) == expected


def _start(program: str, *words: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))}
    command = [sys.executable, "-c", program, *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)


def _kill_projectors(url: str, home: Home, over: threading.Event, kills: list[int]) -> None:
    """Start projectors of a home one after another and kill each within some seconds, until it is over."""
    rng = random.Random(SEED)
    while not over.is_set():
        projector = _start(PROJECTOR, url, str(home.path))
        over.wait(rng.uniform(3.0, 8.0))
        kills[0] += projector.poll() is None
        projector.send_signal(signal.SIGKILL)
        projector.communicate()


def projected(home: Home, log: Log, workers: int = 1) -> str:
    """Bring the views of a home up to date, and return their state hash, which `verify` finds too."""
    with Owner(home, log, workers=workers) as owner:
        owner.project()
    verdict = verify(home, log)
    assert verdict.ok, verdict.differences[:5]
    return verdict.state_hash


def _turns(home: Home) -> list[TurnRow]:
    shards = [Shard(home.current().shard(number), number) for number in range(PARTITIONS)]
    return [row for shard in shards if shard.exists() for row in shard.rows(TurnRow)]
