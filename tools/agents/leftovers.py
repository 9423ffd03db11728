"""Memtape's traces in files of hosts and repositories after the plugin's removal: taken away if ours, else reported.

A host's own command removes the plugin and leaves entries in its settings, trust in removed hooks, copies and empty
folders. `HOSTS` names them. A file of settings that a person has given a form is only reported.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from memtape.sinks.home.folders import UNFINISHED, Home
from memtape.tools.agents.errors import homeless
from memtape.tools.agents.hosts import HOSTS, MARKETPLACE, PLUGIN, Host, SettingsEntry
from memtape.tools.capture.project import GIT_KEY, configuration_of, repositories_of, take_out
from memtape.tools.keep.wire import FOLDER as SERVING

CACHES = (f"claude-cli-nodejs/*/mcp-logs-plugin-{PLUGIN}-{PLUGIN}", "copilot/mcp-tools/*.json")
"""What hosts cache of our server, below the cache folder: logs, and tools in files that name their server."""
LINK = ".gemini-extension-install.json"
STOP_WAIT_S = 5.0
LOOK_S = 0.05


class Leftovers(NamedTuple):
    """Removed things and remaining things with a reason, each in one sentence."""

    taken: list[str]
    left: list[str]

    def with_all_of(self, other: Leftovers) -> Leftovers:
        """Return these and others."""
        return Leftovers(self.taken + other.taken, self.left + other.left)


def take_away(home: Home, host: str) -> Leftovers:
    """Remove what a host leaves of Memtape after its own removal."""
    found, about = Leftovers([], []), HOSTS[host]
    for copy in about.copies:
        shutil.rmtree(about.folder / copy, ignore_errors=True)
    for path in (path for pattern in CACHES if pattern.startswith(host) for path in _cache().glob(pattern)):
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
        _take_entries(about.folder / file, [entry for entry in about.entries if entry[0] == file], home, found)
    for made in about.made:
        _drop_empty(about.folder / made)
    return found


def has_traces(host: Host) -> bool:
    """Whether a host's own files name Memtape. The host is not asked, since its first run writes files."""
    for path in (host.folder / trace for trace in host.traces):
        with suppress(OSError):
            if path.is_dir() or MARKETPLACE in path.read_text(errors="replace"):
                return True
    return False


def dangling_link(host: Host) -> Path | None:
    """Return an extension of ours that is a link to a home that is gone: the host neither lists nor replaces it."""
    folder = host.folder / "extensions" / PLUGIN
    link = _settings(folder / LINK) or {}
    is_ours = link.get("type") == "link" and [path.name for path in folder.iterdir()] == [LINK]
    return folder if is_ours and not Path(str(link.get("source"))).exists() else None


def _take_entries(path: Path, entries: list[SettingsEntry], home: Home, found: Leftovers) -> None:
    """Remove our entries from a file of settings, with the tables that are empty then."""
    document = _settings(path)
    if document is None:
        return
    written, own = path.read_text(), _form(path, document)
    ours = [key for entry in entries for key in _take_entry(document, entry, home)]
    if _form(path, document) == own:
        return
    if written.rstrip("\n") != own.rstrip("\n"):
        named = " and ".join(ours) or "An empty table of plugins"
        found.left.append(f"{named}, in {path}: somebody has edited that file, so that it is left alone.")
        return
    rewrite(path, _form(path, document) + "\n" * (written.endswith("\n") and path.suffix == ".json"))
    _drop_empty(path)
    found.taken.append(f"Entries of ours, and what is empty without them, from {path}.")


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
        inner = outer[key]
        if inner.as_string().strip() if hasattr(inner, "as_string") else inner:  # A key, or somebody's comment.
            break
        del outer[key]
    return ours


def _settings(path: Path) -> Any:
    """Return the document in a file of settings, None where there is none."""
    try:
        text = path.read_text()
        if path.suffix == ".toml":
            import tomlkit

            return tomlkit.parse(text)
        value = json.loads(text)
        return value if isinstance(value, dict) else None
    except (OSError, ValueError):
        return None


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


def _cache() -> Path:
    """Return the cache folder of programs under Node."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def rewrite(path: Path, text: str) -> None:
    """Replace a person's file atomically, at its real path and with its permissions."""
    path = path.resolve()
    temporary = path.with_name(f".{path.name}{UNFINISHED}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", newline="") as file:
        file.write(text)
    shutil.copymode(path, temporary)
    temporary.replace(path)


def leave(home: Home) -> Leftovers:
    """Stop the server of a home, and delete what is outside its data folder: notes, and scopes in repositories."""
    found = Leftovers([], [])
    _stop_server(home, found)
    for common, held in repositories_of(home).items():
        if not Path(common).is_dir() or held.scope not in configuration_of(Path(common))[0]:
            continue  # Somebody has changed it since.
        if take_out(home, common):
            found.taken.append(f"{GIT_KEY} from the git configuration of {common}: the data folder knows it now.")
        else:
            found.left.append(f"{GIT_KEY} in the git configuration of {common}, which could not be written.")
    for folder in (homeless(), home.path / "plugins", home.path / SERVING):
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
            found.taken.append(f"{folder}.")
    return found


def data_told(home: Home) -> str:
    """Return a sentence about the data folder: its path, size, and the command to delete it."""
    path = home.path.absolute()
    size = sum(_bytes(file) for file in path.rglob("*"))
    delete = f"`rm -r {shlex.quote(str(path))}` deletes it"
    if not size:
        return f"The data folder {path} holds nothing. {delete}."
    return f"What was captured stays in {path} ({size / 1_000_000:,.1f} MB). {delete} for good."


def _bytes(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size if path.is_file() and not path.is_symlink() else 0
    return 0


def _stop_server(home: Home, found: Leftovers) -> None:
    lock = home.lock("hook-server")
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
