"""Whatever is cut on its way to the log is cut after its secrets are out of it, and never within a placeholder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from met import events_of
from test_hooks import hook, told
from test_warm import Ready, warm

from memtape.schemas.events import Event
from memtape.schemas.placeholders import PLACEHOLDER, head_of, placeholder, tail_of
from memtape.sinks.home.folders import Home
from memtape.tools.agents.afterwards import FLUSH_CHARS, latest
from memtape.tools.agents.mcp.handlers import ServedMemory
from memtape.tools.agents.offering import PROMPT_CHARS
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.client import Client
from memtape.tools.importing.actions import COMMAND_CHARS, LINE_CHARS
from memtape.tools.importing.finding import named_files
from memtape.tools.importing.taking import Importer
from memtape.tools.recalling import handed_out, offer

SECRET = "S3cr3tPazzW9x"
A = "project:a"


def logged(home: Path, scope: str = A) -> list[Event]:
    with Client(home, scope=scope) as client:
        return [event for event in events_of(client.log) if event.scope == scope]


def written(events: list[Event]) -> str:
    return " ".join(msgspec.json.encode(event.body).decode() for event in events)


def row(type: str, content: Any, uuid: str = "u1") -> str:
    return json.dumps({"type": type, "uuid": uuid, "sessionId": "s-1", "message": {"content": content}}) + "\n"


def test_a_flush_that_cuts_off_what_tells_a_secret_has_taken_it_out(home: Path, tmp_path: Path) -> None:
    transcript = tmp_path / "s-1.jsonl"
    before = "The password of the staging database is "
    rest = f"{SECRET} and that is all. "
    for shift in (-1, 0, 4, len(SECRET) - 5):
        filler = ("go on " * 1_000)[: FLUSH_CHARS - len(rest) + shift]
        transcript.write_text(row("user", before + rest + filler))
        text = latest("claude-code", transcript, Redactor(Home(home)))
        assert not any(SECRET[at : at + 5] in text for at in range(len(SECRET) - 4)) and " is all" in text


def test_what_a_command_says_and_puts_out_is_cut_after_its_secrets_are_out(home: Path, tmp_path: Path) -> None:
    rows = []
    url = f"postgres://app:{SECRET}@db.internal/main"
    for number, kept in enumerate((6, 15, 18, 20, 28)):
        command = ("true; " * 100)[: COMMAND_CHARS - kept] + url + " is it" * 100
        output = ("line " * 100)[: LINE_CHARS - kept] + url + " line" * 100
        call = [{"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}]
        rows.append(row("assistant", call, f"a{number}"))
        result = [{"type": "tool_result", "tool_use_id": f"t{number}", "content": output}]
        rows.append(row("user", result, f"u{number}"))
    (tmp_path / "s-1.jsonl").write_text("".join(rows))
    with Client(home) as client:
        summary = Importer(client, A).take(named_files(tmp_path / "s-1.jsonl", None))
    assert summary.taken == 5
    for event in logged(home):
        text = written([event])
        assert "S3c" not in text and text.count(" …") == 2 and len(text) < 1_000
        assert text.count("[redacted:") == len(PLACEHOLDER.findall(text))


def test_what_is_offered_for_a_prompt_is_recorded_without_its_secrets(home: Path, project: Path) -> None:
    prompt = "Which port has the staging database? Its password is " + SECRET
    padded = ("Well. " * 1_000)[: PROMPT_CHARS - len(prompt) + 6] + prompt + " in case you need it"
    ready = Ready("")
    with warm(home, ready):
        hook(home, "claude", told(project, "UserPromptSubmit", prompt=padded))
    assert len(ready.asked) <= 1 and all("S3c" not in each and "staging" in each for each in ready.asked)
    scope = scope_of_folder(project, Home(home))
    with Client(home, scope=scope, origin="user") as client:
        client.capture("The staging database listens on port 5433.")
        client.catch_up()
        assert handed_out(client, prompt, offer(client, prompt, lambda results, *_: list(results), 3))
    assert "recalled" in [event.type for event in logged(home, scope)] and SECRET not in written(logged(home, scope))


def test_names_are_cut_after_their_secrets_are_out(home: Path, project: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    name = "n" * 180 + " " + token
    memory = ServedMemory(home, scope=A)
    memory.call("add_memory", {"text": "The tide tables are in tides.csv."}, project, name)
    memory.close()
    hook(home, "claude", told(project, "Stop", last_assistant_message="Done.", session_id=name))
    categories = ["c" * 110 + " " + token]
    note = {"id": "m1", "memory": "Mira likes tea.", "agent_id": name, "run_id": name, "categories": categories}
    (project / "mem0.json").write_text(json.dumps({"results": [note]}))
    with Client(home) as client:
        assert Importer(client, A).take(named_files(project / "mem0.json", None)).taken == 1
    events = [*logged(home), *logged(home, scope_of_folder(project, Home(home)))]
    assert len(events) == 3
    for event in events:
        assert "ghp_" not in f"{event.actor.name} {event.session} {written([event])}"


@given(
    st.lists(st.sampled_from([placeholder("jwt", "01234567"), "a", "[redacted:", "x" * 30, "]"])), st.integers(0, 90)
)
def test_a_cut_never_leaves_a_piece_of_a_placeholder(pieces: list[str], chars: int) -> None:
    text = "".join(pieces)
    spans = [found.span() for found in PLACEHOLDER.finditer(text)]
    head, tail = head_of(text, chars), tail_of(text, chars)
    assert text.startswith(head) and text.endswith(tail) and max(len(head), len(tail)) <= chars
    for place in (len(head), len(text) - len(tail)):
        assert not any(start < place < end for start, end in spans)
