"""Writes the files of this repository that hosts and the registry of MCP read (`make docs`).

The plugins are those of `memtape agents connect`, but for any machine. A marketplace of Claude
Code and one of Codex name them. `server.json` describes the server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memtape import __version__
from memtape.tools.agents.plugins import DESCRIPTION, OWNER, PLUGIN, bare_plugin, encode
from memtape.tools.doors.mcp import every_tool

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"claude": "plugins/claude", "codex": "plugins/codex", "gemini": "extensions/gemini"}
"""The folder of each host."""
SERVER_NAME = f"io.github.{PLUGIN}/{PLUGIN}"
"""The name at the registry of MCP, which finds it in README too."""
SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
OF_PUBLISHER = "io.modelcontextprotocol.registry/publisher-provided"
START = ["agents", "mcp"]
POLICY = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
"""What Codex asks of an entry: who may install it, and when it asks for an account."""
NEEDS = f"{DESCRIPTION} It needs the program `{PLUGIN}` on the PATH."


def files() -> dict[str, bytes]:
    """Return the published files by their paths below the root."""
    made = {"server.json": encode(server())}
    for host in FOLDERS:
        for path, data in bare_plugin(host, [PLUGIN], "").items():
            own = path.replace(".claude-plugin/", f".{host}-plugin/")
            made[f"{FOLDERS[host]}/{own}"] = data
    return made | {
        ".claude-plugin/marketplace.json": encode(
            {
                "name": PLUGIN,
                "owner": OWNER,
                "description": DESCRIPTION,
                "plugins": [plugin("./plugins/claude")],
            }
        ),
        ".agents/plugins/marketplace.json": encode(
            {
                "name": PLUGIN,
                "interface": {"displayName": PLUGIN.title()},
                "plugins": [plugin({"source": "local", "path": "./plugins/codex"}, policy=POLICY)],
            }
        ),
    }


def plugin(source: Any, **more: Any) -> dict[str, Any]:
    """Return the entry of a marketplace for the plugin at `source`."""
    return {"name": PLUGIN, "source": source, "description": NEEDS, **more, "category": "Productivity"}


def server() -> dict[str, Any]:
    """Return the description of the server for the registry of MCP."""
    package = {
        "registryType": "pypi",
        "identifier": PLUGIN,
        "version": __version__,
        "runtimeHint": "uvx",
        "packageArguments": [{"type": "positional", "value": word} for word in START],
        "transport": {"type": "stdio"},
    }
    tools = [name for name, tool in every_tool().items() if tool.offer.common]
    return {
        "$schema": SERVER_SCHEMA,
        "name": SERVER_NAME,
        "title": PLUGIN.title(),
        "description": DESCRIPTION,
        "version": __version__,
        "packages": [package],
        "_meta": {OF_PUBLISHER: {"tools": tools}},
    }


if __name__ == "__main__":
    for name, data in files().items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_bytes(data)
        print(ROOT / name)
