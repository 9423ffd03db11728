"""What no hook is told: actions and subagents' turns are taken up from transcripts while a session goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import transcripts as t
from test_handing import patient
from test_hooks import events_of, hook, told
from test_warm import until, warm

from memtape.schemas.actions import act_of
from memtape.schemas.events import Captured
from memtape.sinks.home.folders import Home
from memtape.tools.agents.afterwards import cut_off, of_session
from memtape.tools.agents.errors import latest_errors
from memtape.tools.agents.ready import HookResponder
from memtape.tools.agents.sessions import note_told
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.writing import now_us

SESSION = "7f3a2b10-0000-4000-8000-000000000009"
OTHER = "7f3a2b10-0000-4000-8000-00000000000a"


def row(project: Path, type: str, uuid: str, content: Any, second: int, **more: Any) -> dict[str, Any]:
    return {"type": type, "uuid": uuid, "sessionId": SESSION, "timestamp": t.at(second), "cwd": str(project),
            "message": {"content": content}, **more}  # fmt: skip


def worked(project: Path) -> list[dict[str, Any]]:
    calls = [
        ("t1", "Edit", {"file_path": f"{project}/cart/prices.py"}, "The file has been updated.", False),
        ("t2", "Bash", {"command": "pytest -q"}, "Exit code 1\n1 failed, 4 passed", True),
    ]
    rows = [row(project, "user", "u1", "Round the prices once.", 1, promptSource="typed", promptId="p-1")]
    for number, (id, name, given, output, failed) in enumerate(calls):
        call = [{"type": "tool_use", "id": id, "name": name, "input": given}]
        result = [{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]
        rows += [
            row(project, "assistant", f"a{id}", call, 2 + number),
            row(project, "user", f"r{id}", result, 3 + number),
        ]
    return [*rows, row(project, "assistant", "z1", [{"type": "text", "text": "One test fails."}], 9)]


@pytest.fixture
def transcript(home: Path, project: Path) -> Path:
    Home(home)
    path = home.parent / "projects" / "p" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(t.lines(worked(project)))
    return path


def called(project: Path, transcript: Path, event: str, **more: Any) -> dict[str, Any]:
    return told(project, event, session_id=SESSION, transcript_path=str(transcript), **more)


def turns(home: Path, project: Path) -> list[tuple[str, str]]:
    said = [event for event in events_of(home, project, "captured") if isinstance(event.body, Captured)]
    return [(event.actor.name, event.body.text) for event in said if isinstance(event.body, Captured)]


def acts(home: Path, project: Path) -> list[str]:
    bodies = [event.body for event in events_of(home, project, "captured")]
    return [body.text for body in bodies if isinstance(body, Captured) and act_of(body.tags)]


def subagent(transcript: Path, project: Path) -> Path:
    path = transcript.with_suffix("") / "subagents" / "agent-ab1.jsonl"
    path.parent.mkdir(parents=True)
    said = [{"type": "text", "text": "The vouchers round twice."}]
    path.write_bytes(t.lines([row(project, "assistant", "k1", said, 5, isSidechain=True, agentId="ab1")]))
    return path


@pytest.mark.slow
def test_what_an_agent_did_is_captured_once(home: Path, project: Path, transcript: Path) -> None:
    ready = HookResponder(home)
    with warm(home, ready):
        patient(
            home,
            "claude",
            called(project, transcript, "UserPromptSubmit", prompt="Round the prices once.", prompt_id="p-1"),
        )
        assert acts(home, project) == []
        patient(home, "claude", called(project, transcript, "Stop", last_assistant_message="One test fails."))
        until(lambda: len(acts(home, project)) == 2)
        subagent(transcript, project)
        patient(home, "claude", called(project, transcript, "SubagentStop", agent_transcript_path=""))
        until(lambda: len(turns(home, project)) == 5)
    ready.close()
    hook(home, "claude", called(project, transcript, "SessionEnd", reason="exit"))
    assert acts(home, project) == [
        "edited cart/prices.py",
        "tested with `pytest -q`: failed (exit 1): 1 failed, 4 passed",
    ]
    assert ("claude-code ab1", "The vouchers round twice.") in turns(home, project)
    assert len(turns(home, project)) == 5 and not latest_errors(home, 5)


@pytest.mark.slow
def test_a_session_that_was_cut_off_is_taken_up(home: Path, project: Path, transcript: Path) -> None:
    scope = scope_of_folder(project, Home(home))
    unheard = transcript.with_name(f"{OTHER}.jsonl")
    unheard.write_bytes(transcript.read_bytes().replace(SESSION.encode(), OTHER.encode()))
    note_told(home, scope, SESSION, now_us())
    new = transcript.with_name("7f3a2b10-0000-4000-8000-00000000000b.jsonl")
    new.touch()
    assert cut_off(home, scope, new) == [transcript]
    ready = HookResponder(home)
    with warm(home, ready):
        start = told(project, "SessionStart", session_id=new.stem, transcript_path=str(new), source="startup")
        patient(home, "claude", start)
        until(lambda: len(acts(home, project)) == 2)
        given = json.loads(patient(home, "claude", start | {"source": "clear"}))
    ready.close()
    context = given["hookSpecificOutput"]["additionalContext"]
    assert "edited: cart/prices.py" in context and "open: tested with `pytest -q`" in context
    assert {event.session for event in events_of(home, project, "captured")} == {SESSION}


def test_the_transcripts_of_a_session_have_its_agents(transcript: Path, project: Path) -> None:
    agent = subagent(transcript, project)
    assert of_session(transcript, str(agent)) == [transcript, agent]
    assert of_session(transcript.with_name("gone.jsonl"), "") == []
