"""The view *next start*: to the letter what a starting agent would be told, and what each part of it costs."""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

from memtape.sinks.home.settings import local_settings
from memtape.state.views.context import Section
from memtape.tools.agents.hook_hosts import CONTEXT_TOKENS, HOSTS_OF_HOOKS, note_of
from memtape.tools.agents.turn import form_of
from memtape.tools.ask.context import FORMS, HEADINGS, FormName, ProjectContext
from memtape.tools.ask.tokens import tokenizer
from memtape.tools.client import Client
from memtape.tools.page.asked import Asked

LEAST_TOKENS, MOST_TOKENS = 100, 8_000


class Part(NamedTuple):
    """One section of a start: its heading, how many lines it has, how many were left out, and its tokens."""

    heading: str
    lines: int
    omitted: int
    tokens: int


class ToHost(NamedTuple):
    """How one host is told a start: at which event of its own, in how many characters, and to the byte."""

    name: str
    event: str
    at_prompt: bool
    characters: int
    answer: str


def start(client: Client, asked: Asked) -> dict[str, Any]:
    """Return the context of the next start in a budget and form. Nothing is put on the log."""
    budget = asked.number("budget", CONTEXT_TOKENS, LEAST_TOKENS, MOST_TOKENS)
    form: FormName = next((form for form in FORMS if form == asked.text("form")), "prompt")
    context = client.context(budget, form, as_of=asked.as_of)
    shows_notes = local_settings(client.home).shown
    note = note_of(len(context.ids), context.tokens) if shows_notes else ""
    return {
        "context": context,
        "budget": budget,
        "least": LEAST_TOKENS,
        "most": MOST_TOKENS,
        "usual": CONTEXT_TOKENS,
        "form": form,
        "forms": FORMS,
        "hosts": [to_host(name, context.text, note) for name in HOSTS_OF_HOOKS] if form == "prompt" else [],
        "parts_of": parts_of(context),
    }


def to_host(name: str, text: str, note: str) -> ToHost:
    """Return how a host is told a context at its start, or with the first prompt."""
    host = HOSTS_OF_HOOKS[name]
    wanted = "prompt" if host.begins_at_prompt else "start"
    event = next(event for event, action in host.actions.items() if action == wanted)
    answer = form_of(name, event, text, note).decode()
    return ToHost(name, event, host.begins_at_prompt, len(answer), answer)


def parts_of(context: ProjectContext) -> list[Part]:
    """Return what each section of a context costs: its lines as they are told, without the heading."""
    count = tokenizer().count
    parts = []
    for section in get_args(Section):
        items = [item for item in context.items if item.section == section]
        omitted = context.omitted.get(section, 0)
        if items or omitted:
            tokens = sum(count(item.text) for item in items)
            parts.append(Part(HEADINGS[section], len(items), omitted, tokens))
    told = sum(part.tokens for part in parts)
    parts.append(Part("Frame, headings, who and when", 0, 0, max(context.tokens - told, 0)))
    return parts
