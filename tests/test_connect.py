"""Connecting hosts, and the doctor. The real hosts are in `clients.py`; here scripts note how they are called."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.sinks.home import Home
from recollect.tools.connecting import CONNECTABLE, connect, disconnect, plugin_folder
from recollect.tools.hook_hosts import HOSTS_OF_HOOKS
from recollect.tools.plugins import MARKETPLACE, plugin_files

ROOT = Path(__file__).parent.parent


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put programs of the hosts' names on the PATH, and return the file in which they note how they are called."""
    folder, noted = tmp_path / "bin", tmp_path / "noted"
    folder.mkdir()
    noted.touch()
    for host in CONNECTABLE.values():
        script = folder / host.program
        script.write_text(
            f'#!/bin/sh\necho "{host.program} $*" >> {shlex.quote(str(noted))}\n'
            'case "$*" in *"$FAIL_AT"*) [ -z "$FAIL_AT" ] || { echo "no such thing" >&2; exit 3; };; esac\n'
        )
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.delenv("FAIL_AT", raising=False)
    return noted


def recollect(home: Path, *words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "RECOLLECT_HOME": str(home)}
    if path is not None:
        environment["PATH"] = path
    return subprocess.run(
        [sys.executable, "-m", "recollect", *words], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("host", CONNECTABLE)
def test_a_host_installs_what_was_written_and_gives_it_back(host: str, said: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "a home")
    for times in (1, 2):
        connect(home, host)
        folder = plugin_folder(home, host)
        calls = said.read_text().splitlines()
        assert sum(str(folder) in call for call in calls) == times
        assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == set(
            plugin_files(host, ["x"], "y")
        )
    disconnect(home, host)
    assert not folder.exists()
    removal = [f"{CONNECTABLE[host].program} {' '.join(words)}" for words in CONNECTABLE[host].remove]
    assert said.read_text().splitlines()[-len(removal) :] == removal


def test_a_host_that_refuses_or_is_not_there_is_named(
    said: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIL_AT", "install")
    done = recollect(tmp_path / "home", "connect", "claude")
    assert done.returncode == 1 and "no such thing" in done.stderr and "Traceback" not in done.stderr
    done = recollect(tmp_path / "home", "connect", "codex", path="/nowhere")
    assert done.returncode == 1 and "not on the PATH" in done.stderr and "--print" in done.stderr


@pytest.mark.parametrize("host", CONNECTABLE)
def test_print_says_all_and_does_nothing(host: str, said: Path, tmp_path: Path) -> None:
    printed = json.loads(recollect(tmp_path / "home", "connect", host, "--print", "--json").stdout)
    assert not said.read_text() and not (tmp_path / "home" / "plugins").exists()
    assert all(command.startswith(CONNECTABLE[host].program) for command in printed["commands"])
    words = recollect(tmp_path / "home", "connect", host, "--print").stdout
    assert all(command in words for command in printed["commands"]) and "hooks.json" in words


@pytest.mark.parametrize("host", HOSTS_OF_HOOKS)
def test_a_plugin_names_every_event_that_its_hook_knows_and_starts_us_in_full(host: str) -> None:
    home = "/a home/of 'mine'"
    files = plugin_files(host, ["/opt/a b/recollect"], home)
    under = "" if host == "gemini" else "recollect/"
    hooks = json.loads(files[f"{under}hooks/hooks.json"])["hooks"]
    assert set(hooks) == set(HOSTS_OF_HOOKS[host].actions)
    for groups in hooks.values():
        (called,) = groups[0]["hooks"]
        words = shlex.split(called["command"])
        assert words == ["/opt/a b/recollect", "hook", "--host", host, "--home", home]
        assert called["timeout"] >= (1_000 if host == "gemini" else 1)
    told = json.loads(files["gemini-extension.json" if host == "gemini" else "recollect/.mcp.json"])
    assert told["mcpServers"]["recollect"]["args"] == ["mcp", "--home", home]
    if host != "gemini":
        market = json.loads(files[".claude-plugin/marketplace.json"])
        assert market["name"] == MARKETPLACE and market["plugins"][0]["source"] == "./recollect"


@pytest.mark.slow
def test_the_doctor_looks_at_everything_and_says_what_to_do(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = recollect(home, "doctor", "--json", path="/usr/bin:/bin")
    findings = {finding["subject"]: finding for finding in json.loads(done.stdout)["findings"]}
    assert done.returncode == 0, findings
    assert findings["capture and search"]["state"] == findings["MCP server"]["state"] == "good"
    assert findings["Codex"]["state"] == "not there"
    (home / "log.db").write_bytes(b"no database" * 1_000)
    done = recollect(home, "doctor", path="/usr/bin:/bin")
    assert done.returncode == 1 and "bad        capture and search" in done.stdout and "Traceback" not in done.stderr
