"""Removals after the last disconnected host: the server of hooks, notes about hosts, scopes in repositories.

The data folder stays, and is named with its size. `leftovers` handles the files of hosts.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

from memtape.sinks.home.folders import Home
from memtape.tools.agents.errors import homeless
from memtape.tools.agents.handing import FOLDER as SERVING
from memtape.tools.agents.leftovers import Leftovers
from memtape.tools.capture.project import GIT_KEY, scopes_in_configuration, take_out
from memtape.tools.capture.repositories import note_taken, read

STOP_WAIT_S = 5.0
LOOK_S = 0.05


def leave(home: Home) -> Leftovers:
    """Stop the background processes of a home, and delete the files outside its data folder."""
    found = Leftovers([], [])
    _stop_server(home, found)
    _leave_repositories(home, found)
    for folder in (homeless(), home.path / "plugins", home.path / SERVING):
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
            found.taken.append(f"{folder}.")
    return found


def data_told(home: Home) -> str:
    """Return a sentence about the data folder: its path, size, and the command to delete it."""
    path = home.path.absolute()
    size = sum(_bytes(file) for file in path.rglob("*"))
    if not size:
        return f"The data folder {path} holds nothing. `rm -r {shlex.quote(str(path))}` deletes it."
    return (
        f"What was captured stays in {path} ({size / 1_000_000:,.1f} MB)."
        f" `rm -r {shlex.quote(str(path))}` deletes it for good."
    )


def _bytes(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size if path.is_file() and not path.is_symlink() else 0
    return 0


def _stop_server(home: Home, found: Leftovers) -> None:
    lock = home.hook_server_lock()
    pid = lock.holder()
    if pid is None:
        return
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_WAIT_S
    while lock.holder() is not None:
        if time.monotonic() > deadline:
            found.left.append(f"The server of hooks, process {pid}, which did not end when it was asked to.")
            return
        time.sleep(LOOK_S)
    found.taken.append(f"The server of hooks, process {pid}, was stopped.")


def _leave_repositories(home: Home, found: Leftovers) -> None:
    """Remove the pinned scope from every repository's git configuration; keep a scope changed since."""
    for common, scope in read(home)["pinned"].items():
        folder = Path(common)
        if not folder.is_dir() or scope not in scopes_in_configuration(folder):
            continue
        if not take_out(folder, home, scope):
            found.left.append(f"{GIT_KEY} in the git configuration of {folder}, which could not be written.")
            continue
        note_taken(home, common, scope)
        found.taken.append(f"{GIT_KEY} from the git configuration of {folder}: the data folder knows it from now on.")
