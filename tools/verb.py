"""The shape of a verb: what it asks, what it answers, the function that does it, and how each door shows it.

A verb is a value. The doors (command line, Python client, MCP, HTTP, page) are made from these values, and know no
verb. The verbs themselves stand in `tools/verbs/`, and `tools/table.py` finds them. Nothing is done here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
import orjson
from msgspec import Meta, inspect

Effect = Literal["reads", "adds", "hides", "shows", "erases"]
"""The effect on memory: `adds` only adds; `hides` changes what is found, `shows` undoes that, `erases` is for good."""
Place = Literal["project", "home", "folder"]
"""What a command works on: a project with a speaker, the whole home, or the home's folder, which it opens itself."""
Output = Iterator[Any]
"""What a command yields: the document of `--json`, which ends there, then the lines for people."""

Id = Annotated[str, Meta(description="The id of a memory or turn, or its first eight characters.", max_length=64)]
Text = Annotated[str, Meta(max_length=1_000)]
Tags = Annotated[tuple[str, ...], Meta(max_length=64)]
Share = Annotated[float, Meta(ge=0, le=1)]


def said(help: str, most: int | None = None, **extra: Any) -> Meta:
    """Describe a field of at most so many characters or values. `extra` is what doors have to know of it.

    `option` is the name of its option, if another than its own. `argument` has a field with a default given as a
    word. `rare` shows it to agents only where every tool is listed; `people` hides it from agents, `inside`
    from the command line too. `path` is "file" for a file that exists, "new", or "any". `choices` are the values
    that it takes. `also` is a second name of its option. A `hidden` option is in no help. `metavar` and `envvar`
    are those of the option.
    """
    return Meta(description=help, max_length=most, extra=extra or None)


def rare(help: str, most: int | None = None, **extra: Any) -> Meta:
    """Describe a field that agents see only where every tool is listed."""
    return said(help, most, rare=True, **extra)


def people(help: str, most: int | None = None, **extra: Any) -> Meta:
    """Describe a field that no agent has."""
    return said(help, most, people=True, **extra)


def inside(help: str) -> Meta:
    """Describe a field that Python alone has."""
    return said(help, inside=True, people=True)


Reason = Annotated[Text | None, rare("Why, for whoever looks later.")]
Limit = Annotated[int, Meta(description="The most that are listed.", ge=1)]
AsOf = Annotated[
    str | None, people("Ask the past: a position as 3:120,7:45 (partition:offset), ISO 8601, or an age as 3d.")
]


class Asks(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a verb is asked with; anything else is refused. Fields without a default come first, as arguments."""


class IdAsks(Asks, frozen=True):
    id: Id


class ListAsks(Asks, frozen=True):
    limit: Limit = 10


class Offer(NamedTuple):
    """A verb offered to agents. One that is not `common` is listed only with all tools, but can be called.

    `tell` returns the answer in Markdown. `undo` is the tool that undoes it. `asks` is a narrower choice than the
    verb's.
    """

    name: str
    description: str
    tell: Callable[[Any, Any, Any], str] = lambda world, asked, answer: str(answer)
    idempotent: bool = True
    common: bool = True
    asks: type[Asks] | None = None
    undo: str = ""

    @property
    def title(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ").capitalize()


class Verb(NamedTuple):
    """A verb. `name` is the words of its command, and the option that selects it: `show --why`.

    A name that ends in ` -` is what the command does without words. `run` does the verb; `lines` shows the answer to
    people. A command that does more at a terminal (asks, reads stdin, exits with 1) has a walk of its own, `shell`.
    `listed` is the name of the answer in JSON where that is a list. `undo` is the command that undoes it. A verb
    `in_memory` also works in a process that keeps nothing (profile dev_no_persist). A tolerant one passes over words
    and options that it does not know, and over the name of an unknown profile.
    """

    name: str
    summary: str
    example: str
    asks: type[Asks]
    answers: Any
    run: Callable[[Any, Any], Any]
    lines: Callable[[Any, Any, Any], Iterable[str]] | None = None
    shell: Callable[[Any, Any], Output | None] | None = None
    effect: Effect = "reads"
    undo: str = ""
    tool: Offer | None = None
    at: Place = "project"
    in_memory: bool = False
    listed: str = ""
    details: str = ""
    is_tolerant: bool = False

    @property
    def command(self) -> str:
        """The words of its command."""
        return self.name.partition(" -")[0]

    @property
    def mode(self) -> str:
        """The option that selects it among the verbs of its command; `-` without words, empty for the first."""
        return self.name[len(self.command) + 1 :]


class Failure(NamedTuple):
    """A document of a command that exits with 1 after it."""

    document: Any


class VerbField(NamedTuple):
    """A field of what is asked: its type without marks, its help, its limits, and what doors have to know of it."""

    name: str
    kind: inspect.Type
    default: Any
    required: bool
    help: str
    extra: dict[str, Any]


@cache
def fields_of(asks: type[Asks]) -> tuple[VerbField, ...]:
    """Return the fields of what is asked, in their order, as Python takes them by position."""
    described = inspect.type_info(asks)
    assert isinstance(described, inspect.StructType)
    found, hints = [], get_type_hints(asks, include_extras=True)
    for field in described.fields:
        kind, extra, help = field.type, dict[str, Any](), ""
        if choices := _choices_of(hints[field.name]):
            extra["choices"] = choices
        while isinstance(kind, inspect.Metadata):
            extra |= kind.extra or {}
            help, kind = (kind.extra_json_schema or {}).get("description", help), kind.type
        found.append(VerbField(field.name, kind, field.default, field.required, help, extra))
    return tuple(found)


def _choices_of(kind: Any) -> tuple[Any, ...]:
    """Return the values of a literal type in the order in which they are written; msgspec sorts them."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return next(filter(None, map(_choices_of, get_args(kind))), ())


def document(verb: Verb, answer: Any) -> Any:
    """Return an answer as the document that `--json` and HTTP give."""
    return {verb.listed: answer} if verb.listed else answer


def answers_of(verb: Verb) -> Any:
    """Return the type of a verb's document; `answers` may be a dotted name, or several, of what is loaded late."""
    named = verb.answers.split(" | ") if isinstance(verb.answers, str) else []
    kinds = [_loaded(name) for name in named] or [verb.answers]
    kind: Any = Union[tuple(kinds)]  # noqa: UP007
    if not verb.listed or kind is dict:
        return kind
    return msgspec.defstruct(f"{kinds[0].__name__}List", [(verb.listed, list[kind])])


def _loaded(name: str) -> Any:
    module, _, kind = name.rpartition(".")
    room = "memtape" if module.startswith(("schemas.", "state.")) else "memtape.tools"
    return getattr(import_module(f"{room}.{module}"), kind)


def encoded(value: Any, *, indent: bool = False) -> bytes:
    """Return a document as JSON, with a line end."""
    form = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indent else 0)
    return orjson.dumps(value, default=_plain, option=form)


def _plain(value: Any) -> Any:
    """Return a value of one of our types as the parts of its JSON."""
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, msgspec.Struct) and not value.__struct_config__.tag:
        names = value.__struct_encode_fields__
        parts = {told: getattr(value, name) for told, name in zip(names, value.__struct_fields__, strict=True)}
        if value.__struct_config__.omit_defaults:
            defaults = dict(zip(reversed(names), reversed(value.__struct_defaults__), strict=False))
            # As msgspec leaves them out: a number that was reckoned is told, whatever it came to.
            parts = {key: it for key, it in parts.items() if key not in defaults or it is not defaults[key]}
        return parts
    if isinstance(value, Mapping):
        return dict(value)
    return msgspec.to_builtins(value, str_keys=True)
