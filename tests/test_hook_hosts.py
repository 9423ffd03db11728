"""Hosts whose transcripts are not read: their hooks are told all that is captured; a first prompt may be a start."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest
from test_handing import patient, server
from test_hooks import events_of, told

from memtape.schemas.events import Captured
from memtape.schemas.ids import derived_id
from memtape.sinks.home.folders import Home
from memtape.tools.agents.last_answers import copilot_answer
from memtape.tools.capture.native_ids import HEARD, heard, opencode_message
from memtape.tools.client import Client

FACT = "Ship the tide alerts in November."


@pytest.fixture(autouse=True)
def connected(home: Path, project: Path) -> None:
    Home(home)
    with Client(home, folder=project) as client:
        client.capture(FACT, kind="goal", origin="user")
        client.catch_up()


def events_file(folder: Path, *rows: tuple[str, str]) -> Path:
    path = folder / "events.jsonl"
    path.write_text("".join(json.dumps({"type": type, "data": {"content": said}}) + "\n" for type, said in rows))
    return path


@pytest.mark.parametrize("host", ["opencode", "qwen"])
@pytest.mark.parametrize("served", [False, True])
def test_the_first_prompt_and_the_first_after_a_compaction_are_told_all(
    host: str, served: bool, home: Path, project: Path
) -> None:
    def given() -> list[bool]:
        calls = ["UserPromptSubmit", "UserPromptSubmit", "PreCompact", "UserPromptSubmit", "UserPromptSubmit"]
        answers = [
            patient(home, host, told(project, event, prompt=f"Please look into file number {number}."))
            for number, event in enumerate(calls)
        ]
        return [FACT.encode() in answered for answered in answers]

    if served:
        with server(home):
            assert given() == [True, False, False, True, False]
    else:
        assert given() == [True, False, False, True, False]
    texts = [event.body.text for event in events_of(home, project, "captured") if isinstance(event.body, Captured)]
    assert [text[-2] for text in texts if text != FACT] == list("0134")


@pytest.mark.parametrize("host", HEARD)
def test_what_was_said_has_an_id_of_what_the_host_told(host: str, home: Path, project: Path, tmp_path: Path) -> None:
    path = events_file(tmp_path, ("user.message", "Where?"), ("assistant.message", "On port 5433."))
    more = {"transcript_path": str(path)} if host == "copilot" else {"last_assistant_message": "On port 5433."}
    patient(home, host, told(project, "UserPromptSubmit", prompt="Where is it?", prompt_id="m-1"))
    patient(home, host, told(project, "Stop", prompt_id="m-2", **more))
    asked, answered = events_of(home, project, "captured")[1:]
    for event, role, id in ((asked, "user", "m-1"), (answered, "assistant", "m-2")):
        assert isinstance(event.body, Captured) and event.body.source == HEARD[host]
        native = opencode_message(id) if host == "opencode" else heard("s-1", role, event.body.text)  # type: ignore[arg-type]
        assert event.id == derived_id("captured", event.scope, HEARD[host], native)


def test_copilot_is_told_in_its_form_at_a_start(home: Path, project: Path) -> None:
    answered = json.loads(patient(home, "copilot", told(project, "SessionStart", source="new")))
    assert list(answered) == ["additionalContext"] and FACT in answered["additionalContext"]


@pytest.mark.parametrize("served", [False, True])
def test_an_answer_that_is_written_late_is_captured_all_the_same(
    served: bool, home: Path, project: Path, tmp_path: Path
) -> None:
    path = events_file(tmp_path, ("assistant.message", "Before."), ("user.message", "Where?"))
    data = told(project, "Stop", transcript_path=str(path))
    if served:
        with server(home):
            assert patient(home, "copilot", data) == b""
    else:
        assert patient(home, "copilot", data) == b""
    assert len(events_of(home, project, "captured")) == 1
    events_file(tmp_path, ("user.message", "Where?"), ("assistant.message", "On port 5433."))
    deadline = time.monotonic() + 20
    while len(events_of(home, project, "captured")) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    event = events_of(home, project, "captured")[-1]
    assert isinstance(event.body, Captured) and event.body.text == "On port 5433."


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [
                ("user.message", "a"),
                ("assistant.message", ""),
                ("tool.execution_start", ""),
                ("assistant.message", "b"),
            ],
            "b",
        ),
        ([("user.message", "a"), ("assistant.message", "I look."), ("tool.execution_start", "")], ""),
        ([("assistant.message", "old"), ("user.message", "a")], ""),
        ([], ""),
    ],
)
def test_the_last_answer_is_that_of_the_latest_prompt(
    rows: list[tuple[str, str]], expected: str, tmp_path: Path
) -> None:
    path = events_file(tmp_path, *rows)
    assert copilot_answer(path, 0) == expected
    with path.open("ab") as file:
        file.write(b'[7]\n\xff\n{"type": "assistant.message", "data": 7}\n{"type"')
    assert copilot_answer(path, 0) == expected
    assert copilot_answer(tmp_path / "gone", 0) == ""


def test_an_answer_is_waited_for(tmp_path: Path) -> None:
    path = events_file(tmp_path, ("user.message", "a"))
    late = threading.Timer(0.3, lambda: events_file(tmp_path, ("user.message", "a"), ("assistant.message", "b")))
    late.start()
    assert copilot_answer(path, 10) == "b"
