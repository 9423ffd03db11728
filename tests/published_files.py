"""Writes the files of this repository that hosts and the registry of MCP read (`make docs`).

The plugins of `plugins/` are those of `memtape agents connect`, but for any machine. A marketplace of Claude
Code and one of Codex name them. `server.json` describes the server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memtape import __version__
from memtape.tools.agents.plugins import DESCRIPTION, OWNER, PLUGIN, bare_plugin, encode
from memtape.tools.doors.mcp import every_tool

ROOT = Path(__file__).resolve().parent.parent
HOSTS = ("claude", "codex", "gemini")
SERVER_NAME = f"io.github.{PLUGIN}/{PLUGIN}"
"""The name at the registry of MCP, which finds it in README too."""
SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
OF_PUBLISHER = "io.modelcontextprotocol.registry/publisher-provided"
START = ["agents", "mcp"]
NEEDS = f"{DESCRIPTION} It needs the program `{PLUGIN}` on the PATH."


def files() -> dict[str, bytes]:
    """Return the published files by their paths below the root."""
    made = {"server.json": encode(server())}
    for host in HOSTS:
        for path, data in bare_plugin(host, [PLUGIN], "").items():
            own = path.replace(".claude-plugin/", f".{host}-plugin/")
            made[f"plugins/{host}/{own}"] = data
    return made | {
        ".claude-plugin/marketplace.json": encode(marketplace("./plugins/claude", owner=OWNER)),
        ".agents/plugins/marketplace.json": encode(
            marketplace({"source": "local", "path": "./plugins/codex"})
        ),
    }


def marketplace(source: Any, **more: Any) -> dict[str, Any]:
    """Return a marketplace with one plugin, which lies at `source`."""
    plugin = {"name": PLUGIN, "source": source, "description": NEEDS, "category": "productivity"}
    return {"name": PLUGIN, "description": DESCRIPTION, **more, "plugins": [plugin]}


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
