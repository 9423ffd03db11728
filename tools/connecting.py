"""Connecting a host: our plugin is written into the home, and the host's own commands install it from there.

No file of a host or user is touched here; what a host writes when it installs is the host's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from recollect.schemas.errors import RecollectError
from recollect.sinks.home import Home, write_whole
from recollect.tools.plugins import MARKETPLACE, PLUGIN, plugin_files
from recollect.tools.starting import python_of

FOLDER = "plugins"
STEP_TIMEOUT_S = 120
_SELECTOR = f"{PLUGIN}@{MARKETPLACE}"


class Connectable(NamedTuple):
    """A host by its program, the steps that install what stands in `{folder}` and that remove it, and what is left."""

    program: str
    name: str
    install: tuple[tuple[str, ...], ...]
    remove: tuple[tuple[str, ...], ...]
    then: str


CONNECTABLE = {
    "claude": Connectable(
        "claude",
        "Claude Code",
        (("plugin", "marketplace", "add", "{folder}"), ("plugin", "install", _SELECTOR)),
        (("plugin", "uninstall", _SELECTOR), ("plugin", "marketplace", "remove", MARKETPLACE)),
        "Start `claude` anew in your project; `/mcp` shows recollect.",
    ),
    "codex": Connectable(
        "codex",
        "Codex",
        (("plugin", "marketplace", "add", "{folder}"), ("plugin", "add", _SELECTOR)),
        (("plugin", "remove", _SELECTOR), ("plugin", "marketplace", "remove", MARKETPLACE)),
        "Start `codex` anew, open `/hooks` and trust those of recollect: until then it skips them without a word.",
    ),
    "gemini": Connectable(
        "gemini",
        "Gemini CLI",
        (("extensions", "link", "{folder}", "--consent"),),
        (("extensions", "uninstall", PLUGIN),),
        "Start `gemini` anew in your project; `/mcp` shows recollect.",
    ),
}


class Ran(NamedTuple):
    """A host's command as it was given, and what it said."""

    command: list[str]
    said: str


def plugin_folder(home: Home, host: str) -> Path:
    """Where what a host installs is written."""
    return home.path.absolute() / FOLDER / host


def own_command() -> list[str]:
    """Return what starts Recollect from anywhere: the script that is running, else this Python with the package."""
    script = Path(sys.argv[0])
    if script.name == "recollect" and os.access(script, os.X_OK) and script.is_file():
        return [str(script.absolute())]
    return python_of()


def install_steps(home: Home, host: str) -> list[list[str]]:
    """Return the host's own commands that install our plugin."""
    return _steps(home, host, CONNECTABLE[host].install)


def remove_steps(home: Home, host: str) -> list[list[str]]:
    """Return the host's own commands that remove it."""
    return _steps(home, host, CONNECTABLE[host].remove)


def connect(home: Home, host: str) -> list[Ran]:
    """Write the plugin and have the host install it; done again, it is replaced. Raises `RecollectError`."""
    program(host)
    folder = plugin_folder(home, host)
    if folder.exists():
        _run_all(remove_steps(home, host), or_not=True)
    shutil.rmtree(folder, ignore_errors=True)
    for path, data in plugin_files(host, own_command(), str(home.path.absolute())).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, data)
    return _run_all(install_steps(home, host))


def disconnect(home: Home, host: str) -> list[Ran]:
    """Have the host remove our plugin, and delete what was written. Raises `RecollectError`."""
    program(host)
    ran = _run_all(remove_steps(home, host), or_not=not plugin_folder(home, host).exists())
    shutil.rmtree(plugin_folder(home, host), ignore_errors=True)
    return ran


def program(host: str) -> str:
    """Return the path of a host's program. Raises `RecollectError` where it is not installed."""
    name = CONNECTABLE[host].program
    found = shutil.which(name)
    if found is None:
        raise RecollectError(
            f"`{name}` is not on the PATH.", f"Install it, or see what would be done: recollect connect {host} --print"
        )
    return found


def run_host(words: list[str], timeout_s: float = STEP_TIMEOUT_S) -> subprocess.CompletedProcess[str]:
    """Run a host's command without a terminal and return what it said. Raises `RecollectError` where it cannot."""
    try:
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=timeout_s, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RecollectError(f"`{' '.join(words)}` could not be run: {error}.", "Run it yourself to see why.") from None


def _steps(home: Home, host: str, steps: tuple[tuple[str, ...], ...]) -> list[list[str]]:
    folder = str(plugin_folder(home, host))
    name = CONNECTABLE[host].program
    return [[name, *(folder if word == "{folder}" else word for word in words)] for words in steps]


def _run_all(steps: list[list[str]], *, or_not: bool = False) -> list[Ran]:
    ran = []
    for words in steps:
        done = run_host(words)
        if done.returncode and not or_not:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise RecollectError(
                f"`{' '.join(words)}` failed: {lines[-1] if lines else f'exit code {done.returncode}'}.",
                "Nothing of yours was changed. Run the command yourself to see more.",
            )
        ran.append(Ran(words, (done.stdout or done.stderr).strip()))
    return ran
