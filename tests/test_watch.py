"""The commands import and watch: when a growing session is indexed, and what a user sees of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import transcripts as t
from commanding import call, document

from memtape.sinks.logs.embedded import MemoryLog
from memtape.tools.capture.native_ids import CLAUDE_CODE, CODEX, GEMINI
from memtape.tools.client import Client
from memtape.tools.importing.taking import Importer
from memtape.tools.importing.transcripts import find_turn
from memtape.tools.importing.watching import ENDED_S, QUIET_S, Indexed, Watcher

ROOT = Path(__file__).parent.parent
SCOPE = "project:test"
EXPECTED = len(t.CLAUDE_SAID) + len(t.CODEX_SAID) + len(t.GEMINI_SAID)


def prompt(number: int, words: str = "") -> dict[str, Any]:
    """Return a row of Claude Code with a prompt of its own."""
    return {
        "type": "user", "uuid": f"n{number}", "sessionId": "s", "timestamp": t.at(number % 3_000),
        "cwd": "/x", "message": {"role": "user", "content": f"Prompt number {number}. {words}"},
    }  # fmt: skip


def write(path: Path, rows: list[Any], mode: str = "wb") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode) as file:
        file.write(t.lines(rows))
    return path


class Watched:
    """A watcher under a clock that the test moves, over one folder of Claude Code."""

    def __init__(self, folder: Path) -> None:
        self.now = 0.0
        self.client = Client(folder / "home", scope=SCOPE, log=MemoryLog(2))
        self.path = folder / "claude" / "-x" / "s.jsonl"
        self.indexed: list[Indexed | str] = []
        folders = {CLAUDE_CODE: [folder / "claude"]}
        self.watcher = Watcher(self.client, SCOPE, folders, self.indexed.append, lambda: self.now)

    def grow(self, rows: list[Any]) -> list[int]:
        """Let the session grow and fall quiet, and return how many records each indexing took."""
        write(self.path, rows, "ab")
        self.watcher.changed([self.path, self.path.with_name("notes.txt")])
        self.now += QUIET_S - 0.1
        assert self.look() == []  # Before it has been quiet.
        self.now += 0.1
        return self.look()

    def look(self) -> list[int]:
        seen = len(self.indexed)
        self.watcher.index_due()
        return [indexed.taken for indexed in self.indexed[seen:] if isinstance(indexed, Indexed)]


def test_growth_accumulates_until_it_is_enough(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    assert watched.grow([prompt(number) for number in range(49)]) == []
    assert watched.grow([prompt(49)]) == [50]
    assert watched.grow([prompt(number) for number in range(50, 80)]) == []
    assert watched.grow([prompt(number) for number in range(80, 100)]) == [50]
    assert watched.grow([prompt(100, "x" * 99_000)]) == []
    assert watched.grow([prompt(101, "x" * 1_000)]) == [2]
    # Rows that say nothing count as bytes alone.
    assert watched.grow([{"type": "mode", "sessionId": "s"}] * 60) == []
    assert watched.grow([prompt(102)]) == []
    watched.now += ENDED_S
    assert watched.look() == [1]
    assert watched.look() == []


def test_a_session_that_is_denied_shrank_or_went_is_no_trouble(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.client.home.settings_path.write_text('denied_paths = ["-x/*"]')
    assert watched.grow([prompt(number) for number in range(60)]) == [0]
    watched.path = watched.path.parent.with_name("-y") / "s.jsonl"
    assert watched.grow([prompt(number) for number in range(60)]) == [60]
    watched.path.write_bytes(t.lines([prompt(number) for number in range(200, 250)]))
    assert watched.grow([prompt(250)]) == [51]
    watched.watcher.changed([watched.path])
    watched.path.unlink()
    watched.now += QUIET_S
    assert watched.look() == []
    assert watched.grow([prompt(number) for number in range(300, 350)]) == [50]


def test_it_watches_the_disk_and_indexes_the_rest_when_it_is_stopped(tmp_path: Path) -> None:
    folder = tmp_path / "claude" / "-x"
    write(folder / "before.jsonl", [prompt(1)])
    first, second = threading.Event(), threading.Event()

    def told(indexed: Indexed | str) -> None:
        path = indexed.path if isinstance(indexed, Indexed) else None
        (first if path and path.stem == "before" else second).set()

    with Client(tmp_path / "home", scope=SCOPE, log=MemoryLog(2)) as client:
        watcher = Watcher(client, SCOPE, {CLAUDE_CODE: [tmp_path / "claude"]}, told)
        thread = threading.Thread(target=watcher.run)
        thread.start()
        try:
            assert first.wait(30)
            # What falls between the first look and the watching is found at the end; this goes on until then.
            for number in range(1_000):
                write(folder / f"new{number}.jsonl", [prompt(1_000 + 60 * number + k) for k in range(60)])
                if second.wait(1):
                    break
            assert second.is_set()
            write(folder / "last.jsonl", [prompt(2)])
        finally:
            watcher.stop.set()
            thread.join(30)
        assert not thread.is_alive()
        Watcher(client, SCOPE, {CLAUDE_CODE: [tmp_path / "claude"]}).index(watcher.sources(), always=True)
        client.home.imports_path.unlink()
        summary = Importer(client, SCOPE).take(watcher.sources())
        assert summary.taken == 0
        assert summary.known >= 62


@pytest.mark.parametrize(
    ("host", "rows", "role", "text", "native"),
    [
        (CLAUDE_CODE, t.claude("/x"), "assistant", "Staging uses  5433.", "a6"),
        (CODEX, t.codex("/x"), "assistant", "In /var/log/app.", f"{t.SESSION}:12"),
        (CODEX, t.codex("/x"), "user", "Where are the logs?", f"{t.SESSION}:4"),
        (GEMINI, t.gemini(), "user", "And the map?", f"{t.SESSION}:i6"),
        (CLAUDE_CODE, t.claude("/x"), "user", "never said", None),
    ],
)
def test_a_hook_finds_a_turn(host: str, rows: Any, role: Any, text: str, native: Any, tmp_path: Path) -> None:
    filler = [{"type": "unknown", "x": "y" * 1_000}] * 1_000
    for more in ([], filler):
        path = write(tmp_path / "s.jsonl", [rows[0], *more, *rows[1:]])
        found = find_turn(path, host, t.SESSION, role, text)
        there = found[0] or found[1]
        assert (there.native_id if there else None) == native
    assert find_turn(tmp_path / "none", host, t.SESSION, role, text) == (None, None)


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folders of three hosts and a home of their own, in the current folder."""
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "gemini"))
    monkeypatch.setenv("USER", "ada")
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "claude/projects/-x/s.jsonl", t.claude("/x"))
    write(tmp_path / f"codex/sessions/2026/01/02/rollout-2026-{t.SESSION}.jsonl", t.codex("/x"))
    write(tmp_path / "gemini/.gemini/tmp/x/chats/session-1.jsonl", t.gemini())
    (tmp_path / "gemini/.gemini/tmp/x/.project_root").write_text("/x\n")
    yield tmp_path


def test_what_hosts_have_kept_is_taken_once_and_the_rest_is_named(hosts: Path) -> None:
    dry = document("import", "--all", "--dry-run")
    assert (dry["taken"], dry["dry_run"], list(dry["scopes"])) == (EXPECTED, True, ["project:x (new)"])
    with Client(hosts / "home", scope=SCOPE) as client:
        assert sum(client.log.ends()) == client.log.partitions
    assert not (hosts / "home/imports.json").exists()
    assert not (hosts / "home/folders.json").exists()
    shown = call("import", "--all").output
    assert f"Took {EXPECTED}; 0 there already; 3 files read." in shown and "skipped: " in shown
    again = document("import", "--all")
    assert (again["taken"], again["unchanged"]) == (0, 3)
    [scope] = json.loads((hosts / "home/folders.json").read_text()).values()
    found = document("search", "staging 5433", "--scope", scope)
    assert any("5433" in result["text"] for result in found["results"])
    good = hosts / "claude/projects/-x/s.jsonl"
    bad = write(hosts / "ba\x1bd.jsonl", [b"junk"])
    result = call("import", good, bad, hosts / "none", "--scope", SCOPE)
    assert "ba<U+001B>d.jsonl, byte 0: not JSON" in result.stderr
    assert "none: there is no such file" in result.stderr
    assert "\x1b" not in result.output
    (hosts / "empty").mkdir()
    for path, code in ((bad, 1), (hosts / "none", 1), (hosts / "empty", 0)):
        assert document("import", path, scope=SCOPE, code=code)["files"] == 0


def test_notes_formats_and_what_cannot_be_imported(hosts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTAPE_SESSION", "of the shell")
    (hosts / "note.md").write_text("Tides are late.")
    assert document("import", hosts / "note.md", "--scope", SCOPE)["taken"] == 1
    [entry] = document("log", "--scope", SCOPE, "--type", "captured")["events"]
    assert entry["event"]["session"] is None
    (hosts / "c.json").write_text(json.dumps([*t.chatgpt(), *t.claude_ai()]))
    said = document("import", hosts / "c.json", "--scope", SCOPE)
    assert said["taken"] == len(t.CHATGPT_SAID) + len(t.CLAUDE_AI_SAID)
    for words in ([], ["--all", "x"]):
        call("import", *words, code=2)
    assert "Name a project" in call("import", "--all", "--scope", "global", code=1).stderr
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.setenv(name, str(hosts / "nowhere"))
    assert "No host has kept a session here yet." in call("import", "--watch", code=None).stderr


@pytest.mark.slow
def test_watch_takes_what_there_is_and_ends_in_peace(hosts: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "memtape", "import", "--watch", "--json"],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    seen = [json.loads(process.stdout.readline()) for _ in range(3)]
    assert sum(entry["taken"] for entry in seen) == EXPECTED
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
