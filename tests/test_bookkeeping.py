"""What Memtape notes for itself: no secrets and nothing that was said, and nothing at all where it only looks."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import forking
from test_hooks import hook, told

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.memory import MemoryLog
from memtape.tools.agents.errors import LOST, latest_errors, note_error
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.client import Client
from memtape.tools.importing.finding import named_files
from memtape.tools.importing.taking import Importer

ROOT = Path(__file__).parent.parent
TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def kept(home: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in sorted(home.iterdir()) if path.suffix != ".db")


def memtape(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "MEMTAPE_HOME": str(home)}
    return subprocess.run([*forking.memtape(), *words], env=environment, capture_output=True, text=True, check=False)


def test_an_error_that_found_no_room_is_told_when_there_is_room(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    project.mkdir()
    Home(home)
    said = told(project, "UserPromptSubmit", prompt="a")
    hook(home, "claude", said, limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    (line,) = latest_errors(home, 10)
    assert LOST in line and not (home / "agents.lost").exists()
    note_error(home, "hook", ValueError())
    assert len(latest_errors(home, 10)) == 2
    (home / "redaction.key").write_bytes(b"no key")
    note_error(home, f"hook {TOKEN}", ValueError())
    assert LOST in latest_errors(home, 10)[2] and TOKEN not in kept(home)
    note_error(tmp_path / "nowhere", "hook", ValueError())
    assert not (tmp_path / "nowhere").exists()


def test_errors_name_no_file_and_no_secret(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    for error in (FileNotFoundError(2, "No such file", f"/x/{TOKEN}"), MemtapeError(f"No {TOKEN}.")):
        note_error(home.path, f"hook {TOKEN}", error)
    assert len(latest_errors(home.path, 10)) == 2 and TOKEN not in kept(home.path)
    assert "No such file" in latest_errors(home.path, 2)[0]


def test_a_folder_keeps_its_scope_and_its_secret(tmp_path: Path) -> None:
    home, folder = Home(tmp_path / "home"), tmp_path / f"tide {TOKEN}"
    folder.mkdir()
    scope = scope_of_folder(folder, home)
    assert scope_of_folder(folder, home) == scope == scope_of_folder(folder, home, pin=False)
    # A scope is written small, and stands in every event.
    assert TOKEN not in kept(home.path) and TOKEN.lower().replace("_", "-") not in scope and "tide" in scope


def test_how_far_a_file_was_read_tells_no_name_and_no_secret(tmp_path: Path) -> None:
    row = {"type": "user", "uuid": "u1", "sessionId": "s-1", "message": {"content": "Hello."}, "cwd": f"/x/{TOKEN}"}
    used = {"type": "tool_use", "id": "t", "name": TOKEN, "input": {}}
    rows = [row, {"type": "assistant", "uuid": "u2", "sessionId": "s-1", "message": {"content": [used]}}]
    (tmp_path / f"{TOKEN}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "plain.jsonl").write_text(json.dumps(row | {"cwd": "/x"}) + "\n")
    with Client(tmp_path / "home", log=MemoryLog()) as client:
        for unchanged in (0, 1):  # What cannot be noted is read again.
            summary = Importer(client, "project:a").take(named_files(tmp_path))
            assert summary.unchanged == unchanged and not summary.problem_count
    assert TOKEN not in kept(tmp_path / "home") and "plain" not in kept(tmp_path / "home")


def test_who_only_looks_writes_nothing(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "notes"
    folder.mkdir()
    (folder / "note.md").write_text(f"The token is {TOKEN}.")
    row = {"type": "user", "uuid": "u1", "sessionId": "s", "message": {"content": TOKEN}, "cwd": str(folder)}
    (folder / "s.jsonl").write_text(json.dumps(row) + "\n")
    done = memtape(home, "import", str(folder), "--dry-run", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["taken"] == 2, done
    assert memtape(home, "agents", "connect", "claude", "--print").returncode == 0
    assert not home.exists()
    assert memtape(home, "import", str(folder), "--scope", "project:a").returncode == 0
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    done = memtape(home, "import", str(folder), "--dry-run", "--json", "--scope", "project:a")
    assert (json.loads(done.stdout)["taken"], json.loads(done.stdout)["known"]) == (0, 2)
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.suffix == ".json"} == {
        path: time for path, time in before.items() if path.suffix == ".json"
    }
