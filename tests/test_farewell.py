"""Uninstalling: what `disconnect` leaves of Memtape in a user's folder, for hosts that can be simulated here.

Hosts are scripts that keep no files. What the real ones write and leave is in `clients.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_connect import ROOT, memtape, said

from memtape.schemas.variables import HOOKS_VARIABLE
from memtape.sinks.home.folders import Home
from memtape.tools.agents.connecting import connect, take_instructions, write_instructions
from memtape.tools.agents.hosts import HOSTS
from memtape.tools.agents.plugins import instructions, server_forms
from memtape.tools.capture.project import git, scope_of_folder

__all__ = ["said"]


@pytest.fixture
def user(said: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a user who has every host, some settings, and a repository without an origin."""
    folder = tmp_path / "user"
    folder.mkdir()
    for name in list(os.environ):
        if name.startswith("XDG_") or name.endswith(("_HOME", "_CONFIG_DIR")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    (folder / ".config" / "opencode").mkdir(parents=True)
    (folder / ".config" / "opencode" / "opencode.jsonc").write_text('{\n  // Mine.\n  "model": "a/b",\n}\n')
    (folder / ".claude").mkdir()
    (folder / ".claude" / "settings.json").write_text('{"model": "opus"}')
    (folder / "project").mkdir()
    subprocess.run(["git", "init", "-q", str(folder / "project")], check=True)
    return folder


def tree(folder: Path, apart: Path) -> dict[str, bytes | None]:
    """Return every file and folder of a user apart from the data folder, with what is in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if path != apart and apart not in path.parents and path not in apart.parents
    }


def test_all_that_was_connected_goes_and_what_was_captured_stays(user: Path) -> None:
    home = user / ".local" / "share" / "memtape"
    before, project = tree(user, home), user / "project"
    for host in HOSTS:
        connect(Home(home), host)
        connect(Home(home), host)
    told = json.loads(memtape(home, "agents", "disconnect", "opencode", "--json").stdout)
    assert told["hosts"][0]["host"] == "opencode" and told["data"] == str(home)
    assert memtape(home, "capture", "Staging listens on port 5433.", cwd=project).returncode == 0
    memtape(home, "agents", "connect", "mcp", "--instructions", "AGENTS.md", cwd=project)
    scope = git(project, "config", "--get", "memtape.scope")
    assert scope and tree(user, home) != before
    done = memtape(home, "agents", "disconnect", "--all")
    assert done.returncode == 0, done.stderr
    assert tree(user, home) == before
    assert f"rm -r {home}" in done.stdout and (home / "log.db").exists() and not (home / "plugins").exists()
    again = memtape(home, "agents", "disconnect", "--all")
    assert again.returncode == 0 and "Taken away" not in again.stdout
    assert scope_of_folder(project, Home(home)) == scope  # Used there again, it is the same project.


def test_a_file_of_somebody_else_is_neither_replaced_nor_deleted(user: Path) -> None:
    home, theirs = Home(user / "data"), user / ".config" / "opencode" / "plugins" / "memtape.js"
    theirs.parent.mkdir()
    theirs.write_text("export const Mine = async () => ({})\n")
    words = ("agents", "connect", "opencode", "--instructions", str(user / "AGENTS.md"))
    done = memtape(home.path, *words)  # A host that cannot be connected leaves no block either.
    assert done.returncode == 1 and "is not of Memtape" in done.stderr and not (user / "AGENTS.md").exists()
    assert memtape(home.path, "agents", "disconnect", "opencode").returncode == 0 and theirs.exists()


@pytest.mark.parametrize("before", [None, b"# Mine\n", b"# Mine, without an end", b"# Mine\r\n\r\nDo.\r\n"])
def test_a_block_of_instructions_goes_to_the_byte_unless_it_was_edited(before: bytes | None, user: Path) -> None:
    home, path = Home(user / "data"), user / "AGENTS.md"
    if before is not None:
        path.write_bytes(before)
    assert write_instructions(home, path) and not write_instructions(home, path)
    assert path.read_text().count(instructions()) == 1
    take_instructions(home)
    assert (path.read_bytes() if path.exists() else None) == before
    write_instructions(home, path)
    edited = path.read_text().replace("No secrets.", "No names.")
    path.write_text(edited)
    assert "edited" in take_instructions(home).left[0] and path.read_text() == edited


def test_any_other_host_is_told_where_this_installation_is(user: Path) -> None:
    done = memtape(user / "data", "agents", "connect", "mcp", "--print", "--json")
    told = json.loads(done.stdout)
    server = json.loads(told["json"])["mcpServers"]["memtape"]
    assert server["args"][-2:] == ["--home", str(user / "data")] and Path(server["command"]).is_absolute()
    assert not (user / "data").exists()
    words = server_forms(["/a b/memtape"], '/it\'s "x"')
    assert json.loads(words["toml"].partition("args = ")[2]) == ["agents", "mcp", "--home", '/it\'s "x"']


def test_a_server_of_hooks_is_stopped(user: Path) -> None:
    # A socket's path may have a hundred bytes.
    home = Home(Path("/tmp") / f"memtape-{os.getpid()}")
    try:
        connect(home, "opencode")
        told = json.dumps({"hook_event_name": "SessionEnd", "cwd": str(user)}).encode()
        words = [sys.executable, "-m", "memtape", "agents", "hook", "--host=claude", "--stay"]
        words.append(f"--home={home.path}")
        environment = {name: value for name, value in os.environ.items() if name != HOOKS_VARIABLE}
        serving = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, env=environment)
        assert serving.stdin is not None
        serving.stdin.write(told)
        serving.stdin.close()
        deadline = time.monotonic() + 30
        while not list(home.path.glob("serving/*.sock")) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "was stopped" in memtape(home.path, "agents", "disconnect", "--all").stdout
        assert serving.wait(10) == 0 and home.lock("hook-server").holder() is None
    finally:
        subprocess.run(["rm", "-r", str(home.path)], check=False)
