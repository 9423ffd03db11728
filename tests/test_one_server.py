"""One server of a home serves the sessions of all hosts: what reaches it is small, and outlives it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from soaked import soaked
from test_handing import STAY, end_by_setting
from test_hooks import events_of
from test_mcp import environment
from test_warm import PORT, QUESTION, WAIT_S, said, until

from memtape import __version__
from memtape.schemas.events import Captured
from memtape.schemas.variables import HOOKS_VARIABLE, SESSION_VARIABLE
from memtape.sinks.home.folders import Home
from memtape.tools.agents.errors import latest_errors
from memtape.tools.agents.mcp import handlers
from memtape.tools.agents.mcp.server import TAKEN, serve_session
from memtape.tools.agents.ready import HookResponder
from memtape.tools.agents.sessions import latest_of
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.client import Client
from memtape.tools.keep.wire import address
from memtape.tools.keep.wire import environment as told_environment

IS_LINUX = Path("/proc/self/maps").exists()
HEAVY = {"numpy", "mcp", "msgspec", "pydantic", "orjson", "click", "anyio", "lance", "pyarrow", "asyncio"}


class Host:
    """A host that has started `memtape agents mcp`, and speaks with it a line at a time."""

    def __init__(self, home: Path, folder: Path, *words: str, **variables: str) -> None:
        self.process = subprocess.Popen([sys.executable, "-m", "memtape", "agents", "mcp", *words],
                                        env=environment(home) | {HOOKS_VARIABLE: ""} | variables, cwd=folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
        self._number = 0
        self.ask("initialize", **HANDSHAKE)
        self.send(method="notifications/initialized")

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def begin(self, method: str, **params: Any) -> int:
        self._number += 1
        self.send(id=self._number, method=method, params=params)
        return self._number

    def rests(self) -> bool:
        """Whether each thread waits: what was sent is handed on."""
        with suppress(OSError):  # A thread may have ended meanwhile.
            stats = [path.read_text() for path in Path(f"/proc/{self.process.pid}/task").glob("*/stat")]
            return all(stat.rpartition(")")[2].split()[0] == "S" for stat in stats)
        return False

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        heard: dict[str, Any] = json.loads(self.process.stdout.readline())
        return heard

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = self.begin(method, **params)
        heard = self.hear()
        assert heard["id"] == number
        return heard

    def call(self, name: str, **arguments: Any) -> str:
        result = self.ask("tools/call", name=name, arguments=arguments)["result"]
        assert not result.get("isError"), result
        text: str = result["content"][0]["text"]
        return text

    def serves_itself(self) -> bool:
        """Whether the process has loaded what serves."""
        return "pydantic_core" in Path(f"/proc/{self.process.pid}/maps").read_text()

    def close(self) -> None:
        self.process.communicate(timeout=WAIT_S)
        assert self.process.returncode == 0


Start = Callable[..., Host]


@pytest.fixture
def host(home: Path, project: Path) -> Iterator[Start]:
    """Start hosts of a home, and end them and its server."""
    Home(home)
    started: list[Host] = []

    def start(*words: str, folder: Path = project, at: Path = home, **variables: str) -> Host:
        started.append(Host(at, folder, *words, **variables))
        return started[-1]

    yield start
    for each in started:
        each.close()
    while (pid := server_of(home)) is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def server_of(home: Path) -> int | None:
    return Home(home, make=False).lock("hook-server").holder()


# --- Sessions of one server ---


@pytest.mark.slow
@pytest.mark.skipif(not IS_LINUX, reason="what a process has loaded is only told by Linux")
def test_ten_sessions_have_one_server(home: Path, host: Start) -> None:
    with ThreadPoolExecutor(10) as together:
        hosts = list(together.map(lambda _: host(), range(10)))
        pid = server_of(home)
        assert pid is not None and len(list(home.glob("serving/*.sock"))) == 1
        texts = [f"{PORT} That is gauge {number}." for number in range(10)]
        list(together.map(lambda each, text: each.call("add_memory", text=text), hosts, texts))
        found = list(together.map(lambda each: each.call("search_memories", query="gauge", limit=20), hosts))
    assert server_of(home) == pid and not any(each.serves_itself() for each in hosts)
    assert all(f"gauge {number}" in text for text in found for number in range(10))
    with Client(home) as client:
        assert client.status().hook_server_pid == pid
    assert not latest_errors(home, 5)


def test_what_hands_on_loads_nothing_heavy(home: Path, project: Path, host: Start) -> None:
    host()  # Its server is there.
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "memtape", "agents", "mcp", "--home", str(home)],
        env=environment(home) | {HOOKS_VARIABLE: ""}, cwd=project, input=b"", capture_output=True, check=True,
    )  # fmt: skip
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert "memtape.tools.agents.forwarding" in loaded and "memtape.tools.agents.mcp" not in loaded
    assert not {name.partition(".")[0] for name in loaded} & HEAVY


def test_projects_of_one_server_do_not_see_each_other(home: Path, tmp_path: Path, host: Start) -> None:
    (tmp_path / "two").mkdir()
    one, two = host(), host(folder=tmp_path / "two")
    named = host("--scope", "project:three", "--actor", "Third")
    texts = {"5433": one, "5434": two, "5435": named}
    ids = {}
    for port, each in texts.items():
        text = f"The staging database listens on port {port}."
        ids[port] = each.call("add_memory", text=text).split("`")[1]
    assert server_of(home) is not None
    for port, each in texts.items():
        found = each.call("search_memories", query="staging port")
        for answered in (found, each.call("get_context")):
            assert not any(other in answered for other in {*texts, *ids.values()} - {port, ids[port]})
        assert port in found
        other = {"id": next(ids[it] for it in texts if it != port)}
        assert each.ask("tools/call", name="get_memory", arguments=other)["result"]["isError"]
    assert "by Third (agent)" in named.call("search_memories", query="staging port")
    assert "by tester (agent)" in two.call("search_memories", query="staging port")


def test_each_session_is_that_of_its_own_host(home: Path, project: Path, host: Start) -> None:
    """As the environment names it, else as a hook of the same host has told it, else one of its own."""
    named, other = host(**{SESSION_VARIABLE: "s-named"}), host(**{SESSION_VARIABLE: "s-other"})
    by_host = host()
    named.call("add_memory", text="Port one.")
    other.call("add_memory", text="Port two.")
    by_host.call("add_memory", text="Port three.")
    latest_of(home, os.getpid()).leave([scope_of_folder(project, Home(home)), "s-told"])
    by_host.call("add_memory", text="Port four.")
    assert server_of(home) is not None
    of = [event.session for event in events_of(home, project, "captured")]
    assert of[:2] == ["s-named", "s-other"] and str(of[2]).startswith("mcp:") and of[3] == "s-told"


def test_a_slow_call_holds_no_other(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready, begun, go_on = HookResponder(home, small=True), threading.Event(), threading.Event()
    search = handlers.call

    def slowly(client: Client, name: str, arguments: dict[str, Any]) -> str:
        if arguments["query"] == "slowly":
            begun.set()
            assert go_on.wait(WAIT_S)
        return search(client, name, arguments)

    monkeypatch.setattr(handlers, "call", slowly)
    told = {"scope": None, "actor": None, "session": "", "host": os.getpid(), "folder": str(project)}
    spoken, threads = [], []
    for _ in range(2):
        ours, theirs = socket.socketpair()
        threads.append(threading.Thread(target=serve_session, args=(ready, home, told, theirs)))
        threads[-1].start()
        spoken.append((ours, ours.makefile("rw")))
        assert spoken[-1][1].readline().encode() == TAKEN
        say(spoken[-1][1], id=0, method="initialize", params=HANDSHAKE)
    search_for(spoken[0][1], "slowly")
    assert begun.wait(WAIT_S)
    search_for(spoken[1][1], "fast")
    assert [json.loads(spoken[1][1].readline())["id"] for _ in range(2)] == [0, 1] and not go_on.is_set()
    go_on.set()
    assert [json.loads(spoken[0][1].readline())["id"] for _ in range(2)] == [0, 1]
    for (ours, file), thread in zip(spoken, threads, strict=True):
        ours.shutdown(socket.SHUT_WR)
        thread.join(WAIT_S)
        assert not thread.is_alive()
        file.close()
        ours.close()
    ready.close()


INFO = {"name": "tester", "version": "1"}
HANDSHAKE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": INFO}


def search_for(file: Any, query: str) -> None:
    say(file, id=1, method="tools/call", params={"name": "search_memories", "arguments": {"query": query}})


def say(file: Any, **message: Any) -> None:
    file.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    file.flush()


# --- When the server goes ---


@pytest.mark.slow
def test_a_session_outlives_its_server(home: Path, project: Path, host: Start) -> None:
    (id,) = said(home, project, PORT)
    one, two = host(), host()
    for _ in range(2):
        assert id in one.call("search_memories", query=QUESTION)
        pid = server_of(home)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert id in one.call("search_memories", query=QUESTION)  # Without the handshake it were refused.
        assert server_of(home) not in (pid, None)
    one.call("add_memory", text="Ship in November.")
    assert "by tester (agent)" in two.call("search_memories", query="November")
    assert not latest_errors(home, 5)


@pytest.mark.slow
def test_what_reads_is_asked_again_and_what_writes_is_told(home: Path, project: Path, host: Start) -> None:
    """The server is stopped, so that it has answered nothing when it is killed."""
    one = host()
    pid = server_of(home)
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    asked = [
        one.begin("tools/call", name="search_memories", arguments={"query": QUESTION}),
        one.begin("tools/call", name="add_memory", arguments={"text": "Ship in November."}),
        one.begin("tools/list"),
    ]
    until(one.rests)  # They are handed on.
    os.kill(pid, signal.SIGKILL)
    answers = {each["id"]: each for each in (one.hear() for _ in asked)}
    assert "not known" in answers[asked[1]]["error"]["message"] and answers.keys() == set(asked)
    assert answers[asked[0]]["result"] and answers[asked[2]]["result"]["tools"]
    one.call("add_memory", text="Ship in December.")
    (event,) = events_of(home, project, "captured")
    assert isinstance(event.body, Captured) and event.body.text == "Ship in December."


# --- Who is served by no other ---


@contextmanager
def staying(home: Path, stay_s: float = WAIT_S, change: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """The server of a home, as what hands on starts it."""
    running = subprocess.Popen(
        [sys.executable, "-c", change + STAY, str(stay_s), "agents", "hook", "--host", "claude", "--stay",
         "--home", str(home)],
        env=environment(home) | {HOOKS_VARIABLE: ""}, stdin=subprocess.DEVNULL, cwd="/",
    )  # fmt: skip
    try:
        until(lambda: list(home.glob("serving/*.sock")))
        yield running
    finally:
        running.terminate()
        running.wait(WAIT_S)


ANOTHER_VERSION = "import memtape\nmemtape.__version__ = '0.0.0'\n"


@pytest.mark.slow
@pytest.mark.skipif(not IS_LINUX, reason="what a process has loaded is only told by Linux")
@pytest.mark.parametrize("why", soaked("version environment setting alone path words".split(), "version"))
def test_a_session_serves_itself(why: str, home: Path, tmp_path: Path, host: Start) -> None:
    place, words, variables = home, ("--scope=project:a",) if why == "words" else (), {}
    if why == "path":
        place = tmp_path / ("long " * 20) / "home"
        Home(place)
    elif why == "setting":
        end_by_setting(home)
    elif why == "alone":
        variables = {HOOKS_VARIABLE: "alone"}
    if why in ("version", "environment"):
        variables = {"GIT_CEILING_DIRECTORIES": "/nowhere"} if why == "environment" else {}
        with staying(home, change=ANOTHER_VERSION if why == "version" else ""):
            one = host(at=place, **variables)
            assert one.serves_itself()
    else:
        one = host(*words, at=place, **variables)
        assert one.serves_itself() and server_of(place) is None
    assert "Remembered" in one.call("add_memory", text=PORT)
    assert "5433" in one.call("search_memories", query=QUESTION)


@pytest.mark.slow
def test_the_server_ends_when_nobody_uses_it(home: Path, host: Start) -> None:
    with staying(home, 0.5) as running:
        one = host()
        time.sleep(2)
        assert server_of(home) == running.pid and "Remembered" in one.call("add_memory", text=PORT)
        one.close()
        assert running.wait(WAIT_S) == 0
    assert server_of(home) is None and not list(home.glob("serving/*.sock"))


def test_what_is_no_session_disturbs_nobody(home: Path, project: Path, host: Start) -> None:
    """Whoever can open the socket may tell nonsense, or nothing; the server goes on, and its sessions too."""
    one = host()
    pid = server_of(home)
    with_all = {"version": __version__, "environment": told_environment() | {HOOKS_VARIABLE: ""}}
    with_all |= {"folder": "/", "host": 1, "scope": 3, "actor": [], "session": {}}
    for told in ({}, {"mcp": {}}, {"mcp": None}, {"mcp": with_all}, []):
        with socket.socket(socket.AF_UNIX) as talking:
            talking.settimeout(WAIT_S)
            talking.connect(address(str(home)))
            talking.sendall(json.dumps(told).encode() + b"\n")
            assert talking.recv(100) in (b"", b"null\n")
    one.send(id=7, result={})  # An answer to what nobody asked.
    assert "Remembered" in one.call("add_memory", text=PORT)
    assert server_of(home) == pid and not re.search("Traceback", str(latest_errors(home, 5)))
