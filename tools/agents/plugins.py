"""The files that hosts install: a plugin, an extension or a script.

The files of a machine have the full command and home, since a host starts the command from anywhere and with
little of the environment. The published files name the command alone, and find it on the PATH. Where the
command is gone, or no longer starts, a hook silently does nothing, since hosts stop an agent at a failing
hook. Nothing here writes a file or runs a program.
"""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from memtape import __version__
from memtape.tools.agents.hosts import HOSTS, Host

PLUGIN = "memtape"
MARKETPLACE = "memtape-local"
"""A name of its own, so that no marketplace of the user's is taken for ours or replaced."""
SELECTOR = f"{PLUGIN}@{MARKETPLACE}"
"""How hosts name the plugin."""
DESCRIPTION = "One memory for all agents of a project, which can be replayed."
OWNER = {"name": "The Memtape contributors"}
HOOK_TIMEOUT_S, SERVER_START_S = 10, 30
SCRIPT = "memtape.js"
BEGIN, END = "<!-- memtape:instructions:begin -->", "<!-- memtape:instructions:end -->"
_SHELL = ("/bin/sh", "-c")
# The command comes as words of their own, so that no path needs quotes in here, whichever shell a host has.
_FOUND = '[ -x "$(command -v "$0")" ]'
_HOOK_GUARD = f'{_FOUND} && "$0" "$@" 2>/dev/null; exit 0'
_SERVER_GUARD = f'{_FOUND} || exit 0; exec "$0" "$@"'


class Slash(msgspec.Struct, frozen=True):
    """A slash command: help, argument, tools allowed without a question, and the instruction."""

    about: str
    argument: str
    allowed: str
    text: str


def _read(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()


SLASH_COMMANDS = msgspec.json.decode(_read("slash_commands.json"), type=dict[str, Slash])
SKILL = _read("skill.md")


def plugin_files(host: str, command: list[str], home: str) -> dict[str, bytes]:
    """Return the files for a host's plugin, by path below its folder. `command` starts Memtape."""
    inside = bare_plugin(host, command, home)
    if HOSTS[host].form != "plugin":
        return inside
    plugins = [{"name": PLUGIN, "source": f"./{PLUGIN}", "description": DESCRIPTION}]
    market = encode({"name": MARKETPLACE, "owner": OWNER, "plugins": plugins})
    files = {f"{PLUGIN}/{path}": data for path, data in inside.items()}
    return files | {".claude-plugin/marketplace.json": market}


def bare_plugin(host: str, command: list[str], home: str) -> dict[str, bytes]:
    """Return the files of a plugin without a marketplace. Without a `home` the environment names the home."""
    about, (program, *flags) = HOSTS[host], _SHELL
    at_home = ["--home", home] if home else []
    server = {"command": program, "args": [*flags, _SERVER_GUARD, *command, "agents", "mcp", *at_home]}
    words = [*_SHELL, _HOOK_GUARD, *command, "agents", "hook", "--host", host, *at_home]
    if about.form == "script":
        return {SCRIPT: _script(words, [program, *server["args"]])}
    servers = {"mcpServers": {PLUGIN: server | dict(about.server)}}
    told = {"name": PLUGIN, "version": __version__, "description": DESCRIPTION}
    inside = {
        f"skills/{PLUGIN}/SKILL.md": SKILL,
        "hooks/hooks.json": encode({"hooks": _hooks(about, shlex.join(words))}),
        **_commands(about),
    }
    if about.form == "extension":
        return inside | {f"{host}-extension.json": encode(told | servers)}
    return inside | {
        ".claude-plugin/plugin.json": encode(told | {"author": OWNER}),
        ".mcp.json": encode(servers),
    }


def _script(hook: list[str], server: list[str]) -> bytes:
    """Return the script of a host without plugins, with both commands and the waits in it."""
    script = _read("opencode_plugin.js").decode()
    waits_ms = {"WAIT_MS": HOOK_TIMEOUT_S * 1_000, "START_MS": SERVER_START_S * 1_000}
    for name, value in {"HOOK": hook, "SERVER": server, **waits_ms}.items():
        script = script.replace(f"__{name}__", json.dumps(value), 1)
    return script.encode()


def _hooks(host: Host, command: str) -> dict[str, Any]:
    """Return the hooks of a host by event: `command`, a line for a shell, and its timeout."""
    hooks = {}
    for event in host.hooks:
        timeout_s = min(HOOK_TIMEOUT_S, host.end_s) if event == "SessionEnd" else HOOK_TIMEOUT_S
        called: dict[str, Any] = {"type": "command", "command": command, "timeout": timeout_s}
        if host.form == "extension":  # Their hosts name hooks, and count in milliseconds.
            called |= {"name": PLUGIN, "timeout": timeout_s * 1_000}
        hooks[event] = [{"hooks": [called]}]
    return hooks


def server_forms(command: list[str], home: str) -> dict[str, str]:
    """Return the settings of a home's server as JSON and TOML, and the command that starts it in a shell."""
    program, words = command[0], [*command[1:], "agents", "mcp", "--home", home]
    as_json: dict[str, Any] = {"mcpServers": {PLUGIN: {"command": program, "args": words}}}
    as_toml = f"[mcp_servers.{PLUGIN}]\ncommand = {json.dumps(program)}\nargs = {json.dumps(words)}"
    return {"json": json.dumps(as_json, indent=2), "toml": as_toml, "command": shlex.join([program, *words])}


def instructions() -> str:
    """Return the block for `AGENTS.md`, `CLAUDE.md`, `GEMINI.md` or another file of instructions."""
    said = SKILL.decode().split("---\n", 2)[2].strip()
    return f"{BEGIN}\n{said}\n{END}\n"


def started_by(hook: str) -> tuple[list[str], list[str]]:
    """Return the command of an installed hook, and its words from `agents` on; both empty for another's."""
    try:
        words = shlex.split(hook)
    except ValueError:
        return [], []
    words = words[len(_SHELL) + 1 :] if tuple(words[: len(_SHELL)]) == _SHELL else words
    at = next((at for at, pair in enumerate(pairwise(words)) if pair == ("agents", "hook")), len(words))
    return (words[:at], words[at:]) if at < len(words) else ([], [])


def script_hook(script: bytes) -> str:
    """Return the hook of our script as a line for a shell; empty for a foreign script."""
    lines = script.decode("utf-8", "replace").splitlines()
    hook = next((it for it in lines if it.startswith("const HOOK = ")), "")
    with suppress(ValueError):
        return shlex.join(map(str, json.loads(hook.removeprefix("const HOOK = "))))
    return ""


def _commands(host: Host) -> dict[str, bytes]:
    """Return the files of the slash commands, which only a person calls: no model is told of them."""
    files = {}
    for name, slash in SLASH_COMMANDS.items():
        text = slash.text.format(said=host.said.format(name=name))
        fields = {"about": json.dumps(slash.about), "argument": json.dumps(f"[{slash.argument}]")}
        fields |= {"allowed": json.dumps(slash.allowed), "prompt": json.dumps(text)}
        for path, form in host.commands.items():
            files[path.format(name=name)] = form.format(name=name, text=text, **fields).encode()
    return files


def encode(value: Any) -> bytes:
    """Return the JSON of a file that people may read."""
    return json.dumps(value, indent=2).encode() + b"\n"
