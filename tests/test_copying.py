"""A copy of a log is that log: the same bytes at the same places, or a sentence and nothing changed."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from builders import START, captured, erased, forgotten, recalled
from click.testing import CliRunner, Result
from commanding import call
from forking import python
from kafka_broker import Broker
from test_logs import everything

from memtape.schemas.errors import DamagedLog, LogExists, MemtapeError
from memtape.schemas.log import Log, Position
from memtape.schemas.metrics import told_of_progress
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.schemas.times import HOUR_US
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.logs.kafka import KafkaLog
from memtape.sinks.logs.opening import LOG_VARIABLE
from memtape.tools.doors.cli import main
from memtape.tools.keep import copying
from memtape.tools.keep.copying import copy_log
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.verify import verify

SCOPES = [f"project:p{number}" for number in range(8)]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(LOG_VARIABLE, raising=False)
    return Home(tmp_path / "home").path


@pytest.fixture
def source(home: Path, request: pytest.FixtureRequest) -> Iterator[EmbeddedLog]:
    """A log of 16 partitions, or of few where a copy on a broker would wait for many."""
    few = "kafka" in request.fixturenames
    with closing(EmbeddedLog(home / "log.db", 4 if few else 16, settings=Settings(echo_recalls=7))) as log:
        fill(log)
        yield log


def fill(log: Log, count: int = 30, start: int = 0) -> None:
    """Append captures of some hours, recalls and tombstones, a blank slot and some unreadable ones."""
    for number in range(start, start + count):
        scope, sent = SCOPES[number % len(SCOPES)], START + number * HOUR_US // 10
        text = f"Lighthouse {number} has {number % 5} lamps."
        log.append([captured(text, f"c{number}", scope=scope, sent=sent)])
    scope, sent = SCOPES[0], START + (start + count) * HOUR_US // 10
    names: list[object] = [f"c{start}"]
    gone = erased([f"c{start + 8}"], f"e{start}", scope=scope, sent=sent)
    log.append([recalled(names, f"r{start}", scope=scope, sent=sent)])
    log.append([forgotten(names, f"f{start}", scope=scope), gone])
    number = partition_of(scope, log.partitions)
    (slot,) = (it for it in log.read(number, 0, 1_000) if f"Lighthouse {start + 8} ".encode() in it.payload)
    log.blank({number: [slot.offset]})
    log.append_raw(3, [b"no event", b"", b'{"almost": 1}', b"\xff\xfe", b"null"])


def state_hash(folder: Path, log: Log) -> str:
    home = Home(folder)
    with Owner(home, log) as owner:
        owner.project()
    verdict = verify(home, log)
    assert verdict.ok, verdict.differences[:5]
    return verdict.state_hash


def copy_command(*words: str) -> Result:
    return call("admin", "copy", *words, code=None)


def test_a_copy_is_the_same_log(source: EmbeddedLog, tmp_path: Path) -> None:
    made = copy_log(source, str(tmp_path / "copy.db"))
    copy = EmbeddedLog(tmp_path / "copy.db")
    assert everything(copy) == everything(source)
    assert (copy.log_id, copy.partitions, copy.ends()) == (source.log_id, source.partitions, source.ends())
    assert (made.slots, made.copied, made.behind) == (sum(source.ends()), sum(source.ends()), 0)
    assert (tmp_path / "copy.db").stat().st_mode & 0o077 == 0
    # What the database knows of each slot beside its bytes is there too.
    number = partition_of(SCOPES[0], 16)
    assert copy.erased(number) == source.erased(number) != []
    assert copy.read(number, 0, 9, scope=SCOPES[0]) == source.read(number, 0, 9, scope=SCOPES[0])
    assert copy.offset_after(number, START) == source.offset_after(number, START)


def test_a_copy_goes_on_where_it_ends(source: EmbeddedLog, tmp_path: Path) -> None:
    copy_log(source, str(tmp_path / "other"))
    fill(source, 20, start=104)
    made = copy_log(source, str(tmp_path / "other"))
    copy = EmbeddedLog(tmp_path / "other" / "log.db")
    assert 0 < made.copied < 70 < made.slots
    assert everything(copy) == everything(source)
    assert copy_log(source, str(tmp_path / "other")).copied == 0
    # A tick of an hour that is on the copy is not put there again.
    before = copy.ends()
    event = captured("again", scope=SCOPES[0], sent=START)
    assert copy.append([event]) == [Position(number := partition_of(SCOPES[0], 16), before[number])]


def test_what_comes_meanwhile_is_copied_too(source: EmbeddedLog, tmp_path: Path) -> None:
    said: list[str] = []

    def append_once(phase: str, done: int, total: int) -> None:
        if not said:
            source.append([captured("meanwhile", scope=SCOPES[2])])
        said.append(phase)

    with told_of_progress(append_once):
        made = copy_log(source, str(tmp_path / "a.db"))
    assert (made.slots, made.behind) == (sum(source.ends()), 0)
    assert everything(EmbeddedLog(tmp_path / "a.db")) == everything(source)
    assert set(said) == {"copying", "comparing"}


@pytest.mark.parametrize("what", ["another log", "a longer one", "a changed slot", "other partitions", ""])
def test_a_place_where_something_else_stands_is_refused_and_not_changed(
    source: EmbeddedLog, tmp_path: Path, what: str
) -> None:
    path = tmp_path / "target.db"
    if what == "another log":
        EmbeddedLog(path).close()
    elif what == "other partitions":
        EmbeddedLog(path, 4).close()
    elif not what:
        path.write_bytes(b"Something that somebody else keeps here." * 50)
    else:
        copy_log(source, str(path))
        log = EmbeddedLog(path)
        log.append_raw(5, [b"more"])
        if what == "a changed slot":
            source.append_raw(5, [b"else", b"and more"])
        log.close()
    before = path.read_bytes()
    with pytest.raises(MemtapeError) as refusal:
        copy_log(source, str(path))
    assert isinstance(refusal.value, (LogExists, DamagedLog)) and refusal.value.hint
    assert path.read_bytes() == before


def test_the_log_itself_is_no_place_for_its_copy(source: EmbeddedLog, home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    for to in (home, home / "log.db", tmp_path / "link"):
        with pytest.raises(MemtapeError, match="is the log that is to be copied"):
            copy_log(source, str(to))


def test_a_copy_that_is_not_whole_is_opened_by_nobody_else(source: EmbeddedLog, tmp_path: Path) -> None:
    path = tmp_path / "copy.db"
    part = EmbeddedLog(path, 16, copy_of=source.log_id)
    part.append_raw(0, [slot.payload for slot in source.read(0, 0, 1)])
    part.close()
    with pytest.raises(DamagedLog, match="is a copy that is not whole"):
        EmbeddedLog(path)
    with pytest.raises(LogExists, match="another log"):
        EmbeddedLog(path, copy_of="another")
    copy_log(source, str(path))
    assert everything(EmbeddedLog(path)) == everything(source)


def test_a_slot_that_was_erased_after_it_was_copied_is_named(source: EmbeddedLog, tmp_path: Path) -> None:
    copy_log(source, str(tmp_path / "copy.db"))
    number = partition_of(SCOPES[1], 16)
    offset = next(slot.offset for slot in source.read(number, 0, 9, scope=SCOPES[1]))
    source.blank({number: [offset]})
    with pytest.raises(MemtapeError, match=f"offset {offset} of partition {number}"):
        copy_log(source, str(tmp_path / "copy.db"))


def test_the_command_says_what_it_copied_and_how_to_use_it(source: EmbeddedLog, tmp_path: Path) -> None:
    said = json.loads(copy_command("--to", str(tmp_path / "other"), "--json").stdout)
    assert said["log_id"] == source.log_id
    assert (said["slots"], said["copied"], said["behind"]) == (sum(source.ends()), sum(source.ends()), 0)
    assert said["place"] == str(tmp_path / "other" / "log.db")
    result = copy_command("--to", str(tmp_path / "other"))
    assert result.exit_code == 0, result.output
    assert f"MEMTAPE_HOME='{tmp_path / 'other'}'" in result.stdout
    assert copy_command("--to", str(tmp_path / "x.db")).stdout.endswith("as log.db\n")
    assert copy_command().exit_code == 2
    for to in ("kafka:/localhost:9092/t", "kafka://ada:secret@localhost:9092/t", "https://example.org/x"):
        refused = copy_command("--to", to)
        assert (refused.exit_code, "secret" in refused.output) == (1, False)


@pytest.mark.slow
def test_a_log_that_went_to_kafka_and_came_back_is_the_same(
    source: EmbeddedLog, kafka: Broker, tmp_path: Path, home: Path
) -> None:
    url, words = kafka.url(), ["admin", "copy", "--to", str(tmp_path / "back")]
    result = copy_command("--to", url)
    assert result.exit_code == 0 and f"{LOG_VARIABLE}='{url}'" in result.stdout, result.output
    with closing(KafkaLog(url)) as there:
        assert everything(there) == everything(source) and there.log_id == source.log_id
        result = CliRunner().invoke(main, words, env={LOG_VARIABLE: url})
        assert result.exit_code == 0, result.output
        assert everything(EmbeddedLog(tmp_path / "back" / "log.db")) == everything(source)
        assert state_hash(home, source) == state_hash(tmp_path / "kafka", there)
        # The views that were made from the log serve its copy: it is the same log.
        assert verify(Home(home), there).ok


@pytest.mark.slow
def test_a_topic_of_kafka_in_its_next_generation_is_copied_as_it_is_now(
    source: EmbeddedLog, kafka: Broker, tmp_path: Path
) -> None:
    url = kafka.url()
    copy_log(source, url)
    number = partition_of(SCOPES[1], source.partitions)
    offset = source.read(number, 0, 9, scope=SCOPES[1])[0].offset
    with closing(KafkaLog(url)) as there:
        there.blank({number: [offset]})
        copy_log(there, str(tmp_path / "back"))
        back = EmbeddedLog(tmp_path / "back" / "log.db")
        assert everything(back) == everything(there) != everything(source)
    # What was erased on the copy is not put back, and what was erased on both is the same again.
    with pytest.raises(MemtapeError, match=f"offset {offset} of partition {number}"):
        copy_log(source, url)
    source.blank({number: [offset]})
    fill(source, 10, start=104)
    assert copy_log(source, url).copied > 0
    with closing(KafkaLog(url)) as there:
        assert everything(there) == everything(source)


KILLED = """
import sys, time
from pathlib import Path
from memtape.schemas.metrics import told_of_progress
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.keep import copying

copying.PAGE_SLOTS = 5
def wait_there(phase, done, total):
    if [phase, str(done)] == sys.argv[3:]:
        print("there", flush=True)
        time.sleep(600)

with told_of_progress(wait_there):
    copying.copy_log(EmbeddedLog(Path(sys.argv[1])), sys.argv[2])
"""


def killed_at(source: EmbeddedLog, to: str, at: Sequence[str]) -> None:
    """Copy in a process of its own, which waits once it is there, and kill that process."""
    with python(KILLED, source.path, to, *at, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "there\n"
        child.kill()
    assert child.returncode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("to", ["a file", "kafka"])
def test_a_copy_that_was_killed_twice_goes_on(
    source: EmbeddedLog, tmp_path: Path, request: pytest.FixtureRequest, to: str
) -> None:
    path = tmp_path / "copy.db"
    place = str(path) if to == "a file" else request.getfixturevalue("kafka").url()
    killed_at(source, place, ("copying", "5"))
    killed_at(source, place, ("copying", "25"))
    made = copy_log(source, place)
    assert 0 < made.copied < made.slots == sum(source.ends())
    with closing(EmbeddedLog(path) if to == "a file" else KafkaLog(place)) as log:
        assert everything(log) == everything(source)


@pytest.mark.slow
def test_what_another_process_writes_into_the_copy_is_found(
    source: EmbeddedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "PAGE_SLOTS", 2)
    path = tmp_path / "copy.db"
    number = partition_of(SCOPES[0], 16)

    def interfere(phase: str, done: int, total: int) -> None:
        other = EmbeddedLog(path, copy_of=source.log_id)
        if other.ends()[number] == 2:
            other.append_raw(number, [b"mine"])
        other.close()

    with pytest.raises(LogExists, match="Another process writes"), told_of_progress(interfere):
        copy_log(source, str(path))


def test_an_erasure_reaches_a_copy_where_it_is_given_there(home: Path, tmp_path: Path) -> None:
    run = partial(call, scope="project:a", code=None)
    text, other = "The codename is Zebrafish-Quokka.", tmp_path / "other"
    id = json.loads(run("capture", text, "--json").stdout)["id"]
    other.mkdir()
    assert "What is erased here stays in the copy" in copy_command("--to", str(other)).output
    assert run("erase", id).exit_code == 0 and text.encode() in (other / "log.db").read_bytes()
    there = run("erase", id, "--home", str(other))
    assert there.exit_code == 0 and "Erased for good" in there.output
    assert text.encode() not in (other / "log.db").read_bytes()
