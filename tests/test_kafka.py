"""The log on Kafka beyond the contract: what a broker, its operators and its other clients can do to it.

Every test is on a real broker, which some of them kill or freeze. At last everything befalls a topic at once:
producers append until they are told so, while the broker dies and hangs and the projector is killed.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from builders import START, captured, configured, erased
from forking import python
from kafka_broker import PASSWORD, ROOT, USER, Broker, new_topic
from soaked import soaked
from tables import table
from test_views import history, vault_bytes

from memtape.schemas import errors
from memtape.schemas.codec import blanked, decode, encode
from memtape.schemas.errors import DamagedLog, LogExists, MemtapeError, UnknownOutcome
from memtape.schemas.events import MAX_EVENT_BYTES, Captured
from memtape.schemas.log import Log, Position, slots_between
from memtape.schemas.rows import TurnRow
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Home
from memtape.sinks.logs import kafka as kafka_log
from memtape.sinks.logs import kafka_topic
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.logs.kafka import KafkaLog
from memtape.sinks.logs.kafka_topic import PASSWORD_VARIABLE, parse_kafka_url
from memtape.sinks.tables import Shard
from memtape.state.core.partition import Partition, fold
from memtape.tools.agents.doctor import examine
from memtape.tools.keep.copying import copy_log
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.verify import verify

WAIT_S = 300.0
A = "project:a"
KEPT = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}

GOOD = encode(captured("good", scope=A))
POISON = [None, b"", b"\xff\x00 no text", b"{", b"[" * 100_000, b"x" * (MAX_EVENT_BYTES + 1), GOOD[:-1],
          GOOD.replace(b'"captured"', b'"dreamt"'), GOOD.replace(b'"v":1', b'"v":99'),
          GOOD.replace(b'"project:a"', b'"project:../a"')]  # fmt: skip
"""Records of other clients that become dead letters."""

Open = Callable[..., KafkaLog]


@pytest.fixture
def opened(kafka: Broker) -> Iterator[Open]:
    """Open logs, of a new topic each unless a URL is given, and close them at the end."""
    logs = []

    def open_log(partitions: int | None = None, url: str | None = None, **options: Any) -> KafkaLog:
        logs.append(KafkaLog(url or kafka.url(), partitions, **options))
        return logs[-1]

    yield open_log
    for log in logs:
        log.close()


@pytest.fixture
def admin(kafka: Broker) -> Iterator[Any]:
    from kafka import KafkaAdminClient

    client = KafkaAdminClient(bootstrap_servers=[kafka.server])
    yield client
    client.close()


@pytest.fixture
def stranger(kafka: Broker) -> Iterator[Any]:
    """Another client's producer, which keeps none of our habits."""
    from kafka import KafkaProducer

    large = {"max_request_size": 5_000_000, "compression_type": "gzip"}
    producer = KafkaProducer(bootstrap_servers=[kafka.server], **large)
    yield producer
    producer.close()


def url_of(log: KafkaLog) -> str:
    return f"kafka://{log.target.servers[0]}/{log.target.topic}"


def payloads(log: KafkaLog, partition: int) -> list[bytes]:
    return [slot.payload for slot in log.read(partition, 0, 1_000_000)]


def make_topic(admin: Any, partitions: int = 1, **settings: str) -> str:
    name = new_topic()
    configs = KEPT | {key.replace("_", "."): value for key, value in settings.items()}
    made = {"num_partitions": partitions, "replication_factor": 1, "configs": configs}
    admin.create_topics({name: made}, wait_for_metadata=True)
    return name


# Where it is

URLS = table("kafka")
LOSING = [tuple(it) for it in URLS["losing"]]
MENDED = [*((name, value, True) for name, value in LOSING), (*LOSING[0], False)]


@pytest.mark.parametrize(("url", "field", "value"), URLS["good"])
def test_a_url_says_where_the_log_is_and_is_made_again(url: str, field: str, value: object) -> None:
    target = parse_kafka_url(url)
    found = getattr(target, field)
    assert (list(found) if isinstance(found, tuple) else found) == value
    assert parse_kafka_url(target.url) == target


@pytest.mark.parametrize("url", ["", "kafka://localhost:9092/" + "t" * 250, *URLS["bad"]])
def test_what_is_no_url_is_refused_with_a_hint(url: str) -> None:
    with pytest.raises(MemtapeError) as refusal:
        parse_kafka_url(url)
    assert refusal.value.hint and str(refusal.value).endswith(".")


@pytest.mark.parametrize("host", ["kafka.example:9", "10.0.0.1:9092", "localhost:1,10.0.0.1:1", "0.0.0.0:1"])
def test_nothing_goes_readable_to_another_machine_unless_that_is_said(host: str) -> None:
    for query in ("", "?security=SASL_PLAINTEXT&mechanism=PLAIN&user=ada"):
        with pytest.raises(MemtapeError, match="readable"):
            parse_kafka_url(f"kafka://{host}/t{query}")
    parse_kafka_url(f"kafka://{host}/t?insecure=yes")
    parse_kafka_url(f"kafka://{host}/t?security=SSL")


def test_a_password_is_in_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MemtapeError) as refusal:
        parse_kafka_url("kafka://ada:secret@localhost:9092/t")
    assert "secret" not in f"{refusal.value} {refusal.value.hint}"
    assert PASSWORD_VARIABLE in refusal.value.hint
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    target = parse_kafka_url("kafka://localhost:9/t?security=SASL_PLAINTEXT&mechanism=PLAIN&user=ada")
    with pytest.raises(MemtapeError, match="password of ada is missing"):
        target.options()
    monkeypatch.setenv(PASSWORD_VARIABLE, "secret")
    assert target.options()["sasl_plain_password"] == "secret"
    assert "secret" not in repr(target) + target.url


# The topic


def alter(admin: Any, topic: str, configs: dict[str, str]) -> None:
    """Set what a topic keeps, and wait until the broker says so, which is later than its answer."""
    from kafka.admin import ConfigResource, ConfigResourceType

    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, configs=configs)])
    while settings_of(admin, topic, configs) != configs:
        time.sleep(0.02)


def settings_of(admin: Any, topic: str, names: Iterable[str]) -> dict[str, str]:
    from kafka.admin import ConfigResource, ConfigResourceType

    wanted = ConfigResource(ConfigResourceType.TOPIC, topic, [*names])
    found = admin.describe_configs([wanted], config_filter="all")["topic"][topic]
    return {name: found[name]["value"] for name in names}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value", "by_tool"), soaked(MENDED, MENDED[-1]))
def test_a_topic_that_would_lose_events_is_refused_with_the_command_that_mends_it(
    kafka: Broker, admin: Any, opened: Open, tmp_path: Path, name: str, value: str, by_tool: bool
) -> None:
    """Kafka's own tool takes seconds to start, so that one case does what the command says without it."""
    topic = make_topic(admin, **{name.replace(".", "_"): value})
    with pytest.raises(MemtapeError, match=f"{name} is ") as refusal:
        opened(1, kafka.url(topic))
    command, *arguments = shlex.split(refusal.value.hint)
    said = dict(itertools.pairwise(arguments))
    if by_tool:
        kafka.tool(command, *arguments)
    else:
        assert (command, said["--entity-name"], "--alter" in said) == ("kafka-configs.sh", topic, True)
        mended = dict(setting.split("=") for setting in said["--add-config"].split(","))
        alter(admin, topic, mended)
    log = opened(1, kafka.url(topic))
    log.check()
    # And where somebody changes it later, a check says so.
    alter(admin, topic, {name: value})
    with pytest.raises(MemtapeError, match=f"{name} is "):
        log.check()
    home = Home(tmp_path / "home")
    home.settings_path.write_text(f'log = "{kafka.url(topic)}"\n')
    found = next(it for it in examine(home) if it.subject == "log")
    assert found.state == "bad" and f"{name} is " in found.seen and "kafka-configs.sh" in found.todo


@pytest.mark.slow
def test_an_erasure_that_another_process_finishes_meanwhile_is_no_loss(
    kafka: Broker, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old generation goes after this process has looked for the next one, before it looks for its own."""
    url = kafka.url()
    log, other = opened(1, url), opened(1, url)
    [position] = log.append([captured("secret", scope=A)])
    describe = log.topic.describe

    def late(wait_s: float = 10.0, generation: int | None = None) -> Any:
        if generation is None and other.topic.generation == 0:
            other.blank({0: [position.offset]})
        return describe(wait_s, generation)

    monkeypatch.setattr(log.topic, "describe", late)
    log.check()
    assert log.topic.generation == 1 and b"secret" not in b"".join(payloads(log, 0))


@pytest.mark.slow
def test_another_number_of_partitions_is_refused(admin: Any, opened: Open, kafka: Broker) -> None:
    log = opened(3)
    with pytest.raises(LogExists, match="has 3 partitions, not 4"):
        opened(4, url_of(log))
    admin.create_partitions({log.target.topic: 4})
    with pytest.raises(LogExists, match=r"made with 3 partitions.* has 4"):
        opened(None, url_of(log))
    with pytest.raises(DamagedLog, match="had 3 partitions and now has 4"):
        log.check()


@pytest.mark.slow
def test_what_others_put_there_is_left_alone(admin: Any, opened: Open, stranger: Any, kafka: Broker) -> None:
    """Another client can be quicker than the first opener, or come between its steps; an opener can die."""

    def laid(*by_partition: list[bytes]) -> str:
        topic = make_topic(admin, len(by_partition))
        for number, them in enumerate(by_partition):
            for payload in them:
                stranger.send(topic, payload, partition=number).get(WAIT_S)
        return kafka.url(topic)

    first = encode(configured(partitions=2))
    with pytest.raises(LogExists, match="no log of Memtape"):
        opened(None, url := laid([b"an order"], []))
    assert opened(None, url, copy_of="another").ends() == [1, 0]
    another = encode(configured(Settings(echo_recalls=9), partitions=2))
    for begun, rest in (([b"early", first, another], []), ([first], []), ([first], [first])):
        log = opened(2, laid(begun, rest), settings=Settings(echo_recalls=9))
        assert log.log_id.encode() in first
        assert [payloads(log, partition) for partition in range(2)] == [begun, [first]]
        log.check()
    log = opened(2, laid([], [b"early"]))
    with pytest.raises(DamagedLog, match=r"Partition 1 .* does not begin with the settings"):
        log.check()


@pytest.mark.slow
def test_openers_at_once_agree(opened: Open, kafka: Broker) -> None:
    url, together = kafka.url(), threading.Barrier(5)

    def open_one(number: int) -> KafkaLog:
        together.wait()
        log = opened(4, url, settings=Settings(echo_recalls=number))
        log.append([captured(str(number), scope=A)])
        return log

    with ThreadPoolExecutor(5) as threads:
        logs = list(threads.map(open_one, range(5)))
    assert len({log.log_id for log in logs}) == 1
    [first] = {payloads(logs[0], partition)[0] for partition in range(4)}
    assert logs[0].log_id.encode() in first
    ids = {decode(payload).id for payload in payloads(logs[0], partition_of(A, 4))}
    assert {captured(str(number), scope=A).id for number in range(5)} <= ids
    logs[0].check()


@pytest.mark.slow
def test_topic_and_records_are_as_the_format_says(kafka: Broker, admin: Any, opened: Open) -> None:
    """The topic keeps everything, on a broker that would not."""
    from kafka import KafkaConsumer, TopicPartition

    log = opened(3)
    wanted = KEPT | {"message.timestamp.type": "CreateTime"}
    assert settings_of(admin, log.target.topic, wanted) == wanted
    before = time.time() * 1_000
    # Sent long ago and long ahead of the broker's clock: neither may reach the record's own time.
    log.append([captured(f"{away}", scope=A, sent=START + away) for away in (-(10**14), 10**15)])
    place = TopicPartition(log.target.topic, partition_of(A, 3))
    consumer = KafkaConsumer(bootstrap_servers=[kafka.server], group_id=None, auto_offset_reset="earliest")
    consumer.assign([place])
    records: list[Any] = []
    while len(records) < log.ends()[place.partition]:
        records += consumer.poll(1_000).get(place, [])
    consumer.close()
    assert [record.key for record in records] == [None, None, b"project:a", None, b"project:a"]
    assert [dict(record.headers)["type"] for record in records][:3] == [b"configured", b"ticked", b"captured"]
    assert {dict(record.headers)["v"] for record in records} == {b"1"}
    assert all(before - 60_000 < record.timestamp < time.time() * 1_000 + 60_000 for record in records)


# What is gone


@pytest.mark.slow
def test_what_was_deleted_is_never_jumped_over(admin: Any, opened: Open) -> None:
    from kafka import TopicPartition

    log = opened(1)
    log.append([captured(str(number), scope=A) for number in range(20)])
    living = opened(None, url_of(log))
    whole = living.read(0, 0, 100)
    admin.delete_records({TopicPartition(log.target.topic, 0): 10})
    for offset in (0, 9):
        with pytest.raises(errors.OffsetOutOfRange, match=f"no offset {offset} any .* begins at 10") as gone:
            living.read(0, offset, 5)
        assert "copy" in gone.value.hint
    for read in (lambda: list(slots_between(living, 0, 0, 20)), lambda: living.offset_after(0, 0)):
        with pytest.raises(errors.OffsetOutOfRange, match="begins at 10"):
            read()
    assert living.read(0, 10, 100) == whole[10:]
    for check in (living.check, lambda: opened(None, url_of(log))):
        with pytest.raises(DamagedLog, match="begins at offset 10"):
            check()


@pytest.mark.slow
def test_a_topic_made_again_is_another_log(admin: Any, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_log, "LOOK_AGAIN_S", 0.0)
    log = opened(1, deadline_s=5.0)
    log.append([captured(str(number), scope=A) for number in range(5)])
    page = log.read(0, 0, 3)
    admin.delete_topics([log.target.topic])
    with pytest.raises(DamagedLog, match="was deleted since"):
        log.read(0, 3, 1)
    deadline = time.monotonic() + WAIT_S
    while log.target.topic in admin.list_topics() and time.monotonic() < deadline:
        time.sleep(0.1)
    again = opened(1, url_of(log))
    again.append([captured(f"new {number}", scope=A) for number in range(20)])
    assert again.log_id != log.log_id
    uses: Sequence[Callable[[], object]] = (
        lambda: log.read(0, len(page), 3), lambda: log.read(0, 0, 3, scope=A), lambda: log.offset_after(0, 0),
        lambda: log.append([captured("x", scope=A)]), lambda: log.append_raw(0, [b"x"]), log.ends, log.check,
    )  # fmt: skip
    for use in uses:
        with pytest.raises(DamagedLog, match="deleted and made again"):
            use()
    assert again.ends() == [22]


@pytest.mark.slow
def test_a_damaged_record_is_refused_and_read_no_further(opened: Open, kafka: Broker) -> None:
    log = opened(2)
    scope = next(name for name in (f"project:{number}" for number in range(9)) if partition_of(name, 2) == 0)
    for number in range(6):
        log.append([captured(f"number {number} of them", scope=scope)])
    whole = log.read(0, 0, 100)
    if kafka.folder is None:
        pytest.skip("the disk of the broker is not ours")
    segment = kafka.folder / "logs" / f"{log.target.topic}-0" / "00000000000000000000.log"
    with segment.open("r+b") as file:  # The broker gives what stands there and looks at no checksum.
        file.seek(-5, os.SEEK_END)
        byte = file.read(1)[0]
        file.seek(-5, os.SEEK_END)
        file.write(bytes([byte ^ 1]))
    again = opened(None, url_of(log))
    assert again.read(0, 0, len(whole) - 1) == whole[:-1]
    for _ in range(2):
        with pytest.raises(DamagedLog, match="crc"):
            again.read(0, len(whole) - 1, 10)
    assert again.read(0, 0, 2) == whole[:2]
    assert len(again.read(1, 0, 10)) == 1


@pytest.mark.slow
def test_partitions_are_read_in_turn_wherever_each_was_left(opened: Open) -> None:
    """A consumer that pauses a partition with fetched records never gives them again."""
    log = opened(2, deadline_s=5.0)
    log.append([captured(str(number), scope=f"project:{number % 9}") for number in range(90)])
    ends = log.ends()
    whole = [log.read(partition, 0, end) for partition, end in enumerate(ends)]
    for start in (0, 3, 2, 5):
        assert log.read(1, start, 2) == whole[1][start : start + 2]
        assert log.read(0, start, ends[0]) == whole[0][start:]


def bodies(log: KafkaLog, partition: int = 0) -> list[bool]:
    """Whether each slot of a partition has a body."""
    return [decode(slot.payload).body is not None for slot in log.read(partition, 0, 100_000)]


def topics_of(admin: Any, log: KafkaLog) -> list[str]:
    return sorted(name for name in admin.list_topics() if name.startswith(log.target.topic))


@pytest.mark.slow
def test_a_blanked_topic_goes_on_in_its_next_generation_alone(opened: Open, admin: Any) -> None:
    log = opened(2)
    log.append([captured(f"text {number}", scope=A) for number in range(50)])
    other = opened(None, url_of(log))
    home, ends = partition_of(A, 2), log.ends()
    log.blank({home: [3, 4]})
    assert topics_of(admin, log) == [f"{log.target.topic}.g1"]
    assert all(decode(slot.payload).type == "ticked" for slot in log.read(home, ends[home], 100))
    other.append([captured("by another handle", scope=A)])
    assert b"by another handle" in log.read(home, 0, 1_000)[-1].payload
    assert [offset for offset, has_body in enumerate(bodies(other, home)) if not has_body] == [3, 4]
    other.blank({home: [5]})
    assert topics_of(admin, log) == [f"{log.target.topic}.g2"]
    again = opened(None, url_of(log))
    assert again.log_id == log.log_id
    log.append([captured("by the first handle", scope=A)])
    assert bodies(again, home).count(False) == 3


@pytest.mark.slow
def test_nothing_that_is_written_meanwhile_is_lost(opened: Open) -> None:
    """Four handles write while the topic is rewritten two times."""
    log = opened(2)
    home = partition_of(A, 2)
    log.append([captured(f"secret {number}", scope=A) for number in range(100)])
    stop = threading.Event()

    def write(number: int) -> list[str]:
        mine, ids = opened(None, url_of(log)), list[str]()
        while not stop.is_set():
            events = [captured(f"{number} {len(ids) + place}", scope=A) for place in range(5)]
            mine.append(events)
            ids += [event.id for event in events]
        return ids

    with ThreadPoolExecutor(4) as threads:
        writers = [threads.submit(write, number) for number in range(4)]
        try:
            for number in range(2):
                log.blank({home: [10 + number]})
        finally:
            time.sleep(0.2)
            stop.set()
    ids = [decode(slot.payload).id for slot in log.read(home, 0, 1_000_000)]
    first = {id: place for place, id in reversed(list(enumerate(ids)))}
    for writer in writers:
        places = [first.get(id, -1) for id in writer.result()]
        assert places and places[0] >= 0 and places == sorted(places)


REWRITE = """
import sys
from crash import arm
from memtape.sinks.logs.kafka import KafkaLog
url, target, nth, when = sys.argv[1:]
arm(target, when, int(nth), "")
KafkaLog(url).blank({0: [3, 5]})
"""
REWRITE_KILLS = [(*point, when) for point in URLS["rewrite_points"] for when in ("before", "after")]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "nth", "when"), soaked(REWRITE_KILLS, *REWRITE_KILLS[1::8]))
def test_a_rewriting_that_is_killed_goes_on_or_stands_as_it_was(
    opened: Open, admin: Any, target: str, nth: int, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_log, "STALLED_S", 1.0)
    log = opened(1)
    log.append([captured(f"text {number}", scope=A) for number in range(20)])
    before = [slot.payload for slot in log.read(0, 0, 100)]
    killed = _start(REWRITE, url_of(log), target, nth, when)
    said = killed.communicate()
    assert killed.returncode == -signal.SIGKILL, said
    again = opened(None, url_of(log))
    blank = [blanked(payload) if offset in (3, 5) else payload for offset, payload in enumerate(before)]
    kept = [slot.payload for slot in again.read(0, 0, len(before))]
    assert all(payload in (it, other) for payload, it, other in zip(kept, before, blank, strict=True))
    again.blank({0: [3, 5]})
    assert topics_of(admin, log) == [f"{log.target.topic}.g1"]
    after = again.read(0, 0, 100)
    assert [slot.payload for slot in after][: len(before)] == blank
    assert all(decode(slot.payload).type == "ticked" for slot in after[len(before) :])
    log.append([captured("afterwards", scope=A)])
    assert b"afterwards" in again.read(0, 0, 100)[-1].payload


@pytest.mark.slow
def test_a_topic_that_is_closed_and_not_gone_on_with_takes_nothing_and_says_why(opened: Open) -> None:
    log = opened(1, deadline_s=3.0)
    log.topic.set(kafka_topic.CLOSED)
    kafka_log._await_silence(log)
    with pytest.raises(UnknownOutcome, match="closed while something is erased") as refusal:
        log.append([captured("refused", scope=A)])
    assert "memtape run" in refusal.value.hint
    assert len(log.read(0, 0, 100)) == log.ends()[0]
    log.topic.set({"max.message.bytes": str(kafka_topic.MESSAGE_BYTES)})


# Other clients


@pytest.mark.slow
def test_poison_of_other_clients_is_a_slot_each_and_stops_nothing(opened: Open, stranger: Any) -> None:
    log = opened(2)
    topic, good = log.target.topic, captured("good", scope=A, sent=START + 10**15)
    home = partition_of(A, 2)
    wrong = 1 - home
    spaced = encode(good).replace(b'":', b'" : ')
    escaped = encode(good).replace(b"project:a", b"\\u0070roject:a").replace(b'"capt', b'"c\\u0061pt')
    sent: list[tuple[bytes | None, dict[str, Any]]] = [
        (None, {"key": A.encode()}), (b"", {}), (b"\xff\x00garbage", {"headers": [("type", b"captured")]}),
        (spaced, {}), (escaped, {"key": b"another key", "headers": [("type", b"forgotten"), ("v", b"99")]}),
        (b"[" * 100_000, {}), (b"x" * (MAX_EVENT_BYTES + 1), {}),
    ]  # fmt: skip
    for value, more in sent:
        stranger.send(topic, value, partition=home, **more).get(WAIT_S)
    stranger.send(topic, encode(good), partition=wrong).get(WAIT_S)
    [position] = log.append([captured("after", scope=A)])
    slots = log.read(home, 1, 100)
    assert [slot.offset for slot in slots] == list(range(1, position.offset + 1))
    assert [slot.payload for slot in slots][: len(sent)] == [value or b"" for value, _ in sent]
    found = log.read(home, 0, 100, types=["captured"])
    assert [slot.payload for slot in found] == [spaced, escaped, encode(captured("after", scope=A))]
    assert log.read(home, 0, 100, scope=A) == found
    # What stands in the wrong partition is a slot like any other: the fold says what it is.
    assert [slot.payload for slot in log.read(wrong, 1, 10)] == [encode(good)]
    assert log.offset_after(home, START + 10**14) == 4


@pytest.mark.slow
@pytest.mark.parametrize("by_java", [False, True])
def test_a_program_without_our_code_appends_by_the_published_schema(
    opened: Open, stranger: Any, kafka: Broker, by_java: bool
) -> None:
    """The key is the scope, by which each client's own partitioner finds the partition."""
    from jsonschema import validate

    log, schema = opened(5), json.loads((ROOT / "schemas/json/captured.v1.json").read_text())
    event = {
        "id": "01997c5f-2f55-7b6b-8f0a-2f1d1f9f3a11", "type": "captured", "v": 1, "scope": A,
        "at": START, "sent": START, "session": None, "refs": [], "actor": {"name": "CI", "origin": "tool"},
        "body": {
            "branch": None, "importance_given": None, "kind": "fact", "media": [], "part": None, "path": None,
            "source": None, "tags": ["ci"], "text": "The nightly build takes nine minutes.",
        },
    }  # fmt: skip
    validate(event, schema)
    if by_java:
        kafka.tool(
            "kafka-run-class.sh", "org.apache.kafka.tools.ConsoleProducer",
            "--bootstrap-server", kafka.server,
            "--topic", log.target.topic, "--property", "parse.key=true", "--property", "key.separator=|",
            given=f"{A}|{json.dumps(event)}\n",
        )  # fmt: skip
    else:
        stranger.send(log.target.topic, json.dumps(event).encode(), key=A.encode()).get(WAIT_S)
    [slot] = log.read(partition_of(A, 5), 0, 100, scope=A)
    state = Partition(slot.partition)
    fold(state, log.read(slot.partition, 0, 100))
    assert state.counters.dead_letters == 0
    assert state.scopes[A].captures.has_event(str(event["id"]))


@pytest.mark.slow
def test_a_topic_takes_the_largest_event_and_no_record_that_is_larger(opened: Open, stranger: Any) -> None:
    from kafka.errors import MessageSizeTooLargeError

    log, noise = opened(1), random.Random(1)
    raw, larger = noise.randbytes(kafka_log.MAX_RAW_BYTES), noise.randbytes(1_100_000)
    assert len(raw) > MAX_EVENT_BYTES + 1_000
    assert log.append_raw(0, [raw]) == [Position(0, 1)]
    assert log.read(0, 1, 1)[0].payload == raw
    with pytest.raises(MessageSizeTooLargeError):
        stranger.send(log.target.topic, larger, partition=0).get(WAIT_S)
    before = log.ends()
    with pytest.raises(errors.InvalidEvent) as refusal:
        log.append_raw(0, [b"small", larger])
    assert refusal.value.code == "oversized"
    assert log.ends() == before


@pytest.mark.slow
def test_a_topic_with_transactions_is_refused_for_its_gaps(opened: Open, kafka: Broker) -> None:
    from kafka import KafkaProducer

    log = opened(1)
    producer = KafkaProducer(bootstrap_servers=[kafka.server], transactional_id=log.target.topic)
    producer.init_transactions()
    for _ in range(2):
        producer.begin_transaction()
        producer.send(log.target.topic, encode(captured("one", scope=A)), partition=0)
        producer.commit_transaction()
    producer.close()
    with pytest.raises(DamagedLog, match="has no record at some offset") as refusal:
        log.read(0, 0, 100)
    assert "transactions" in refusal.value.hint


# Failing brokers


@pytest.mark.slow
@pytest.mark.parametrize("kills", soaked((1, 3), 1))
def test_nothing_acknowledged_is_lost_when_a_broker_dies(opened: Open, kafka: Broker, kills: int) -> None:
    """Threads append while the broker dies; who is told that an append failed appends again.

    An append to a broker that is gone stores nothing and says so within its deadline, and a read says so too.
    """
    log, threads, batches = opened(3), 4, 60
    impatient, refused = opened(None, url_of(log), deadline_s=1.0), captured("refused", scope=A)
    taken: dict[str, Position] = {}
    unknown: list[MemtapeError] = []

    def produce(thread: int) -> None:
        for number in range(batches):
            batch = [captured(f"{thread}:{number}:{place}", scope=f"project:{place}") for place in range(3)]
            while True:
                try:
                    positions = log.append(batch)
                    break
                except MemtapeError as error:
                    unknown.append(error)
            taken.update(zip((given.id for given in batch), positions, strict=True))
            time.sleep(0.02)

    with ThreadPoolExecutor(threads) as pool:
        producers = [pool.submit(produce, thread) for thread in range(threads)]
        for _ in range(kills):
            time.sleep(0.3)
            kafka.kill()
            try:
                impatient._seen = 0.0
                for use in (lambda: impatient.append([refused]), lambda: impatient.read(0, 0, 10)):
                    with pytest.raises(errors.LogAway, match="does not answer"):
                        use()
            finally:
                kafka.start()
    for producer in producers:
        producer.result()
    assert len(taken) == threads * batches * 3
    slots = [slot for partition in range(3) for slot in log.read(partition, 0, 1_000_000)]
    by_place = {Position(slot.partition, slot.offset): decode(slot.payload) for slot in slots}
    for id, position in taken.items():
        assert by_place[position].id == id
    assert refused.id not in {given.id for given in by_place.values()}
    texts = [given.body.text for given in by_place.values() if isinstance(given.body, Captured)]
    if not unknown:
        assert len(texts) == len(taken)
        for thread, place in itertools.product(range(threads), range(3)):
            mine = [it for it in texts if it.startswith(f"{thread}:") and it.endswith(f":{place}")]
            assert mine == [f"{thread}:{number}:{place}" for number in range(batches)]


@pytest.mark.slow
def test_a_broker_that_hangs_is_waited_for(opened: Open, kafka: Broker) -> None:
    log = opened(1)
    log.append([captured("before", scope=A)])
    with ThreadPoolExecutor(2) as threads:
        with kafka.frozen():
            appended = threads.submit(log.append, [captured("meanwhile", scope=A)])
            read = threads.submit(log.read, 0, 0, 1_000)
            time.sleep(2)
            assert not appended.done() and not read.done()
        assert appended.result(WAIT_S) == [Position(0, 3)] and len(read.result(WAIT_S)) in (3, 4)
    assert log.append([captured("after", scope=A)]) == [Position(0, 4)]


@pytest.mark.slow
def test_an_append_that_is_not_confirmed_in_time_can_be_repeated(opened: Open, kafka: Broker) -> None:
    log, event = opened(1, deadline_s=2.0), captured("meanwhile", scope=A)
    log.append([captured("before", scope=A)])
    log._seen = time.monotonic() + 60  # Or it would look first, and be sure that nothing was stored.
    with kafka.frozen(), pytest.raises(UnknownOutcome, match="may or may not") as outcome:
        log.append([event])
    assert "same ids" in outcome.value.hint
    [position] = log.append([event])
    assert decode(log.read(0, position.offset, 1)[0].payload) == event
    found = [slot.payload for slot in log.read(0, 0, 100, types=["captured"])]
    assert found.count(encode(event)) in (1, 2)


@pytest.mark.slow
def test_views_of_a_log_on_kafka_are_what_the_log_says(opened: Open, stranger: Any, tmp_path: Path) -> None:
    """Two producers, so that ticks stand twice, and poison; projected in two steps by two handles."""
    home, log = Home(tmp_path / "home"), opened(2)
    other = opened(None, url_of(log))
    hashes = []
    for step, reader in enumerate((log, other)):
        for number in range(24):
            text, scope = f"fact {number % 16} of {step}", f"project:{number % 5}"
            (log, other)[number % 2].append([captured(text, f"{step} {number}", scope=scope)])
        for poison in POISON:
            stranger.send(log.target.topic, poison, key=b"gone", partition=step).get(WAIT_S)
        with Owner(home, reader) as owner:
            owner.project()
        verdict = verify(home, log)
        assert verdict.ok, verdict.differences[:5]
        hashes.append(verdict.state_hash)
    marks = (Shard(home.current().shard(n), n).watermark() for n in range(2))
    assert [mark and len(mark.counters.latest_dead_letters) for mark in marks] == 2 * [len(POISON)]
    ticks = [slot for partition in range(2) for slot in log.read(partition, 0, 1_000, types=["ticked"])]
    assert len(ticks) > len({decode(slot.payload).id for slot in ticks})
    # From nothing, by one who was not there, it is the same.
    fresh = Home(tmp_path / "fresh")
    with Owner(fresh, opened(None, url_of(log))) as owner:
        owner.project()
    assert verify(fresh, log).state_hash == hashes[-1] != hashes[0]


# --- Everything at once ---

SEED = 17
PARTITIONS = 4
PRODUCERS = 4
BATCHES, BATCH_EVENTS = 100, 50
SCOPES = tuple(f"project:s{number}" for number in range(8))
HUNG_S = 20.0
DEADLINES_S = ("60", "6")
"""Half of the producers wait for a broker that hangs; the others hear that it is unknown, and repeat."""
CALM_S = 2.0

PRODUCER = """
import sys, time
from builders import START, captured
from memtape.schemas.errors import MemtapeError
from memtape.sinks.logs.kafka import KafkaLog
url, producer, deadline, batches, size, *scopes = sys.argv[1:]
log = KafkaLog(url, deadline_s=float(deadline))
for batch in range(int(batches)):
    events = []
    for n in range(batch * int(size), (batch + 1) * int(size)):
        text, scope = f"{producer} {n}", scopes[n % len(scopes)]
        events.append(captured(text, text, "turn", scope=scope, sent=START + n * 10**6))
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


Storm = tuple[str, Home, str]
"""A topic that everything has befallen, a home that was projected meanwhile, and its state hash."""


@pytest.fixture(scope="module")
def storm(kafka: Broker, tmp_path_factory: pytest.TempPathFactory) -> Storm:
    """Four processes append while the broker is killed, ended and frozen, and projectors are killed."""
    if kafka.folder is None:
        pytest.skip("the broker is not ours to stop")
    home, url = Home(tmp_path_factory.mktemp("storm") / "home"), kafka.url()
    KafkaLog(url, PARTITIONS).close()
    each = (BATCHES, BATCH_EVENTS, *SCOPES)
    producers = [_start(PRODUCER, url, it, DEADLINES_S[it % 2], *each) for it in range(PRODUCERS)]
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
        return url, home, projected(home, log)


@pytest.mark.slow
@pytest.mark.soak(short="test_nothing_acknowledged_is_lost_when_a_broker_dies")
def test_nothing_acknowledged_is_lost_twice_or_out_of_order_and_the_hash_is_that_of_an_undisturbed_home(
    storm: Storm, opened: Open, tmp_path: Path
) -> None:
    url, stormy, state_hash = storm
    shards = [Shard(stormy.current().shard(number), number) for number in range(PARTITIONS)]
    rows = [row for shard in shards if shard.exists() for row in shard.rows(TurnRow)]
    by_source: dict[tuple[str, str], list[int]] = {}
    for row in sorted(rows, key=lambda row: (row.scope, row.seq)):
        producer, number = row.text.split()
        by_source.setdefault((row.scope, producer), []).append(int(number))
    found = {(producer, number) for (_, producer), numbers in by_source.items() for number in numbers}
    wanted = set(itertools.product(map(str, range(PRODUCERS)), range(BATCHES * BATCH_EVENTS)))
    unordered = sum(a > b for numbers in by_source.values() for a, b in itertools.pairwise(numbers))
    assert (wanted - found, len(rows) - len(found), unordered) == (set(), 0, 0)
    home = Home(tmp_path / "undisturbed")
    assert projected(home, opened(None, url)) == state_hash
    assert vault_bytes(home) == vault_bytes(stormy)


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "workers"), soaked([("PLAIN", 1), ("SCRAM-SHA-512", 2)], ("PLAIN", 1)))
def test_a_log_is_kept_over_tls_with_a_password(
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
def test_a_topic_has_the_state_hash_of_a_file_with_the_same_slots(opened: Open, tmp_path: Path) -> None:
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


def _start(program: str, *words: object) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return python(program, *words, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)


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
