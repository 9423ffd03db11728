"""Connecting a host: the plugin is written into the home, and the host's own commands install it from there.

A host without such commands reads a script in its folder. A host is asked whether anything of Memtape is still
installed, since the exit code of a removal also says that there was nothing to remove.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.folders import Home, write_whole
from memtape.tools.agents.hosts import HOSTS, PLUGIN, Host, Words
from memtape.tools.agents.leftovers import Leftovers, dangling_link, has_traces, take_away
from memtape.tools.agents.plugins import SCRIPT, plugin_files, script_hook
from memtape.tools.keep.starting import python_of

FOLDER = "plugins"
STEP_TIMEOUT_S = 120
SHOWN_LINES, SHOWN_CHARS = 8, 300
"""How much of a host's error is shown: the reason stands first with one host, last with another."""


HostCommand = subprocess.CompletedProcess[str]
"""A host's command as it ended, with its output."""


def plugin_folder(home: Home, host: str) -> Path:
    """Return the folder for the files of a host: in the home, or for a script the host's own."""
    return HOSTS[host].folder / "plugins" if HOSTS[host].form == "script" else home.path.absolute() / FOLDER / host


def own_command() -> list[str]:
    """Return the command to start Memtape from any folder: the running script, else this Python."""
    script = Path(sys.argv[0])
    if script.name == "memtape" and os.access(script, os.X_OK) and script.is_file():
        return [str(script.absolute())]
    return python_of()


def install_steps(home: Home, host: str) -> list[list[str]]:
    """Return the host's own commands that install our plugin."""
    return _steps(home, host, HOSTS[host].install)


def connect(home: Home, host: str) -> list[HostCommand]:
    """Write the plugin and have the host install it; a second call replaces it.

    Raises `MemtapeError` where a step fails; the steps before it are undone then.
    """
    _check_installed(host)
    folder = plugin_folder(home, host)
    if (folder / SCRIPT).exists() and not is_connected(home, host):
        raise MemtapeError(f"{folder / SCRIPT} is not of Memtape.", "Give that file another name, then connect again.")
    # What is there is perhaps of another home, or of one that is gone.
    _remove(home, host)
    try:
        for path, data in plugin_files(host, own_command(), str(home.path.absolute())).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder / path, data)
    except OSError as error:
        raise MemtapeError(
            f"{folder} could not be written: {error.strerror}.", "Mend that and connect again."
        ) from None
    ran: list[HostCommand] = []
    for words in install_steps(home, host):
        ran.append(run_host(words))
        if ran[-1].returncode:
            raise MemtapeError(_why(ran[-1:]), f"{_undone(home, host)} Run the command yourself to see more.")
    return ran


def disconnect(home: Home, host: str) -> tuple[list[HostCommand], Leftovers]:
    """Have the host remove the plugin, and delete the written files and the leftovers.

    Raises `MemtapeError` where an entry of Memtape remains in the host's own lists.
    """
    if HOSTS[host].remove:
        _check_installed(host)
    ran, gone = _remove(home, host)
    if not gone:
        raise MemtapeError(
            _why([step for step in ran if step.returncode]) or f"{HOSTS[host].name} still lists {PLUGIN}.",
            f"Once that is mended: `memtape agents disconnect {host}`.",
        )
    return ran, take_away(home, host)


def is_connected(home: Home, host: str) -> bool:
    """Whether the files of a host are written."""
    folder = plugin_folder(home, host)
    if HOSTS[host].form != "script":
        return folder.is_dir()
    try:
        return bool(script_hook((folder / SCRIPT).read_bytes()))
    except OSError:
        return False


def has_anything(home: Home, host: str) -> bool:
    """Whether a host may have anything of ours, of this home or another."""
    about = HOSTS[host]
    return is_connected(home, host) or (shutil.which(about.program) is not None and has_traces(about))


def _undone(home: Home, host: str) -> str:
    """Undo the finished steps of a failed installation, and return a sentence about the result."""
    name = HOSTS[host].name
    if not _remove(home, host)[1]:
        return f"Something of it is left in {name}: once this is mended, `memtape agents disconnect {host}` removes it."
    take_away(home, host)
    return f"{name} is not connected now; nothing else was changed."


def _remove(home: Home, host: str) -> tuple[list[HostCommand], bool]:
    """Run every step of the removal; return their output and whether nothing of Memtape is left."""
    about, folder = HOSTS[host], plugin_folder(home, host)
    if about.form == "script":
        if is_connected(home, host):
            (folder / SCRIPT).unlink()
        return [], True
    if link := dangling_link(about):
        shutil.rmtree(link)
    ran = [run_host(words) for words in _steps(home, host, about.remove)]
    listed = is_listed(about)
    if listed or (listed is None and folder.exists() and any(step.returncode for step in ran)):
        return ran, False
    shutil.rmtree(folder, ignore_errors=True)
    return ran, True


def is_listed(host: Host) -> bool | None:
    """Whether a host lists anything of ours; None where a list of it cannot be read and the others have nothing."""
    told = [(run_host(list(words)), ours) for words, ours in host.lists]
    listed = [None if done.returncode else ours in done.stdout + done.stderr for done, ours in told]
    return True if True in listed else None if None in listed else False


def _check_installed(host: str) -> None:
    """Raise `MemtapeError` where a host's program is not on the PATH."""
    name = HOSTS[host].program
    if shutil.which(name) is None:
        raise MemtapeError(
            f"`{name}` is not on the PATH.",
            f"Install it, or see what would be done: memtape agents connect {host} --print",
        )


def run_host(words: list[str]) -> HostCommand:
    """Run a host's command without a terminal; return the output. Raises `MemtapeError` if it cannot run."""
    try:
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=STEP_TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MemtapeError(f"`{' '.join(words)}` could not be run: {error}.", "Run it yourself to see why.") from None


def _steps(home: Home, host: str, steps: tuple[Words, ...]) -> list[list[str]]:
    folder = str(plugin_folder(home, host))
    return [[folder if word == "{folder}" else word for word in words] for words in steps]


def _why(failed: list[HostCommand]) -> str:
    """Return the failed commands with the end of their output, without the stack trace that some hosts append."""
    told = []
    for step in failed:
        lines = f"{step.stdout}\n{step.stderr}".partition("Stack backtrace")[0].splitlines()
        last = [line.strip()[:SHOWN_CHARS] for line in lines if line.strip()][-SHOWN_LINES:]
        said = "\n  ".join(last or [f"exit code {step.returncode}"])
        told.append(f"`{' '.join(step.args)}` failed:\n  {said}")
    return "\n".join(told)
