"""The sessions that a home's only server serves, each over its own connection (`forwarding`).

Each session has its own thread, event loop, SDK server and clients, and is served as by a process of its own:
for its folder, its scope and the session of its host. A slow call of a session therefore delays no other
session. All sessions share the loaded texts of a scope, by `HookResponder`. The SDK is imported for the first
session, not for hooks.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import anyio
import msgspec
import orjson

from memtape.schemas.errors import InvalidScope
from memtape.schemas.scopes import GLOBAL, check_scope
from memtape.tools.agents.handing import NOT_MINE
from memtape.tools.agents.mcp.lines import lines
from memtape.tools.agents.mcp.server import ServedMemory, make_server
from memtape.tools.agents.mcp.tools import TOOLS
from memtape.tools.agents.ready import HookResponder

# msgspec looks at a type when it first meets it, and two threads that do so at once crash the process.
for _tool in TOOLS.values():
    msgspec.json.Decoder(_tool.arguments)

READS = orjson.dumps([name for name, tool in TOOLS.items() if tool.offer.effect == "reads"]) + b"\n"
"""The answer to a forwarder whose session is taken: the tools that may be called again without an answer."""


def serve(ready: HookResponder, home: Path, told: dict[str, Any], talking: socket.socket) -> None:
    """Serve one session until its host closes; refuse scopes that the command would refuse with a message."""
    if not _may_serve(told["scope"]):
        talking.sendall(NOT_MINE)
        return
    memory = ServedMemory(
        home,
        scope=told["scope"],
        actor=told["actor"],
        ready=ready,
        session=told["session"],
        host=int(told["host"]),
    )
    server = make_server(memory, fallback=Path(told["folder"]))

    async def run() -> None:
        with (
            os.fdopen(os.dup(talking.fileno()), "r", encoding="utf-8", errors="replace") as hears,
            os.fdopen(os.dup(talking.fileno()), "w", encoding="utf-8") as says,
        ):
            async with lines(anyio.wrap_file(hears), anyio.wrap_file(says)) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())

    try:
        talking.settimeout(None)
        talking.sendall(READS)
        anyio.run(run)
    finally:
        memory.close()


def _may_serve(scope: str | None) -> bool:
    try:
        return scope is None or check_scope(scope) != GLOBAL
    except InvalidScope:
        return False
