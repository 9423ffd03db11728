"""Hosts without a plugin of Memtape: the entry for their settings, a block for their instructions file.

The entry is only shown, since every host has its own form. The block is written only into the file that the
person names; its exact bytes are recorded for the removal.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any, TypedDict

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.folders import Home, write_whole
from memtape.tools.agents.leftovers import Leftovers, rewrite
from memtape.tools.agents.plugins import PLUGIN, SKILL

BEGIN, END = "<!-- memtape:instructions:begin -->", "<!-- memtape:instructions:end -->"


class _Block(TypedDict):
    """The text added to a file, and whether the file was created for it."""

    added: str
    made: bool


def server_forms(command: list[str], home: str) -> dict[str, str]:
    """Return the settings of a home's server as JSON and TOML, and the command that starts it in a shell."""
    program, words = command[0], [*command[1:], "mcp", "--home", home]
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
        before = path.read_bytes().decode() if path.exists() else None
        if before is not None and BEGIN in before:
            return False
        begun = before or ""
        added = "\n" * (bool(begun) and not begun.endswith("\n")) + "\n" * bool(begun) + instructions()
        _note(home, _noted(home) | {str(path): {"added": added, "made": before is None}})
        path.write_bytes((begun + added).encode()) if before is None else rewrite(path, begun + added)
    except (OSError, UnicodeDecodeError) as error:
        raise MemtapeError(f"{path} could not be written: {error}.", "Name another file.") from None
    return True


def take_instructions(home: Home) -> Leftovers:
    """Remove every written block that is unchanged; report the files in which a person edited the block."""
    found = Leftovers([], [])
    rest: dict[str, _Block] = {}
    for name, noted in _noted(home).items():
        path = Path(name)
        try:
            text = path.read_bytes().decode()
        except (OSError, UnicodeDecodeError):  # The file is gone, or another by now.
            continue
        if noted["added"] not in text:
            if BEGIN in text:
                found.left.append(f"The block of instructions in {path}: somebody has edited it.")
                rest[name] = noted
            continue
        without = text.replace(noted["added"], "", 1)
        path.unlink() if noted["made"] and not without else rewrite(path, without)
        found.taken.append(f"The block of instructions from {path}.")
    _note(home, rest)
    return found


def _noted(home: Home) -> dict[str, _Block]:
    try:
        noted: dict[str, _Block] = json.loads(_path(home).read_bytes())
    except (OSError, ValueError):
        return {}
    return noted


def _note(home: Home, noted: dict[str, _Block]) -> None:
    if not noted:
        _path(home).unlink(missing_ok=True)
        return
    _path(home).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(_path(home), json.dumps(noted).encode())


def _path(home: Home) -> Path:
    return home.path / "plugins" / "instructions.json"
