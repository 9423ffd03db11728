"""Servers and hooks of one host together: who is answered when, what is recorded, and whose session it is."""

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
from memtape.sinks.home.folders import Home
from memtape.sinks.index_files import ManifestSegment
from memtape.sinks.search_index import DELTA_ROWS
from memtape.sinks.tables import Shard
from memtape.state.index.segments import Segment
from memtape.state.index.texts import Texts
from memtape.state.ranking.sure import sure_for
from memtape.tools.agents import offering, ready
from memtape.tools.agents.errors import latest_errors
from memtape.tools.agents.mcp.handlers import ServedMemory
from memtape.tools.agents.ready import HookResponder
from memtape.tools.agents.server import Server
from memtape.tools.agents.sessions import latest_of
from memtape.tools.agents.turn import HookOffer
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.keep import wire
from memtape.tools.keep.wire import Announced, connected, hand_over, read_line
from memtape.tools.query.retrieval import Retriever
from memtape.tools.recalling import offer

PORT = "The staging database listens on port 5433."
QUESTION = "Which port has the staging database?"
WAIT_S = 300.0


class Ready(HookResponder):
    """Offers a text for every hook, and notes what was asked, which offers were recorded, and whose."""

    def __init__(self, text: str = "Something.", slowly: Callable[[], object] = lambda: None) -> None:
        self.text, self.slowly = text, slowly
        self.asked: list[str] = []
        self.recorded: list[str] = []
        self.scopes: list[str] = []

    def offer(self, asking: Client, prompt: str, since: int | None = None) -> HookOffer:
        self.asked.append(prompt)
        self.slowly()
        return HookOffer(self.text, record=lambda _: self.recorded.append(prompt))

    def after(self, turn: Any, scope: str) -> None:
        self.scopes.append(scope)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is projected at the end of a test come to its end, however long that takes, and hooks wait."""
    monkeypatch.setattr(ready, "CLOSE_WAIT_S", WAIT_S)
    monkeypatch.setattr(wire, "HAND_WAIT_S", WAIT_S)


@contextmanager
def warm(home: Path, ready: HookResponder) -> Iterator[None]:
    """Have a server of this process answer the hooks of a home."""
    served = Server(home, ready)
    served.listen()
    try:
        yield
    finally:
        served.stop()


def handed(home: Path, data: dict[str, Any], host: str = "claude") -> Announced | None:
    """Hand a hook over as its process does."""
    return hand_over(host, str(home), json.dumps(data).encode())


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def said(home: Path, project: Path, *texts: str, **fields: Any) -> list[str]:
    with at(home, project) as client:
        return [receipt.id for receipt in client.capture_many([Line(text=text, **fields) for text in texts])]


def at(home: Path, project: Path, session: str | None = None) -> Client:
    return Client(home, scope=scope_of_folder(project, Home(home)), origin="user", session=session)


@pytest.mark.slow
def test_making_views_holds_up_no_hook(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said(home, project, PORT)
    answering = HookResponder(home)
    projecting, go_on = threading.Event(), threading.Event()
    catch_up = Client.catch_up

    def slowly(client: Client) -> None:
        projecting.set()
        assert go_on.wait(WAIT_S)
        catch_up(client)

    monkeypatch.setattr(Client, "catch_up", slowly)
    with at(home, project) as client:
        answering.refresh(client.scope)
        assert projecting.wait(WAIT_S)
        assert PORT in answering.offer(client, QUESTION).text and "5433" in answering.offer(client, "").text
    go_on.set()
    assert answering.close()


@pytest.mark.slow
def test_what_a_server_holds_does_not_grow_with_prompts(home: Path, project: Path) -> None:
    """Each prompt is answered, captured and projected; nothing of it waits for the collector of circles."""
    said(home, project, PORT)
    answering, asking = HookResponder(home), at(home, project)

    def after(prompts: int) -> Counter[str]:
        """Return how many of what holds a scope's texts live after more prompts."""
        for number in range(prompts):
            assert "5433" in answering.offer(asking, QUESTION).text
            said(home, project, f"Number {number}: {uuid_utils.uuid7()}.")
            answering._make(asking.scope)
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
        asking.close()


@pytest.mark.slow
def test_a_segment_that_a_server_has_open_is_not_opened_again(home: Path, project: Path) -> None:
    said(home, project, *(f"Number {number}." for number in range(DELTA_ROWS)))
    scope = scope_of_folder(project, Home(home))

    def opened(client: Client) -> dict[ManifestSegment, Segment]:
        found, _ = client.reader.reading(lambda views: views.found(scope))
        return dict(zip(found.opened.manifest.segments, found.opened.segments, strict=True))

    with Client(home, scope=scope) as first, Client(home, scope=scope) as second:
        first.project()
        before = opened(first)
        said(home, project, PORT)
        second.reader.take_over(first.reader.let_go())
        second.project()
        after = opened(second)
        assert len(after) == len(before) + 1
        assert all(after[named] is segment for named, segment in before.items())


def test_a_slow_scope_holds_up_no_other(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said(home, project, PORT)
    offer, reading, go_on = offering.offer, threading.Event(), threading.Event()

    def slowly(client: Client, *given: Any) -> Any:
        if client.scope == "project:slow":
            reading.set()
            assert go_on.wait(WAIT_S)
        return offer(client, *given)

    monkeypatch.setattr(offering, "offer", slowly)
    answering = HookResponder(home)
    other = Client(home, scope="project:slow")
    with ThreadPoolExecutor(1) as others, at(home, project) as client, other:
        other.capture(PORT)
        other.session = "s-2"
        slow = others.submit(answering.offer, other, QUESTION)
        assert reading.wait(WAIT_S)
        assert PORT in answering.offer(client, QUESTION).text
        go_on.set()
        assert "5433" in slow.result(WAIT_S).text
    assert answering.close()


def test_no_hook_waits_for_another(home: Path, project: Path) -> None:
    """Neither for one that says nothing, nor for one that is slow."""
    go_on, begun = threading.Event(), threading.Event()

    def slowly() -> None:
        if not begun.is_set():
            begun.set()
            assert go_on.wait(WAIT_S)

    data = told(project, "UserPromptSubmit", prompt="Where is staging?")
    silent = socket.socket(socket.AF_UNIX)
    with warm(home, Ready(slowly=slowly)), silent, ThreadPoolExecutor(1) as others:
        silent.connect(str(home / "serving" / "server.sock"))
        slow = others.submit(handed, home, data)
        assert begun.wait(WAIT_S)
        quick = handed(home, data | {"session_id": "s-2"})
        assert quick is not None and quick.done and b"Something." in quick.told
        go_on.set()
        assert slow.result(WAIT_S) is not None
    assert len(events_of(home, project, "captured")) == 2


def recalls(home: Path, project: Path) -> list[Recalled]:
    return [event.body for event in events_of(home, project, "recalled") if isinstance(event.body, Recalled)]


@pytest.mark.slow
def test_only_what_was_shown_is_captured_and_recalled(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [PORT, "The staging database runs on port 5433 since May.", "Which staging port? 5433."]
    ids = said(home, project, *texts)
    answering = HookResponder(home)
    data = told(project, "UserPromptSubmit", prompt=QUESTION)
    with warm(home, answering):
        line = wire.hook_line("claude", json.dumps(data), str(project), False)
        with socket.socket(fileno=connected(str(home), line, time.monotonic() + WAIT_S).detach()) as gives_up:
            assert PORT.encode() in read_line(gives_up, time.monotonic() + WAIT_S)
        monkeypatch.setattr(offering, "MOST_CHARS", 150)
        given = handed(home, data)
        assert given is not None and given.done
        until(lambda: recalls(home, project))
    assert answering.close()
    (recall,) = recalls(home, project)
    text = json.loads(given.told)["hookSpecificOutput"]["additionalContext"]
    assert [ids[number] for number, each in enumerate(texts) if each in text] == list(recall.results)
    assert len(events_of(home, project, "captured")) == 4


@pytest.mark.parametrize("host", PROMPT)
def test_a_prompt_is_asked_for_before_it_is_captured(host: str, home: Path, project: Path) -> None:
    held: list[list[str]] = []

    def texts() -> None:
        bodies = [event.body for event in events_of(home, project)]
        held.append([body.text for body in bodies if isinstance(body, Captured)])

    answering = Ready(slowly=texts)
    with warm(home, answering):
        given = handed(home, told(project, PROMPT[host], prompt=QUESTION), host)
        assert given is not None and given.done and b"Something." in given.told
        until(lambda: answering.recorded)
    texts()
    assert held == [[], [QUESTION]] and answering.recorded == [QUESTION]


@pytest.mark.slow
def test_what_an_agent_was_shown_and_says_by_a_tool_does_not_come_back(home: Path, project: Path) -> None:
    """The host tells its hooks a session that its server never hears of."""
    (id,) = said(home, project, PORT)
    answering = HookResponder(home)
    memory = ServedMemory(home, ready=answering)
    with warm(home, answering):
        given = handed(home, told(project, "UserPromptSubmit", prompt=QUESTION))
        assert given is not None and PORT.encode() in given.told
        until(lambda: recalls(home, project))
    for text in (PORT, "The staging database listens on port 6000 from Monday on."):
        memory.call("add_memory", {"text": text}, project, "tester")
    mine = [event for event in events_of(home, project, "captured") if event.actor.name == "tester"]
    assert [event.session for event in mine] == ["s-1", "s-1"]
    with at(home, project) as client:
        (found,) = (result for result in client.search(PORT, quiet=True).results if result.id == id)
        assert found.confirmations == 0  # It was an echo.
        for session, is_given in (("s-1", False), ("s-2", True)):
            again = offer(client, QUESTION, sure_for(QUESTION, session), 3)
            assert ("6000" in "".join(result.text for result in again.results)) is is_given
    latest_of(home).forget()
    assert not list(home.glob("serving/*.session"))
    memory.call("add_memory", {"text": "Said in no session that is known."}, project, "tester")
    assert events_of(home, project, "captured")[-1].session != "s-1"
    assert memory.close() and answering.close()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="elsewhere hosts start hooks themselves")
@pytest.mark.parametrize("line", ["exec $0 $1 $2 $3", "sh -c '$0 $1 $2 $3; true' $0 $1 $2 $3; true"])
def test_a_session_is_found_behind_a_shell(home: Path, tmp_path: Path, line: str) -> None:
    Home(home)
    script = tmp_path / "session.py"
    script.write_text(
        "import sys; from pathlib import Path\n"
        "from memtape.tools.agents.sessions import latest_of\n"
        "note, do = latest_of(Path(sys.argv[1])), sys.argv[2]\n"
        "note.leave(['project:a', 's-9']) if do == 'tell' else note.forget() if do == 'end' else None\n"
        "print(dict([note.read() or ('', '')]).get(do))"
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
def test_a_prompt_that_was_late_is_noted(home: Path, project: Path) -> None:
    said(home, project, PORT)
    with sqlite3.connect(home / "log.db", isolation_level=None) as holder:
        holder.execute("PRAGMA locking_mode=EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        holder.execute("UPDATE meta SET value = value")
        asked = told(project, "UserPromptSubmit", prompt=QUESTION)
        assert hook(home, "claude", asked, alone=True) == b""
    holder.close()
    (line,) = latest_errors(home, 5)
    assert "hook claude UserPromptSubmit" in line and "no context within 1.5 s" in line


@pytest.mark.slow
def test_a_start_projects_nothing_while_its_agent_waits(home: Path, project: Path) -> None:
    said(home, project, PORT)
    with Home(home).lock("projector"):  # Whoever wants to project now is told so.
        out = json.loads(hook(home, "claude", told(project, "SessionStart", source="startup")))
        assert "5433" in out["hookSpecificOutput"]["additionalContext"]
    hook(home, "claude", told(project, "SessionStart", source="startup"))
    until(lambda: list(home.glob("builds/*/lance/p*")))
