"""What `disconnect` takes out of the files of a host, and what it leaves since others wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memtape.sinks.home.folders import Home
from memtape.tools.agents.connecting import LINK, dangling_link, take_away
from memtape.tools.agents.hosts import HOSTS, MARKETPLACE, SELECTOR

AFTER = {"enabledPlugins": {}, "extraKnownMarketplaces": {}}
"""What Claude Code leaves when it removes the last plugin."""


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


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (AFTER, None),
        ({}, {}),
        ({"model": "ö"} | AFTER, {"model": "ö"}),
        (AFTER | {"enabledPlugins": {"a@b": False}}, {"enabledPlugins": {"a@b": False}}),
        ({"enabledPlugins": {SELECTOR: False, "a@b": True}}, {"enabledPlugins": {"a@b": True}}),
        ({"extraKnownMarketplaces": {MARKETPLACE: {}}, "enabledPlugins": {SELECTOR: False}}, None),
    ],
)
@pytest.mark.parametrize("host", ["claude", "copilot"])
def test_what_is_ours_or_empty_is_taken_from_settings(host: str, after: object, expected: Any, home: Path) -> None:
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
    real.write_text(written({"model": "opus"} | AFTER))
    path.symlink_to(real)
    take_away(Home(home), "claude")
    assert path.is_symlink() and real.read_text() == written({"model": "opus"})


OURS = f"""
[hooks.state."{SELECTOR}:hooks/hooks.json:stop:0:0"]
trusted_hash = "sha256:a"
"""
THEIRS = """
[hooks.state."/home/ada/hooks.json:stop:0:0"]  # Mine.
trusted_hash = "sha256:b"
"""
MODEL = 'model = "gpt"  # The one.\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[hooks.state]\n" + OURS, None),
        (MODEL + "\n[hooks.state]\n" + OURS, MODEL),
        (MODEL + OURS, MODEL),
        (f"{MODEL}\n[hooks.state]\n{THEIRS}{OURS}", f"{MODEL}\n[hooks.state]\n{THEIRS}"),
        ("[hooks.state]\n# Mine.\n" + OURS, "[hooks.state]\n# Mine."),
        *((text, text) for text in (f"{MODEL}\n[hooks.state]\n{THEIRS}", MODEL, "hooks = 3\n", "no toml [")),
    ],
)
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
