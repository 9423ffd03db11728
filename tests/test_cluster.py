"""Several processes that project one home: the same views as from one, whatever becomes of any of them."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from builders import captured, erased, make_id
from soaked import soaked
from test_views import filled, history, project, vault_bytes

from memtape.flows.projection import Projection
from memtape.schemas.codec import decode
from memtape.schemas.errors import MemtapeError
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.logs.memory import MemoryLog
from memtape.sinks.tables import WATERMARK
from memtape.state.core.partition import Partition
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.verify import verify

WAIT_S = 300.0
A = "project:a"
KILLS = ((0, 1), (1, 2), (2, 1))
"""Which of the processes is killed, and how many processes go on."""
STEPS = ((1, 1), (2, 1), (1, 2), (2, 2), (1, 1))
"""Processes and workers, one after another."""

Run = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def run() -> Iterator[Run]:
    """Start `memtape run` on a home with some words more; what is left at the end of the test is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(home: Home, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "memtape", "run", "--home", str(home.path), *words]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True))
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
    """Append something and wait until it stands in the views, and with it what stood before it in its partition."""
    [position] = log.append([captured(f"the last at {time.time_ns()}", scope=A)])
    until(lambda: _written(home, log)[position.partition] > position.offset, process)


def children(pid: int) -> list[int]:
    """Return the pids of the processes that a process has started and that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == pid and state != "Z":
            found.append(int(path.parent.name))
    return found


def listening(pid: int) -> list[int]:
    """Return the ports on which a process listens."""
    inodes = {str(path.readlink())[8:-1] for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()}
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [int(line[1].rpartition(":")[2], 16) for line in lines if line[3] == "0A" and line[9] in inodes]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def share(home: Home, log: EmbeddedLog, processes: int, workers: int = 1) -> list[str]:
    """Project with several processes and return what the owner noted."""
    notes: list[str] = []
    with Owner(home, log, notes.append, workers, processes) as owner:
        owner.project()
    return notes


def copied(home: Home, folder: Path) -> tuple[Home, EmbeddedLog]:
    """Return a new home with a copy of a log that nobody writes to."""
    other = Home(folder)
    for path in home.path.glob("log.db*"):
        shutil.copy(path, other.path / path.name)
    return other, EmbeddedLog(other.log_path)


def assert_as_undisturbed(home: Home, log: EmbeddedLog, folder: Path) -> None:
    """The views are what one process makes of the same log that nobody disturbs, the vault byte for byte."""
    verdict = verify(home, log)
    assert verdict.ok, verdict.differences[:5]
    other, copy = copied(home, folder)
    project(other, copy)
    again = verify(other, copy)
    assert (verdict.state_hash, verdict.events) == (again.state_hash, again.events)
    assert vault_bytes(home) == vault_bytes(other)
    copy.close()


def test_what_processes_exchange_comes_out_of_a_pickle_as_it_went_in(home: Home) -> None:
    log = EmbeddedLog(home.log_path, 1)
    log.append(history(300))
    slots = log.read(0, 0, 10_000)
    began = time.perf_counter()
    delta = Projection(Partition(0), 0, _NoSnapshots()).advance(slots)
    folded = time.perf_counter()
    for item in (slots, delta):
        start = time.perf_counter()
        data = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
        assert pickle.loads(data) == item
        took = time.perf_counter() - start
        print(f"{type(item).__name__} of {len(slots):,} events: {len(data):,} bytes there and back in {took:.4f} s")
    print(f"they are folded in {folded - began:.4f} s")


class _NoSnapshots:
    def write(self, offset: int, trail: str, data: bytes) -> None: ...

    def newest(self, at_most: int, trail_at: object) -> None: ...


def test_a_log_in_memory_is_refused_since_no_other_process_can_read_it(home: Home) -> None:
    with Owner(home, MemoryLog(4, Settings()), processes=2) as owner, pytest.raises(MemtapeError, match="memory"):
        owner.project()


@pytest.mark.slow
@pytest.mark.soak(short="test_a_cluster_that_serves_takes_what_comes_and_stops_in_order")
@pytest.mark.parametrize(("processes", "workers"), [(2, 1), (3, 2)])
def test_several_processes_make_what_one_makes(home: Home, tmp_path: Path, processes: int, workers: int) -> None:
    log = filled(home, 300)
    assert share(home, log, processes, workers) == []
    assert_as_undisturbed(home, log, tmp_path / "other")


@pytest.mark.slow
@pytest.mark.soak(short="test_a_cluster_that_serves_takes_what_comes_and_stops_in_order")
def test_any_number_of_processes_and_workers_may_follow_any_other(home: Home, tmp_path: Path) -> None:
    log, events = EmbeddedLog(home.log_path), history(500)
    for number, (processes, workers) in enumerate(STEPS):
        log.append(events[number * 100 : (number + 1) * 100])
        assert share(home, log, processes, workers) == []
        assert verify(home, log).ok
    assert_as_undisturbed(home, log, tmp_path / "other")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("killed", "kills", "count"),
    soaked(
        [("owner", KILLS[:1], 800), ("process", KILLS[:1], 2_500), ("owner", KILLS, 2_500), ("process", KILLS, 2_500)],
        ("owner", KILLS[:1], 800),
    ),
)  # fmt: skip
def test_a_cluster_that_is_killed_goes_on_with_any_other_number(
    home: Home, run: Run, tmp_path: Path, killed: str, kills: tuple[tuple[int, int], ...], count: int
) -> None:
    """Whoever is killed, owner or process, all have ended soon after, and the lock is free only then: nobody else gets
    the home while a process of a dead owner lives."""
    log = filled(home, 20)
    for at, then in kills:
        log.append(history(count, seed=20 + at))
        before = marks(home)
        cluster = run(home, "--once", "--processes", "2")
        until(lambda: len(children(cluster.pid)) == 2, cluster)  # noqa: B023
        processes = children(cluster.pid)
        until(lambda: marks(home) - before, cluster)  # noqa: B023
        victim = cluster.pid if killed == "owner" else processes[at % 2]
        if killed == "owner":
            _kill(processes[0], signal.SIGSTOP)
            _kill(victim)
            until(lambda: not alive(processes[1]))  # noqa: B023
            assert home.projector_lock().holder() == cluster.pid
            _kill(processes[0], signal.SIGCONT)
        else:
            _kill(victim)
        said = cluster.communicate(timeout=WAIT_S)[1]
        if killed == "process":
            assert cluster.returncode == 1
            assert f"pid {victim}, one of several that project together, was ended by signal 9" in said
            assert "goes on from the last epoch" in said and "Traceback" not in said
            assert not any(map(alive, processes))
        until(lambda: home.projector_lock().holder() is None)
        assert not any(map(alive, processes))
        share(home, log, then)
        verdict = verify(home, log)
        assert verdict.ok, verdict.differences[:5]
    assert_as_undisturbed(home, log, tmp_path / "other")


@pytest.mark.slow
def test_a_process_that_dies_ends_a_cluster_that_serves(home: Home, run: Run) -> None:
    log = filled(home, 100)
    cluster = run(home, "--processes", "2")
    until_written(home, log, cluster)
    processes = children(cluster.pid)
    # Nobody else can come in any more once they have found each other.
    assert not [port for pid in processes for port in listening(pid)]
    _kill(processes[1])
    said = cluster.communicate(timeout=WAIT_S)[1]
    assert (cluster.returncode, any(map(alive, processes))) == (1, False)
    assert f"pid {processes[1]}" in said
    log.append(history(50, seed=31))
    share(home, log, 1)
    assert verify(home, log).ok


@pytest.mark.slow
@pytest.mark.parametrize("number", soaked([signal.SIGTERM, signal.SIGINT], signal.SIGTERM))
def test_a_cluster_that_serves_takes_what_comes_and_stops_in_order(
    home: Home, run: Run, tmp_path: Path, number: signal.Signals
) -> None:
    """Its views are what one process makes."""
    log = filled(home, 20)
    cluster = run(home, "--processes", "2", "--workers", "2")
    for seed in (41, 42):
        log.append(history(40, seed=seed))
        until_written(home, log, cluster)
    processes = children(cluster.pid)
    cluster.send_signal(number)
    out, said = cluster.communicate(timeout=WAIT_S)
    assert (cluster.returncode, any(map(alive, processes))) == (0, False), said
    assert "Stopped." in out
    assert_as_undisturbed(home, log, tmp_path / "other")


@pytest.mark.slow
@pytest.mark.soak(short="test_a_cluster_that_serves_takes_what_comes_and_stops_in_order")
@pytest.mark.parametrize("delay_s", [0.0, 0.5, 2.0])
def test_a_cluster_is_stopped_wherever_it_is(home: Home, run: Run, delay_s: float) -> None:
    log = filled(home, 20)
    log.append(history(6_000, seed=51))
    cluster = run(home, "--once", "--processes", "2")
    until(lambda: children(cluster.pid), cluster)
    time.sleep(delay_s)
    cluster.terminate()
    out, said = cluster.communicate(timeout=WAIT_S)
    assert (cluster.returncode, "Stopped." in out) == (1, True), said
    share(home, log, 1)
    assert verify(home, log).ok


@pytest.mark.slow
@pytest.mark.soak(short="test_a_living_projector_erases_when_it_is_asked")
def test_an_erasure_that_a_serving_cluster_meets_is_done_by_its_owner(home: Home, run: Run, tmp_path: Path) -> None:
    log = filled(home, 100)
    log.append([captured("The codename is Zebrafish.", "secret", scope=A)])
    cluster = run(home, "--processes", "2")
    until_written(home, log, cluster)
    before = children(cluster.pid)
    log.append([erased(["secret"], "erasure", scope=A), captured("what came after it", scope=A)])
    number = partition_of(A, log.partitions)

    def blank() -> bool:
        events = [decode(slot.payload) for slot in log.read(number, 0, 10_000)]
        return all(event.body is None for event in events if event.id == make_id("secret"))

    until(blank, cluster)
    until_written(home, log, cluster)
    assert not set(before) & set(children(cluster.pid))
    cluster.terminate()
    assert cluster.wait(WAIT_S) == 0
    assert_as_undisturbed(home, log, tmp_path / "other")
    assert not any("Zebrafish" in page.decode() for page in vault_bytes(home).values())


@pytest.mark.slow
@pytest.mark.soak(short="test_a_doubtful_recovery_store_is_discarded_and_said")
def test_a_recovery_store_that_no_process_can_use_is_made_anew(home: Home) -> None:
    log = filled(home, 100)
    share(home, log, 2)
    for path in home.current().recovery.iterdir():
        path.write_bytes(b"no database")
    log.append(history(50, seed=61))
    (note,) = share(home, log, 2)
    assert "recovery store was discarded" in note
    assert verify(home, log).ok


@pytest.mark.slow
def test_what_ends_one_process_is_what_the_owner_raises(home: Home) -> None:
    log = filled(home, 100)
    folder = home.current().path / "lance"
    folder.parent.mkdir(parents=True)
    folder.write_text("in the way")
    with pytest.raises(OSError, match="lance"):
        share(home, log, 2)


def test_ports_of_a_cluster_are_free_and_on_loopback() -> None:
    from memtape.tools.keep.cluster import _addresses

    with _addresses(3) as addresses:
        pass
    assert len(set(addresses)) == 3
    for address in addresses:
        host, _, port = address.rpartition(":")
        assert host == "127.0.0.1"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, int(port)), 1)


def marks(home: Home) -> set[Path]:
    """Return what has been written of how far the views are, found so quickly that a cluster is still at work then."""
    paths = home.current().path.glob(f"lance/*/{WATERMARK}")
    return {path / str(path.stat().st_mtime_ns) for path in paths}


def _written(home: Home, log: EmbeddedLog) -> list[int]:
    """Return up to where the views of each partition are written."""
    from memtape.tools.client import Client

    with Client(home.path, scope=A, log=log) as client:
        return [client.reader.retriever.offset(number) for number in range(log.partitions)]


def _kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    os.kill(pid, number)
