"""Servers and hooks of one host together: who is answered when, what is recorded of it, and whose session it is."""

from __future__ import annotations

import gc
import json
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uuid_utils
from soaked import soaked
from test_hooks import PROMPT, events_of, hook, told
from test_mcp import environment

from memtape.schemas.events import Captured, Recalled
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Home
from memtape.sinks.index_files import ManifestSegment
from memtape.sinks.index_tiers import DELTA_ROWS
from memtape.sinks.logs.embedded import DEFAULT_PARTITIONS
from memtape.sinks.tables import Shard
from memtape.state.index.segments import Segment
from memtape.state.index.texts import Texts
from memtape.state.ranking.sure import sure_for
from memtape.tools.agents import hooks, ready
from memtape.tools.agents.errors import latest_errors
from memtape.tools.agents.listening import Warm
from memtape.tools.agents.mcp.server import ServedMemory
from memtape.tools.agents.ready import HookOffer
from memtape.tools.agents.warm import Asked, ask
from memtape.tools.ask.retrieval import Retriever
from memtape.tools.capture.lines import Line
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.client import Client

PORT = "The staging database listens on port 5433."
QUESTION = "Which port has the staging database?"
WAIT_S = 300.0


class Server:
    """`memtape mcp` in a process of its own, as a host starts it: one line of JSON for each message."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memtape", "mcp"],
            env=environment(home), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._number = 0

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self.process.stdout is not None
        while True:
            answered: dict[str, Any] = json.loads(self.process.stdout.readline())
            if answered.get("id") == self._number:
                return answered

    def initialize(self) -> None:
        info = {"name": "tester", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)

    def initialized(self) -> None:
        self._send({"method": "notifications/initialized"})

    def call(self, name: str, **arguments: Any) -> str:
        result = self.ask("tools/call", name=name, arguments=arguments)["result"]
        assert not result.get("isError"), result
        text: str = result["content"][0]["text"]
        return text

    def has_loaded(self, name: str) -> bool:
        return name in Path(f"/proc/{self.process.pid}/maps").read_text()

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is projected at the end of a test come to its end, however long that takes."""
    monkeypatch.setattr(ready, "CLOSE_WAIT_S", WAIT_S)


@pytest.fixture
def server(home: Path, project: Path) -> Iterator[Server]:
    started = Server(home, project)
    try:
        yield started
    finally:
        started.process.communicate(timeout=WAIT_S)
        assert started.process.returncode == 0


@contextmanager
def warm(home: Path, answer: Callable[[Asked], Any], after: Callable[[Asked], None]) -> Iterator[None]:
    served = Warm(home, answer, after)
    served.start()
    try:
        yield
    finally:
        served.stop()


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def said(home: Path, project: Path, *texts: str, **fields: Any) -> list[str]:
    with Client(home, scope=scope_of_folder(project, Home(home)), origin="user") as client:
        return [receipt.id for receipt in client.capture_many([Line(text=text, **fields) for text in texts])]


def asked_of(home: Path, project: Path, prompt: str = "", session: str = "s-1") -> Asked:
    return {"scope": scope_of_folder(project, Home(home)), "session": session, "actor": "x", "prompt": prompt}


# --- What a server has ready ---


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="what a process has loaded is only told by Linux")
@pytest.mark.parametrize("listed", [False, True])
def test_a_server_loads_what_a_first_prompt_needs_before_anybody_asks(
    home: Path, project: Path, server: Server, listed: bool
) -> None:
    said(home, project, PORT)
    server.initialize()
    assert not server.has_loaded("/lance.abi3")
    if listed:
        server.ask("tools/list")
    else:
        server.initialized()
    until(lambda: server.has_loaded("/lance.abi3") and list(home.glob("builds/*/lance/p*")))
    with ask(home, asked_of(home, project, QUESTION), WAIT_S) as answered:
        assert PORT in answered.text


@pytest.mark.slow
def test_a_hook_is_answered_while_the_views_are_brought_up_to_date(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(home, project, PORT)
    memory = ServedMemory(home)
    projecting, go_on = threading.Event(), threading.Event()
    with warm(home, memory.offer, memory.freshen):
        with ask(home, asked_of(home, project, QUESTION), WAIT_S) as answered:
            assert PORT in answered.text
        until(lambda: not memory.ready._due)
        catch_up = Client.catch_up

        def slowly(client: Client) -> None:
            projecting.set()
            assert go_on.wait(WAIT_S)
            catch_up(client)

        monkeypatch.setattr(Client, "catch_up", slowly)
        memory.freshen(asked_of(home, project))
        assert projecting.wait(WAIT_S)
        for session in ("s-1", "s-2"):
            with ask(home, asked_of(home, project, QUESTION, session), WAIT_S) as answered:
                assert PORT in answered.text
            with ask(home, asked_of(home, project, session=session), WAIT_S) as answered:
                assert "5433" in answered.text
        go_on.set()
    assert memory.close()


@pytest.mark.slow
def test_ten_hooks_are_answered_at_once_while_a_server_brings_the_views_up_to_date(
    home: Path, project: Path, server: Server
) -> None:
    """Before the scope was ever read, and after captures that no view holds; the test holds what writes the views."""
    said(home, project, PORT)
    scope = scope_of_folder(project, Home(home))
    place = Home(home)
    writing = place.epoch_lock(partition_of(scope, DEFAULT_PARTITIONS))

    def answers() -> list[str]:
        """Return what ten hooks are answered that come together: prompts and starts."""
        together = threading.Barrier(10)

        def answer(number: int) -> str:
            asked = asked_of(home, project, QUESTION if number % 2 else "", f"s-{number}")
            together.wait(WAIT_S)
            with ask(home, asked, WAIT_S) as answered:
                return answered.text

        with ThreadPoolExecutor(10) as hooks_of_a_host:
            return list(hooks_of_a_host.map(answer, range(10)))

    server.initialize()
    with writing:
        server.initialized()
        until(lambda: place.projector_lock().holder() == server.process.pid)
        assert all(PORT in text for text in answers())
        later = "The staging database also listens on port 6001."
        said(home, project, later)
        assert all(PORT in text and later in text for text in answers())
        assert place.projector_lock().holder() == server.process.pid  # Nothing was finished under these answers.
        assert not list(home.glob("builds/*/lance/p*/watermark.json"))
    until(lambda: list(home.glob("builds/*/lance/p*/watermark.json")))
    assert all(PORT in text and later in text for text in answers())


@pytest.mark.slow
def test_what_a_server_holds_does_not_grow_with_prompts(home: Path, project: Path) -> None:
    """Each prompt is answered, captured and projected; nothing of it waits for the collector of circles."""
    said(home, project, PORT)
    answering = ready.HookResponder(home)

    def after(prompts: int) -> Counter[str]:
        """Return how many of what holds a scope's texts live after more prompts."""
        for number in range(prompts):
            assert "5433" in answering.offer(asked_of(home, project, QUESTION)).text
            said(home, project, f"Number {number}: {uuid_utils.uuid7()}.")
            answering._make(scope_of_folder(project, Home(home)))
        kinds = (Client, Retriever, Shard, Texts)
        return Counter(type(it).__name__ for it in gc.get_objects() if isinstance(it, kinds))

    gc.collect()
    gc.disable()
    try:
        held = after(3)
        assert held["Texts"] and held == after(6)
    finally:
        gc.enable()
        assert answering.close()


@pytest.mark.slow
def test_a_segment_that_a_server_has_open_is_not_opened_again(home: Path, project: Path) -> None:
    said(home, project, *(f"Number {number}." for number in range(DELTA_ROWS)))
    scope = scope_of_folder(project, Home(home))

    def opened(client: Client) -> dict[ManifestSegment, Segment]:
        found, _ = client.reader.held(lambda views: views.found(scope))
        return dict(zip(found.opened.manifest.segments, found.opened.segments, strict=True))

    with Client(home, scope=scope) as first, Client(home, scope=scope) as second:
        first.project()
        before = opened(first)
        said(home, project, PORT)
        second.take_over(first)
        second.project()
        after = opened(second)
        assert len(after) == len(before) + 1
        assert all(after[named] is segment for named, segment in before.items())


def test_a_scope_that_is_slow_to_be_read_keeps_no_other_waiting(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(home, project, PORT)
    with Client(home, scope="project:slow", origin="user") as client:
        client.capture(PORT)
    offer, reading, go_on = Client.offer, threading.Event(), threading.Event()

    def slowly(client: Client, *given: Any) -> Any:
        if client.scope == "project:slow":
            reading.set()
            assert go_on.wait(WAIT_S)
        return offer(client, *given)

    monkeypatch.setattr(Client, "offer", slowly)
    memory = ServedMemory(home)
    with ThreadPoolExecutor(1) as others:
        slow = others.submit(memory.offer, asked_of(home, project, QUESTION) | {"scope": "project:slow"})
        assert reading.wait(WAIT_S)
        assert PORT in memory.offer(asked_of(home, project, QUESTION)).text
        go_on.set()
        assert "5433" in slow.result(WAIT_S).text
    assert memory.close()


def test_no_hook_waits_for_another(home: Path, project: Path) -> None:
    """Neither for one that says nothing, nor for what is done after the answer of one."""
    Home(home)
    go_on = threading.Event()

    def after(asked: Asked) -> None:
        go_on.wait(WAIT_S)

    with warm(home, lambda asked: HookOffer(asked["prompt"]), after):
        (path,) = home.glob("serving/*.sock")
        with socket.socket(socket.AF_UNIX) as silent:
            silent.connect(str(path))
            for prompt in ("one", "two"):
                with ask(home, asked_of(home, project, prompt), WAIT_S) as answered:
                    assert answered.text == prompt
        go_on.set()


# --- What is recorded ---


def recalls(home: Path, project: Path) -> list[Recalled]:
    return [event.body for event in events_of(home, project, "recalled") if isinstance(event.body, Recalled)]


@pytest.mark.slow
def test_only_what_was_shown_is_recalled(home: Path, project: Path) -> None:
    texts = [PORT, "The staging database runs on port 5433 since May.", "Which staging port? 5433."]
    ids = said(home, project, *texts)
    memory = ServedMemory(home)
    done = threading.Semaphore(0)

    def after(asked: Asked) -> None:
        done.release()

    with warm(home, memory.offer, after):
        with ask(home, asked_of(home, project, QUESTION), WAIT_S) as answered:
            assert PORT in answered.text
        assert done.acquire(timeout=WAIT_S) and not recalls(home, project)  # Its hook gave up.
        (home / "settings.toml").write_text("prompt_recall_chars = 150\n")
        with ask(home, asked_of(home, project, QUESTION), WAIT_S) as answered:
            answered.shown()
        assert done.acquire(timeout=WAIT_S)
    assert memory.close()
    (recall,) = recalls(home, project)
    assert recall.results == (ids[texts.index(answered.text.splitlines()[1].removeprefix("- "))],)


@pytest.mark.parametrize("host", PROMPT)
def test_a_prompt_is_asked_for_before_it_is_captured(
    host: str, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(home, project, PORT)
    monkeypatch.setattr(hooks, "RECALL_WAIT_S", WAIT_S)
    monkeypatch.setattr(hooks, "WAIT_S", WAIT_S)
    held: list[list[str]] = []
    order: list[str] = []
    done = threading.Event()

    def texts() -> list[str]:
        return [event.body.text for event in events_of(home, project, "captured") if isinstance(event.body, Captured)]

    def answer(asked: Asked) -> HookOffer:
        held.append(texts())
        return HookOffer("Something.", lambda: order.extend(texts()))

    with warm(home, answer, lambda _: done.set()):
        data = json.dumps(told(project, PROMPT[host], prompt=QUESTION)).encode()
        assert b"Something." in hooks.run(host, home, data)
        assert done.wait(WAIT_S)
    assert held == [[PORT]] and order == [PORT, QUESTION]


# --- Whose session it is ---


@pytest.mark.slow
@pytest.mark.parametrize("host", soaked(PROMPT, "claude"))
def test_what_an_agent_was_shown_and_says_by_a_tool_does_not_come_back(
    host: str, home: Path, project: Path, server: Server
) -> None:
    """The host tells its hooks a session that its server never hears of."""
    (id,) = said(home, project, PORT)
    server.initialize()
    server.initialized()
    with ask(home, asked_of(home, project, QUESTION), WAIT_S) as answered:
        assert PORT in answered.text
    given = b""
    for _ in range(20):  # A hook waits 0.3 s, which a loaded machine may not keep.
        given = hook(home, host, told(project, PROMPT[host], prompt=QUESTION), alone=True)
        if given:
            break
    assert PORT in given.decode()
    until(lambda: recalls(home, project))
    assert "Remembered" in server.call("add_memory", text=PORT)
    server.call("add_memory", text="The staging database listens on port 6000 from Monday on.")
    mine = [event for event in events_of(home, project, "captured") if event.actor.name == "tester"]
    assert [event.session for event in mine] == ["s-1", "s-1"]
    with Client(home, scope=scope_of_folder(project, Home(home))) as client:
        (found,) = (result for result in client.search(PORT, quiet=True).answer.results if result.id == id)
        assert found.confirmations == 0  # It was an echo.
        again = client.offer(QUESTION, sure_for(QUESTION, "s-1"), 3)
        assert "6000" not in "".join(result.text for result in again.results)
        other = client.offer(QUESTION, sure_for(QUESTION, "s-2"), 3)
        assert "6000" in "".join(result.text for result in other.results)
    hook(home, host, told(project, "SessionEnd"), alone=True)
    assert not list(home.glob("serving/*.session"))
    server.call("add_memory", text="Said in no session that is known.")
    assert events_of(home, project, "captured")[-1].session != "s-1"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="elsewhere a host starts hooks without a shell")
@pytest.mark.parametrize(
    "line", ["exec $0 $1 $2 $3", "$0 $1 $2 $3; true", "sh -c '$0 $1 $2 $3; true' $0 $1 $2 $3; true"]
)
def test_a_session_is_found_whether_or_not_a_shell_stands_between(home: Path, tmp_path: Path, line: str) -> None:
    Home(home)
    script = tmp_path / "session.py"
    script.write_text(
        "import sys; from pathlib import Path\n"
        "from memtape.tools.agents.warm import end_session, tell_session, told_session\n"
        "do = {'tell': lambda home: tell_session(home, 'project:a', 's-9'), 'end': end_session}.get(sys.argv[2])\n"
        "print(do(Path(sys.argv[1])) if do else told_session(Path(sys.argv[1]), sys.argv[2]))"
    )

    def run(*words: str) -> str:
        done = subprocess.run(words, env=environment(home), check=True, capture_output=True, text=True)
        return done.stdout.strip()

    python = (sys.executable, str(script), str(home))
    run("sh", "-c", line, *python, "tell")
    assert run(*python, "project:a") == run("sh", "-c", line, *python, "project:a") == "s-9"
    assert run(*python, "project:b") == "None"
    run(*python, "end")
    assert run(*python, "project:a") == "None"


# --- A start that takes too long ---


@pytest.mark.slow
@pytest.mark.parametrize("host", soaked(PROMPT, "claude"))
def test_a_start_that_cannot_read_the_log_says_so_in_time(host: str, home: Path, project: Path) -> None:
    said(home, project, PORT)
    with sqlite3.connect(home / "log.db", isolation_level=None) as holder:
        holder.execute("PRAGMA locking_mode=EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        holder.execute("UPDATE meta SET value = value")
        out = json.loads(hook(home, host, told(project, "SessionStart", source="startup"), alone=True))
    holder.close()
    given = out["hookSpecificOutput"]["additionalContext"]
    assert "could not be read in time" in given and given.startswith("<memtape>")
    (line,) = latest_errors(home, 5)
    assert f"hook {host} SessionStart" in line and "no context within 8 s" in line


@pytest.mark.slow
def test_a_start_projects_nothing_while_its_agent_waits(home: Path, project: Path) -> None:
    said(home, project, PORT)
    with Home(home).projector_lock():  # Whoever wants to project now is told so.
        out = json.loads(hook(home, "claude", told(project, "SessionStart", source="startup")))
        assert "5433" in out["hookSpecificOutput"]["additionalContext"]
    hook(home, "claude", told(project, "SessionStart", source="startup"))
    until(lambda: list(home.glob("builds/*/lance/p*")))
