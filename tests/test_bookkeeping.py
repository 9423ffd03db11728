"""What Memtape notes and tells of its work: no secrets, nothing that was said, nothing where it looks."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, get_args

import forking
import pytest
from test_mcp import environment

from memtape.schemas.errors import MemtapeError
from memtape.schemas.metrics import told_of_progress
from memtape.schemas.times import DAY_US
from memtape.sinks.home.counts import HomeCounts
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import MemoryLog
from memtape.tools.agents.errors import latest_errors, note_error
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.client import Client
from memtape.tools.importing.finding import named_files
from memtape.tools.importing.taking import Importer
from memtape.tools.keep.operations import Operation
from memtape.tools.keep.owner import Owner

ROOT = Path(__file__).parent.parent
TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def kept(home: Path) -> str:
    paths = (path for path in sorted(home.iterdir()) if path.suffix != ".db")
    return "".join(path.read_text(errors="replace") for path in paths)


def memtape(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*forking.memtape(), *words]
    return subprocess.run(command, env=environment(home), capture_output=True, text=True, check=False)


def test_no_error_names_a_file_or_a_secret(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").path
    for error in (FileNotFoundError(2, "No such file", f"/x/{TOKEN}"), MemtapeError(f"No {TOKEN}.")):
        note_error(home, f"hook {TOKEN}", error)
    assert "No such file" in latest_errors(home, 10)[0] and TOKEN not in kept(home)
    (home / "redaction.key").write_bytes(b"no key")
    note_error(home, f"hook {TOKEN}", ValueError())
    assert len(latest_errors(home, 10)) == 2 and TOKEN not in kept(home)
    note_error(tmp_path / "nowhere", "hook", ValueError())
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_keeps_its_scope_and_its_secret(tmp_path: Path) -> None:
    home, folder = Home(tmp_path / "home"), tmp_path / f"tide {TOKEN}"
    folder.mkdir()
    scope = scope_of_folder(folder, home)
    assert scope_of_folder(folder, home) == scope == scope_of_folder(folder, home, pin=False)
    # A scope is written small, and stands in every event.
    assert TOKEN not in kept(home.path) and TOKEN.lower().replace("_", "-") not in scope and "tide" in scope


def test_how_far_a_file_was_read_tells_no_name_and_no_secret(tmp_path: Path) -> None:
    met = {"type": "session_meta", "payload": {"id": "s-1", "cwd": f"/x/{TOKEN}"}}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]}
    rows = [met, {"type": "response_item", "ordinal": 1, "payload": said}]
    (tmp_path / f"{TOKEN}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    row = {"type": "user", "uuid": "u1", "sessionId": "s-1", "message": {"content": "Hello."}, "cwd": "/x"}
    (tmp_path / "plain.jsonl").write_text(json.dumps(row) + "\n")
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
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*.json")}
    done = memtape(home, "import", str(folder), "--dry-run", "--json", "--scope", "project:a")
    assert (json.loads(done.stdout)["taken"], json.loads(done.stdout)["known"]) == (0, 2)
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*.json")} == before


SAID = "The xylophone of Brunhilde is tuned to elfzig Hz."
ASKED, SCOPE = "glockenspiel quagmire", "project:zwieback"
SECRETS = ("xylophone", "Brunhilde", "elfzig", "glockenspiel", "quagmire", "zwieback")
ENV = {**os.environ, "PYTHONPATH": str(ROOT), "MEMTAPE_EMBEDDER": "floor"}


def run(*words: str, until: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, or interrupt it once it has printed all of some words."""
    command, pipe = [sys.executable, "-m", "memtape", *words], subprocess.PIPE
    process = subprocess.Popen(command, env=ENV, text=True, stdout=pipe, stderr=pipe)
    assert process.stdout is not None
    first = ""
    while not all(word in first for word in until):
        line = process.stdout.readline()
        assert line, (first, process.communicate())
        first += line
    if until:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(words, process.returncode, first + out, err)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with Client(tmp_path / "home", scope=SCOPE, origin="user", session="s") as client:
        client.capture(SAID)
        client.capture("Deployments happen on Tuesdays at noon.")
        found = client.search("xylophone tuned")
        client.use([found.results[0].id], found.recall_id)
        client.search(ASKED)
    return tmp_path / "home"


@pytest.mark.parametrize("level", ["debug", "warning"])
def test_a_log_is_lines_of_json_from_a_level_on_without_a_text(home: Path, level: str) -> None:
    with Client(home, scope=SCOPE, origin="user") as client:
        client.capture("A further fact of Brunhilde.")
    done = run("run", "--once", "--home", str(home), "--log-format", "json", "--log-level", level)
    assert done.returncode == 0, done.stderr
    lines: list[dict[str, Any]] = [json.loads(line) for line in done.stderr.splitlines()]
    events = {line["event"] for line in lines}
    least = getattr(logging, level.upper())
    assert all(getattr(logging, line["level"].upper()) >= least for line in lines)
    assert all((name in events) == (level == "debug") for name in ("started", "epoch", "stopped", "folded"))
    assert all({"at", "level", "event"} <= line.keys() for line in lines) and events <= {*get_args(Operation)}
    assert not any(word in done.stderr for word in SECRETS)


def test_a_worker_that_fails_is_told_by_its_error(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Leaky(Exception):
        pass

    def leaks() -> None:
        raise Leaky(SAID)

    with Client(home, scope=SCOPE) as client, Owner(client.home, client.log) as owner:
        worker = owner._beside["extract"]
        worker.catch_up = leaks  # type: ignore[method-assign]
        worker.once()
    (record,) = [record for record in caplog.records if record.message == "worker_failed"]
    assert record.__dict__["facts"] == {"error": "Leaky", "worker": "extract"} and record.levelname == "ERROR"
    assert HomeCounts(home).sums("error", "worker").total == 1


def test_tail_has_no_text_unless_asked_and_no_text_acts_on_the_terminal(home: Path) -> None:
    with Client(home, scope="project:b", origin="user") as client:
        client.capture("\x1b[31mred\x1b[0m of Brunhilde")
    words = ("admin", "tail", "--home", str(home), "--since", "1h")
    plain = run(*words, until=("project:b  ", "used"))
    assert plain.returncode == 0 and plain.stdout.count("captured fact") == 3 and "recalled" in plain.stdout
    assert "ticked" not in plain.stdout and "Tuesdays" not in plain.stdout
    assert not any(word in plain.stdout for word in SECRETS if word != "zwieback")
    for more in ((), ("--json",)):
        full = run(*words, "--texts", *more, until=(SAID, "[31mred"))
        assert SAID in full.stdout and "\x1b" not in full.stdout and "[31mred" in full.stdout
    alone = run(*words, "--scope", "project:b", until=("captured",))
    assert "project:b" in alone.stdout and "zwieback" not in alone.stdout


def test_stats_count_what_the_log_has(home: Path) -> None:
    with Client(home, scope=SCOPE, origin="user") as client:
        client.capture(SAID)  # The same again: it folds.
        client.capture("hello there", kind="turn")
        client.project()
        steps: list[tuple[int, int]] = []
        since = time.time_ns() // 1_000 - 2 * DAY_US
        with told_of_progress(lambda phase, done, total: steps.append((done, total))):
            found = client.stats(since)
        assert steps[-1][0] == steps[-1][1] and steps == sorted(steps)
        assert client.stats(0, "project:elsewhere").days[-1].long_term == 0
    day = found.days[-1]
    assert (day.long_term, day.folded, day.turns, day.searches, day.empty, day.used) == (3, 1, 1, 2, 1, 1)
    assert len(found.days) == 3 and all(its.long_term == 0 for its in found.days[:-1])
