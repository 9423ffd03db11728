"""Processes that are killed, disks that fail, damaged logs: all comes right, and nothing is skipped silently.

The harness is in `crash.py`; `make crash KILLS=300` plays more of it. Faults are injected by strace or come
from the kernel; nothing here pretends.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import NamedTuple

import crash
import pytest
from builders import captured, forgotten
from click.testing import Result
from commanding import call as command
from forking import python
from met import missing
from soaked import soaked
from test_embedded_log import edited, seeded
from test_views import filled, history, project, vault_bytes
from test_views import home as home  # A fixture.

from memtape.schemas.codec import decode
from memtape.schemas.errors import Locked
from memtape.schemas.log import Position
from memtape.schemas.rows import MemoryRow, TurnRow
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.tables import Shard
from memtape.tools.client import Client
from memtape.tools.keep import verify as verifying
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.verify import verify

RENAMES = ("before a page is renamed", "before a snapshot is renamed", "before the pointer is renamed")
WAIT_S = 300.0
"""How long something may take that always comes, on a machine that does much else."""
# Decodes an event in several threads of a process that has never seen one, as the workers of a projector do.
FIRST_EVENTS_CODE = """
import sys, threading
import msgspec
from builders import captured
from memtape.schemas.codec import decode
sys.setswitchinterval(1e-6)
payload = msgspec.json.encode(captured("one"))
together = threading.Barrier(4)
threads = [threading.Thread(target=lambda: (together.wait(), decode(payload))) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.fixture
def strace() -> str:
    """What kills at a system call, where it is installed and may trace."""
    path, reason = crash.find_strace()
    return path or pytest.skip(reason)


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A projector of the harness that has imported what it needs, ended with the test."""
    process = crash.start_child()
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("kills", soaked((1, 40), 1))
def test_a_killed_projector_leaves_what_the_next_one_makes_right(tmp_path: Path, kills: int) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}: repeat with python tests/crash.py --kills {kills} --seed {seed}")
    harness = crash.Harness(tmp_path, seed)
    lives = crash.play(harness, kills)
    assert sum(life.killed for life in lives) >= kills
    wrong = [crash.report(life, seed) for life in lives if life.wrong]
    assert not wrong, "\n".join(wrong)
    assert missing(harness.met) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", soaked(RENAMES, RENAMES[0]))
def test_a_write_that_was_cut_short_leaves_no_file(tmp_path: Path, name: str) -> None:
    """What is forgotten for good must not go on in a file that no command knows of."""
    points = tuple(point._replace(most=1) for point in crash.POINTS if point.name == name)
    harness = crash.Harness(tmp_path, 1, points)
    life = harness.live(0, kills=1)
    harness.close()
    assert (life.killed, life.wrong, life.left) == (1, [], [])


@pytest.mark.slow
def test_every_point_names_what_is_there() -> None:
    """A function that was renamed would never be come by, and nobody would be killed there any more."""
    for point in crash.POINTS:
        assert point.verb in crash.VERBS
        assert not point.first or point.first in crash.DISTURBANCES
        if point.target:
            module, _, path = point.target.partition(":")
            found = importlib.import_module(module)
            for step in path.split("."):
                found = getattr(found, step)
            assert callable(found)


@pytest.mark.slow
@pytest.mark.parametrize("call", soaked(("renameat", "linkat"), "renameat"))
def test_a_table_whose_maker_was_killed_is_made_again(
    home: Home, child: subprocess.Popen[bytes], strace: str, call: str
) -> None:
    """LanceDB makes folders first and a version last; what stands between is no table, nor in its way."""
    log = EmbeddedLog(home.log_path)
    log.append([captured("one", scope="project:a")])
    project(home, log)
    log.append([forgotten(["nobody"], "f", scope="project:a")])  # The first row of a table.
    tracer = crash.attach(child.pid, call, "signal=SIGKILL:when=1")
    crash.order(child, home, "project")
    assert child.wait(WAIT_S) == -signal.SIGKILL
    tracer.wait(WAIT_S)
    assert list(home.current().path.rglob("tombstones.lance"))
    project(home, log)
    assert verify(home, log).ok


@pytest.mark.slow
@pytest.mark.parametrize("times", soaked((2, 30), 2))
def test_threads_that_meet_their_first_event_at_once_live(times: int) -> None:
    """msgspec looks at a type when it first meets it; two threads that do so at once can crash it."""
    for _ in range(times):
        process = python(FIRST_EVENTS_CODE, stderr=subprocess.PIPE)
        said = process.communicate()[1]
        assert process.returncode == 0, (process.returncode, said)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a process and wait until it stands still."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)


@pytest.mark.slow
def test_a_stopped_projector_keeps_its_lock_and_a_killed_one_does_not(home: Home) -> None:
    log = filled(home, 60)
    command = [sys.executable, "-m", "memtape", "run", "--home", str(home.path)]
    environment = {**os.environ, "PYTHONPATH": str(crash.ROOT)}
    holder = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        while home.lock("projector").holder() != holder.pid:
            assert holder.poll() is None
            time.sleep(0.01)
        stop(holder)
        while writes(log):  # The log of who is stopped within a write is locked: go on until it is not.
            holder.send_signal(signal.SIGCONT)
            time.sleep(0.002)
            stop(holder)
        with pytest.raises(Locked, match=str(holder.pid)) as refusal, Owner(home, log):
            pass
        assert refusal.value.pid == holder.pid
        second = subprocess.run([*command, "--once"], capture_output=True, text=True, timeout=WAIT_S)
        assert second.returncode == 1 and f"pid {holder.pid}" in second.stderr
        # Capturing and asking need no lock, and see each other.
        with Client(home.path, scope="project:a", log=log) as client:
            client.capture("The lighthouse is green.")
            assert client.search("lighthouse").results[0].text == "The lighthouse is green."
        holder.kill()
        holder.wait(WAIT_S)
        project(home, log)
        assert verify(home, log).ok
    finally:
        holder.kill()
        holder.wait(WAIT_S)


def writes(log: EmbeddedLog) -> bool:
    """Return whether somebody holds the lock of a log's writers."""
    with closing(sqlite3.connect(log.path, timeout=0)) as database:
        try:
            database.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        database.rollback()
        return False


@pytest.mark.slow
def test_a_projector_stopped_within_an_epoch_is_named_to_who_wants_whole_epochs(
    home: Home, child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = filled(home, 60)
    project(home, log)
    log.append([captured(f"more {number}", scope="project:a") for number in range(200)])
    monkeypatch.setattr(verifying, "LOCK_WAIT_S", 0.1)
    lock = home.epoch_lock(partition_of("project:a", log.partitions))
    lock.path.write_bytes(b"")  # It names this process, until the next holder has named itself.
    crash.order(child, home, "project")
    while lock.holder() is None:
        assert child.poll() is None
    stop(child)
    while lock.holder() is None:  # It was between two epochs: go on until it is within one.
        child.send_signal(signal.SIGCONT)
        time.sleep(0.002)
        assert child.poll() is None
        stop(child)
    with pytest.raises(Locked, match=f"pid {child.pid}"):
        verify(home, log)
    child.kill()
    child.wait(WAIT_S)
    project(home, log)
    assert verify(home, log).ok


ERRORS = ("ENOSPC", "EIO", "EROFS")
WRITING_CALLS = ("write", "pwrite64", "fsync", "fdatasync", "ftruncate")
CAPTURES = 4
MOST_CALLS = 1_000
"""No command of a capture makes so many calls of a kind; it only ends a loop that would have no other end."""

CALLS = ("pwrite64", "fsync", "rename", "renameat", "linkat", "mkdir", "openat")
"""Calls of a projector that fail."""
FEW_CALLS = ("pwrite64", "fsync", "renameat")
FAILING_KEPT = [(call, number % 2 == 0, number % 3 == 0, 7) for number, call in enumerate(WRITING_CALLS)]
FAILING = [*FAILING_KEPT, *product(WRITING_CALLS, (False, True), (True, False), (1,))]
"""Which call fails, once or from then on, with a log there or not, and how many calls lie between two."""
A = "project:a"
P = partition_of(A, 16)

# Captures one after another, and says each id before and what came of it. The third is longer than a page.
CAPTURER = """
import os, sys
from memtape.schemas.errors import MemtapeError
from memtape.tools.client import Client
from memtape.tools.capture.writing import Line
try:
    with Client(sys.argv[1], scope="project:a", actor="Ada") as client:
        for number in range(int(sys.argv[2])):
            line = Line(text=f"{number} " + "x" * (9_000 if number % 4 == 2 else 9), kind="turn")
            [event] = client.events_of(line, {})
            os.write(1, b"tries %s\\n" % event.id.encode())
            try:
                [position] = client.log.append([event])
            except MemtapeError as refusal:
                os.write(1, b"refused %s %s\\n" % (event.id.encode(), str(refusal).encode()))
            else:
                os.write(1, b"took %s %d %d\\n" % (event.id.encode(), position.partition, position.offset))
except MemtapeError as refusal:
    os.write(1, b"refused - %s\\n" % str(refusal).encode())
"""


class Tried(NamedTuple):
    """What a capturing process said: what it tried, what was acknowledged where, and why it was refused."""

    tried: set[str]
    took: dict[str, Position]
    refusals: list[str]
    hits: int


def capture_under(strace: str, home: Path, call: str, error: str, when: str) -> Tried:
    """Capture in a process of which the kernel fails some calls on the log's files."""
    trace = home.with_suffix(".trace")
    effects = ("-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={when}")
    files = [f"-P{home / 'log.db'}{suffix}" for suffix in ("", "-wal", "-shm", "-journal")]
    command = [strace, "-f", "-qq", "-y", "-o", str(trace), *effects, *files]
    command += [sys.executable, "-c", CAPTURER, str(home), str(CAPTURES)]
    environment = {**os.environ, "PYTHONPATH": str(crash.ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    words = [line.split(" ", 2) for line in done.stdout.splitlines()]
    tried = {said[1] for said in words if said[0] == "tries"}
    took = {said[1]: Position(*map(int, said[2].split())) for said in words if said[0] == "took"}
    refusals = [said[2] for said in words if said[0] == "refused"]
    return Tried(tried, took, refusals, trace.read_text().count("INJECTED"))


def check_log(path: Path, tried: Tried) -> None:
    """Hold that what was acknowledged is on the log once and in its place, all else at most once."""
    log = EmbeddedLog(path)
    stands: dict[str, list[Position]] = {}
    for number in range(log.partitions):
        slots = log.read(number, 0, 100_000)
        assert [slot.offset for slot in slots] == list(range(len(slots)))
        for slot in slots:
            event = decode(slot.payload)
            if event.type == "captured":
                stands.setdefault(event.id, []).append(Position(number, slot.offset))
    assert all(stands.get(id) == [position] for id, position in tried.took.items())
    assert all(len(positions) == 1 for positions in stands.values())
    assert stands.keys() <= tried.tried
    # What is left goes on as if nothing had been.
    [position] = log.append([captured("after it", scope=A)])
    assert b"after it" in log.read(position.partition, position.offset, 1)[0].payload
    log.close()
    with edited(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.slow
@pytest.mark.parametrize(("call", "lasting", "made", "step"), soaked(FAILING, *FAILING_KEPT[:2]))
def test_no_capture_is_acknowledged_whose_write_failed(
    tmp_path: Path, strace: str, call: str, lasting: bool, made: bool, step: int
) -> None:
    """Each call of a process that captures fails in turn, or one in some steps, until the log is closed."""
    EmbeddedLog(tmp_path / "log.db").close()

    def attempt(nth: int) -> Tried:
        home = tmp_path / f"{nth}"
        home.mkdir()
        if made:
            shutil.copy(tmp_path / "log.db", home)
        tried = capture_under(strace, home, call, ERRORS[nth % 3], f"{nth}{'+' if lasting else ''}")
        check_log(home / "log.db", tried)
        return tried

    tries: list[Tried] = []
    with ThreadPoolExecutor(2) as pool:
        for first in range(1, MOST_CALLS, 2 * step):
            tries += pool.map(attempt, (first, first + step))
            if not tries[-1].hits:
                break
    assert not tries[-1].hits and len(tries[-1].took) == CAPTURES
    refused = sum(bool(tried.refusals) for tried in tries)
    assert all("cannot be used" in refusal for tried in tries for refusal in tried.refusals)
    if call == "pwrite64":
        assert refused > CAPTURES // step


def run_failing(
    harness: crash.Harness, home: Home, call: str = "", effect: str = "", largest_file: int | None = None
) -> tuple[int, str]:
    """Project in a process whose writes fail; return its exit code and what it said at last."""
    process = harness.child()
    tracer = crash.attach(process.pid, call, effect, str(home.path.with_suffix(".trace"))) if call else None
    crash.order(process, home, "project", largest_file=largest_file)
    harness.prepare()
    said = process.communicate(timeout=300)[0].decode(errors="replace")
    if tracer is not None:
        tracer.wait(300)
    return process.returncode, said[-600:]


def check_views(home: Home, log: EmbeddedLog, code: int, said: str) -> None:
    """Hold that who said that all is projected was right, and that the next run makes all of it right."""
    if code == 0:
        verdict = verify(home, log)
        assert verdict.ok, (said, verdict.differences[:5])
        ends = log.ends()
        assert all(at in (0, ends[number]) for number, at in verdict.positions.items()), said
    else:
        # Where a panic of LanceDB meets another, its library ends the process itself.
        assert code in (1, -signal.SIGABRT), said
    project(home, log)
    verdict = verify(home, log)
    assert verdict.ok, (said, verdict.differences[:5])


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[crash.Harness]:
    harness = crash.Harness(tmp_path, 0)
    yield harness
    harness.close()


@pytest.mark.slow
@pytest.mark.parametrize(("calls",), soaked(((FEW_CALLS,), (CALLS * 2,)), (FEW_CALLS,)))
def test_a_projector_whose_writes_fail_ends_with_an_error_and_the_next_is_right(
    tmp_path: Path, home: Home, harness: crash.Harness, strace: str, calls: tuple[str, ...]
) -> None:
    """`write` is not among the calls: LanceDB's threads wake each other with it."""
    rng = seeded()
    log = EmbeddedLog(home.log_path)
    events = crash.history(10_000, rng.randrange(2**32))
    failed, hits = 0, 0
    for call in calls:
        crash.append(log, events, 15, rng)
        if rng.random() < 0.3:
            shutil.rmtree(home.current().path, ignore_errors=True)
        effect = f"error={rng.choice(ERRORS)}:when={int(2 ** rng.uniform(0, 4))}{rng.choice(('', '+'))}"
        code, said = run_failing(harness, home, call, effect)
        hit = home.path.with_suffix(".trace").read_text().count("INJECTED")
        print(f"{call} {effect}: {hit} failed, exit {code}")
        check_views(home, log, code, said)
        failed, hits = failed + (code != 0), hits + bool(hit)
    assert hits > 2 * len(calls) // len(CALLS)
    assert failed >= max(1, len(calls) // len(CALLS))
    state_hash, vault = verify(home, log).state_hash, vault_bytes(home)
    log.close()
    other = Home(tmp_path / "other")
    shutil.copy(home.log_path, other.log_path)
    log = EmbeddedLog(other.log_path)
    project(other, log)
    assert verify(other, log).state_hash == state_hash
    whole = {path: data for path, data in vault.items() if not crash.TEMPORARY.search(path)}
    assert whole == vault_bytes(other)


def call(home: Home, *words: str) -> Result:
    return command(*words, home=home.path, code=None)


def refused(result: Result, *expected: str) -> None:
    """Hold that a command ended with one clear sentence in which the expected stands."""
    assert result.exit_code == 1, result.output
    sentence, _, hint = result.stderr.removeprefix("Error: ").partition("\n")
    assert all(word in sentence for word in expected), result.stderr
    assert hint.strip() and len(result.stderr) < 500


def watermark(home: Home, partition: int = P) -> int:
    shard = Shard(home.current().shard(partition), partition)
    mark = shard.watermark() if shard.exists() else None
    return mark.offset if mark else 0


def flip(path: Path, offset: int, column: str = "payload") -> None:
    """Flip a bit in the middle of a slot."""
    with edited(path) as db:
        where = "WHERE partition = ? AND offset = ?"
        (value,) = db.execute(f"SELECT {column} FROM slots {where}", [P, offset]).fetchone()
        value = value[: len(value) // 2] + bytes([value[len(value) // 2] ^ 1]) + value[len(value) // 2 + 1 :]
        db.execute(f"UPDATE slots SET {column} = ? {where}", [value, P, offset])


@pytest.mark.slow
@pytest.mark.parametrize("column", soaked(["payload", "digest", "salt"], "payload"))
def test_a_damaged_slot_is_named_and_nothing_is_projected_past_it(home: Home, column: str) -> None:
    log = filled(home, 150)
    project(home, log)
    before = verify(home, log)
    projected = log.ends()[P]
    log.append([captured(f"later {number}", scope=A) for number in range(40)])
    log.close()
    flip(home.log_path, projected + 20, column)
    named = (f"Slot {projected + 20} of partition {P}", str(home.log_path))
    for _ in range(2):
        refused(call(home, "run", "--once"), *named)
        assert projected <= watermark(home) <= projected + 20
    whole = ("log", f"{P}/0", "--limit", "10000")
    for words in (whole, ("log", "--scope", A, "--limit", "30"), ("rebuild",)):
        refused(call(home, *words), *named)
    # What stands before it is served, and is still what the log says.
    assert home.current().number == 1
    verdict = json.loads(call(home, "verify", "--json").stdout)
    found = call(home, "search", "port staging", "--quiet", "--scope", "project:b")
    assert verdict["ok"] and found.exit_code in (0, 1)
    shard = Shard(home.current().shard(P), P)
    texts = {row.text for kind in (MemoryRow, TurnRow) for row in shard.rows(kind)}
    assert not any(text.startswith("later") and int(text.split()[1]) >= 20 for text in texts if text)
    assert verdict["state_hash"] == before.state_hash or watermark(home) > projected
    # Damage below the watermark is only met by who reads it again.
    flip(home.log_path, 5, column)
    for verb in ("verify", "rebuild"):
        refused(call(home, verb), f"Slot 5 of partition {P}")
    assert home.current().number == 1


@pytest.mark.slow
@pytest.mark.parametrize(("part", "behind"), soaked(product([0.1, 0.5, 0.9, 0.999], [0, 60]), (0.5, 60)))
def test_a_log_that_was_cut_short_is_refused_by_every_command(home: Home, part: float, behind: int) -> None:
    log = filled(home, 60)
    project(home, log)
    state_hash, marks = verify(home, log).state_hash, [watermark(home, number) for number in range(16)]
    if behind:
        log.append(history(behind, seed=5))
    log.close()
    sound = home.log_path.read_bytes()
    home.log_path.write_bytes(sound[: int(len(sound) * part)])
    for words in (("run", "--once"), ("verify",), ("rebuild",)):
        refused(call(home, *words), str(home.log_path))
    assert [watermark(home, number) for number in range(16)] == marks
    home.log_path.write_bytes(sound)
    log = EmbeddedLog(home.log_path)
    if not behind:
        assert verify(home, log).state_hash == state_hash
    project(home, log)
    assert verify(home, log).ok
