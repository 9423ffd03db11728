"""Lines of JSON-RPC between a client and the SDK's server, and answers to those it leaves unanswered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
NO_JSON = types.JSONRPCError(
    jsonrpc="2.0",
    id=None,
    error=types.ErrorData(code=types.PARSE_ERROR, message="A line was no JSON; each line is one message."),
)


@asynccontextmanager
async def lines(
    hears: anyio.AsyncFile[str] | None = None, says: anyio.AsyncFile[str] | None = None
) -> AsyncIterator[tuple[Incoming, Any]]:
    """Open the streams of a server over two files, by default stdin and stdout, and answer each line that is no JSON.

    A blank line is none of them.
    """
    async with stdio_server(hears, says) as (incoming, outgoing), anyio.create_task_group() as tasks:
        sends, receives = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        tasks.start_soon(_hand_on, incoming, outgoing, sends)
        yield receives, outgoing
        tasks.cancel_scope.cancel()


async def _hand_on(incoming: Any, outgoing: Any, sends: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
    async with sends:
        async for message in incoming:
            if is_no_json(message):
                await outgoing.send(SessionMessage(NO_JSON))
            else:
                await sends.send(message)


def is_no_json(message: SessionMessage | Exception) -> bool:
    """Whether a message is the SDK's error of a line that has words and is no JSON."""
    if not isinstance(message, ValidationError):
        return False
    found = message.errors()[0]
    return found["type"] == "json_invalid" and bool(str(found["input"]).strip())
