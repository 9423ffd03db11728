"""Hosts whose transcripts are not read: hooks are told all that is captured; a first prompt is a start."""

from __future__ import annotations

import time
from contextlib import nullcontext
from itertools import product
from pathlib import Path

import pytest
from soaked import soaked
from test_handing import patient, server
from test_hooks import events_of, told
from transcripts import lines

from memtape.schemas.events import Captured
from memtape.schemas.ids import derived_id
from memtape.sinks.home.folders import Home
from memtape.tools.agents.turn import copilot_answer
from memtape.tools.capture.native_ids import HEARD, heard, opencode_message
from memtape.tools.client import Client

FIRST = ("opencode", "qwen")
"""Hosts whose first prompt is told all that a start is told."""
FACT = "Ship the tide alerts in November."


@pytest.fixture(autouse=True)
def connected(home: Path, project: Path) -> None:
    Home(home)
    with Client(home, folder=project) as client:
        client.capture(FACT, kind="goal", origin="user")
        client.catch_up()


def heard_by(home: Path, project: Path) -> list[tuple[str, str]]:
    said = [(it.actor.origin, it.body) for it in events_of(home, project, "captured")]
    return [(who, it.text) for who, it in said if isinstance(it, Captured) and it.text != FACT]


def events_file(folder: Path, *rows: tuple[str, str]) -> Path:
    path = folder / "events.jsonl"
    path.write_bytes(lines([{"type": type, "data": {"content": said}} for type, said in rows]))
    return path


FIRSTS = soaked(product((False, True), FIRST), (False, "qwen"), (True, "opencode"))


@pytest.mark.parametrize(("served", "host"), FIRSTS)
def test_first_prompts_are_told_all(host: str, served: bool, home: Path, project: Path) -> None:
    def given() -> list[bool]:
        calls = ["UserPromptSubmit", "UserPromptSubmit", "PreCompact", "UserPromptSubmit", "UserPromptSubmit"]
        prompts = [{"prompt": f"Please look into file number {number}."} for number in range(5)]
        said = [told(project, event, **its) for event, its in zip(calls, prompts, strict=True)]
        return [FACT.encode() in patient(home, host, data) for data in said]

    with server(home) if served else nullcontext():
        assert given() == [True, False, False, True, False]
    assert [text[-2] for _, text in heard_by(home, project)] == list("0134")


@pytest.mark.parametrize("host", HEARD)
def test_what_was_said_has_an_id_of_its_host(host: str, home: Path, project: Path, tmp_path: Path) -> None:
    path = events_file(tmp_path, ("user.message", "Where?"), ("assistant.message", "On port 5433."))
    said = {"last_assistant_message": "On port 5433."}
    more = {"transcript_path": str(path)} if host == "copilot" else said
    patient(home, host, told(project, "UserPromptSubmit", prompt="Where is it?", prompt_id="m-1"))
    patient(home, host, told(project, "Stop", prompt_id="m-2", **more))
    asked, answered = events_of(home, project, "captured")[1:]
    for event, role, id in ((asked, "user", "m-1"), (answered, "assistant", "m-2")):
        assert isinstance(event.body, Captured) and event.body.source == HEARD[host]
        native = opencode_message(id) if host == "opencode" else heard("s-1", role, event.body.text)  # type: ignore[arg-type]
        assert event.id == derived_id("captured", event.scope, HEARD[host], native)


@pytest.mark.parametrize("served", [False, True])
def test_an_answer_written_late_is_captured(served: bool, home: Path, project: Path, tmp_path: Path) -> None:
    path = events_file(tmp_path, ("assistant.message", "Before."), ("user.message", "Where?"))
    data = told(project, "Stop", transcript_path=str(path))
    with server(home) if served else nullcontext():
        assert patient(home, "copilot", data) == b""
    assert len(events_of(home, project, "captured")) == 1
    events_file(tmp_path, ("user.message", "Where?"), ("assistant.message", "On port 5433."))
    deadline = time.monotonic() + 20
    while len(events_of(home, project, "captured")) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    event = events_of(home, project, "captured")[-1]
    assert isinstance(event.body, Captured) and event.body.text == "On port 5433."


@pytest.mark.parametrize(("rows", "expected"),
    [([("user.message", "a"), ("tool.execution_start", ""), ("assistant.message", "b")], "b"),
    ([("user.message", "a"), ("assistant.message", "I look."), ("tool.execution_start", "")], ""),
    ([("assistant.message", "old"), ("user.message", "a")], ""), ([], "")])  # fmt: skip
def test_the_last_answer_of_a_prompt(rows: list[tuple[str, str]], expected: str, tmp_path: Path) -> None:
    path = events_file(tmp_path, *rows)
    assert copilot_answer(path, 0) == expected
    with path.open("ab") as file:
        file.write(b'[7]\n\xff\n{"type": "assistant.message", "data": 7}\n{"type"')
    assert copilot_answer(path, 0) == expected
    assert copilot_answer(tmp_path / "gone", 0) == ""


@pytest.mark.parametrize("served", soaked([False, True], True))
def test_what_one_agent_asks_of_another_no_person_has_said(served: bool, home: Path, project: Path) -> None:
    """Copilot CLI tells a prompt to an agent that another has started as it tells a user's."""
    of_agent = {"session_id": "a-1", "agent_id": "a-1", "agent_type": "explore", "parent_agent_id": "s-1"}
    ended = of_agent | {"session_id": "s-1", "agent_name": "explore", "last_assistant_message": "In cart."}
    with server(home) if served else nullcontext():
        patient(home, "copilot", told(project, "UserPromptSubmit", **of_agent, prompt="Always use tabs."))
        patient(home, "copilot", told(project, "Stop", **of_agent, transcript_path="events.jsonl"))
        patient(home, "copilot", told(project, "SubagentStop", **ended))
        helped = {"agent_type": "helper", "last_assistant_message": "Looked."}
        patient(home, "qwen", told(project, "SubagentStop", **helped))
    assert heard_by(home, project) == [("agent", "In cart."), ("agent", "Looked.")]
    said = events_of(home, project, "captured")[1:]
    assert [event.actor.name for event in said] == ["copilot explore", "qwen helper"]
    assert {event.session for event in said} == {"s-1"}
