"""Hooks handed over to a server, and what transcripts tell beside them: nothing is lost or added twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import pytest
import transcripts as t
from forking import PATIENT, memtape
from soaked import soaked
from test_hooks import ANSWER, FIELD, PROMPT, ROOT, Live, events_of, hook, told
from test_hooks import connected as connected  # A fixture.
from test_warm import PORT, QUESTION, WAIT_S, Ready, handed, said, until, warm

from memtape import __version__
from memtape.schemas.events import Captured, Event
from memtape.schemas.variables import HOOKS_VARIABLE
from memtape.sinks.home.folders import Home
from memtape.tools.agents import forwarding, hooks
from memtape.tools.agents import server as serving
from memtape.tools.agents.afterwards import cut_off, of_session
from memtape.tools.agents.errors import latest_errors
from memtape.tools.agents.ready import HookResponder
from memtape.tools.agents.sessions import start_of
from memtape.tools.capture.native_ids import HOSTS
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.writing import default_actor, now_us
from memtape.tools.client import Client

SERVER = """
import os, sys, time
from pathlib import Path
from memtape.tools.agents import hooks
from memtape.tools.agents.ready import HookResponder
from memtape.tools.agents.server import Server
moment, home = sys.argv[1], Path(sys.argv[2])
ready, capture = HookResponder(home), hooks.capture
ready.after = lambda turn, scope: None
offer = ready.offer

def asked(*given):
    if moment == "asked":
        os._exit(1)
    return offer(*given)

def captured(*given):
    if moment == "before":
        os._exit(1)
    capture(*given)
    if moment == "after":
        os._exit(1)

hooks.capture, ready.offer = captured, asked
server = Server(home, ready)
server.listen()
print("listens", flush=True)
sys.stdin.read()
server.stop()
"""
"""A server that dies at a moment of its first hook."""


@contextmanager
def server(home: Path, moment: str = "") -> Iterator[subprocess.Popen[str]]:
    running = subprocess.Popen(
        [sys.executable, "-c", SERVER, moment, str(home)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=home,
    )  # fmt: skip
    assert running.stdout is not None
    assert running.stdout.readline() == "listens\n"
    try:
        yield running
    finally:
        running.communicate(timeout=WAIT_S)


def patient(home: Path, host: str, data: dict[str, Any], *words: str, **variables: str) -> bytes:
    """Call a hook as `connect` installs it, which waits long for a server, and for itself."""
    done = subprocess.run(
        [*memtape(), PATIENT, "agents", "hook", "--host", host, *words, "--home", str(home)],
        input=json.dumps(data).encode(), capture_output=True, timeout=WAIT_S, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), **variables},
    )  # fmt: skip
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout


def plain(event: Event) -> tuple[object, ...]:
    return event.id, event.scope, event.session, event.actor, event.body


@pytest.mark.parametrize("host", soaked(HOSTS, "claude", "gemini"))
def test_a_server_does_what_the_hook_would_do(host: str, home: Path, project: Path, tmp_path: Path) -> None:
    """Also with injected blocks and secrets in what is said, and with more than one event holds."""
    other = tmp_path / "other"
    secret = "<system-reminder>no</system-reminder>The key is ghp_0123456789abcdefghijABCDEFGHIJ0123456789."
    hook(home, host, told(project, PROMPT[host], prompt=secret))
    said(home, project, "Ship the tide alerts in November.", kind="goal")
    said(home, project, PORT)
    copytree(home, other)
    calls = [
        told(project, PROMPT[host], prompt=QUESTION, prompt_id="p-1"),
        told(project, ANSWER[host], **{FIELD[host]: "On port 5433."}),
        told(project, PROMPT[host], prompt=f"Again: {secret}"),
        told(project, PROMPT[host], prompt="<memtape>\nold\n</memtape>"),
        told(project, PROMPT[host], prompt="long words " * 3_000),
        told(project, "SessionStart", source="startup"),
    ]  # fmt: skip
    alone = [patient(home, host, call) for call in calls]
    with server(other):
        served = [patient(other, host, call) for call in calls]
    ours, theirs = (events_of(it, project, "captured") for it in (home, other))
    assert list(map(plain, ours)) == list(map(plain, theirs))
    assert served == alone and b"tide alerts" in alone[-1] and b"5433" in alone[0]
    assert not latest_errors(other, 5) and not latest_errors(home, 5)


@pytest.mark.parametrize("moment", ["asked", "before", "after"])
def test_what_a_server_died_with_is_captured_once(moment: str, home: Path, project: Path) -> None:
    with server(home, moment) as running:
        patient(home, "claude", told(project, "UserPromptSubmit", prompt="Where is staging?"))
        assert running.wait(WAIT_S) == 1
    assert len({event.id for event in events_of(home, project, "captured")}) == 1
    hook(home, "claude", told(project, "UserPromptSubmit", prompt="Where is staging?"))
    assert len({event.id for event in events_of(home, project, "captured")}) == 1
    assert not latest_errors(home, 5)


SAID = [("user", "yes"), ("assistant", "Done."), ("user", "yes"), ("assistant", "Done."), ("user", "yes")]


@pytest.mark.parametrize(("host", "moment", "late"),
    soaked(product(HOSTS, ("asked", "before", "after"), (False, True)), ("claude", "after", False),
    ("codex", "before", True), ("gemini", "after", True)))  # fmt: skip
def test_turns_count_once_when_killed(host: str, moment: str, late: bool, home: Path, project: Path) -> None:
    """Each turn meets a server that dies, and has its row in the transcript before its hook or after."""
    live = Live(host, home, project)
    for number, (role, text) in enumerate(SAID[:3]):
        live.written(number + (not late), SAID)
        field = {"prompt": text} if role == "user" else {FIELD[host]: text}
        event = PROMPT[host] if role == "user" else ANSWER[host]
        with server(home, moment):
            patient(home, host, told(project, event, transcript_path=str(live.path), **field))
        live.written(number + 1, SAID)
    assert len(live.ids()) == 3
    live.imported()
    assert len(live.ids()) == 3


def test_slow_servers_capture_nothing(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtape.tools.keep.wire.HAND_WAIT_S", 0.5)
    go_on = threading.Event()
    slow = Ready(slowly=lambda: go_on.wait(WAIT_S))
    data = told(project, "UserPromptSubmit", prompt="Where is staging?")
    with warm(home, slow):
        assert handed(home, data) is None and slow.asked
        go_on.set()
        until(lambda: slow.scopes)
    assert not events_of(home, project, "captured") and not slow.recorded
    started: list[str] = []
    monkeypatch.setattr(forwarding, "start_one", lambda _right, words, *_: started.append(words[4]))
    data = json.dumps(told(project, "UserPromptSubmit", prompt="Where is staging?")).encode()
    for how in ("off", "alone", ""):
        monkeypatch.setenv(HOOKS_VARIABLE, how)
        hooks.leave_server("claude", home, data)
        assert started == ([] if how else ["--stay"])
    end_by_setting(home)
    hooks.leave_server("claude", home, data)
    assert started == ["--stay"]


@pytest.mark.parametrize(("variables", "serves"), [({"USER": "somebody"}, False),
    ({"GIT_CEILING_DIRECTORIES": "/nowhere"}, False),
    ({"PATH": f"/nowhere{os.pathsep}{os.environ['PATH']}"}, True),
    ({"GIT_EDITOR": "true", "LANG": "C"}, True), ({"version": "0.0.0"}, False)])  # fmt: skip
def test_a_hook_of_another_environment_or_version_does_its_work_itself(
    variables: dict[str, str], serves: bool, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "__version__", variables.pop("version", __version__))
    ready = Ready()
    with warm(home, ready):
        asked = told(project, "UserPromptSubmit", prompt="Where is it?")
        answered = patient(home, "claude", asked, **variables)
    assert bool(ready.asked) == serves and (b"Something." in answered) == serves
    (prompt,) = events_of(home, project, "captured")
    assert prompt.actor.name == variables.get("USER", default_actor()) and prompt.session == "s-1"


def test_a_hook_of_which_nobody_hears_a_session_does_its_work_itself(home: Path, project: Path) -> None:
    """Its id is made anew each time, so that a server that dies would leave it twice."""
    with server(home, "after") as running:
        patient(home, "claude", told(project, "UserPromptSubmit", prompt="Where is it?") | {"session_id": ""})
        assert running.poll() is None
    assert len(events_of(home, project, "captured")) == 1


STAY = """
import sys
from memtape.tools.agents import server
server.LOOK_S, server.STAY_S = 0.05, float(sys.argv.pop(1))
from memtape.__main__ import main
main()
"""


@contextmanager
def left(home: Path, project: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the server as a hook does."""
    running = subprocess.Popen(
        [sys.executable, "-c", STAY, str(WAIT_S), "agents", "hook", "--host", "claude", "--stay",
         "--home", str(home)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), HOOKS_VARIABLE: ""},
        stdin=subprocess.PIPE, cwd="/",
    )  # fmt: skip
    assert running.stdin is not None
    try:
        running.stdin.write(json.dumps(told(project, "SessionStart")).encode())
        running.stdin.close()
        yield running
    finally:
        running.terminate()
        running.wait(WAIT_S)


def test_a_hook_leaves_one_server_behind_which_answers_the_next(home: Path, project: Path) -> None:
    said(home, project, PORT)
    lock = Home(home).lock("hook-server")
    assert PORT in patient(home, "claude", told(project, "SessionStart"), **{HOOKS_VARIABLE: ""}).decode()
    until(lambda: list(home.glob("serving/*.sock")))
    pid = lock.holder()
    assert pid is not None
    try:
        with Client(home) as client:
            assert client.status().hook_server_pid == pid
        with ThreadPoolExecutor(10) as threads:
            call = told(project, "UserPromptSubmit", prompt=QUESTION)
            calls = [call | {"session_id": f"s-{n}"} for n in range(10)]
            answers = list(threads.map(lambda call: patient(home, "claude", call, MEMTAPE_HOOKS=""), calls))
        assert all(PORT in answer.decode() for answer in answers)
        assert len(events_of(home, project, "captured")) == 11 and lock.holder() == pid
        assert len(list(home.glob("serving/*.sock"))) == 1
    finally:
        os.kill(pid, signal.SIGTERM)
    until(lambda: lock.holder() is None)
    assert not list(home.glob("serving/*.sock")) and not latest_errors(home, 5)


def end_by_setting(home: Path) -> None:
    (home / "settings.toml").write_text('profile = "dev_no_persist"\n')


@pytest.mark.parametrize("end", [rmtree, end_by_setting], ids=["home", "setting"])
def test_a_server_left_behind_ends_by_itself(end: Callable[[Path], None], home: Path, project: Path) -> None:
    said(home, project, PORT)
    with left(home, project) as running:
        until(lambda: list(home.glob("serving/*.sock")))
        until(lambda: list(home.glob("builds/*/lance/p*/watermark.json")))
        until(lambda: Home(home).lock("projector").holder() is None)
        end(home)
        assert running.wait(WAIT_S) == 0
    assert end is not rmtree or not home.exists()


SESSION = "7f3a2b10-0000-4000-8000-000000000009"
OTHER = "7f3a2b10-0000-4000-8000-00000000000a"


def row(project: Path, type: str, uuid: str, content: Any, second: int, **more: Any) -> dict[str, Any]:
    return {"type": type, "uuid": uuid, "sessionId": SESSION, "timestamp": t.at(second), "cwd": str(project),
            "message": {"content": content}, **more}  # fmt: skip


def worked(project: Path) -> list[dict[str, Any]]:
    call = [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest -q"}}]
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": "Exit code 1", "is_error": True}]
    rows = [row(project, "user", "u1", "Round the prices once.", 1, promptSource="typed", promptId="p-1")]
    rows += [row(project, "assistant", "a1", call, 2), row(project, "user", "r1", result, 3)]
    return [*rows, row(project, "assistant", "z1", [{"type": "text", "text": "One test fails."}], 9)]


@pytest.fixture
def transcript(home: Path, project: Path) -> Path:
    path = home.parent / "projects" / "p" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(t.lines(worked(project)))
    return path


def called(project: Path, transcript: Path, event: str, **more: Any) -> dict[str, Any]:
    return told(project, event, session_id=SESSION, transcript_path=str(transcript), **more)


def turns(home: Path, project: Path) -> list[tuple[str, str]]:
    said = events_of(home, project, "captured")
    return [(event.actor.name, event.body.text) for event in said if isinstance(event.body, Captured)]


def subagent(transcript: Path, project: Path) -> Path:
    path = transcript.with_suffix("") / "subagents" / "agent-ab1.jsonl"
    path.parent.mkdir(parents=True)
    said = [{"type": "text", "text": "The vouchers round twice."}]
    path.write_bytes(t.lines([row(project, "assistant", "k1", said, 5, isSidechain=True, agentId="ab1")]))
    return path


@pytest.mark.slow
def test_what_is_said_in_a_session_is_captured_once(home: Path, project: Path, transcript: Path) -> None:
    ready = HookResponder(home)
    with warm(home, ready):
        said = {"prompt": "Round the prices once.", "prompt_id": "p-1"}
        patient(home, "claude", called(project, transcript, "UserPromptSubmit", **said))
        patient(home, "claude", called(project, transcript, "Stop", last_assistant_message="One test fails."))
        subagent(transcript, project)
        patient(home, "claude", called(project, transcript, "SubagentStop", agent_transcript_path=""))
        until(lambda: len(turns(home, project)) == 3)
    ready.close()
    hook(home, "claude", called(project, transcript, "SessionEnd", reason="exit"))
    assert ("claude-code ab1", "The vouchers round twice.") in turns(home, project)
    assert len(turns(home, project)) == 3 and not latest_errors(home, 5)


@pytest.mark.slow
def test_a_session_that_was_cut_off_is_taken_up(home: Path, project: Path, transcript: Path) -> None:
    scope = scope_of_folder(project, Home(home))
    unheard = transcript.with_name(f"{OTHER}.jsonl")
    unheard.write_bytes(transcript.read_bytes().replace(SESSION.encode(), OTHER.encode()))
    start_of(home, scope, SESSION).leave(now_us())
    new = transcript.with_name("7f3a2b10-0000-4000-8000-00000000000b.jsonl")
    new.touch()
    assert cut_off(home, scope, new) == [transcript]
    ready = HookResponder(home)
    with warm(home, ready):
        start = told(project, "SessionStart", session_id=new.stem, transcript_path=str(new), source="startup")
        patient(home, "claude", start)
        until(lambda: len(turns(home, project)) == 2)
        given = json.loads(patient(home, "claude", start | {"source": "clear"}))
    ready.close()
    context = given["hookSpecificOutput"]["additionalContext"]
    assert "asked: Round the prices once." in context and "last answer: One test fails." in context
    assert {event.session for event in events_of(home, project, "captured")} == {SESSION}


def test_the_transcripts_of_a_session_have_its_agents(transcript: Path, project: Path) -> None:
    agent = subagent(transcript, project)
    assert of_session(transcript, str(agent)) == [transcript, agent]
    assert of_session(transcript.with_name("gone.jsonl"), "") == []
