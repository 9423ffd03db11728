"""The files that Memtape itself writes outside its home, since a host has no command for that: a plugin of OpenCode.

Only a file of ours is replaced or deleted. Folders that were not there before are noted, and go with the file.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.folders import Home, write_whole
from memtape.tools.agents.plugins import OPENCODE_FILE, opencode_words


def own_file() -> Path:
    """Return where OpenCode finds our plugin."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return config / "opencode" / "plugins" / OPENCODE_FILE


def is_placed() -> bool:
    """Whether Memtape's plugin exists."""
    try:
        return bool(opencode_words(own_file().read_bytes()))
    except OSError:
        return False


def place(home: Home, data: bytes) -> None:
    """Write the plugin. Raises `MemtapeError` where a foreign file has its name."""
    path = own_file()
    if path.exists() and not is_placed():
        raise MemtapeError(f"{path} is not of Memtape.", "Give that file another name, then connect again.")
    made = [str(folder) for folder in (path.parent, *path.parent.parents) if not folder.exists()]
    if not _noted(home).exists():
        _noted(home).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(_noted(home), json.dumps(made).encode())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise MemtapeError(f"{path} could not be written: {error.strerror}.", "Mend that and connect again.") from None


def take(home: Home) -> None:
    """Delete the plugin, and the folders that were made for it where nothing else is in them."""
    if is_placed():
        own_file().unlink()
    try:
        made = json.loads(_noted(home).read_bytes())
    except (OSError, ValueError):
        return
    for folder in map(Path, made):
        try:
            folder.rmdir()
        except OSError:  # Something else is in there by now.
            break
    _noted(home).unlink(missing_ok=True)


def _noted(home: Home) -> Path:
    return home.path / "plugins" / "opencode-made.json"
