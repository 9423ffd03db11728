"""What a home keeps beside a log on Kafka: known ids, which answer as a full read, and captures that wait."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from builders import captured, configured, erased, forgotten, make_id, recalled
from click.testing import CliRunner
from kafka_broker import Broker, free_ports
from met import events_of
from msgspec.structs import replace
from soaked import soaked

from memtape.schemas.codec import encode, event_of
from memtape.schemas.errors import InvalidEvent, LogAway, UnknownOutcome
from memtape.schemas.events import Captured, Event
from memtape.schemas.log import SPOOLED, Log, Position, Slot
from memtape.sinks.home.folders import Home
from memtape.sinks.logs import kafka_topic, known_ids, spool
from memtape.sinks.logs.embedded import EmbeddedLog, MemoryLog
from memtape.sinks.logs.kafka import KafkaLog
from memtape.sinks.logs.known_ids import KnownIds
from memtape.sinks.logs.opening import LOG_VARIABLE, open_log
from memtape.sinks.logs.spool import Spool
from memtape.tools.agents import hooks
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.importing import batches
from memtape.tools.keep.erasing import plan
from memtape.tools.verbs import importing

SCOPES = ["project:a", "project:b", "global"]
NAMES = range(60)
"""So few ids that many stand twice, in other scopes and under other types."""
SCOPE = "project:test"
LEAST = known_ids.LEAST_SLOTS


def payloads(rng: random.Random, count: int) -> list[bytes]:
    """Return slots of every kind: events of a few ids, repetitions, blank ones, settings, and no events."""
    made: list[bytes] = []
    for _ in range(count):
        scope, id = rng.choice(SCOPES), rng.choice(NAMES)
        text, others = captured(f"text {rng.random()}", id, scope=scope), [rng.choice(NAMES)]
        made_of = [make(others, id, scope=scope) for make in (recalled, forgotten, erased)]
        event: Event = rng.choice([text, text, *made_of, configured()])
        blank = event.type in ("captured", "recalled") and rng.random() < 0.2
        data = encode(replace(event, body=None) if blank else event)
        made.append(rng.choice([b"null", b"", b'{"half']) if rng.random() < 0.1 else data)
    return made


class Wholly:
    """What reading all slots of a partition says."""

    def __init__(self, slots: list[Slot]) -> None:
        self.first: dict[tuple[str, str], int] = {}
        self.types: dict[tuple[str, str, str], None] = {}
        self.erased: list[Slot] = []
        self.settings: list[Slot] = []
        for slot in slots:
            event = event_of(slot.payload)
            if event is not None and event.type == "configured":
                self.settings.append(slot)
            if event is None or event.scope is None:
                continue
            first = self.first.setdefault((event.scope, event.id), slot.offset)
            if first == slot.offset and event.type == "erased":
                self.erased.append(slot)
            self.types[event.id, event.scope, event.type] = None

    def matching(self, part: str, scopes: list[str], types: list[str]) -> set[tuple[str, str]]:
        known = [it for it in self.types if it[0].startswith(part) or it[0][-8:] == part]
        known = [it for it in known if not scopes or it[1] in scopes]
        return {(id, scope) for id, scope, type in known if not types or type in types}


def check(known: KnownIds, log: Log, rng: random.Random) -> None:
    """Hold all that is known of partition 0 to what its slots say."""
    end = log.ends()[0]
    known.read_on(log, end)
    wholly = Wholly(log.read(0, 0, end))
    for scope in [*SCOPES, "project:never"]:
        for id in map(make_id, NAMES):
            assert known.first(scope, id) == wholly.first.get((scope, id))
    assert known.kept.erased == wholly.erased
    assert known.kept.settings == wholly.settings
    id = make_id(rng.choice(NAMES))
    cut = (*(id[:length] for length in (1, 7, 8, 9, 18)), *(id[-length:] for length in (7, 8, 9)))
    for start in ("", *cut, id, f"{id}0", id.upper(), *"g% -", id[:8] * 5):
        scopes = rng.choice([[], SCOPES[:1], SCOPES[1:]])
        types = rng.choice([[], ["captured"], ["erased", "recalled"]])
        assert set(known.matching(start, scopes, types)) == wholly.matching(start, scopes, types)


def harmed(rng: random.Random, path: Path, older: bytes) -> str:
    """Do something to a file that a disk, a person or another process may do; say what."""
    data = path.read_bytes() if path.exists() else b""
    case = rng.choice(["nothing", "nothing", "deleted", "cut", "flipped", "older", "empty", "longer"])
    match case:
        case "deleted":
            path.unlink(missing_ok=True)
        case "cut":
            path.write_bytes(data[: rng.randrange(len(data) + 1)])
        case "flipped" if data:
            place = rng.randrange(len(data))
            path.write_bytes(data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :])
        case "older":
            path.write_bytes(older)
        case "empty":
            path.write_bytes(b"")
        case "longer":
            path.write_bytes(data + rng.randbytes(30))
    return case


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "known-ids"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("seed", soaked(range(300), *range(6)))
def test_the_answer_is_that_of_a_full_read(folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Over new processes and long ones, with files that are written often, and whatever is done to them."""
    rng = random.Random(seed)
    monkeypatch.setattr(known_ids, "LEAST_SLOTS", rng.choice([1, 3, 20]))
    log, path, older = MemoryLog(1), folder / "p00", b""
    living = [KnownIds(0, folder), KnownIds(0, None)]
    for _ in range(rng.randint(2, 12)):
        log.append_raw(0, payloads(rng, rng.randrange(40)))
        for known in rng.sample(living, rng.randint(1, len(living))):
            check(known, log, rng)
        older = path.read_bytes() if path.exists() and rng.random() < 0.5 else older
        harmed(rng, path, older)
        living.append(KnownIds(0, folder))
        check(living[-1], log, rng)


@pytest.mark.parametrize("seed", soaked(range(60), *range(4)))
def test_another_history_of_the_same_log_is_not_believed(folder: Path, seed: int) -> None:
    """A log that went back and got other events has the same id, and perhaps as many slots. Then another."""
    rng = random.Random(seed)
    kept = [*(slot.payload for slot in MemoryLog(1).read(0, 0, 9)), *payloads(rng, rng.randrange(2 * LEAST))]
    for number in range(6):
        log = EmbeddedLog(folder.parent / f"{number}.db", 1, copy_of="the same")
        log.append_raw(0, [*kept, *payloads(rng, rng.choice([5, LEAST, 2 * LEAST, 2 * LEAST]))])
        check(KnownIds(0, folder), log, rng)
        kept = kept[: rng.randint(1, len(kept))] if rng.random() < 0.3 else kept
    other = MemoryLog(1)
    other.append_raw(0, payloads(rng, 3 * LEAST))
    check(KnownIds(0, folder), other, rng)


def test_a_file_has_no_text_and_few_bytes_an_id(folder: Path) -> None:
    log = MemoryLog(1)
    said = (captured(f"The vault opens at dawn {n}.", n, scope=SCOPES[0]) for n in range(1_000))
    log.append_raw(0, list(map(encode, said)))
    KnownIds(0, folder).read_on(log, log.ends()[0])
    data = (folder / "p00").read_bytes()
    assert b"dawn" not in data
    assert len(data) < 31 * 1_000


# On a broker


@pytest.fixture
def at_kafka(kafka: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home whose log is a new topic of one partition."""
    url = kafka.url()
    monkeypatch.setenv(LOG_VARIABLE, url)
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MEMTAPE_SESSION", raising=False)
    home = Home(tmp_path / "home")
    home.settings_path.write_text("catch_up = false\n")
    KafkaLog(url, 1).close()
    return home


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many records the library gave, under `read`."""
    from kafka import KafkaConsumer

    counted, poll = Counter[str](), KafkaConsumer.poll

    def counting(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = poll(self, *args, **kwargs)
        counted["read"] += sum(map(len, found.values()))
        return found

    monkeypatch.setattr(KafkaConsumer, "poll", counting)
    return counted


def fill(home: Home, count: int, name: str = "old") -> list[str]:
    """Put turns on the log of a home and return their ids."""
    how: dict[str, Any] = {"kind": "turn", "source": "test"}
    lines = [Line(text=f"Turn {name} {n} of Ada.", native_id=f"{name}{n}", **how) for n in range(count)]
    with Client(home, scope=SCOPE, origin="user") as client:
        return [receipt.id for receipt in client.capture_many(lines)]


def holds(log: Log, names: list[str]) -> None:
    """Hold what a log says of ids to what its slots say."""
    for number, end in enumerate(log.ends()):
        wholly = Wholly(log.read(number, 0, end))
        assert log.erased(number) == wholly.erased
        assert log.read(number, 0, end, types=["configured"]) == wholly.settings
        later = [slot for slot in wholly.settings if slot.offset]
        assert log.read(number, 1, 1, types=["configured"]) == later[:1]
        if number == 0:
            first = {id: wholly.first.get((SCOPE, id)) for id in names}
            assert log.known(SCOPE, names) == {id: at for id, at in first.items() if at}
            for part in (names[0][:8], names[0][-8:]):
                found = sorted(wholly.matching(part, [], []))
                assert log.matching(part, (), (), 10) == [(scope, id) for id, scope in found][:10]


@pytest.mark.slow
def test_no_command_reads_a_topic_of_kafka_from_its_beginning(at_kafka: Home, records: Counter[str]) -> None:
    """Each is a new process in what it keeps: it opens the log anew. The views are up to date before."""
    count = 20 * LEAST
    ids = fill(at_kafka, count)
    assert CliRunner().invoke(main, ["run", "--once"]).exit_code == 0
    records.clear()
    line, of = '{"text": "Of a line.", "source": "test", "native_id": "line"}', ("--scope", SCOPE)
    for words in (
        ("capture", "One more.", *of, "--source", "test", "--native-id", "new"), ("capture", "-", *of),
        ("search", "Ada", *of), ("status",), ("run", "--once"), ("show", ids[7], *of), ("pin", ids[7], *of),
        ("pin", ids[8][:18]), ("context", *of), ("run", "--once"),
    ):  # fmt: skip
        result = CliRunner().invoke(main, words, line if "-" in words else None)
        assert result.exit_code == 0, (words, result.output)
        # What is projected reads the turns again that stand on the same page of the day, 500 at most.
        assert 0 < records["read"] < (10 if words[0] == "run" else 3) * LEAST, words
        records.clear()
    told = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(at_kafka.path)}
    told["prompt"] = "Ada?"
    hooks.run("claude", at_kafka.path, json.dumps(told).encode(), alone=True)
    assert 0 < records["read"] < 3 * LEAST


@pytest.mark.slow
def test_an_erasure_on_kafka_is_proven_and_answers_stay_true(at_kafka: Home, records: Counter[str]) -> None:
    """The topic goes on in its next generation. The proof looks into the file; its ids are no remains."""
    ids = fill(at_kafka, 2 * LEAST)
    with Client(at_kafka, scope=SCOPE, origin="user") as client:
        secret = client.capture("The codename is Zebrafish-Quokka.", native_id="secret").id
        client.project()
        client.log.known(SCOPE, ids)
        erasure = client.erase(plan(at_kafka, client.log, SCOPE, [secret, ids[0]], only=False))
        assert erasure.after.proves
        forms = {file.form for file in erasure.after.places if file.path.startswith("known-ids/")}
        assert forms == {"ids of the log"}
        fill(at_kafka, LEAST, "later")
        holds(client.log, [secret, *ids])
    with closing(open_log(at_kafka)) as log:
        assert log.topic.generation == 1  # type: ignore[attr-defined]
        records.clear()
        assert set(log.known(SCOPE, [secret, ids[0], make_id("never")])) == {secret, ids[0]}
        assert records["read"] < LEAST
        holds(log, [secret, *ids])


# --- Captures that a broker could not take ---

A = "project:a"
UP, AWAY, UNSURE, KILLED = "up", "away", "unsure", "killed"


class Killed(Exception):
    """A process that ends between the append and what comes after it."""


def texts(log: MemoryLog) -> list[str]:
    return [event.body.text for event in events_of(log) if isinstance(event.body, Captured)]


@pytest.mark.parametrize("weather", list(itertools.product((UP, AWAY, UNSURE, KILLED), repeat=3)))
def test_captures_come_once_in_order(weather: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    return file


@pytest.mark.usefixtures("away")
def test_an_import_takes_nothing_while_the_broker_is_away(home: Path, export: Path) -> None:
    words = ["import", str(export), "--scope", A, "--home", str(home), "--json"]
    done = CliRunner().invoke(main, words)
    told = json.loads(done.stdout)
    assert done.exit_code == 1 and "does not answer" in told["error"]
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
def test_an_import_that_loses_its_broker_goes_on_later(
    taken: int, home: Path, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Leaving()
    monkeypatch.setattr(batches, "MAX_RECORDS", 1)
    monkeypatch.setattr(importing, "_speaker", lambda path: Client(path, log=log))

    def take() -> Any:
        words = ["import", str(export), "--scope", A, "--home", str(home)]
        return CliRunner().invoke(main, words)

    log.left = taken
    done = take()
    assert done.exit_code == 1 and "does not answer" in done.stderr and len(texts(log)) == taken
    log.left = 100
    assert take().exit_code == 0 and texts(log) == SAID
