"""No file of a foreign project is run, no special file waited for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from met import events_of
from test_warm import until

from memtape.schemas.events import Event
from memtape.sinks.home.folders import Home
from memtape.tools.agents import hooks
from memtape.tools.agents.connecting import own_command
from memtape.tools.agents.errors import latest_errors
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.client import Client
from memtape.tools.importing import reading
from memtape.tools.keep.starting import python_of

ROOT = Path(__file__).resolve().parent.parent
# Without the empty entry that stands for the working directory.
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}


@pytest.fixture(autouse=True)
def connected(home: Path) -> None:
    """Make the home, as `memtape agents connect` has before any host calls a hook."""
    Home(home)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder whose modules have the names of ours and of libraries, and leave a mark when they are run."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("memtape", "click", "orjson", "msgspec", "runpy", "json"):
        said = f"open({str(folder / 'ran')!r}, 'a').write({name!r})\nraise SystemExit(3)\n"
        (folder / f"{name}.py").write_text(said)
    return folder


def ran(folder: Path, *words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(list(words), cwd=folder, input=data, env=ENVIRONMENT, capture_output=True)


def test_what_is_started_in_a_foreign_folder_runs_nothing_of_it(hostile: Path) -> None:
    for command in (python_of(), own_command()):
        done = ran(hostile, *command, "--version")
        assert done.returncode == 0 and b"memtape" in done.stdout, done
    done = ran(hostile, *python_of("memtape.tools.keep.projector"))
    assert done.returncode != 3 and not (hostile / "ran").exists(), done


def test_the_end_of_a_session_runs_nothing_of_its_folder(hostile: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    row = {"type": "user", "uuid": "u1", "sessionId": "s-1", "cwd": str(hostile)}
    row |= {"message": {"content": "Missed."}}
    (hostile / "s-1.jsonl").write_text(json.dumps(row) + "\n")
    # The folder and the transcript are told as seen from there.
    told = {"hook_event_name": "SessionEnd", "session_id": "s-1", "cwd": ".", "transcript_path": "s-1.jsonl"}
    hook = [*python_of(), "agents", "hook", "--host", "claude", "--home", str(home)]
    assert ran(hostile, *hook, data=json.dumps(told).encode()).returncode == 0

    def taken() -> list[Event]:
        with Client(home, scope=scope_of_folder(hostile, Home(home))) as client:
            return [event for event in events_of(client.log) if event.scope == client.scope]

    until(lambda: [event.type for event in taken()] == ["captured"])
    assert not (hostile / "ran").exists()


@pytest.mark.parametrize("event", ["PreCompact", "SessionEnd"])
def test_a_pipe_in_the_place_of_a_transcript_is_not_waited_for(event: str, tmp_path: Path) -> None:
    pipe, home = tmp_path / "s-1.jsonl", tmp_path / "home"
    os.mkfifo(pipe)
    told = {"hook_event_name": event, "session_id": "s-1", "cwd": str(tmp_path), "transcript_path": str(pipe)}
    hook = [*python_of(), "agents", "hook", "--host", "claude", "--home", str(home), "--alone"]
    done = subprocess.run(hook, input=json.dumps(told).encode(), env=ENVIRONMENT, timeout=60, check=False)
    assert done.returncode == 0 and len(latest_errors(home, 10)) == 1
    with pytest.raises(OSError, match="no file"):
        reading.opened(pipe)


def test_a_long_prompt_is_left_to_another_process_at_once_which_keeps_its_ends(tmp_path: Path) -> None:
    home = tmp_path / "home"
    prompt = "A line of the tide tables. " * 40_000
    told = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(tmp_path), "prompt": prompt}
    assert hooks.run("claude", home, json.dumps(told).encode()) == b""
    scope = scope_of_folder(tmp_path, Home(home))

    def kept() -> list[str]:
        with Client(home, scope=scope) as client:
            return [result.text for result in client.recent(3, kinds=("turn",)).results]

    until(kept)
    (text,) = kept()
    assert text.startswith("A line of the tide tables. ") and "more characters, blake2b " in text
