"""Hosts without a plugin of Memtape: the entry for their settings, a block for their instructions file.

The entry is only shown, since every host has its own form. The block is written only into the file that the
person names; its exact bytes are recorded for the removal.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.folders import Home, write_whole
from memtape.tools.agents.hosts import PLUGIN
from memtape.tools.agents.leftovers import Leftovers, rewrite
from memtape.tools.agents.plugins import SKILL

BEGIN, END = "<!-- memtape:instructions:begin -->", "<!-- memtape:instructions:end -->"


def server_forms(command: list[str], home: str) -> dict[str, str]:
    """Return the settings of a home's server as JSON and TOML, and the command that starts it in a shell."""
    program, words = command[0], [*command[1:], "agents", "mcp", "--home", home]
    as_json: dict[str, Any] = {"mcpServers": {PLUGIN: {"command": program, "args": words}}}
    as_toml = f"[mcp_servers.{PLUGIN}]\ncommand = {json.dumps(program)}\nargs = {json.dumps(words)}"
    return {"json": json.dumps(as_json, indent=2), "toml": as_toml, "command": shlex.join([program, *words])}


def instructions() -> str:
    """Return the block for `AGENTS.md`, `CLAUDE.md`, `GEMINI.md` or another file of instructions."""
    said = SKILL.split("---\n", 2)[2].strip()
    return f"{BEGIN}\n{said}\n{END}\n"


def write_instructions(home: Home, path: Path) -> bool:
    """Add the block to a file, created if missing; return whether the block is new there.

    Raises `MemtapeError` for a file that cannot be written or is not UTF-8.
    """
    path = path.absolute()
    try:
        before = path.read_bytes().decode() if path.exists() else ""
        if BEGIN in before:
            return False
        added = "\n" * (bool(before) and not before.endswith("\n")) + "\n" * bool(before) + instructions()
        _note(home, _noted(home) | {str(path): added})
        path.touch()
        rewrite(path, before + added)
    except (OSError, UnicodeDecodeError) as error:
        raise MemtapeError(f"{path} could not be written: {error}.", "Name another file.") from None
    return True


def take_instructions(home: Home) -> Leftovers:
    """Remove every written block that is unchanged, and a file without anything else; report the edited blocks."""
    found = Leftovers([], [])
    rest: dict[str, str] = {}
    for name, added in _noted(home).items():
        path = Path(name)
        try:
            text = path.read_bytes().decode()
        except (OSError, UnicodeDecodeError):  # The file is gone, or another by now.
            continue
        if added not in text:
            if BEGIN in text:
                found.left.append(f"The block of instructions in {path}: somebody has edited it.")
                rest[name] = added
            continue
        without = text.replace(added, "", 1)
        rewrite(path, without) if without else path.unlink()
        found.taken.append(f"The block of instructions from {path}.")
    _note(home, rest)
    return found


def _noted(home: Home) -> dict[str, str]:
    try:
        noted: dict[str, str] = json.loads(_path(home).read_bytes())
    except (OSError, ValueError):
        return {}
    return noted


def _note(home: Home, noted: dict[str, str]) -> None:
    if not noted:
        _path(home).unlink(missing_ok=True)
        return
    _path(home).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(_path(home), json.dumps(noted).encode())


def _path(home: Home) -> Path:
    return home.path / "plugins" / "instructions.json"
