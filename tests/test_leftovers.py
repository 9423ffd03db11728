"""What `disconnect` takes out of the files of hosts that are simulated here, and what it leaves to others.

What the real hosts write and leave is in `clients.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tables import table
from test_connect import ROOT, memtape
from test_connect import said as said  # A fixture.

from memtape.schemas.variables import HOOKS_VARIABLE
from memtape.sinks.home.folders import Home
from memtape.tools.agents.connecting import LINK, connect, dangling_link, take_away
from memtape.tools.agents.hosts import HOSTS
from memtape.tools.agents.plugins import MARKETPLACE, SELECTOR, server_forms
from memtape.tools.capture.project import git, scope_of_folder


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the hosts a folder of their own, as where nobody has moved theirs."""
    for host in HOSTS.values():
        monkeypatch.delenv(host.place[0], raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for host in HOSTS.values():
        host.folder.mkdir(parents=True)
    return tmp_path / "user"


def written(settings: object) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


OURS = {"SELECTOR": SELECTOR, "MARKETPLACE": MARKETPLACE}


def cases(name: str) -> list[Any]:
    """Return cases of `data/leftovers.toml`, in which our names stand for their placeholders."""
    text = json.dumps(table("leftovers")[name])
    for placeholder, own in OURS.items():
        text = text.replace(placeholder, own)
    return [[*case, None][:2] for case in json.loads(text)]


@pytest.mark.parametrize(("after", "expected"), cases("settings"))
@pytest.mark.parametrize("host", ["claude", "copilot"])
def test_what_is_ours_or_empty_leaves_settings(host: str, after: object, expected: Any, home: Path) -> None:
    path = HOSTS[host].folder / "settings.json"
    path.write_text(written(after))
    path.chmod(0o640)
    found = take_away(Home(home), host)
    assert (json.loads(path.read_text()) if path.exists() else None) == expected
    assert not path.exists() or path.stat().st_mode & 0o777 == 0o640
    assert bool(found.taken) == (expected != after) and not found.left
    assert not take_away(Home(home), host).taken


ON_ONE_LINE = json.dumps({"enabledPlugins": {SELECTOR: False}})


@pytest.mark.parametrize("text", [ON_ONE_LINE, "{\n    // mine\n}", "[]", ""])
def test_settings_in_a_form_of_somebodys_own_stay_to_the_byte(text: str, home: Path) -> None:
    path = HOSTS["claude"].folder / "settings.json"
    path.write_text(text)
    found = take_away(Home(home), "claude")
    assert path.read_text() == text and any(SELECTOR in it for it in found.left) == (SELECTOR in text)


def test_settings_that_are_a_link_stay_one(user: Path, home: Path) -> None:
    real, path = user / "dotfiles.json", HOSTS["claude"].folder / "settings.json"
    real.write_text(written({"model": "opus"} | cases("settings")[0][0]))
    path.symlink_to(real)
    take_away(Home(home), "claude")
    assert path.is_symlink() and real.read_text() == written({"model": "opus"})


@pytest.mark.parametrize(("text", "expected"), cases("trust"))
def test_trust_in_our_hooks_is_taken_and_nobody_elses(text: str, expected: str | None, home: Path) -> None:
    path = HOSTS["codex"].folder / "config.toml"
    path.write_text(text)
    found = take_away(Home(home), "codex")
    left = path.read_text().strip() if path.exists() else None
    assert left == (expected.strip() if expected is not None else None)
    assert bool(found.taken) == (expected != text)


def test_a_link_to_a_home_that_is_gone_is_known_and_nothing_else_is_one(home: Path) -> None:
    folder = HOSTS["gemini"].folder / "extensions" / "memtape"
    folder.mkdir(parents=True)
    link, more = folder / LINK, folder / "notes.md"
    link.write_text(json.dumps({"source": str(home), "type": "git"}))
    assert dangling_link(HOSTS["gemini"]) is None
    link.write_text(json.dumps({"source": str(home), "type": "link"}))
    assert dangling_link(HOSTS["claude"]) is None and dangling_link(HOSTS["gemini"]) == folder
    more.write_text("Mine.")
    assert dangling_link(HOSTS["gemini"]) is None
    more.unlink()
    home.mkdir()
    assert dangling_link(HOSTS["gemini"]) is None


@pytest.mark.parametrize("indent", [2, 4])
def test_gemini_forgets_our_folder_and_our_extension(home: Path, indent: int) -> None:
    """A file that nobody has given a form of their own loses our key; of any other the key is named."""
    trusted = HOSTS["gemini"].folder / "trustedFolders.json"
    enabled = HOSTS["gemini"].folder / "extensions" / "extension-enablement.json"
    enabled.parent.mkdir()
    held = {trusted: {"/work": "TRUST_FOLDER"}, enabled: {"other": {"overrides": ["/*"]}}}
    own = {trusted: str(home / "plugins" / "gemini"), enabled: "memtape"}
    for path, others in held.items():
        path.write_text(json.dumps(others | {own[path]: "TRUST_FOLDER"}, indent=indent))
    found = take_away(Home(home), "gemini")
    for path, others in held.items():
        assert (json.loads(path.read_text()) == others) is (indent == 2)
        assert [path.name in said for said in (found.taken if indent == 2 else found.left)].count(True) == 1
    assert not take_away(Home(home), "gemini").taken


def test_what_hosts_keep_of_our_server_goes_and_of_no_other(user: Path, home: Path) -> None:
    cache, data = user / ".cache", user / ".copilot" / "plugin-data"
    logs, others = cache / "claude-cli-nodejs" / "-a", cache / "claude-cli-nodejs" / "-b"
    tools = cache / "copilot" / "mcp-tools"
    kept = [others / "mcp-logs-mine" / "a.jsonl", tools / "other.json", data / "mine" / "a"]
    ours = "mcp-logs-plugin-memtape-memtape"
    gone = [logs / ours / "a.jsonl", tools / "ours.json", data / "memtape-local" / "a"]
    for path in (*kept, *gone, others / ours / "b.jsonl"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"serverName": "memtape" if path.name == "ours.json" else "mine"}))
    taken = [line for host in ("claude", "copilot") for line in take_away(Home(home), host).taken]
    assert sorted(path for top in (cache, data) for path in top.rglob("*") if path.is_file()) == sorted(kept)
    assert not logs.exists() and len(taken) == 3


def test_folders_that_a_host_made_for_us_go_where_they_are_empty(home: Path) -> None:
    codex = HOSTS["codex"].folder
    (codex / "plugins" / "cache" / MARKETPLACE / "memtape").mkdir(parents=True)
    (codex / "config.toml").touch()
    (codex / ".tmp" / "mine").mkdir(parents=True)
    take_away(Home(home), "codex")
    assert [path.name for path in codex.iterdir()] == [".tmp"]


# --- All that `disconnect` takes away ---


@pytest.fixture
def person(said: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a user who has every host, some settings, and a repository without an origin."""
    folder = tmp_path / "person"
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
    """Return every file and folder of a person apart from the data folder, with what is in it."""
    paths = [path for path in sorted(folder.rglob("*")) if path not in (apart, *apart.parents)]
    paths = [path for path in paths if apart not in path.parents]
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


def test_all_that_was_connected_goes_and_what_was_captured_stays(person: Path) -> None:
    home = person / ".local" / "share" / "memtape"
    before, project = tree(person, home), person / "project"
    for host in HOSTS:
        connect(Home(home), host)
        connect(Home(home), host)
    told = json.loads(memtape(home, "agents", "disconnect", "opencode", "--json").stdout)
    assert told["hosts"][0]["host"] == "opencode" and told["data"] == str(home)
    assert memtape(home, "capture", "Staging listens on port 5433.", cwd=project).returncode == 0
    scope = git(project, "config", "--get", "memtape.scope")
    assert scope and tree(person, home) != before
    done = memtape(home, "agents", "disconnect", "--all")
    assert done.returncode == 0, done.stderr
    assert tree(person, home) == before
    assert f"rm -r {home}" in done.stdout and (home / "log.db").exists() and not (home / "plugins").exists()
    again = memtape(home, "agents", "disconnect", "--all")
    assert again.returncode == 0 and "Taken away" not in again.stdout
    assert scope_of_folder(project, Home(home)) == scope  # Used there again, it is the same project.


def test_a_file_of_somebody_else_is_neither_replaced_nor_deleted(person: Path) -> None:
    home, theirs = Home(person / "data"), person / ".config" / "opencode" / "plugins" / "memtape.js"
    theirs.parent.mkdir()
    theirs.write_text("export const Mine = async () => ({})\n")
    done = memtape(home.path, "agents", "connect", "opencode")
    assert done.returncode == 1 and "is not of Memtape" in done.stderr
    assert memtape(home.path, "agents", "disconnect", "opencode").returncode == 0 and theirs.exists()


def test_any_other_host_is_told_where_this_installation_is(person: Path) -> None:
    done = memtape(person / "data", "agents", "connect", "mcp", "--print", "--json")
    told = json.loads(done.stdout)
    server = json.loads(told["json"])["mcpServers"]["memtape"]
    assert server["args"][-2:] == ["--home", str(person / "data")] and Path(server["command"]).is_absolute()
    assert not (person / "data").exists()
    words = server_forms(["/a b/memtape"], '/it\'s "x"')
    assert json.loads(words["toml"].partition("args = ")[2]) == ["agents", "mcp", "--home", '/it\'s "x"']


def test_a_server_of_hooks_is_stopped(person: Path) -> None:
    # A socket's path may have a hundred bytes.
    home = Home(Path("/tmp") / f"memtape-{os.getpid()}")
    try:
        connect(home, "opencode")
        told = json.dumps({"hook_event_name": "SessionEnd", "cwd": str(person)}).encode()
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
