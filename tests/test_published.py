"""The files that hosts and the registry of MCP read follow from the code, and start what there is."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from published_files import FOLDERS, ROOT, SERVER_NAME, files
from test_connect import ECHO, program
from test_docs import parse

from memtape import __version__
from memtape.sinks.home.folders import Home
from memtape.tools.agents.doctor import LOOKS
from memtape.tools.agents.plugins import bare_plugin

FILES = files()
MANIFESTS = {
    "claude": "plugins/claude/.claude-plugin/plugin.json",
    "codex": "plugins/codex/.codex-plugin/plugin.json",
    "gemini": "extensions/gemini/gemini-extension.json",
}


def read(path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / path).read_bytes())
    return found


def test_the_published_files_are_what_the_code_says() -> None:
    """`make docs` writes the files again; a file that the code no longer makes is gone."""
    folders = [
        ROOT / "plugins",
        ROOT / "extensions",
        ROOT / ".claude-plugin",
        ROOT / ".agents",
        ROOT / "server.json",
    ]
    there = [path for folder in folders for path in (folder, *folder.rglob("*")) if path.is_file()]
    assert {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in there} == FILES


@pytest.mark.parametrize("host", FOLDERS)
def test_a_manifest_names_this_version(host: str) -> None:
    manifest = read(MANIFESTS[host])
    assert (manifest["name"], manifest["version"]) == ("memtape", __version__)


def test_each_marketplace_leads_to_the_plugin_of_its_host() -> None:
    claude, codex = read(".claude-plugin/marketplace.json"), read(".agents/plugins/marketplace.json")
    assert claude["owner"]["name"]
    for market, path in (
        (claude, claude["plugins"][0]["source"]),
        (codex, codex["plugins"][0]["source"]["path"]),
    ):
        assert market["name"] == market["plugins"][0]["name"] == "memtape" and path.startswith("./")
        assert (ROOT / path / f".{Path(path).name}-plugin" / "plugin.json").is_file()


def test_the_registry_of_mcp_would_take_the_server() -> None:
    """The limits are those of its schema; the package's README has to name the server."""
    server = read("server.json")
    assert (
        re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
        and 1 <= len(server["description"]) <= 100
    )
    (package,) = server["packages"]
    assert server["version"] == package["version"] == __version__
    assert f"<!-- mcp-name: {SERVER_NAME} -->" in (ROOT / "README.md").read_text()
    parse([argument["value"] for argument in package["packageArguments"]])


@pytest.mark.parametrize("host", FOLDERS)
def test_a_published_plugin_finds_the_command_on_the_path(host: str, tmp_path: Path) -> None:
    """Where there is none, hook and server do nothing."""
    hooks = read(f"{FOLDERS[host]}/hooks/hooks.json")["hooks"]
    (hook,) = {group["hooks"][0]["command"] for groups in hooks.values() for group in groups}
    servers = read(MANIFESTS[host] if host == "gemini" else f"{FOLDERS[host]}/.mcp.json")["mcpServers"]
    server = [servers["memtape"]["command"], *servers["memtape"]["args"]]
    calls = {f"agents|hook|--host|{host}|told": shlex.split(hook), "agents|mcp|told": server}
    for path, is_there in ((tmp_path / "bin", True), (tmp_path / "none", False)):
        environment = {**os.environ, "PATH": f"{path}{os.pathsep}/usr/bin{os.pathsep}/bin"}
        program(tmp_path / "bin" / "memtape", ECHO)
        for said, call in calls.items():
            done = subprocess.run(
                call, env=environment, input="told", capture_output=True, text=True, check=False
            )
            assert (done.returncode, done.stdout, done.stderr) == (0, said * is_there, "")


def test_the_doctor_takes_a_published_plugin_as_it_is_and_names_a_second_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, listed = Home(tmp_path / "home"), []
    for name in ("gemini", "memtape"):
        program(tmp_path / "bin" / name, "#!/bin/sh\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path))
    shutil.copytree(ROOT / "extensions" / "gemini", tmp_path / ".gemini" / "extensions" / "memtape")
    assert LOOKS["Gemini CLI"](home).state == "good"
    own = {f"memtape/{path}": data for path, data in bare_plugin("claude", ["x"], str(home.path)).items()}
    for path, data in own.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    for marketplace, folder in (
        ("memtape", ROOT / "plugins/claude"),
        ("memtape-local", tmp_path / "memtape"),
    ):
        listed.append({"id": f"memtape@{marketplace}", "enabled": True, "installPath": str(folder)})
        program(tmp_path / "bin" / "claude", f"#!/bin/sh\ncat <<'END'\n{json.dumps(listed)}\nEND\n")
        found = LOOKS["Claude Code"](home)
        assert (found.state == "good") == (len(listed) == 1)
    assert "two plugins" in found.seen and "disconnect claude" in found.todo
