"""The tools of agents, made from the table of verbs: their schemas, their calls, and answers in Markdown.

An agent can do only what a verb offers it: no tool erases, settles, configures or names a scope. The protocol
is not here, and no verb is named.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, partial
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.scopes import GLOBAL
from memtape.tools.query.telling import redacted
from memtape.tools.table import TOOLS, VERBS
from memtape.tools.verb import Asks, Offer, Verb, VerbField, fields_of
from memtape.tools.world import World

MAX_RESULTS = 20
_NULL = {"type": "null"}
_SHOWN = ("type", "description", "enum", "items", "properties", "required")
"""The keys of a schema that hosts are told, in their order."""


class Tool(NamedTuple):
    """A tool for agents: its verb, the verb's offer, and the type of its arguments."""

    verb: Verb
    offer: Offer
    asks: type[Asks]

    def fields(self) -> list[VerbField]:
        """Return the arguments that agents have."""
        return [field for field in fields_of(self.asks) if not field.extra.get("people")]


@cache
def tool_of(name: str) -> Tool:
    """Return a tool by its name. Raises `MemtapeError` for an unknown one."""
    if name not in TOOLS:
        raise MemtapeError(f"There is no tool {name[:100]!r}.", f"There are {', '.join(TOOLS)}.")
    verb = VERBS[TOOLS[name]]
    assert verb.tool is not None
    return Tool(verb, verb.tool, verb.tool.asks or verb.asks)


def every_tool() -> dict[str, Tool]:
    """Return all tools by name."""
    return {name: tool_of(name) for name in TOOLS}


def schema_of(tool: Tool, *, rare: bool = True) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments for hosts: with the `rare` ones, or without.

    A host puts the schemas of all tools before its model at every turn, so they have only the needs of a good
    call. A call is checked against the type.
    """
    _, components = msgspec.json.schema_components((tool.asks,), ref_template="#/{name}")
    schema = _told(components[tool.asks.__name__])
    schema.pop("description", None)
    shown = {field.name for field in tool.fields() if rare or not field.extra.get("rare")}
    schema["properties"] = {it: told for it, told in schema.get("properties", {}).items() if it in shown}
    return schema


def _told(schema: dict[str, Any]) -> dict[str, Any]:
    """Return what hosts are told of a schema; a list of values also has the type string, required by some."""
    if "anyOf" in schema:  # Of what may be null the other is told; who means null leaves it out.
        (other,) = (each for each in schema["anyOf"] if each != _NULL)
        schema = {**other, **schema}
    told = {key: schema[key] for key in _SHOWN if key in schema}
    if "items" in told:
        told["items"] = _told(told["items"])
    if "properties" in told:
        told["properties"] = {name: _told(each) for name, each in told["properties"].items()}
    return {"type": "string", **told} if "enum" in told else told


def call(world: World, name: str, arguments: dict[str, Any]) -> str:
    """Run a tool by name, listed or not, and return its Markdown.

    Raises `MemtapeError` with a sentence for errors the agent can act on.
    """
    tool, world.door = tool_of(name), "mcp"
    asked = _asked(name, tool, arguments)
    before = Counter(world.redactor.counts)
    try:
        if tool.verb.effect != "reads" and hasattr(asked, "id"):
            _hold_global(world, asked.id)
        asked, note = _bounded(tool, asked)
        tell = tool.offer.tell or partial(_lines, tool)
        told = note + tell(world, asked, tool.verb.answer(world, asked))
    except MemtapeError as error:
        error.hint = _for_agents(error)
        raise
    taken_out = redacted(world.redactor.counts - before)
    return told if taken_out in told else f"{taken_out}\n\n{told}"  # The lines of some verbs say so too.


def _lines(tool: Tool, world: World, asked: Any, answer: Any) -> str:
    """Return the lines for people; a next step names an agent's tool."""
    said, steps = list[str](), list[str]()
    assert tool.verb.lines is not None
    for it in tool.verb.lines(world, asked, answer):
        if isinstance(it, str):
            said.append(it)
        else:
            own = next((name for name, verb in TOOLS.items() if verb == it.verb), "")
            steps.append(f"{it.what}: {own} `{it.words}`" if own else f"For the user: {it}")
    return "\n".join((*said, *steps))


def _asked(name: str, tool: Tool, arguments: dict[str, Any]) -> Any:
    """Return what a tool is asked. Raises `MemtapeError` for arguments that it does not take."""
    fields = {field.name: field for field in tool.fields()}
    takes = f"It takes {', '.join(fields) or 'nothing'}."
    if unknown := next((given for given in arguments if given not in fields), None):
        raise MemtapeError(f"{name} was called wrongly: it has no argument {unknown[:60]!r}.", takes)
    try:
        return msgspec.convert(arguments, tool.asks, strict=False)
    except msgspec.ValidationError as error:
        found = re.search(r"`\$\.(\w+)", str(error))
        field = fields.get(found[1]) if found else None
        hint = "Look at the tool's schema." if found else takes
        if field is not None and (values := field.extra.get("choices")):
            hint = f"{field.name} takes {', '.join(values)}."
        raise MemtapeError(f"{name} was called wrongly: {error}.", hint) from None


def _bounded(tool: Tool, asked: Any) -> tuple[Any, str]:
    """Return what is asked with numbers within an agent's bounds, and a note where one asked for more."""
    note = ""
    for field in tool.fields():
        most = MAX_RESULTS if field.name == "limit" else field.extra.get("agents_most")
        if most is not None and (given := getattr(asked, field.name)) > most:
            note += f"At most {most:,} are given; {given:,} were asked for.\n\n"
            asked = replace(asked, **{field.name: most})
    return asked, note


def _for_agents(error: MemtapeError) -> str:
    """Return an error's next step for an agent; steps for people are marked as the user's."""
    if "`memtape " not in error.hint and "--" not in error.hint:
        return error.hint
    if "--origin" in error.hint:  # An agent that could say so would speak for a person.
        return "The user can change that; add_memory adds what you know beside it."
    if isinstance(error, NotFound):
        return "search_memories shows ids of this project, and in its last line the id of the recall."
    return f"For the user: {error.hint}"


def _hold_global(world: World, id: str) -> None:
    """Refuse changes of `global`, which agents read and only operators write."""
    if world.folded(id)[1].name == GLOBAL:
        told = f"{id} belongs to global, which only an operator changes."
        raise MemtapeError(told, "Ask the user to do it with `memtape`.")
