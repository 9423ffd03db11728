"""Many hooks at once, and servers that are killed under them: nothing is lost, and no processes pile up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from soaked import soaked
from test_handing import patient, plain, server
from test_hooks import ROOT, events_of, hook, told
from test_hooks import connected as connected  # A fixture.
from test_one_server import Host, host
from test_warm import PORT, QUESTION, WAIT_S, until

from memtape.schemas.variables import HOOKS_VARIABLE
from memtape.sinks.home.files import FileLock
from memtape.sinks.home.folders import Home
from memtape.tools.agents.errors import latest_errors
from memtape.tools.keep import starting

__all__ = ["host"]
IS_LINUX = Path("/proc/self/maps").exists()
SORTS = {"--stay": "server", "--alone": "late", "--once": "projector", "hook": "hook"}
LOADED = ("msgspec", "numpy", "pydantic")
"""What only a process that does something has loaded."""


LATE = "gave no context within"
"""What a prompt's hook notes where so many at once leave it no time; it is no error."""


class Standing:
    """The processes of a home that stand at once: the most of each sort that were there."""

    def __init__(self, home: Path) -> None:
        self._home = str(home)
        self.most: Counter[str] = Counter()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def now(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                line = (place / "cmdline").read_text()
                words, parent = line.split("\0"), (place / "stat").read_text().rpartition(")")[2].split()[1]
                # What a process is about to start has its words until then.
                if self._home in words and Path("/proc", parent, "cmdline").read_text() != line:
                    sort = next((sort for word, sort in SORTS.items() if word in words), "other")
                    has_loaded = any(name in (place / "maps").read_text() for name in LOADED)
                    found.update([sort, *([f"working {sort}"] if has_loaded else [])])
        return found

    def _look(self) -> None:
        while not self._over.wait(0.02):
            for sort, count in self.now().items():
                self.most[sort] = max(self.most[sort], count)

    def __enter__(self) -> Standing:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def begun(home: Path, data: dict[str, Any], *words: str) -> subprocess.Popen[bytes]:
    """Start a hook as a host does, which may leave a server behind."""
    started = subprocess.Popen(
        [sys.executable, "-m", "memtape", "agents", "hook", "--host", "claude", *words, "--home", str(home)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), HOOKS_VARIABLE: ""},
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert started.stdin is not None
    started.stdin.write(json.dumps(data).encode())
    started.stdin.close()
    return started


@contextmanager
def no_server(home: Path) -> Iterator[None]:
    """End the server that hooks leave behind."""
    lock = Home(home).lock("hook-server")
    try:
        yield
    finally:
        until(lambda: not FileLock(home / "server-start.lock", "").holder() or lock.holder())
        if pid := lock.holder():
            os.kill(pid, signal.SIGKILL)


def listening(home: Path) -> int | None:
    """Return the pid of the server that listens, None where none does."""
    pid = Home(home).lock("hook-server").holder()
    return pid if pid and (home / "serving" / "server.sock").exists() else None


@pytest.mark.slow
@pytest.mark.skipif(not IS_LINUX, reason="which processes stand is told by Linux")
def test_many_sessions_at_once_start_one_server(home: Path, host: Callable[..., Host]) -> None:
    """Also where it is killed."""
    with no_server(home), Standing(home) as standing, ThreadPoolExecutor(8) as together:
        hosts = list(together.map(lambda _: host(), range(8)))
        list(together.map(lambda each: each.call("add_memory", text=PORT), hosts))
        for _ in range(3):
            pid = listening(home)
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            assert all("5433" in text for text in together.map(lambda each: each.call("list_recent"), hosts))
        assert not any(each.serves_itself() for each in hosts)
    assert standing.most["server"] == 1 and standing.most["projector"] <= 1, standing.most


@pytest.mark.slow
@pytest.mark.skipif(not IS_LINUX, reason="which processes stand is told by Linux")
@pytest.mark.parametrize("count", soaked([8, 40], 8))
def test_many_hooks_at_once_leave_few_processes(count: int, home: Path, project: Path) -> None:
    """No server is there at first, and the first three are killed as soon as they listen."""
    killed = list[int]()
    with no_server(home), Standing(home) as standing:
        event = "UserPromptSubmit"
        asked = {f"s-{n}": f"Where is quay {n}?" for n in range(count)}
        begin = [told(project, event, session_id=id, prompt=prompt) for id, prompt in asked.items()]
        running = [begun(home, each) for each in begin]
        deadline = time.monotonic() + WAIT_S
        while not killed or {*standing.now()} - {"server", "working server"}:
            assert time.monotonic() < deadline, (killed, standing.now())
            if len(killed) < 3 and (pid := listening(home)) and pid not in killed:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
            time.sleep(0.02)
        assert all(each.wait(WAIT_S) == 0 for each in running)
    # What is captured twice has one id, and counts once.
    said = {event.id: event.body.text for event in events_of(home, project, "captured")}
    assert sorted(said.values()) == sorted(f"Where is quay {n}?" for n in range(count))
    assert standing.most["server"] == 1 and standing.most["projector"] <= 1
    assert standing.most["working late"] <= 2, standing.most
    assert not [it for it in latest_errors(home, 20) if LATE not in it]


def test_one_is_started_until_it_ends(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes meanwhile starts none, in whatever process, also where the first is killed."""
    waits = [sys.executable, "-c", "import sys; sys.exit(len(input()))"]
    monkeypatch.setattr(starting, "python_of", lambda: waits)
    right = Home(home).start_lock("server")
    ended = starting.start_one(right, [], data=b"told\n")
    assert ended is not None and ended.wait(WAIT_S) == len("told")
    monkeypatch.setattr(starting, "python_of", lambda: [sys.executable, "-c", "import time; time.sleep(600)"])
    killed, other = starting.start_one(right, []), starting.start_one(Home(home).start_lock("projector"), [])
    assert killed is not None and other is not None
    assert starting.start_one(Home(home).start_lock("server"), []) is None
    killed.kill()
    killed.wait(WAIT_S)
    last = starting.start_one(right, [])
    assert last is not None
    for each in (other, last):
        each.kill()
        each.wait(WAIT_S)
    assert starting.start_one(Home(home / "gone", make=False).start_lock("server"), []) is None


def test_a_server_does_what_is_late_and_tells_it_nothing(home: Path, project: Path, tmp_path: Path) -> None:
    """Nor is a late prompt given anything, or its session told a start."""
    said = told(project, "UserPromptSubmit", prompt=QUESTION)
    again = told(project, "Stop", last_assistant_message="On port 5433.")
    hook(home, "claude", told(project, "Stop", last_assistant_message="Begun."))  # Both homes have its scope.
    other = tmp_path / "other"
    copytree(home, other)
    with server(home):
        for each in (said, again, again, told(project, "SessionStart", source="startup")):
            assert patient(home, "claude", each, "--alone") == b""
    served = [plain(event) for event in events_of(home, project, "captured")]
    for each in (said, again, again):
        hook(other, "claude", each, "--alone")
    assert served == [plain(event) for event in events_of(other, project, "captured")]
    assert len(set(served)) == 3
    assert not events_of(home, project, "recalled")
    assert not [*home.glob("serving/*.told"), *home.glob("serving/*.session")]
    assert not [it for it in latest_errors(home, 20) if LATE not in it]
