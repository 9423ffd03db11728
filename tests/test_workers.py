"""Several processes that project one home: the same views as from one, whatever becomes of any of them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from builders import captured, erased, make_id
from commanding import call
from soaked import soaked
from test_views import filled, history, project, vault_bytes
from test_views import home as home  # A fixture.

from memtape.flows import views as flows
from memtape.schemas.codec import decode
from memtape.schemas.errors import Locked, MemtapeError
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog, MemoryLog
from memtape.tools.client import Client
from memtape.tools.keep import projector, starting, views_writer
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.owning import rebuild_as_owner
from memtape.tools.keep.verify import verify
from memtape.tools.keep.views_writer import ViewsWriter
from memtape.tools.verbs import keeping

WAIT_S = 300.0
A = "project:a"

Run = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def run() -> Iterator[Run]:
    """Start `memtape run --workers 2` on a home with some words more; what is left at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(home: Home, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "memtape", "run", "--workers", "2", "--home", str(home.path), *words]
        pipe, none = subprocess.PIPE, subprocess.DEVNULL
        started.append(subprocess.Popen(command, stdin=none, stdout=pipe, stderr=pipe, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def until(what: Callable[[], object], process: subprocess.Popen[str] | None = None) -> None:
    """Wait until something is true, while a process is alive."""
    deadline = time.monotonic() + WAIT_S
    while not what():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def until_written(home: Home, log: EmbeddedLog, process: subprocess.Popen[str]) -> None:
    """Append something and wait until it stands in the views, with what stood before it in its partition."""
    [position] = log.append([captured(f"the last at {time.time_ns()}", scope=A)])

    def offset() -> int:
        with Client(home.path, scope=A, log=log) as client:
            return client.reader.watermark(position.partition).offset

    until(lambda: offset() > position.offset, process)


def children(pid: int) -> list[int]:
    """Return the pids of the processes that a process has started and that have not ended."""
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [child for child in pids if parent_of(child) == pid]


def parent_of(pid: int) -> int | None:
    """Return the pid of the parent of a process; None for a process that has ended."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return None if state == "Z" else int(parent)


def alive(pid: int) -> bool:
    return parent_of(pid) is not None


def share(home: Home, log: EmbeddedLog, workers: int) -> list[str]:
    """Project with several processes and return what the owner noted."""
    notes: list[str] = []
    with Owner(home, log, notes.append, workers) as owner:
        owner.project()
    return notes


def assert_as_undisturbed(home: Home, log: EmbeddedLog, folder: Path) -> None:
    """The views are what one process makes of the same log that nobody disturbs, the vault byte for byte."""
    verdict = verify(home, log)
    assert verdict.ok, verdict.differences[:5]
    other = Home(folder)
    for path in home.path.glob("log.db*"):
        shutil.copy(path, other.path / path.name)
    copy = EmbeddedLog(other.log_path)
    project(other, copy)
    again = verify(other, copy)
    assert (verdict.state_hash, verdict.events) == (again.state_hash, again.events)
    assert vault_bytes(home) == vault_bytes(other)
    copy.close()


def test_a_log_in_memory_is_refused_since_no_other_process_can_read_it(home: Home) -> None:
    with pytest.raises(MemtapeError, match="No other"), Owner(home, MemoryLog(4), workers=2) as owner:
        owner.project()


@pytest.mark.slow
@pytest.mark.parametrize(("steps",), soaked([((1, 2),), ((1, 2, 3, 9, 1),)], ((1, 2),)))
def test_many_processes_make_what_one_does(home: Home, tmp_path: Path, steps: tuple[int, ...]) -> None:
    log, events = EmbeddedLog(home.log_path), history(60 * len(steps))
    for number, workers in enumerate(steps):
        log.append(events[number * 60 : (number + 1) * 60])
        assert share(home, log, workers) == []
    assert_as_undisturbed(home, log, tmp_path / "other")


@pytest.mark.slow
def test_nobody_gets_the_home_of_a_killed_owner_whose_process_lives(home: Home, run: Run) -> None:
    log = filled(home, 100)
    owner = run(home)
    until_written(home, log, owner)
    processes = children(owner.pid)

    def leasing() -> list[int]:
        return [pid for lease in home.leases() if (pid := lease.holder()) in processes]

    until(lambda: bool(leasing()))
    stopped = leasing()[0]
    os.kill(stopped, signal.SIGSTOP)
    os.kill(owner.pid, signal.SIGKILL)
    until(lambda: not any(alive(pid) for pid in processes if pid != stopped))
    with pytest.raises(Locked) as refusal:
        share(home, log, 1)
    assert refusal.value.pid == stopped
    os.kill(stopped, signal.SIGCONT)
    until(lambda: not alive(stopped))
    share(home, log, 1)
    verdict = verify(home, log)
    assert verdict.ok, verdict.differences[:5]


@pytest.mark.slow
@pytest.mark.parametrize("number", soaked([signal.SIGTERM, signal.SIGINT], signal.SIGTERM))
def test_killed_processes_are_replaced(home: Home, run: Run, tmp_path: Path, number: signal.Signals) -> None:
    """Processes that serve take what comes, and the owner does an erasure that they meet."""
    log = filled(home, 100)
    log.append([captured("The codename is Zebrafish.", "secret", scope=A)])
    owner = run(home)
    until_written(home, log, owner)
    before = children(owner.pid)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    log.append(history(40, seed=31))
    until_written(home, log, owner)
    log.append([erased(["secret"], "erasure", scope=A), captured("what came after it", scope=A)])
    partition = partition_of(A, log.partitions)

    def blank() -> bool:
        events = [decode(slot.payload) for slot in log.read(partition, 0, 10_000)]
        return all(event.body is None for event in events if event.id == make_id("secret"))

    until(blank, owner)
    until_written(home, log, owner)
    processes = children(owner.pid)
    assert len(processes) == 2 and not set(before) & set(processes)
    owner.send_signal(number)
    out, said = owner.communicate(timeout=WAIT_S)
    assert (owner.returncode, any(map(alive, processes)), "Stopped." in out) == (0, False, True), said
    assert_as_undisturbed(home, log, tmp_path / "other")
    assert not any(b"Zebrafish" in page for page in vault_bytes(home).values())


# --- A bulk load: another process writes the views, while the next events are folded ---


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any load counts as a bulk load, on whatever machine, and few events make a batch."""
    monkeypatch.setattr(projector, "LEAST_EVENTS", 1)
    monkeypatch.setattr(projector, "cores", lambda: 2)
    monkeypatch.setattr(flows, "BATCH_EVENTS", 20)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, apart: None) -> list[subprocess.Popen[bytes]]:
    """The processes that write views, in the order of their start."""

    processes: list[subprocess.Popen[bytes]] = []

    def start(*orders: Any) -> subprocess.Popen[bytes]:
        processes.append(starting.started(*orders))
        return processes[-1]

    monkeypatch.setattr(views_writer, "started", start)
    return processes


@pytest.mark.slow
def test_a_process_that_writes_apart_makes_what_one_process_does(
    home: Home, tmp_path: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    log, events = EmbeddedLog(home.log_path), history(120)
    for part in (events[:70], events[70:]):
        log.append(part)
        share(home, log, 1)
    rebuild_as_owner(home, log, lambda _: None)
    assert [process.returncode for process in started] == [0, 0, 0]
    assert_as_undisturbed(home, log, tmp_path / "other")


@pytest.mark.slow
@pytest.mark.parametrize("frame", soaked([1, 2, 5, 9], 2))
def test_a_killed_writer_is_told_and_the_next_run_goes_on(
    home: Home,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    started: list[subprocess.Popen[bytes]],
    frame: int,
) -> None:
    log, sent, send = filled(home, 120), list[int](), ViewsWriter.send

    def kill(writer: ViewsWriter, *of: Any) -> None:
        sent.append(1)
        if len(sent) == frame:
            started[-1].kill()
        send(writer, *of)

    monkeypatch.setattr(ViewsWriter, "send", kill)
    with pytest.raises(MemtapeError, match="which writes the views, ended"):
        share(home, log, 1)
    share(home, log, 1)
    assert len(started) == 2
    assert_as_undisturbed(home, log, tmp_path / "other")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_what_ends_one_process_is_what_the_owner_raises(home: Home, apart: None, workers: int) -> None:
    log = filled(home, 100)
    folder = home.current().path / "lance"
    folder.parent.mkdir(parents=True)
    folder.write_text("in the way")
    with pytest.raises(MemtapeError, match="lance"):
        share(home, log, workers)


@pytest.mark.slow
def test_a_writer_ends_with_its_parent_and_nobody_gets_its_partitions_before(home: Home) -> None:
    log = filled(home, 100)
    code = (
        "import os, sys; from pathlib import Path; from memtape.tools.keep import projector, views_writer;"
        "from memtape.flows import views as flows; from memtape.tools.keep.owner import Owner;"
        "from memtape.sinks.home.folders import Home; from memtape.sinks.logs.embedded import EmbeddedLog;"
        "projector.LEAST_EVENTS, projector.cores, flows.BATCH_EVENTS = 1, lambda: 2, 5;"
        "send = views_writer.ViewsWriter.send; sent = [];"
        "die = lambda: len(sent) == 4 and os.kill(os.getpid(), 9);"
        "views_writer.ViewsWriter.send = lambda *of: (sent.append(1), send(*of), die());"
        "home = Home(Path(sys.argv[1])); Owner(home, EmbeddedLog(home.log_path)).__enter__().project()"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(home.path)], capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    share(home, log, 1)
    verdict = verify(home, log)
    assert verdict.ok, verdict.differences[:5]


# --- The turn of another process: a projector that serves gives way, and goes on ---


@contextmanager
def serving(home: Home) -> Iterator[None]:
    """A projector that serves in a thread of its own; whatever ends it early fails the test."""
    ended: list[BaseException] = []
    started = threading.Event()
    owner = Owner(home, EmbeddedLog(home.log_path, 2))

    def serve() -> None:
        try:
            with owner:
                started.set()
                owner.serve()
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    assert started.wait(300)
    try:
        yield
    finally:
        owner.stop()
        thread.join()
    assert not ended, ended


def test_a_single_run_waits_to_the_end_of_a_projector_that_ends_by_itself(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that a search has started. Another one is in its way."""
    log, refused = EmbeddedLog(home.log_path, 2), list[Locked]()
    log.append([captured("one", scope=A)])
    at_work, started, enter = home.lock("projector"), home.start_lock("projector"), Owner.__enter__

    def entered(owner: Owner) -> Owner:
        if len(refused) == 3:
            at_work.release()
        try:
            return enter(owner)
        except Locked as refusal:
            refused.append(refusal)
            raise

    monkeypatch.setattr(Owner, "__enter__", entered)
    monkeypatch.setattr(keeping, "PROJECTOR_WAIT_S", 0.0)
    with at_work.held(0):
        call("run", "--once", home=home.path, code=1)
        with started.held(0):
            call("run", "--once", home=home.path)
    assert len(refused) == 3


def test_whoever_fails_in_its_turn_is_told_and_the_projector_goes_on(home: Home) -> None:
    log, notes = EmbeddedLog(home.log_path, 2), list[str]()
    log.append([captured("one", scope=A)])
    in_the_way = home.path / "builds" / "2"
    with serving(home):
        in_the_way.parent.mkdir(exist_ok=True)
        in_the_way.write_text("no build")
        with pytest.raises(Exception, match="2"):
            rebuild_as_owner(home, log, notes.append)
        assert "gives way" in notes[0]
        in_the_way.unlink()
        log.append([captured("two", scope=A)])
        assert rebuild_as_owner(home, log, notes.append).build == 2
    assert verify(home, log).ok
