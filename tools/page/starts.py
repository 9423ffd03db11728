"""The view of the next start: what agents are told, host by host, with its tokens."""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

import orjson

from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.state.views.context import Section
from memtape.tools.agents.connecting import is_connected
from memtape.tools.agents.hosts import CONTEXT_TOKENS, HOSTS, note_of
from memtape.tools.agents.mcp.server import INSTRUCTIONS
from memtape.tools.agents.plugins import instructions
from memtape.tools.agents.turn import form_of, given_in
from memtape.tools.client import Client
from memtape.tools.doors.mcp import call, every_tool, schema_of
from memtape.tools.page.asked import PageQuery
from memtape.tools.query.context import HEADINGS, ProjectContext
from memtape.tools.query.telling import tokenizer
from memtape.tools.table import VERBS
from memtape.tools.verb import fields_of

HOOKLESS = "Any other host"
LEAST_TOKENS, MOST_TOKENS = 100, 8_000


class HostText(NamedTuple):
    """A text given to a host: its title, its length in tokens of the host's model, and the whole text.

    Of a context: the host's name, whether the host is connected here, and when its agent is given the text.
    """

    title: str
    tokens: int
    text: str
    host: str = ""
    is_connected: bool = False
    when: str = ""


def start(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the context of the next start in a budget and form. Nothing is put on the log."""
    budget, verb = asked.number("budget", CONTEXT_TOKENS, LEAST_TOKENS, MOST_TOKENS), VERBS["context"]
    (form,) = (field for field in fields_of(verb.asks) if field.name == "form")
    about = asked.ask(verb, [form], budget_tokens=budget, as_of=asked.as_of)
    context, count = verb.answer(client, about), tokenizer().count
    parts = list[tuple[str, int, int, int]]()
    for section in get_args(Section):
        items = [item for item in context.items if item.section == section]
        if items or section in context.omitted:
            tokens = sum(count(item.text) for item in items)
            parts.append((HEADINGS[section], len(items), context.omitted.get(section, 0), tokens))
    rest = max(context.tokens - sum(tokens for *_, tokens in parts), 0)
    tells_hosts = about.form == "prompt" and not asked.at
    return {
        "context": context,
        "budget": budget,
        "least": LEAST_TOKENS,
        "most": MOST_TOKENS,
        "usual": CONTEXT_TOKENS,
        "form": form,
        "hosts": to_hosts(client, context, budget if asked.text("budget") else None) if tells_hosts else [],
        "beside": beside(client.home),
        "parts_of": [*parts, ("Frame, headings, who and when", 0, 0, rest)],
    }


def to_hosts(client: Client, context: ProjectContext, budget: int | None) -> list[HostText]:
    """Return the texts of each connectable host, connected hosts first, and of any other host last.

    A host is told a context at its start, or with the first prompt. `budget` is the caller's number of
    tokens, by default the tool's own.
    """
    count, told = tokenizer().count, list[HostText]()
    note = note_of(len(context.ids), context.tokens) if local_settings(client.home).shown else ""
    for name, host in HOSTS.items():
        at_prompt = HOSTS[name].begins_at_prompt
        wanted = "prompt" if at_prompt else "start"
        event = next(event for event, action in HOSTS[name].hooks.items() if action == wanted)
        printed = form_of(name, event, context.text, note).decode()
        tokens = count(given_in(context.text)) if printed else 0
        when = f"{'with the first prompt' if at_prompt else 'when a session starts'} ({event})"
        is_here = is_connected(client.home, name)
        told.append(HostText("What its hook prints", tokens, printed, host.name, is_here, when))
    told.sort(key=lambda given: not given.is_connected)
    asked = call(client, "get_context", {} if budget is None else {"budget_tokens": budget})
    return [*told, HostText("get_context", count(asked), asked, HOOKLESS, when="when its agent asks")]


def beside(home: Home) -> list[HostText]:
    """Return the text given besides to hosts with Memtape's server: the server's instructions, its tools.

    Of a tool the name, the description and the schema of its arguments count, which hosts put before their
    models.
    """
    count = tokenizer().count
    every = local_settings(home).every_tool
    tools = [
        {"name": name, "description": tool.offer.description, "inputSchema": schema_of(tool, rare=every)}
        for name, tool in every_tool().items()
        if every or tool.offer.common
    ]
    listed = "\n".join(orjson.dumps(tool).decode() for tool in tools)
    block = instructions()
    return [
        HostText("Instructions of the server", count(INSTRUCTIONS), INSTRUCTIONS),
        HostText(f"{len(tools)} tools", count(listed), listed),
        HostText("The block for AGENTS.md, where somebody has put it there", count(block), block),
    ]
