"""The view of the exact text that each host gets at a start: from its hook and from its server.

`start` makes the context once; here each host's form is applied.
"""

from __future__ import annotations

from typing import NamedTuple

import orjson

from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.tools.agents.connecting import is_connected
from memtape.tools.agents.hosts import HOSTS, begins_at_prompt, note_of
from memtape.tools.agents.instructions import instructions
from memtape.tools.agents.mcp.tools import INSTRUCTIONS, TOOLS, call, schema_of
from memtape.tools.agents.turn import form_of, given_in
from memtape.tools.ask.context import ProjectContext
from memtape.tools.ask.measuring import tokenizer
from memtape.tools.client import Client

HOOKLESS = "Any other host"


class HostText(NamedTuple):
    """A text given to a host: its title, its length in tokens of the host's model, and the whole text."""

    title: str
    tokens: int
    text: str


class ToHost(NamedTuple):
    """A host: whether the host is connected here, when its agent gets the memory, and the text given then."""

    name: str
    is_connected: bool
    when: str
    context: HostText


def to_hosts(client: Client, context: ProjectContext, budget: int | None) -> list[ToHost]:
    """Return the texts of each connectable host, connected hosts first, and of any other host last.

    `budget` is the caller's number of tokens, by default the tool's own.
    """
    note = note_of(len(context.ids), context.tokens) if local_settings(client.home).shown else ""
    told = [_to_host(client.home, name, context.text, note) for name in HOSTS]
    told.sort(key=lambda host: not host.is_connected)
    asked = call(client, "get_context", {} if budget is None else {"budget_tokens": budget})
    opened = HostText("get_context", tokenizer().count(asked), asked)
    return [*told, ToHost(HOOKLESS, False, "when its agent asks", opened)]


def beside(home: Home) -> list[HostText]:
    """Return the text given besides to hosts with Memtape's server: the server's instructions, its tools.

    Of a tool the name, the description and the schema of its arguments count, which hosts put before their
    models.
    """
    count = tokenizer().count
    every = local_settings(home).every_tool
    tools = [
        {
            "name": name,
            "description": tool.offer.description,
            "inputSchema": schema_of(tool, rare=every),
        }
        for name, tool in TOOLS.items()
        if every or tool.offer.common
    ]
    listed = "\n".join(orjson.dumps(tool).decode() for tool in tools)
    block = instructions()
    return [
        HostText("Instructions of the server", count(INSTRUCTIONS), INSTRUCTIONS),
        HostText(f"{len(tools)} tools", count(listed), listed),
        HostText("The block for AGENTS.md, where somebody has put it there", count(block), block),
    ]


def _to_host(home: Home, name: str, text: str, note: str) -> ToHost:
    """Return how a host is told a context at its start, or with the first prompt."""
    at_prompt = begins_at_prompt(name)
    wanted = "prompt" if at_prompt else "start"
    event = next(event for event, action in HOSTS[name].actions.items() if action == wanted)
    printed = form_of(name, event, text, note).decode()
    tokens = tokenizer().count(given_in(text)) if printed else 0
    when = f"{'with the first prompt' if at_prompt else 'when a session starts'} ({event})"
    given = HostText("What its hook prints", tokens, printed)
    return ToHost(HOSTS[name].name, is_connected(home, name), when, given)
