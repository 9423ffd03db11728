"""Connecting a host and leaving it: its own commands install and remove the plugin, which is written into the
home.

A host without such commands reads a script in its folder. A host is asked whether anything of Memtape is
still installed, since the exit code of a removal also says that there was nothing to remove.

A host's removal leaves entries in its settings, trust in removed hooks, copies and empty folders, which
`HOSTS` names: what is ours is taken away, and a file of settings that a person has given a form is only
reported.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.files import write_whole
from memtape.sinks.home.folders import Home
from memtape.tools.agents.hosts import HOSTS, Host, SettingsEntry, Words
from memtape.tools.agents.plugins import MARKETPLACE, PLUGIN, SCRIPT, plugin_files, script_hook
from memtape.tools.capture.project import GIT_KEY, configuration_of, repositories_of, take_out
from memtape.tools.keep.starting import python_of
from memtape.tools.keep.wire import FOLDER as SERVING

FOLDER = "plugins"
STEP_TIMEOUT_S = 120
SHOWN_LINES, SHOWN_CHARS = 8, 300
"""How much of a host's error is shown: the reason stands first with one host, last with another."""
LINK = ".gemini-extension-install.json"
STOP_WAIT_S = 5.0
LOOK_S = 0.05
HostCommand = subprocess.CompletedProcess[str]
"""A host's command as it ended, with its output."""


class Leftovers(NamedTuple):
    """Removed things and remaining things with a reason, each in one sentence."""

    taken: list[str]
    left: list[str]

    def with_all_of(self, other: Leftovers) -> Leftovers:
        """Return these and others."""
        return Leftovers(self.taken + other.taken, self.left + other.left)


def plugin_folder(home: Home, host: str) -> Path:
    """Return the folder for the files of a host: in the home, or for a script the host's own."""
    about = HOSTS[host]
    return about.folder / "plugins" if about.form == "script" else home.path.absolute() / FOLDER / host


def own_command() -> list[str]:
    """Return the command to start Memtape from any folder: the running script, else this Python."""
    script = Path(sys.argv[0])
    if script.name == "memtape" and os.access(script, os.X_OK) and script.is_file():
        return [str(script.absolute())]
    return python_of()


def steps_of(home: Home, host: str, steps: tuple[Words, ...]) -> list[list[str]]:
    """Return a host's own commands with the folder of our files in them."""
    folder = str(plugin_folder(home, host))
    return [[folder if word == "{folder}" else word for word in words] for words in steps]


def connect(home: Home, host: str) -> list[HostCommand]:
    """Write the plugin and have the host install it; a second call replaces it.

    Raises `MemtapeError` where a step fails; the steps before it are undone then.
    """
    _check_installed(host)
    folder = plugin_folder(home, host)
    if (folder / SCRIPT).exists() and not is_connected(home, host):
        raise MemtapeError(f"{folder / SCRIPT} is not of Memtape.", "Rename that file, then connect again.")
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
    ran, name = list[HostCommand](), HOSTS[host].name
    for words in steps_of(home, host, HOSTS[host].install):
        ran.append(run_host(words))
        if ran[-1].returncode:
            if _remove(home, host)[1]:
                take_away(home, host)
                undone = f"{name} is not connected now; nothing else was changed."
            else:
                then = f"`memtape agents disconnect {host}` removes it."
                undone = f"Some is left in {name}: once this is mended, {then}"
            raise MemtapeError(_why(ran[-1:]), f"{undone} Run the command yourself to see more.")
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
    with suppress(OSError):
        return bool(script_hook((folder / SCRIPT).read_bytes()))
    return False


def has_anything(home: Home, host: str) -> bool:
    """Whether a host may have anything of ours, of this home or another, as its own files tell.

    The host is not asked, since its first run writes files.
    """
    about = HOSTS[host]
    if is_connected(home, host):
        return True
    for path in [about.folder / it for it in about.traces] if shutil.which(about.program) else []:
        with suppress(OSError):
            if path.is_dir() or MARKETPLACE in path.read_text(errors="replace"):
                return True
    return False


def _remove(home: Home, host: str) -> tuple[list[HostCommand], bool]:
    """Run every step of the removal; return their output and whether nothing of Memtape is left."""
    about, folder = HOSTS[host], plugin_folder(home, host)
    if about.form == "script":
        if is_connected(home, host):
            (folder / SCRIPT).unlink()
        return [], True
    if link := dangling_link(about):
        shutil.rmtree(link)
    ran = [run_host(words) for words in steps_of(home, host, about.remove)]
    listed = is_listed(about)
    if listed or (listed is None and folder.exists() and any(step.returncode for step in ran)):
        return ran, False
    shutil.rmtree(folder, ignore_errors=True)
    return ran, True


def is_listed(host: Host) -> bool | None:
    """Whether a host lists anything of ours; None where a list cannot be read and the others have nothing."""
    told = [(run_host(list(words)), ours) for words, ours in host.lists]
    listed = [None if done.returncode else ours in done.stdout + done.stderr for done, ours in told]
    return True if True in listed else None if None in listed else False


def _check_installed(host: str) -> None:
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
        said = f"`{' '.join(words)}` could not be run: {error}."
        raise MemtapeError(said, "Run it yourself to see why.") from None


def _why(failed: list[HostCommand]) -> str:
    """Return the failed commands with the end of their output, without the stack trace of some hosts."""
    told = []
    for step in failed:
        lines = f"{step.stdout}\n{step.stderr}".partition("Stack backtrace")[0].splitlines()
        last = [line.strip()[:SHOWN_CHARS] for line in lines if line.strip()][-SHOWN_LINES:]
        said = "\n  ".join(last or [f"exit code {step.returncode}"])
        told.append(f"`{' '.join(step.args)}` failed:\n  {said}")
    return "\n".join(told)


def take_away(home: Home, host: str) -> Leftovers:
    """Remove what a host leaves of Memtape after its own removal."""
    from platformdirs import user_cache_path

    found, about = Leftovers([], []), HOSTS[host]
    for copy in about.copies:
        shutil.rmtree(about.folder / copy, ignore_errors=True)
    for path in chain.from_iterable(user_cache_path().glob(pattern) for pattern in about.caches):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif (_settings(path) or {}).get("serverName") != PLUGIN:
            continue
        else:
            path.unlink()
        with suppress(OSError):
            path.parent.rmdir()
        found.taken.append(f"{path}: what {about.name} kept of our server.")
    for file in dict.fromkeys(name for name, _, _ in about.entries):
        path = about.folder / file
        document = _settings(path)
        if document is None:
            continue
        written, own = path.read_text(), _form(path, document)
        entries = (entry for entry in about.entries if entry[0] == file)
        ours = [key for entry in entries for key in _take_entry(document, entry, home)]
        after = _form(path, document)
        if after != own and written.rstrip("\n") != own.rstrip("\n"):
            named = " and ".join(ours) or "An empty table of plugins"
            found.left.append(f"{named}, in {path}: somebody has edited that file, so that it is left alone.")
        elif after != own:
            own_path = path.resolve()  # A person's file keeps its place and its permissions.
            data = after + "\n" * (written.endswith("\n") and path.suffix == ".json")
            write_whole(own_path, data.encode(), mode=stat.S_IMODE(own_path.stat().st_mode))
            _drop_empty(path)
            found.taken.append(f"Entries of ours, and what is empty without them, from {path}.")
    for made in about.made:
        _drop_empty(about.folder / made)
    return found


def dangling_link(host: Host) -> Path | None:
    """Return an extension of ours that links to a lost home: the host neither lists nor replaces that."""
    folder = host.folder / "extensions" / PLUGIN
    link = _settings(folder / LINK) or {}
    is_ours = link.get("type") == "link" and [path.name for path in folder.iterdir()] == [LINK]
    return folder if is_ours and not Path(str(link.get("source"))).exists() else None


def _take_entry(document: Any, entry: SettingsEntry, home: Home) -> list[str]:
    """Remove an entry and the tables around it that are empty then; return the removed keys."""
    (_, table, ours_is), tables = entry, [document]
    for name in table:
        inner = tables[-1].get(name)
        if not hasattr(inner, "items"):
            return []
        tables.append(inner)
    name = ours_is.replace("{home}", str(home.path.absolute()))
    begins = name if name.endswith(":") else name + os.sep
    ours = [key for key in tables[-1] if key == name or key.startswith(begins)]
    for key in ours:
        del tables[-1][key]
    for outer, key in reversed(list(zip(tables, table, strict=False))):
        inner = outer[key]  # Its text is a key, or somebody's comment.
        if inner.as_string().strip() if hasattr(inner, "as_string") else inner:
            break
        del outer[key]
    return ours


def _settings(path: Path) -> Any:
    with suppress(OSError, ValueError):
        text = path.read_text()
        if path.suffix == ".toml":
            import tomlkit

            return tomlkit.parse(text)
        value = json.loads(text)
        return value if isinstance(value, dict) else None


def _form(path: Path, document: Any) -> str:
    """Return a document in its host's form; TOML keeps people's comments and spaces."""
    if path.suffix == ".toml":
        import tomlkit

        return tomlkit.dumps(document)
    return json.dumps(document, indent=2, ensure_ascii=False)


def _drop_empty(path: Path) -> None:
    """Delete a folder with nothing in it, or a file of settings that says nothing."""
    with suppress(OSError):
        if path.is_dir():
            path.rmdir()
        elif not path.is_symlink() and path.read_bytes().strip() in (b"", b"{}"):
            path.unlink()


def leave(home: Home) -> Leftovers:
    """Stop the server of a home, and delete notes and scopes in repositories, outside its data folder."""
    found, lock = Leftovers([], []), home.lock("hook-server")
    if (pid := lock.holder()) is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_WAIT_S
        while lock.holder() is not None and time.monotonic() <= deadline:
            time.sleep(LOOK_S)
        if lock.holder() is None:
            found.taken.append(f"The server of hooks, process {pid}, was stopped.")
        else:
            found.left.append(f"The server of hooks, process {pid}, which did not end when it was asked to.")
    for common, held in repositories_of(home).items():
        if not Path(common).is_dir() or held.scope not in configuration_of(Path(common))[0]:
            continue  # Somebody has changed it since.
        if take_out(home, common):
            found.taken.append(f"{GIT_KEY} from the git settings of {common}: the data folder knows it now.")
        else:
            found.left.append(f"{GIT_KEY} in the git settings of {common}, which could not be written.")
    for folder in (home.path / "plugins", home.path / SERVING):
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
            found.taken.append(f"{folder}.")
    return found


def data_told(home: Home) -> str:
    """Return a sentence about the data folder: its path, and the command to delete it."""
    path = home.path.absolute()
    return f"What was captured stays in {path}. `rm -r {shlex.quote(str(path))}` deletes it for good."
