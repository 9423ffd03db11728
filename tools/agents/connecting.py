"""Connecting a host: the plugin is written into the home, and the host's own commands install it from there.

A host's files of an installation are the host's; `leftovers` knows those that it leaves. The host is asked
whether anything of Memtape is still installed, since the exit code of a removal also says that there was
nothing to remove.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.folders import Home, write_whole
from memtape.tools.agents import own_files
from memtape.tools.agents.leftovers import Leftovers, drop_dangling_link, has_traces, note_before, take_away
from memtape.tools.agents.plugins import MARKETPLACE, OPENCODE_FILE, PLUGIN, SELECTOR, plugin_files
from memtape.tools.keep.starting import python_of

FOLDER = "plugins"
STEP_TIMEOUT_S = 120
CODEX_WAITS = (
    "Codex asks its model without tools that are not there after a second: `mcp_optional_startup_grace_ms = 5000`"
    " at the top of ~/.codex/config.toml has it wait for five."
)
"""The setting is one of all servers, so that it is the user's to choose. A server takes a second and more to start."""
SHOWN_LINES, SHOWN_CHARS = 8, 300
"""How much of a host's error is shown: the reason stands first with one host, last with another."""
_LISTS = (
    (("plugin", "list", "--json"), SELECTOR),
    (("plugin", "marketplace", "list", "--json"), MARKETPLACE),
)


class Connectable(NamedTuple):
    """A host: its program, its commands to install `{folder}` and remove it, and the person's next step.

    `lists` has the commands that list installed things, each with Memtape's name in the output: of an entry
    in JSON, or the beginning of a line. A host without commands reads a file that Memtape writes
    (`own_files`).
    """

    program: str
    name: str
    install: tuple[tuple[str, ...], ...]
    remove: tuple[tuple[str, ...], ...]
    lists: tuple[tuple[tuple[str, ...], str], ...]
    then: str


CONNECTABLE = {
    "claude": Connectable(
        "claude",
        "Claude Code",
        (("plugin", "marketplace", "add", "{folder}"), ("plugin", "install", SELECTOR)),
        (("plugin", "uninstall", SELECTOR), ("plugin", "marketplace", "remove", MARKETPLACE)),
        _LISTS,
        "Start `claude` anew in your project; `/mcp` shows memtape.",
    ),
    "codex": Connectable(
        "codex",
        "Codex",
        (("plugin", "marketplace", "add", "{folder}"), ("plugin", "add", SELECTOR)),
        (("plugin", "remove", SELECTOR), ("plugin", "marketplace", "remove", MARKETPLACE)),
        _LISTS,
        "Start `codex` anew, open `/hooks` and trust those of memtape: until then it skips them without a word."
        f" {CODEX_WAITS}",
    ),
    "gemini": Connectable(
        "gemini",
        "Gemini CLI",
        (("extensions", "link", "{folder}", "--consent"),),
        (("extensions", "uninstall", PLUGIN),),
        ((("extensions", "list", "--output-format", "json"), PLUGIN),),
        "Start `gemini` anew in your project; `/mcp` shows memtape.",
    ),
    "copilot": Connectable(
        "copilot",
        "Copilot CLI",
        (("plugin", "marketplace", "add", "{folder}"), ("plugin", "install", SELECTOR)),
        (("plugin", "uninstall", SELECTOR), ("plugin", "marketplace", "remove", MARKETPLACE)),
        ((("plugin", "list", "--json"), PLUGIN), (("plugin", "marketplace", "list"), f"• {MARKETPLACE} ")),
        "Start `copilot` anew in your project; `/mcp` shows memtape.",
    ),
    "opencode": Connectable(
        "opencode", "OpenCode", (), (), (), "Start `opencode` anew in your project; `opencode mcp list` shows memtape."
    ),
    "qwen": Connectable(
        "qwen",
        "Qwen Code",
        (("extensions", "install", "{folder}", "--consent"),),
        (("extensions", "uninstall", PLUGIN),),
        ((("extensions", "list"), f"✓ {PLUGIN} "),),
        "Start `qwen` anew in your project; `/mcp` shows memtape.",
    ),
}


class HostCommand(NamedTuple):
    """A host's command as given, its output, and whether the command failed."""

    command: list[str]
    said: str
    failed: bool


def plugin_folder(home: Home, host: str) -> Path:
    """Return the folder for the plugin files of a host."""
    return home.path.absolute() / FOLDER / host


def place_of(home: Home, host: str, path: str) -> Path:
    """Return the place of a host's plugin file."""
    return plugin_folder(home, host) / path if CONNECTABLE[host].install else own_files.own_file()


def own_command() -> list[str]:
    """Return the command to start Memtape from any folder: the running script, else this Python."""
    script = Path(sys.argv[0])
    if script.name == "memtape" and os.access(script, os.X_OK) and script.is_file():
        return [str(script.absolute())]
    return python_of()


def install_steps(home: Home, host: str) -> list[list[str]]:
    """Return the host's own commands that install our plugin."""
    return _steps(home, host, CONNECTABLE[host].install)


def remove_steps(home: Home, host: str) -> list[list[str]]:
    """Return the host's own commands to remove Memtape."""
    return _steps(home, host, CONNECTABLE[host].remove)


def connect(home: Home, host: str) -> list[HostCommand]:
    """Write the plugin and have the host install it; a second call replaces it.

    Raises `MemtapeError` where a step fails; the steps before it are undone then.
    """
    check_installed(host)
    folder = plugin_folder(home, host)
    note_before(home, host)
    # What is there is perhaps of another home, or of one that is gone.
    drop_dangling_link(host)
    _run_all(remove_steps(home, host))
    shutil.rmtree(folder, ignore_errors=True)
    files = plugin_files(host, own_command(), str(home.path.absolute()))
    if not CONNECTABLE[host].install:
        own_files.place(home, files[OPENCODE_FILE])
        return []
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, data)
    ran: list[HostCommand] = []
    for words in install_steps(home, host):
        ran += _run_all([words])
        if ran[-1].failed:
            raise MemtapeError(_why(ran[-1:]), f"{_undone(home, host)} Run the command yourself to see more.")
    return ran


def disconnect(home: Home, host: str, *, every: bool = False) -> tuple[list[HostCommand], Leftovers]:
    """Have the host remove the plugin, and delete the written files and the leftovers.

    Where `every` host is disconnected, repositories are left to `leaving`. Raises `MemtapeError` where an
    entry of Memtape remains in the host's own lists.
    """
    if CONNECTABLE[host].remove:
        check_installed(host)
    ran, gone = _remove(home, host)
    if not gone:
        raise MemtapeError(
            _why([step for step in ran if step.failed]) or f"{CONNECTABLE[host].name} still lists {PLUGIN}.",
            f"Once that is mended: `memtape disconnect {host}`.",
        )
    return ran, _left(home, host, every)


def has_anything(home: Home, host: str) -> bool:
    """Whether a host may have anything of ours, of this home or another."""
    about = CONNECTABLE[host]
    if not about.install:
        return own_files.is_placed()
    return plugin_folder(home, host).exists() or (shutil.which(about.program) is not None and has_traces(host))


def _left(home: Home, host: str, every: bool = False) -> Leftovers:
    last = not every and not (
        any(plugin_folder(home, other).exists() for other in CONNECTABLE) or own_files.is_placed()
    )
    return take_away(home, host, Path.cwd(), last=last)


def _undone(home: Home, host: str) -> str:
    """Undo the finished steps of a failed installation, and return a sentence about the result."""
    name = CONNECTABLE[host].name
    if not _remove(home, host)[1]:
        return f"Something of it is left in {name}: once this is mended, `memtape disconnect {host}` removes it."
    _left(home, host)
    return f"{name} is not connected now; nothing else was changed."


def _remove(home: Home, host: str) -> tuple[list[HostCommand], bool]:
    """Run every step of the removal; return their output and whether nothing of Memtape is left."""
    if not CONNECTABLE[host].remove:
        own_files.take(home)
        return [], not own_files.is_placed()
    drop_dangling_link(host)
    ran = _run_all(remove_steps(home, host))
    folder = plugin_folder(home, host)
    listed = _is_listed(host)
    if listed or (listed is None and folder.exists() and any(step.failed for step in ran)):
        return ran, False
    shutil.rmtree(folder, ignore_errors=True)
    return ran, True


def _is_listed(host: str) -> bool | None:
    """Whether a host lists anything of ours; None where a list of it cannot be read and the others have nothing."""
    listed = [_listed([CONNECTABLE[host].program, *words], name) for words, name in CONNECTABLE[host].lists]
    return True if True in listed else None if None in listed else False


def _listed(words: list[str], name: str) -> bool | None:
    """Whether a host lists something by this name; None where its list cannot be read."""
    done = run_host(words)
    if "json" not in words and "--json" not in words:
        lines = [f"{line.strip()} " for line in done.stdout.splitlines()]
        return None if done.returncode else any(line.startswith(name) for line in lines)
    try:
        listed = json.loads(done.stdout.strip() or done.stderr)
    except ValueError:
        return None
    lists = [listed] if isinstance(listed, list) else listed.values() if isinstance(listed, dict) else []
    entries = [entry for each in lists if isinstance(each, list) for entry in each if isinstance(entry, dict)]
    return any(name in (entry.get("id"), entry.get("pluginId"), entry.get("name")) for entry in entries)


def check_installed(host: str) -> None:
    """Raise `MemtapeError` where a host's program is not on the PATH."""
    name = CONNECTABLE[host].program
    if shutil.which(name) is None:
        raise MemtapeError(
            f"`{name}` is not on the PATH.", f"Install it, or see what would be done: memtape connect {host} --print"
        )


def run_host(words: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a host's command without a terminal; return the output. Raises `MemtapeError` if it cannot run."""
    try:
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=STEP_TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MemtapeError(f"`{' '.join(words)}` could not be run: {error}.", "Run it yourself to see why.") from None


def _steps(home: Home, host: str, steps: tuple[tuple[str, ...], ...]) -> list[list[str]]:
    folder = str(plugin_folder(home, host))
    name = CONNECTABLE[host].program
    return [[name, *(folder if word == "{folder}" else word for word in words)] for words in steps]


def _run_all(steps: list[list[str]]) -> list[HostCommand]:
    ran = []
    for words in steps:
        done = run_host(words)
        said = "\n".join(filter(None, (done.stdout.strip(), done.stderr.strip())))
        ran.append(
            HostCommand(words, said or f"exit code {done.returncode}" * (done.returncode != 0), done.returncode != 0)
        )
    return ran


def _why(failed: list[HostCommand]) -> str:
    """Return the failed commands with the end of their output, without the stack trace that some hosts
    append.
    """
    told = []
    for step in failed:
        lines = [line.strip() for line in step.said.partition("Stack backtrace")[0].splitlines() if line.strip()]
        said = "\n  ".join(line[:SHOWN_CHARS] for line in lines[-SHOWN_LINES:])
        told.append(f"`{' '.join(step.command)}` failed:\n  {said}")
    return "\n".join(told)
