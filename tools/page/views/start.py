"""The view *next start*: the exact context of a starting agent, and the cost of each part."""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

from memtape.state.views.context import Section
from memtape.tools.agents.hosts import CONTEXT_TOKENS
from memtape.tools.ask.context import FORMS, HEADINGS, FormName, ProjectContext
from memtape.tools.ask.measuring import tokenizer
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery
from memtape.tools.page.views.hosts import beside, to_hosts

LEAST_TOKENS, MOST_TOKENS = 100, 8_000


class StartSection(NamedTuple):
    """A section of a start: its heading, its numbers of lines, omitted lines and tokens."""

    heading: str
    lines: int
    omitted: int
    tokens: int


def start(client: Client, asked: PageQuery) -> dict[str, Any]:
    """Return the context of the next start in a budget and form. Nothing is put on the log."""
    budget = asked.number("budget", CONTEXT_TOKENS, LEAST_TOKENS, MOST_TOKENS)
    form: FormName = next((form for form in FORMS if form == asked.text("form")), "prompt")
    context = client.context(budget, form, as_of=asked.as_of)
    tells_hosts = form == "prompt" and not asked.at
    return {
        "context": context,
        "budget": budget,
        "least": LEAST_TOKENS,
        "most": MOST_TOKENS,
        "usual": CONTEXT_TOKENS,
        "form": form,
        "forms": FORMS,
        "hosts": to_hosts(client, context, budget if asked.text("budget") else None) if tells_hosts else [],
        "beside": beside(client.home),
        "parts_of": parts_of(context),
    }


def parts_of(context: ProjectContext) -> list[StartSection]:
    """Return the cost of each section of a context: its lines as printed, without the heading."""
    count = tokenizer().count
    parts = []
    for section in get_args(Section):
        items = [item for item in context.items if item.section == section]
        omitted = context.omitted.get(section, 0)
        if items or omitted:
            tokens = sum(count(item.text) for item in items)
            parts.append(StartSection(HEADINGS[section], len(items), omitted, tokens))
    told = sum(part.tokens for part in parts)
    parts.append(StartSection("Frame, headings, who and when", 0, 0, max(context.tokens - told, 0)))
    return parts
