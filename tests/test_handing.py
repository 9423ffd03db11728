"""Hooks that are handed over to a server: they do what they would do alone, and nothing is lost or added twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from test_hooks import ANSWER, FIELD, PROMPT, ROOT, Live, events_of, hook, told
from test_warm import PORT, QUESTION, WAIT_S, said, until, warm

from memtape.schemas.events import Event
from memtape.schemas.model import HOOKS_VARIABLE
from memtape.sinks.home.folders import Home
from memtape.tools.agents import handing, taking
from memtape.tools.agents.errors import latest_errors
from memtape.tools.agents.handing import environment
from memtape.tools.agents.ready import Offer, Ready
from memtape.tools.capture.native_ids import HOSTS
from memtape.tools.client import Client

SERVER = """
import os, sys, time
from pathlib import Path
from memtape.tools.agents import hooks, taking
from memtape.tools.agents.ready import Ready
from memtape.tools.agents.warm import Warm
moment, home = sys.argv[1], Path(sys.argv[2])
ready, capture = Ready(home), hooks.capture

def offer(asked):
    if moment == "asked":
        os._exit(1)
    return ready.offer(asked)

def captured(*given):
    if moment == "before":
        os._exit(1)
    capture(*given)
    if moment == "after":
        os._exit(1)

hooks.capture = captured
server = Warm(home, offer, lambda asked: None)
server.start()
print("listens", flush=True)
sys.stdin.read()
server.stop()
"""
"""A server that dies at a moment of its first hook."""


@pytest.fixture(autouse=True)
def connected(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Home(home)


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


PATIENT = """
import os, sys
from memtape.tools.agents import handing
handing.HAND_WAIT_S = 60
from memtape.__main__ import main
main()
"""


def patient(home: Path, host: str, data: dict[str, Any], **variables: str) -> bytes:
    """Call a hook as `connect` installs it, that waits long for a server."""
    done = subprocess.run(
        [sys.executable, "-c", PATIENT, "hook", "--host", host, "--home", str(home)],
        input=json.dumps(data).encode(), capture_output=True, timeout=WAIT_S, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), **variables},
    )  # fmt: skip
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout


def plain(event: Event) -> tuple[object, ...]:
    return event.id, event.scope, event.session, event.actor, event.body


@pytest.mark.parametrize("host", HOSTS)
def test_a_server_does_what_the_hook_would_do(host: str, home: Path, project: Path, tmp_path: Path) -> None:
    """In a folder outside git, in one that is pinned, and with injected blocks and secrets in what is said."""
    other = Home(tmp_path / "other").path
    secret = "<system-reminder>no</system-reminder>The key is ghp_0123456789abcdefghijABCDEFGHIJ0123456789."
    calls = [
        told(project, PROMPT[host], prompt="Where is staging?", prompt_id="p-1"),
        told(project, ANSWER[host], **{FIELD[host]: "On port 5433."}),
        told(project, PROMPT[host], prompt=secret),
        told(project, PROMPT[host], prompt="<memtape>\nold\n</memtape>"),
        told(project, PROMPT[host], prompt="long words " * 3_000),
        told(project, "SessionStart", source="startup"),
    ]
    for key in ("redaction.key", "folders.json"):
        hook(home, host, calls[0])
        (other / key).write_bytes((home / key).read_bytes())
    hook(other, host, calls[0])
    for call in calls[1:]:
        hook(home, host, call)
    served: list[dict[str, Any]] = []
    with server(other):
        for call in calls[1:]:
            answer = patient(other, host, call)
            served.append(json.loads(answer) if answer else {})
    assert [plain(event) for event in events_of(home, project, "captured")] == [
        plain(event) for event in events_of(other, project, "captured")
    ]
    assert "staging" in served[-1]["hookSpecificOutput"]["additionalContext"]
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


@pytest.mark.parametrize(("host", "moment", "late"), product(HOSTS, ["asked", "before", "after"], [False, True]))
def test_what_is_said_twice_counts_twice_wherever_servers_die(
    host: str, moment: str, late: bool, home: Path, project: Path
) -> None:
    """Each turn meets a server that dies, and has its row in the transcript before its hook is called or after."""
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


def test_a_server_that_is_too_slow_captures_nothing_that_the_hook_captures_itself(home: Path, project: Path) -> None:
    begun, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def slowly(asked: dict[str, str]) -> Offer:
        begun.set()
        assert go_on.wait(WAIT_S)
        return Offer("Too late.")

    with warm(home, slowly, lambda _: done.set()):
        answered = hook(home, "claude", told(project, "UserPromptSubmit", prompt="Where is staging?"))
        assert begun.is_set() and answered == b""
        go_on.set()
        assert done.wait(WAIT_S)
    assert len(events_of(home, project, "captured")) == 1


@pytest.mark.parametrize(
    ("variables", "serves"),
    [
        ({"USER": "somebody"}, False),
        ({"MEMTAPE_SESSION": "s-9"}, False),
        ({"GIT_CEILING_DIRECTORIES": "/nowhere"}, False),
        ({"PATH": "/nowhere"}, False),
        ({"PATH": f"/nowhere{os.pathsep}{os.environ['PATH']}"}, True),
        ({"GIT_EDITOR": "true", "LANG": "C"}, True),
    ],
)
def test_a_hook_of_another_environment_does_its_work_itself(
    variables: dict[str, str], serves: bool, home: Path, project: Path
) -> None:
    asked: list[str] = []

    def answer(given: dict[str, str]) -> Offer:
        asked.append(given["actor"])
        return Offer("")

    taken: list[object] = []
    with warm(home, answer, taken.append):
        patient(home, "claude", told(project, "Stop", last_assistant_message="On port 5433."), **variables)
        until(lambda: taken or not serves)
        patient(home, "claude", told(project, "UserPromptSubmit", prompt="Where is it?"), **variables)
    assert bool(taken and taken[0]) == serves or not serves
    (answered, prompt) = events_of(home, project, "captured")
    assert prompt.actor.name == variables.get("USER", taking.hooks.default_actor())
    assert answered.session == "s-1"
