"""What the embedded log alone promises: processes at once, producers that are killed, and damage that is met.

The processes are real ones, and import nothing but what a producer needs, so that many can start in a test.
"""

from __future__ import annotations

import random
import re
import signal
import sqlite3
import subprocess
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from builders import START, captured, embedded, pack
from forking import python
from hypothesis import given
from hypothesis import strategies as st
from soaked import soaked
from test_logs import SCOPES, A, check_producers, events, everything, payloads, said

from memtape.schemas.codec import decode, encode
from memtape.schemas.errors import DamagedLog, MemtapeError
from memtape.schemas.events import Embedded, Event
from memtape.schemas.log import Position
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import HOUR_US
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.logs.packed_vectors import joined, packed, parted, unpacked
from memtape.sinks.remains import Needles, search_home

P = partition_of(A, 16)
PAGE_BYTES = 4_096

# Appends a batch for each line on stdin, and says each event's id and position once `append` has returned.
# One write of a short line to a pipe is whole or not at all: a kill leaves nothing half said.
PRODUCER = """
import os, sys
from pathlib import Path
from memtape.schemas.codec import decode
from memtape.sinks.logs.embedded import EmbeddedLog
log = EmbeddedLog(Path(sys.argv[1]))
os.write(1, b"ready\\n")
for line in sys.stdin.buffer:
    batch = [decode(payload) for payload in line.split(b"\\t")]
    said = zip(batch, log.append(batch))
    os.write(1, b"".join(b"%s %d %d\\n" % (event.id.encode(), at.partition, at.offset) for event, at in said))
"""

# Follows every partition until so many captures have come, and says its end and a digest of all that it read.
READER = """
import sys, time
from hashlib import blake2b
from pathlib import Path
from memtape.schemas.codec import decode
from memtape.sinks.logs.embedded import EmbeddedLog
log, wanted, read = EmbeddedLog(Path(sys.argv[1])), int(sys.argv[2]), blake2b()
parts = [[] for _ in range(log.partitions)]
while wanted > 0:
    for partition, payloads in enumerate(parts):
        for slot in log.read(partition, len(payloads), 50):
            assert (slot.partition, slot.offset) == (partition, len(payloads)), slot
            payloads.append(slot.payload)
            wanted -= decode(slot.payload).type == "captured"
for payloads in parts:
    read.update(b"".join(payloads))
print(*map(len, parts), read.hexdigest())
"""

# Opens the log named by each line on stdin, and says its id.
OPENER = """
import os, sys
from pathlib import Path
from memtape.sinks.logs.embedded import EmbeddedLog
os.write(1, b"ready\\n")
for line in sys.stdin:
    log = EmbeddedLog(Path(line.rstrip("\\n")))
    os.write(1, log.log_id.encode() + b"\\n")
    log.close()
"""


Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start processes that run some code, none of which outlives the test."""
    started: list[subprocess.Popen[bytes]] = []

    def process(program: str, *words: object, stdin: Any = None) -> subprocess.Popen[bytes]:
        # Unbuffered, since `communicate` does not see what a buffer took while one line was read.
        started.append(python(program, *words, bufsize=0, stdin=stdin, stdout=subprocess.PIPE))
        return started[-1]

    yield process
    for one in started:
        one.kill()
        one.communicate()


def seeded() -> random.Random:
    """Return a source of chance whose seed is printed."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    return random.Random(seed)


def workload(path: Path, producer: str, batches: int, rng: random.Random) -> list[Event]:
    """Write a producer's batches to a file, one on a line, and return its events."""
    made: list[Event] = []
    with path.open("wb") as file:
        for batch in range(batches):
            names = [f"{producer}:{batch}:{place}" for place in range(rng.choice((1, 1, 1, 2, 5)))]
            sent = START + batch // 40 * HOUR_US
            found = [captured(name, scope=rng.choice(SCOPES[:8]), sent=sent) for name in names]
            file.write(b"\t".join(map(encode, found)) + b"\n")
            made += found
    return made


def acknowledged(said: bytes) -> dict[str, Position]:
    """Return what a producer's output says of its events."""
    lines = (line.split() for line in said.splitlines())
    return {line[0].decode(): Position(int(line[1]), int(line[2])) for line in lines if len(line) == 3}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


@contextmanager
def edited(path: Path) -> Iterator[sqlite3.Connection]:
    """A plain connection to a log that nobody has open."""
    with closing(sqlite3.connect(path)) as db, db:
        yield db


@pytest.mark.slow
def test_eight_producers_and_four_readers_at_once(start: Start, path: Path, tmp_path: Path) -> None:
    rng = seeded()
    EmbeddedLog(path).close()
    made = [workload(tmp_path / f"{name}", f"{name}", 120, rng) for name in range(8)]
    count = sum(map(len, made))
    readers = [start(READER, path, count) for _ in range(4)]
    producers = []
    for name in range(8):
        with (tmp_path / f"{name}").open("rb") as file:
            producers.append(start(PRODUCER, path, stdin=file))
    taken: dict[str, Position] = {}
    for producer in producers:
        taken |= acknowledged(producer.communicate(timeout=300)[0])
    log = EmbeddedLog(path)
    assert taken.keys() == {event.id for events in made for event in events}
    check_producers(log, taken, count)
    # Each reader, following the log while it grew, has read what now stands there.
    read = {reader.communicate(timeout=300)[0] for reader in readers}
    assert len(read) == 1
    assert list(map(int, read.pop().split()[:-1])) == log.ends()


@pytest.mark.slow
@pytest.mark.parametrize("kills", soaked((15, 100), 15))
def test_a_killed_producer_loses_nothing_that_it_acknowledged(
    start: Start, path: Path, tmp_path: Path, kills: int
) -> None:
    rng = seeded()
    EmbeddedLog(path).close()
    taken: dict[str, Position] = {}
    batches: list[list[str]] = []
    for kill in range(kills):
        source = tmp_path / f"{kill}"
        workload(source, f"{kill}", 1_000, rng)
        lines = source.read_bytes().splitlines()
        batches += [[decode(payload).id for payload in line.split(b"\t")] for line in lines]
        with source.open("rb") as file:
            producer = start(PRODUCER, path, stdin=file)
        assert producer.stdout is not None and producer.stdout.readline() == b"ready\n"
        time.sleep(rng.uniform(0, 0.03))
        producer.send_signal(signal.SIGKILL)
        taken |= acknowledged(producer.communicate(timeout=300)[0])
    log = EmbeddedLog(path)
    stands = {event.id: Position(partition, offset) for partition in range(16)
              for offset, event in enumerate(events(log, partition)) if event.type == "captured"}  # fmt: skip
    assert len(taken) > kills and taken.items() <= stands.items()
    # What was not acknowledged stands whole or not at all, and is at most one batch for each kill.
    assert all(len({id in stands for id in batch}) == 1 for batch in batches)
    assert sum(batch[0] in stands and batch[0] not in taken for batch in batches) <= kills
    check_producers(log, stands, len(stands))
    with edited(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.slow
def test_processes_that_make_the_same_log_at_once_make_one(start: Start, tmp_path: Path) -> None:
    openers = [start(OPENER, stdin=subprocess.PIPE) for _ in range(8)]
    for opener in openers:
        assert opener.stdout is not None and opener.stdout.readline() == b"ready\n"
    for number in range(100):
        path = tmp_path / f"{number}.db"
        for opener in openers:
            assert opener.stdin is not None
            opener.stdin.write(f"{path}\n".encode())
        told = {opener.stdout.readline().decode().strip() for opener in openers if opener.stdout}
        log = EmbeddedLog(path)
        assert told == {log.log_id}
        assert [said(events(log, partition)) for partition in range(16)] == [["configured"]] * 16
        log.close()
    for opener in openers:
        opener.communicate(timeout=300)


@pytest.mark.parametrize("column", ["payload", "digest", "salt", "all of it"])
def test_a_flipped_bit_or_lost_slot_is_found_and_named(path: Path, column: str) -> None:
    rng = seeded()
    log = EmbeddedLog(path)
    log.append([captured(str(number), scope=A) for number in range(20)])
    whole = payloads(log, P)
    log.close()
    place, where = rng.randrange(len(whole) - 1), "WHERE partition = ? AND offset = ?"
    with edited(path) as db:
        if column == "all of it":
            db.execute(f"DELETE FROM slots {where}", [P, place])
            column = "salt"
        for (value,) in db.execute(f"SELECT {column} FROM slots {where}", [P, place]).fetchall():
            flipped = bytearray(value)
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
            db.execute(f"UPDATE slots SET {column} = ? {where}", [bytes(flipped), P, place])
    log = EmbeddedLog(path)
    for offset, limit in ((0, 100), (place, 1), (max(0, place - 1), 2)):
        with pytest.raises(DamagedLog, match=rf"\b{place}\b.*\b{P}\b"):
            log.read(P, offset, limit)
    others = [log.read(P, offset, 1)[0].payload for offset in range(len(whole)) if offset != place]
    assert others == whole[:place] + whole[place + 1 :]
    assert log.ends()[P] == len(whole)
    # A log that is damaged somewhere still takes what is said.
    [position] = log.append([captured("after", scope=A)])
    assert decode(log.read(P, position.offset, 1)[0].payload).body.text == "after"  # type: ignore[union-attr]


@pytest.mark.slow
def test_any_flipped_bit_of_the_file_is_found_or_changes_nothing(path: Path) -> None:
    """Half of them are in the headers of pages: a page that says that it holds less makes slots vanish."""
    rng = seeded()
    log = EmbeddedLog(path)
    for number in range(200):
        log.append([captured(f"{number} " * 30, scope=SCOPES[number % 40])])
    whole, ends = everything(log), log.ends()
    log.close()
    sound, refused = path.read_bytes(), 0
    for number in range(1_000):
        place, bit = rng.randrange(len(sound)), rng.randrange(8)
        place = place if number % 2 else place // PAGE_BYTES * PAGE_BYTES + rng.randrange(12)
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 1 << bit]) + sound[place + 1 :])
        log = None
        try:
            log = EmbeddedLog(path)
            log.check()
            assert (everything(log), log.ends()) == (whole, ends), f"bit {bit} of byte {place}"
        except MemtapeError:
            refused += 1
        finally:
            if log is not None:
                log.close()
            for other in path.parent.glob("log.db-*"):
                other.unlink()
    assert refused


@pytest.mark.parametrize("content", [b"No base.\n" * 100, bytes(range(256)) * 32, b"SQLite format 3\0" * 64])
def test_a_file_that_is_no_database_is_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(DamagedLog, match=re.escape(str(path))):
        EmbeddedLog(path)
    assert path.read_bytes() == content


def test_last_slots_that_are_missing_are_missed_by_whoever_asks_for_the_end(path: Path) -> None:
    """No slot after them tells of the gap, so the log notes its ends."""
    log = EmbeddedLog(path, 1)
    log.append([captured(f"The port is {n}.") for n in range(3)])
    log.close()
    with edited(path) as db:
        db.execute("DELETE FROM slots WHERE offset > 1")
    log = EmbeddedLog(path)
    for asked in (log.ends, lambda: log.read(0, 2, 9), lambda: log.append([captured("One more.")])):
        with pytest.raises(DamagedLog, match="from 2 to 5"):
            asked()
    log.close()


def pragmas(log: EmbeddedLog) -> dict[str, object]:
    names = ("journal_mode", "secure_delete", "synchronous")
    return {name: log._db.execute(f"PRAGMA {name}").fetchone()[0] for name in names}


def test_every_connection_is_durable_and_overwrites_what_it_deletes(path: Path) -> None:
    expected = {"journal_mode": "wal", "secure_delete": 1, "synchronous": 2}  # 2 is FULL.
    first, second = EmbeddedLog(path), EmbeddedLog(path)
    assert pragmas(first) == pragmas(second) == expected
    first.close()
    second.close()
    assert pragmas(EmbeddedLog(path)) == expected


@pytest.mark.parametrize("seed", [29, 30, 34, 61])
def test_what_was_blanked_is_nowhere_in_the_files(path: Path, tmp_path: Path, seed: int) -> None:
    """Also where SQLite had moved it from page to page, as in three of these histories."""
    chosen = random.Random(seed)
    log = EmbeddedLog(path, chosen.choice([1, 4, 16]))
    for number in range(chosen.randint(5, 150)):
        text = f"swordfish{number}q " + "x" * chosen.choice([3, 50, 400, 1_500, 5_000])
        log.append([captured(text, scope=f"project:{chosen.choice('abc')}")])
    gone = []
    for number, end in enumerate(log.ends()):
        slots = [slot for slot in log.read(number, 0, end + 1, types=("captured",)) if chosen.random() < 0.3]
        log.blank({number: [slot.offset for slot in slots]})
        gone += [re.search(rb"swordfish\d+q", slot.payload)[0] for slot in slots]  # type: ignore[index]
    log.close()
    assert [file.name for file in tmp_path.iterdir()] == ["log.db"]
    assert gone and not [word for word in gone if word in path.read_bytes()]


# Opens the log, says how many slots it has, and is the last to have it open, as far as SQLite can tell.
PASSER_BY = """
import sys
from pathlib import Path
from memtape.sinks.logs.embedded import EmbeddedLog
log = EmbeddedLog(Path(sys.argv[1]))
print(sum(log.ends()))
log.close()
"""


def test_who_reads_a_logs_files_keeps_its_locks(path: Path, start: Start) -> None:
    """Else who passes by takes itself for the last, deletes the WAL file, and the next append is lost."""
    log = EmbeddedLog(path)
    for number in range(3):
        log.append([captured(f"text {number}", scope=A)])
        search_home(path.parent, Needles(ids=(), texts=("a text that is nowhere",), words=()))
        passer_by = start(PASSER_BY, path)
        assert passer_by.stdout is not None
        said = passer_by.stdout.readline()
        assert passer_by.wait() == 0
        assert int(said) == sum(log.ends()) == 16 + 2 + number
    log.close()
    with closing(EmbeddedLog(path)) as again:
        assert sum(again.ends()) == 20
    assert not path.with_name("log.db-wal").exists()


@given(st.lists(st.integers(-(2**15), 2**15 - 1), min_size=1, max_size=40), st.integers(0, 15))
def test_a_packed_vector_is_the_vector(components: list[int], shift: int) -> None:
    components = [component >> shift for component in components]
    payload = b'{"body":{"reason":null,"vector":"%s"},"id":"a"}' % b64encode(pack(components))
    rest, vector = parted(payload)
    assert vector is not None and len(rest) < len(payload)
    assert joined(rest, vector) == payload
    assert packed(pack(components)) == vector and unpacked(vector) == pack(components)


def test_a_payload_that_names_no_sound_vector_stays_whole() -> None:
    for value in ('"YQ=="', '"YQ"', '"not base64"', '""', "null", '"AAAA'):
        payload = b'{"body":{"vector":%s}}' % value.encode()
        assert parted(payload) == (payload, None)


@pytest.mark.parametrize("column", ["vector", "payload"])
def test_a_flipped_bit_of_a_packed_vector_is_found(path: Path, column: str) -> None:
    log = EmbeddedLog(path, 1)
    [position] = log.append([embedded("a", [1, -200, 300, 4], "tiny@1/4")])
    log.close()
    where = "WHERE offset = ?"
    with edited(path) as db:
        (value,) = db.execute(f"SELECT {column} FROM slots {where}", [position.offset]).fetchone()
    for n in range(len(value)):
        flipped = value[:n] + bytes([value[n] ^ 4]) + value[n + 1 :]
        with edited(path) as db:
            db.execute(f"UPDATE slots SET {column} = ? {where}", [flipped, position.offset])
        log = EmbeddedLog(path)
        with pytest.raises(DamagedLog, match="does not match its digest"):
            log.read(0, position.offset, 1)
        log.close()


def test_a_log_with_whole_vectors_goes_on(path: Path) -> None:
    """Its slots stay as they are, new ones are packed, and an erasure takes out both."""
    log = EmbeddedLog(path, 1)
    first, second = ([3 * n, -n, 7, 300] for n in (100, 101))
    [old] = log.append([embedded("a", first, "tiny@1/4")])
    (whole,) = log.read(0, old.offset, 1)
    log.close()
    with edited(path) as db:
        db.execute(
            "UPDATE slots SET payload = ?, vector = NULL WHERE offset = ?", [whole.payload, old.offset]
        )
        db.execute("ALTER TABLE slots DROP COLUMN vector")
        db.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
    log = EmbeddedLog(path, 1)
    [new] = log.append([embedded("b", second, "tiny@1/4")])
    assert log.read(0, old.offset, 1) == [whole]
    (packed_slot,) = log.read(0, new.offset, 1)
    assert [Embedded, Embedded] == [type(decode(slot.payload).body) for slot in (whole, packed_slot)]
    needles = Needles(ids=(), texts=(), words=(), vectors=(pack(first), pack(second)))
    assert len(EmbeddedLog(path).read(0, 0, 99)) == new.offset + 1
    assert len([hit for place in search_home(path.parent, needles) for hit in place.found]) >= 2
    log.blank({0: [old.offset, new.offset]})
    log.close()
    assert not [hit for place in search_home(path.parent, needles) for hit in place.found]
