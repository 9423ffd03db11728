"""The shape of a verb: what it asks, what it answers, the function that does it, and how each door shows it.

A verb is a value. The doors (command line, Python client, MCP, HTTP, page) are made from these values, and
know no verb. The verbs stand in `tools/verbs/`, and `tools/table.py` finds them. Nothing is done here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from inspect import cleandoc, signature
from textwrap import dedent
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
import orjson
from msgspec import Meta, inspect

from memtape.schemas.ids import ID_CHARS, short_id

Effect = Literal["reads", "adds", "hides", "shows", "erases"]
"""The effect on memory: `hides` changes what is found, `shows` undoes that, `erases` is for good."""
Place = Literal["project", "home", "folder"]
"""What a command works on: a project with a speaker, the whole home, or the folder, which it opens."""
Output = Iterator[Any]
"""What a command yields: the document of `--json`, which ends there, then the lines for people."""
Lines = Iterable["str | Step"]
"""An answer for people and agents: lines, and next steps."""

Text = Annotated[str, Meta(max_length=1_000)]
Tags = Annotated[tuple[str, ...], Meta(max_length=64)]
Share = Annotated[float, Meta(ge=0, le=1)]


def said(help: str, most: int | None = None, **extra: Any) -> Meta:
    """Describe a field of at most so many characters or values. `extra` is what doors have to know of it.

    `option` is the name of its option, if another than its own. `argument` has a field with a default given
    as a word, and a `joined` one takes all words that are left. `rare` shows it to agents only where every
    tool is listed; `people` hides it from agents, `inside` from the command line too, and `terminal` from
    Python too. `path` is "file" for a file that exists, "new", or "any". `choices` are its values. `of` is
    what its ids name: capture, conflict, rule. A `hidden` option is in no help. `metavar` and `envvar` are
    those of the option. A field for a `time` is given to Python as a `datetime` too.
    """
    return Meta(description=help, max_length=most, extra=extra or None)


rare = partial(said, rare=True)
"""Describes a field that agents see only where every tool is listed."""
people = partial(said, people=True)
"""Describes a field that no agent has."""
inside = partial(said, inside=True, people=True)
"""Describes a field that Python alone has."""
terminal = partial(said, terminal=True, people=True)
"""Describes a field that the command line alone has."""

Id = Annotated[str, said("The id, or its last eight characters.", 64, of="capture")]
Reason = Annotated[Text | None, rare("Why, for whoever looks later.")]
Limit = Annotated[int, Meta(description="At most so many.", ge=1)]
AsOf = Annotated[
    str | None,
    people(
        "Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.", time=True
    ),
]


class Asks(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a verb is asked; anything else is refused. Fields without a default come first, as words."""


class Step(NamedTuple):
    """A next step after an answer: its purpose, a verb and its words. Each door names the verb as it does.

    A command shows the ids among the words cut.
    """

    what: str
    verb: str
    words: str

    def __str__(self) -> str:
        words = (short_id(word) if len(word) == ID_CHARS else word for word in self.words.split(" "))
        return f"{self.what}: memtape {self.verb} {' '.join(words)}"


class Offer(NamedTuple):
    """A verb offered to agents. One that is not `common` is listed only with all tools, but can be called.

    `tell` returns the answer in Markdown. Without it an agent is told the lines for people, which hold no
    words of others then. `asks` narrows the verb's.
    """

    description: str
    tell: Callable[[Any, Any, Any], str] | None = None
    idempotent: bool = True
    common: bool = True
    asks: type[Asks] | None = None


FOR_PROGRAMS = ("Returns ", "Raises ")
"""So a paragraph of a verb's docstring begins that no help shows."""
ON_DISK = (
    *("admin", "archive", "demo", "erase", "export", "import", "page", "project", "rebuild", "run", "verify"),
    *("agents connect", "agents disconnect", "agents pause", "agents resume"),
)
"""The commands that need files; the others also work where nothing is kept (profile dev_no_persist)."""


class Help(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The help of a command or a group: a sentence or two, commands as an example, and paragraphs."""

    summary: str
    example: str
    details: str = ""

    @property
    def text(self) -> str:
        """The whole help; click does not wrap the example."""
        lines = "\n".join(f"  {line}" for line in self.example.split("\n"))
        return "\n\n".join(filter(None, (self.summary, self.details, f"\b\nExample:\n{lines}")))


class Verb(NamedTuple):
    """A verb. `name` is the words of its command, and the option that selects it: `show --why`.

    A name that ends in ` -` is what the command does without words. `run` does the verb: its parameters after
    the first are what is asked, and its docstring is the help. `lines` shows the answer to people. A command
    that does more at a terminal (asks, reads stdin, exits with 1) has a walk of its own: `shell`, or `run` if
    no program calls that. `listed` is the name of the answer in JSON where that is a list or one value;
    `answers` is the type of the document where `run` does not name it. A tolerant verb passes over words and
    options that it does not know, and over the name of an unknown profile. `undo` is the verb that undoes it
    for the same ids; `label` is its button, where the client's name of it does not say it.
    """

    name: str
    run: Callable[..., Any]
    lines: Callable[[Any, Any, Any], Lines] | None = None
    shell: Callable[[Any, Any], Any] | None = None
    effect: Effect = "reads"
    tool: Offer | None = None
    at: Place = "project"
    listed: str = ""
    answers: Any = None
    is_tolerant: bool = False
    undo: str = ""
    label: str = ""

    @property
    def command(self) -> str:
        """The words of its command."""
        return self.name.partition(" -")[0]

    @property
    def mode(self) -> str:
        """The option that selects the verb in a command; `-` without words, empty for the main verb."""
        _, dash, option = self.name.partition(" -")
        return dash.strip() + option

    @property
    def in_memory(self) -> bool:
        """Whether the verb also works where nothing is kept."""
        return not f"{self.name} ".startswith(tuple(f"{words} " for words in ON_DISK))

    @property
    def asks(self) -> type[Asks]:
        """The struct of what is asked."""
        return _asks_of(self.run)

    @property
    def doc(self) -> Help:
        """The parts of the docstring; a command's first verb has the examples of all its options."""
        summary, *rest = cleandoc(self.run.__doc__ or "").split("\n\n")
        example = "" if self.mode else dedent(rest.pop(0))
        told = (" ".join(paragraph.split()) for paragraph in rest if not paragraph.startswith(FOR_PROGRAMS))
        return Help(" ".join(summary.split()), example, "\n\n".join(told))

    def answer(self, world: Any, asked: Asks) -> Any:
        """Do the verb as it is asked."""
        if "asked" in self.run.__annotations__:
            return self.run(world, asked)
        names = set(self.asks.__struct_fields__).intersection(asked.__struct_fields__)
        return self.run(world, **{name: getattr(asked, name) for name in names})


@cache
def _asks_of(run: Callable[..., Any]) -> type[Asks]:
    """Return the struct of the parameters of a verb's function, or the struct that is its only one."""
    _, *given = signature(run).parameters.values()
    if [it.name for it in given] == ["asked"]:
        return run.__globals__[given[0].annotation]  # type: ignore[no-any-return]
    fields = [(it.name, it.annotation, *([] if it.default is it.empty else [it.default])) for it in given]
    name = run.__name__.title().replace("_", "") + "Asks"
    return msgspec.defstruct(name, fields, bases=(Asks,), module=run.__module__)  # type: ignore[return-value]


class Failure(NamedTuple):
    """A document of a command that exits with 1 after it."""

    document: Any


class VerbField(NamedTuple):
    """A field of a verb's question: type without marks, help, and the marks for doors.

    `one` is the name of one value of it: `tag` for `tags`. A field of the command line `is_word`, or has an
    `option`; one that Python alone has is and has neither. `metavar` stands for it in a line of usage.
    """

    name: str
    kind: inspect.Type
    default: Any
    required: bool
    help: str
    extra: dict[str, Any]
    has_many: bool
    is_flag: bool
    one: str
    is_word: bool
    option: str
    metavar: str


def python_fields(asks: type[Asks]) -> dict[str, VerbField]:
    """Return the fields that Python has, by name, in the order of a call."""
    return {field.name: field for field in fields_of(asks) if not field.extra.get("terminal")}


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
        has_many, is_flag = isinstance(kind, inspect.VarTupleType), isinstance(kind, inspect.BoolType)
        one = field.name.removesuffix("s") if has_many else field.name
        is_inside = extra.get("inside", False)
        is_word = not is_inside and extra.get("argument", field.required and "option" not in extra)
        option = "" if is_inside or is_word else extra.get("option") or "--" + one.replace("_", "-")
        values = f"{{{'|'.join(extra['choices'])}}}" if "choices" in extra else one.upper()
        own = (field.name, kind, field.default, field.required, help, extra)
        metavar = str(extra.get("metavar") or values)
        found.append(VerbField(*own, has_many, is_flag, one, is_word, option, metavar))
    return tuple(found)


def _choices_of(kind: Any) -> tuple[Any, ...]:
    """Return the values of a literal type in the order in which they are written; msgspec sorts them."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return next(filter(None, map(_choices_of, get_args(kind))), ())


def document(verb: Verb, answer: Any) -> Any:
    """Return an answer as the document that `--json` and HTTP give."""
    return {verb.listed: answer} if verb.listed else answer


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
        own = zip(names, value.__struct_fields__, strict=True)
        parts = {told: getattr(value, name) for told, name in own}
        if value.__struct_config__.omit_defaults:
            defaults = dict(zip(reversed(names), reversed(value.__struct_defaults__), strict=False))
            # As msgspec leaves them out: a number that was reckoned is told, whatever it came to.
            parts = {key: it for key, it in parts.items() if key not in defaults or it is not defaults[key]}
        return parts
    if isinstance(value, Mapping):
        return dict(value)
    return msgspec.to_builtins(value, str_keys=True)
