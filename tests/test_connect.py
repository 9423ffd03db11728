"""Connecting hosts, and the doctor. The real hosts are in `clients.py`; here scripts note their calls."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import forking
import msgspec
import pytest

from memtape.schemas.errors import MemtapeError
from memtape.schemas.times import DAY_US, format_time
from memtape.sinks.home.folders import Home
from memtape.tools.agents import plugins
from memtape.tools.agents.connecting import connect, disconnect, own_command, plugin_folder
from memtape.tools.agents.doctor import LOOKS, Finding
from memtape.tools.agents.hosts import HOSTS
from memtape.tools.agents.plugins import SLASH_COMMANDS, plugin_files
from memtape.tools.agents.ready import HookResponder
from memtape.tools.agents.server import EMPTY_S, STAY_S, Server
from memtape.tools.client import Client
from memtape.tools.table import TOOLS

ROOT = Path(__file__).parent.parent
HOST = """#!{python}
import json, os, pathlib, sys

name, words, noted = pathlib.Path(sys.argv[0]).name, sys.argv[1:], pathlib.Path(os.environ["NOTED"])
listing = "list" in words
if not listing:
    with noted.open("a") as file:
        print(name, *words, file=file)
fail = os.environ.get("FAIL_AT", "")
if fail and fail in " ".join(words):
    sys.exit("Reading the settings\\nno such thing: {\\nat line 1\\n\\nStack backtrace:\\n  0: <unknown>")
held = noted.with_name(f"held-{name}")
has = set(held.read_text().split()) if held.exists() else set()
kind = "market" if "marketplace" in words else "plugin"
if listing:
    if os.environ.get("NO_LIST"):
        sys.exit("no such option")
    whole = "memtape" if name in "gemini copilot" else "memtape@memtape-local"
    ours = "memtape-local" if kind == "market" else whole
    if name == "qwen" or (name == "copilot" and kind == "market"):
        told = {"qwen": "\u2713 memtape (0.1.0)", "copilot": "  \u2022 memtape-local (Local: x)"}
        print(told[name] * (kind in has))
        sys.exit()
    print(json.dumps([{"id" if name == "claude" else "name": ours}] if kind in has else []))
elif {"remove", "uninstall"} & set(words):
    if kind not in has and name != "codex":
        sys.exit("not found")
    has.discard(kind)
else:
    has.add(kind)
held.write_text(" ".join(has))
"""
"""A host that installs and removes as the real ones do: it fails where there is nothing to remove."""


def program(path: Path, text: str) -> Path:
    """Write a program in a folder that may not be there yet."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put programs of the hosts' names on the PATH, and return the file in which they note their calls."""
    folder, noted = tmp_path / "bin", tmp_path / "noted"
    noted.touch()
    for host in HOSTS.values():
        program(folder / host.program, HOST.replace("{python}", sys.executable))
    monkeypatch.setenv("NOTED", str(noted))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.delenv("FAIL_AT", raising=False)
    return noted


def memtape(home: Path, *words: str, path: str = "", cwd: Path | None = None) -> Any:
    own = {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "MEMTAPE_HOME": str(home)}
    environment = {**os.environ, **own, "PATH": path or os.environ["PATH"]}
    command = [*forking.memtape(), *words]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


INSTALLERS = [host for host, about in HOSTS.items() if about.install]
"""Hosts that install what we write by commands of their own."""


@pytest.mark.parametrize("host", INSTALLERS)
def test_a_host_installs_what_was_written_and_gives_it_back(host: str, said: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "a home")
    for times in (1, 2):
        connect(home, host)
        folder = plugin_folder(home, host)
        calls = said.read_text().splitlines()
        assert sum(str(folder) in call for call in calls) == times
        written = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        assert written == set(plugin_files(host, ["x"], "y"))
    disconnect(home, host)
    assert not folder.exists()
    removal = [" ".join(words) for words in HOSTS[host].remove]
    assert said.read_text().splitlines()[-len(removal) :] == removal


def test_without_a_name_the_hosts_of_this_machine_are_shown_connected_and_imported(
    said: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, kept = tmp_path / "home", tmp_path / "user/.claude/projects/-work"
    kept.mkdir(parents=True)
    shutil.copy(ROOT / "tests/data/transcripts/claude.jsonl", kept)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for name in ("gemini", "copilot", "opencode", "qwen"):
        (said.parent / "bin" / name).unlink()
    shown = memtape(home, "agents", "connect", "--print")
    listed = json.loads(memtape(home, "agents", "connect", "--print", "--json").stdout)["commands"]
    assert [f"  $ {it}" for it in listed] == [it for it in shown.stdout.splitlines() if it.startswith("  $ ")]
    refused = memtape(home, "agents", "connect")  # Nobody is at a terminal who could agree.
    for told in (shown.stdout, refused.stdout):
        assert "$ claude plugin install memtape@memtape-local" in told
        assert f"+ {home}/plugins/codex/memtape/hooks/hooks.json" in told and "Qwen" not in told
    assert refused.returncode == 1 and "give --yes" in refused.stderr
    assert not home.exists() and said.read_text() == ""
    monkeypatch.setenv("FAIL_AT", "plugin add")
    first = memtape(home, "agents", "connect", "--yes", "--json")
    assert first.returncode == 1 and "Codex is not connected now" in first.stderr
    done = json.loads(first.stdout)
    assert done["hosts"] == ["claude"] and done["imported"] > 0
    with Client(home, scope="project:any") as client:
        assert client.status().lag >= done["imported"]
    monkeypatch.delenv("FAIL_AT")
    again = json.loads(memtape(home, "agents", "connect", "--yes", "--json").stdout)
    assert again["hosts"] == ["codex"] and "imported" not in again, "what is there is taken once"
    last = memtape(home, "agents", "connect")
    assert last.returncode == 0 and "Claude Code is connected.\nCodex is connected.\n" in last.stdout
    nowhere = memtape(home, "agents", "connect", path="/nowhere")
    assert nowhere.returncode == 1 and "agents connect mcp" in nowhere.stderr


def held(said: Path, program: str) -> str:
    return "".join(file.read_text() for file in said.parent.glob(f"held-{program}"))


def test_what_failed_is_named_and_undone_and_can_be_done_again(
    said: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "home")
    monkeypatch.setenv("FAIL_AT", "plugin install")
    with pytest.raises(MemtapeError) as failed:
        connect(home, "claude")
    assert "Reading the settings" in str(failed.value) and "backtrace" not in str(failed.value)
    assert "Claude Code is not connected now; nothing else was changed." in failed.value.hint
    assert held(said, "claude") == "" and not plugin_folder(home, "claude").exists()
    disconnect(home, "claude")  # There is nothing to do, and that is no error.
    monkeypatch.delenv("FAIL_AT")
    connect(home, "claude")
    monkeypatch.setenv("FAIL_AT", "install")  # And uninstall.
    with pytest.raises(MemtapeError) as failed:
        connect(home, "claude")
    assert "is left in Claude Code" in failed.value.hint and "nothing else" not in failed.value.hint
    with pytest.raises(MemtapeError, match="no such thing"):
        disconnect(home, "claude")
    assert held(said, "claude") == "plugin"
    monkeypatch.delenv("FAIL_AT")
    disconnect(home, "claude")
    assert held(said, "claude") == ""
    done = memtape(home.path, "agents", "connect", "codex", path="/nowhere")
    assert done.returncode == 1 and "not on the PATH" in done.stderr and "--print" in done.stderr


@pytest.mark.parametrize("host", INSTALLERS)
def test_a_host_whose_list_cannot_be_read_is_judged_by_its_exit_codes(
    host: str, said: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_LIST", "1")
    home = Home(tmp_path / "home")
    connect(home, host)
    program = HOSTS[host].program
    monkeypatch.setenv("FAIL_AT", HOSTS[host].remove[0][-1])
    with pytest.raises(MemtapeError, match="no such thing"):
        disconnect(home, host)
    assert plugin_folder(home, host).exists()
    monkeypatch.delenv("FAIL_AT")
    if len(HOSTS[host].remove) > 1:
        assert held(said, program) == "plugin"  # All steps were tried.
        said.with_name(f"held-{program}").write_text("plugin market")
    disconnect(home, host)
    assert held(said, program) == "" and not plugin_folder(home, host).exists()


@pytest.mark.parametrize("host", HOSTS)
def test_print_says_all_and_does_nothing(host: str, said: Path, tmp_path: Path) -> None:
    printed = json.loads(memtape(tmp_path / "home", "agents", "connect", host, "--print", "--json").stdout)
    assert not said.read_text() and not (tmp_path / "home" / "plugins").exists()
    assert all(command.startswith(HOSTS[host].program) for command in printed["commands"])
    assert {"mcp", "hook"} <= set(re.findall(r"\w+", " ".join(printed["files"].values())))


def parts(host: str, command: list[str], home: str) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Any]]:
    """Return the hooks of what a host installs, by event, and its server."""
    files = plugin_files(host, command, home)
    if host == "opencode":
        text = files["memtape.js"].decode()
        parts = (text.partition(f"const {name} = ")[2] for name in NAMES_IN_JS)
        hook, server = (json.loads(part.partition("\n")[0]) for part in parts)
        called = {"type": "command", "command": shlex.join(hook), "timeout": plugins.HOOK_TIMEOUT_S}
        told = {event for event in HOSTS[host].hooks if f'told("{event}"' in text}
        return {event: [{"hooks": [called]}] for event in told}, {"command": server[0], "args": server[1:]}
    under = "" if host in ("gemini", "qwen") else "memtape/"
    hooks = json.loads(files[f"{under}hooks/hooks.json"])["hooks"]
    told = json.loads(files[f"{host}-extension.json" if not under else "memtape/.mcp.json"])
    return hooks, told["mcpServers"]["memtape"]


ONE_OF_EACH_FORM = ("claude", "gemini", "opencode")
NAMES_IN_JS = ("HOOK", "SERVER")


@pytest.mark.parametrize("host", HOSTS)
def test_a_plugin_names_every_event_that_its_hook_knows_and_starts_us_in_full(host: str) -> None:
    home = "/a home/of 'mine'"
    hooks, server = parts(host, ["/opt/a b/memtape"], home)
    assert set(hooks) == set(HOSTS[host].hooks)
    for groups in hooks.values():
        (called,) = groups[0]["hooks"]
        command, words = plugins.started_by(called["command"])
        assert command == ["/opt/a b/memtape"] and words == ["agents", "hook", "--host", host, "--home", home]
        assert called["timeout"] >= (1_000 if host in ("gemini", "qwen") else 1)
    assert server["args"][-5:] == ["/opt/a b/memtape", "agents", "mcp", "--home", home]
    if HOSTS[host].form == "plugin":
        market = json.loads(plugin_files(host, ["memtape"], home)[".claude-plugin/marketplace.json"])
        assert market["name"] == plugins.MARKETPLACE and market["plugins"][0]["source"] == "./memtape"


def installed_by(host: str, command: list[str], home: str) -> tuple[str, list[str]]:
    """Return the hook that a host hands to a shell, the same at each event, and the words of the server."""
    hooks, server = parts(host, command, home)
    (called,) = {group["hooks"][0]["command"] for groups in hooks.values() for group in groups}
    return called, [server["command"], *server["args"]]


SHELLS = [shell for shell in ("sh", "dash", "bash", "zsh", "fish", "ksh") if shutil.which(shell)]
PLACES = ["plain", "a b", "it's", 'a "quoted" one', "$HOME", "back\\slash", "`x`;exit 3", "ünï"]
ECHO = '#!/bin/sh\nprintf "%s|" "$@"; cat\n'


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("host", ONE_OF_EACH_FORM)
def test_what_a_host_starts_gets_its_words_and_input_from_wherever_it_lies(
    host: str, place: str, tmp_path: Path
) -> None:
    home = str(tmp_path / place / "a home")
    hook, server = installed_by(host, [str(program(tmp_path / place / "memtape", ECHO))], home)
    calls = [([shell, "-c", hook], f"agents|hook|--host|{host}") for shell in SHELLS]
    for call, words in (*calls, (server, "agents|mcp")):
        done = subprocess.run(call, input="told", capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{words}|--home|{home}|told", ""), call


LOST: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "gone with its folder": lambda it: shutil.rmtree(it.parent),
    "not executable": lambda it: it.chmod(0o644),
    "a folder": lambda it: (it.unlink(), it.mkdir()),
    # What an environment is left as when the Python that it was made from is upgraded away.
    "without its Python": lambda it: it.write_text("#!/nowhere/python\n"),
    "without its package": lambda it: it.write_text(f"#!{sys.executable}\nimport memtape_that_is_gone\n"),
}
"""Ways in which a host loses our command."""


@pytest.mark.parametrize("lose", LOST)
@pytest.mark.parametrize("host", ONE_OF_EACH_FORM)
def test_a_hook_whose_command_is_gone_does_nothing(host: str, lose: str, tmp_path: Path) -> None:
    path = program(tmp_path / 'it\'s a "b"' / "memtape", ECHO)
    hook, server = installed_by(host, [str(path)], str(tmp_path / "home"))
    LOST[lose](path)
    calls = [[shell, "-c", hook] for shell in SHELLS]
    for call in (*calls, *([server] if lose in tuple(LOST)[:3] else [])):
        done = subprocess.run(call, input="told", capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (call, done)


def test_the_doctor_says_whose_hooks_a_host_has(said: Path, tmp_path: Path) -> None:
    home, other = Home(tmp_path / "home"), tmp_path / "it's another"
    old = program(tmp_path / "an old" / "memtape", "#!/bin/sh\n")
    installed, host = tmp_path / "installed", said.with_name("bin") / "claude"
    entry = {"id": "memtape@memtape-local", "enabled": True, "installPath": str(installed / "memtape")}
    host.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps([entry])}\nEND\n")

    def finding(command: list[str], there: Path) -> Finding:
        for path, data in plugin_files("claude", command, str(there)).items():
            (installed / path).parent.mkdir(parents=True, exist_ok=True)
            (installed / path).write_bytes(data)
        found = LOOKS["Claude Code"](home)
        assert (found.state == "good") == (not found.todo)
        assert "connect claude" in found.todo or not found.todo
        return found

    assert "home that was here before" in finding(own_command(), home.path).seen
    plugin_folder(home, "claude").mkdir(parents=True)
    assert finding(own_command(), home.path).state == "good"
    assert f"another installation of Memtape than this, {old}" in finding([str(old)], home.path).seen
    assert f"{other}, which is gone" in finding(own_command(), other).seen
    other.mkdir()
    assert finding(own_command(), other).seen == f"It has hooks of another home, {other}."
    for lose in (*list(LOST)[:-3:-1], "not executable", "gone", "gone with its folder"):
        LOST[lose](old)
        assert f"installation that is gone at {old}" in finding([str(old)], home.path).seen


@pytest.mark.slow
def test_the_doctor_looks_at_everything_and_says_what_to_do(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Client(home, scope="project:demo") as client:
        client.capture("Said before.")
        (home / "settings.toml").write_text('denied_paths = ["private/*"]\n')
        ends, names = client.log.ends(), sorted(path.name for path in home.iterdir())
        for _ in range(2):
            done = memtape(home, "agents", "doctor", "--json", path="/usr/bin:/bin")
        findings = {finding["subject"]: finding for finding in json.loads(done.stdout)["findings"]}
        assert done.returncode == 0, findings
        looked = (findings[subject]["state"] for subject in ("capture and search", "log", "MCP server"))
        assert list(looked) == ["good"] * 3 and f"{sum(ends):,} slots" in findings["log"]["seen"]
        assert findings["Codex"]["state"] == "not there"
        assert client.log.ends() == ends and all(scope.hidden == 0 for scope in client.status().scopes)
    assert {path.name for path in home.iterdir()} <= {*names, "serving"}
    (home / "log.db").write_bytes(b"no database" * 1_000)
    done = memtape(home, "agents", "doctor", path="/usr/bin:/bin")
    assert done.returncode == 1 and "bad        log" in done.stdout and "Traceback" not in done.stderr
    assert "good       capture and search" in done.stdout


def test_an_error_is_for_a_day(home: Path) -> None:
    path = Home(home).path / "agents.log"
    for days, state in ((0, "to do"), (2, "good")):
        at = format_time(time.time_ns() // 1_000 - days * DAY_US)
        path.write_text(f"{at}  hook claude Stop  ValueError\n")
        found = LOOKS["errors of hooks and servers"](Home(home))
        assert found.state == state and ("since yesterday" in found.seen if days else str(path) in found.todo)


def test_a_first_run_offers_it_all(said: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    assert "memtape import" not in memtape(tmp_path / "home", "agents", "connect", "claude").stdout
    project = tmp_path / "claude" / "projects" / "-home-ada-shop"
    (project / "memory").mkdir(parents=True)
    (project / "memory" / "MEMORY.md").write_text("- The shop listens on port 8087.\n")
    (project / "0b0e6a6e-8d57-4b3f-9f0c-0a7d5d0c7b11.jsonl").write_text(
        '{"type": "user", "cwd": "/home/ada/shop", "message": {"role": "user", "content": "Hello"}}\n'
    )
    done = memtape(tmp_path / "home", "agents", "connect", "claude").stdout
    assert "1 session and 1 memory file here: `memtape import --all --dry-run`" in done
    assert "memtape import" not in memtape(tmp_path / "home", "agents", "connect", "codex").stdout


@pytest.mark.parametrize("host", INSTALLERS)
def test_who_connects_a_host_is_told_what_to_do_then(host: str, said: Path, tmp_path: Path) -> None:
    told = memtape(tmp_path / "home", "agents", "connect", host).stdout
    assert HOSTS[host].then in told and HOSTS[host].waits in told


def test_hosts_that_take_commands_get_those_of_the_prompts() -> None:
    """Only a person calls one of Claude Code or of Codex, where they are skills; no model is told of it."""
    hosts = ("claude", "gemini", "codex")
    claude, gemini, codex = (plugin_files(host, ["memtape"], "/home") for host in hosts)
    for name in SLASH_COMMANDS:
        _, front, text = claude[f"memtape/commands/{name}.md"].decode().split("---\n", 2)
        about = msgspec.yaml.decode(front)
        assert about["disable-model-invocation"] is True and "forget_memory" not in about["allowed-tools"]
        named = re.findall(r"`(\w+_\w+)`", text)
        named += re.findall(r"memtape_memtape__(\w+)", about["allowed-tools"])
        assert named and set(named) <= TOOLS.keys() and text.count("$ARGUMENTS") == 1
        extension = msgspec.toml.decode(gemini[f"commands/memtape/{name}.toml"])
        assert extension["prompt"].replace("{{args}}", "$ARGUMENTS") == text.strip()
        skill = codex[f"memtape/skills/{name}/SKILL.md"].decode()
        assert f"`$memtape:{name}`" in skill and msgspec.yaml.decode(skill.split("---\n")[1])["name"] == name
        policy = msgspec.yaml.decode(codex[f"memtape/skills/{name}/agents/openai.yaml"])["policy"]
        assert policy == {"allow_implicit_invocation": False}
    assert not [path for path in codex if "commands" in path]


def test_the_doctor_leaves_no_server_behind_and_names_one_that_is_there(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    lock = home.lock("hook-server")
    told = memtape(home.path, "agents", "doctor", path="/usr/bin:/bin").stdout
    assert "It offers" in told and "process" not in told and lock.holder() is None
    serving = memtape_process(home.path)
    try:
        deadline = time.monotonic() + 60
        while lock.holder() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        told = memtape(home.path, "agents", "doctor", path="/usr/bin:/bin").stdout
        assert f"The server of this home, process {lock.holder()}, answered." in told
    finally:
        serving.kill()
        serving.wait()


def memtape_process(home: Path) -> subprocess.Popen[bytes]:
    """Start the server of a home."""
    own = {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "MEMTAPE_HOOKS": ""}
    words = ["agents", "hook", "--host", "claude", "--stay", "--home", str(home)]
    command = [sys.executable, "-m", "memtape", *words]
    return subprocess.Popen(command, env={**os.environ, **own}, stdin=subprocess.DEVNULL)


def test_a_server_does_not_stay_in_a_home_that_holds_nothing(tmp_path: Path) -> None:
    server = Server(tmp_path, HookResponder(tmp_path))
    server._last -= EMPTY_S - 1
    assert not server.is_over(), "its first caller has a moment"
    server._last -= 1
    assert server.is_over()
    with Client(tmp_path, scope="project:a") as client:
        assert server.is_over(), "a log without an event of a project holds nothing"
        client.capture("The crane is number seven.")
    assert not server.is_over()
    server._last -= STAY_S
    assert server.is_over()
