"""The resources that a host can open: the context of a start, a memory, a session.

Each is read like a tool's answer. Memories in it are quoted as data, within the hosts' limit. Nothing here
knows the protocol.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote

from memtape.schemas.errors import NotFound
from memtape.tools.agents.mcp.tools import call
from memtape.tools.client import Client

CONTEXT = "memtape://context"
MEMORY, SESSION = "memtape://memory/", "memtape://session/"


class Resource(NamedTuple):
    """A resource in a host's list; an `{id}` in its address makes it a template."""

    uri: str
    name: str
    title: str
    description: str


RESOURCES = (Resource(CONTEXT, "context", "Context of this project", "What a starting agent is told."),)
TEMPLATES = (
    Resource(f"{MEMORY}{{id}}", "memory", "A memory", "One memory or turn whole, and why it is there."),
    Resource(f"{SESSION}{{id}}", "session", "A session", "The turns of one session in their order."),
)


def read(client: Client, uri: str) -> str:
    """Return the resource of a URI as Markdown. Raises `NotFound`."""
    if uri == CONTEXT:
        return call(client, "get_context", {})
    if uri.startswith(MEMORY):
        return call(client, "get_memory", {"id": unquote(uri[len(MEMORY) :])})
    if uri.startswith(SESSION):
        from memtape.tools.agents.mcp.answers import session

        id = unquote(uri[len(SESSION) :])
        return session(client.session_turns(id), client.scope, id)
    raise NotFound(f"There is no resource {uri[:100]!r}.", f"There are {CONTEXT}, {MEMORY}ID and {SESSION}ID.")
