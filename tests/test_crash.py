"""Processes that are killed or stopped at any moment: nobody notices, and who holds a lock is named.

The harness is in `crash.py`; `make crash KILLS=300` plays more of it.
"""

from __future__ import annotations

import importlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import crash
import pytest
from builders import captured, forgotten
from forking import python
from met import missing
from soaked import soaked
from test_views import filled, project
from test_views import home as home  # A fixture.

from memtape.schemas.errors import Locked
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
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
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    yield process
    process.kill()
    process.communicate()


# Killed projectors


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


# Threads that begin together


@pytest.mark.slow
@pytest.mark.parametrize("times", soaked((2, 30), 2))
def test_threads_that_meet_their_first_event_at_once_live(times: int) -> None:
    """msgspec looks at a type when it first meets it; two threads that do so at once can crash the process."""
    for _ in range(times):
        process = python(FIRST_EVENTS_CODE, stderr=subprocess.PIPE)
        said = process.communicate()[1]
        assert process.returncode == 0, (process.returncode, said)


# Stopped projectors


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
        assert second.returncode == 1
        assert f"pid {holder.pid}" in second.stderr
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
    crash.order(child, home, "project")
    lock = home.epoch_lock(partition_of("project:a", log.partitions))
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
