"""Writes the parts of `docs/` that follow from the code: commands, settings, client, metrics (`make docs`).

A part stands between two marks of its page. People write the rest, and nothing here changes it.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import msgspec

from memtape.schemas.model import StepOptions
from memtape.schemas.settings import Settings
from memtape.sinks.home.settings import LocalSettings
from memtape.tools.capture.writing import WriterOptions
from memtape.tools.client import Client
from memtape.tools.doors.cli import LONGEST_CHARS, main
from memtape.tools.keep.log_settings import KEYS
from memtape.tools.measure.metrics import METRICS
from memtape.tools.table import METHODS, TITLES, VERBS
from memtape.tools.verb import FOR_PROGRAMS, Verb, python_fields

DOCS = Path(__file__).resolve().parent.parent / "docs"
BEGIN = "<!-- written by `make docs` from here -->\n"
END = "<!-- until here -->\n"
COMMON = {"scope", "actor", "origin", "session", "home", "as_json", "profile", "log_format", "log_level"}
"""The options that many commands have; the page describes them once."""
LONG_ID = re.compile(r"(?<=[0-9a-f]{8}-[0-9a-f]{4})(-[0-9a-f]{4}){2}-[0-9a-f]{12}")
"""The part of an id that an example can do without."""
LONGEST_DEFAULT = 12
"""A default of more characters is not shown."""


def commands() -> str:
    """Return the commands in their groups: an example, the summary, and the command's own options."""
    lines: list[str] = []
    for group, names in TITLES.items():
        lines += [
            f"**{group}**",
            "",
            *(line for name in names for line in _lines(name, _command(main, name))),
            "",
        ]
    return "\n".join(lines)


def _lines(name: str, command: click.Command) -> Iterator[str]:
    if isinstance(command, click.Group):
        for word in command.list_commands(click.Context(command)):
            yield from _lines(f"{name} {word}", _command(command, word))
        return
    found = re.search(rf"^ *(memtape {name}\b.*)$", command.help or "", re.MULTILINE)
    example = LONG_ID.sub("", found[1] if found else f"memtape {name}")
    options = [it for it in command.params if isinstance(it, click.Option) and not _common(it)]
    own = ", ".join(f"`{option.opts[-1]}`" for option in options)
    yield f"- `{example}`: {command.get_short_help_str(LONGEST_CHARS)}" + (f" {own}" if own else "")


def _command(group: click.Group, name: str) -> click.Command:
    found = group.get_command(click.Context(group), name)
    assert found is not None
    return found


def _common(option: click.Option) -> bool:
    """Whether many commands have the option. Some commands have a `--session` with a meaning of its own."""
    return option.name in COMMON and (option.name != "session" or bool(option.envvar))


def client() -> str:
    """Return the client, then its methods in the groups of the commands, with their arguments."""
    by_hand = (Client, Client.add, Client.capture_many, Client.project, Client.erase, Client.close)
    parts = [_described(method, method.__name__) for method in by_hand]
    for group, names in TITLES.items():
        own = {method: name for method, name in METHODS.items() if name.partition(" ")[0] in names}
        told = [_method(method, VERBS[name]) for method, name in own.items()]
        parts += [f"## {group.partition(',')[0]}", *told] if told else []
    return "\n\n".join(parts) + "\n"


def _method(name: str, verb: Verb) -> str:
    """Return a method made from the table: its arguments, and what the help of its command does not say."""
    fields = python_fields(verb.asks).values()
    shown = [field.name if field.required else f"{field.name}={_default(field.default)}" for field in fields]
    paragraphs = (" ".join(it.split()) for it in inspect.cleandoc(verb.run.__doc__ or "").split("\n\n"))
    for_programs = (it for it in paragraphs if it.startswith(FOR_PROGRAMS))
    about = " ".join([verb.doc.summary, *for_programs])
    told = [f"- `{it.name}`: {it.help}" for it in fields if it.extra.get("inside")]
    result = verb.run.__annotations__["return"]
    signature = f"**`{name}({', '.join(shown)}) -> {result}`**"
    return "\n\n".join(filter(None, (signature, about, "\n".join(told))))


def _default(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= LONGEST_DEFAULT else "…"


def _described(what: Any, name: str) -> str:
    return f"**`{name}{_signature(what)}`**\n\n{inspect.getdoc(what)}"


def _signature(method: Callable[..., Any]) -> str:
    """Return the parameters and the result of a method, without `self` and with what two stars stand for."""
    shown: list[str] = []
    signature = inspect.signature(method)
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD and parameter.annotation == "Unpack[WriterOptions]":
            shown += [f"{name}=…" for name in WriterOptions.__annotations__]
        elif parameter.kind is parameter.VAR_KEYWORD:
            shown.append(f"**{parameter.name}")
        elif parameter.name != "self":
            shown += ["*"] if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown else []
            is_needed = parameter.default is parameter.empty
            shown.append(parameter.name if is_needed else f"{parameter.name}={_default(parameter.default)}")
    result = "" if isinstance(method, type) else f" -> {signature.return_annotation}"
    return f"({', '.join(shown)}){result}"


def sample_names() -> dict[str, str]:
    """Return the metric of each exposed kind of sample, by the kind's name."""
    endings = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_count", "_sum")}
    return {name + ending: name for name, metric in METRICS.items() for ending in endings[metric.kind]}


def metrics() -> str:
    """Return the table of metrics."""
    names: dict[str, str] = {}
    for sample, metric in sample_names().items():
        names.setdefault(metric, sample.removesuffix("_bucket"))
    rows = ["| metric | kind | labels | from | what it says |", "| --- | --- | --- | --- | --- |"]
    for name, its in METRICS.items():
        labels = ", ".join(f"`{label}`" for label in its.labels)
        rows.append(f"| `{names[name]}` | {its.kind} | {labels} | {its.source} | {its.help} |")
    return "\n".join(rows) + "\n"


def settings() -> str:
    """Return the table of `settings.toml`."""
    return _table(_settings(LocalSettings))


def settings_of_aging() -> str:
    """Return the table of the log's settings by which texts age."""
    return _table((key, default, about) for key, default, about in _settings(Settings) if key in KEYS)


def _settings(struct: type[msgspec.Struct], before: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the key, the default and the text of each setting, those of tables under `table.key`."""
    (made,) = ast.parse(inspect.getsource(struct)).body
    assert isinstance(made, ast.ClassDef)
    about = {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairwise(made.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }
    for field in msgspec.structs.fields(struct):
        key = before + field.name
        if isinstance(field.default, StepOptions):
            yield f"{key}.model", '`""`', about[field.name]
            yield f"{key}.command", '`""`', "Or a command for that."
        elif isinstance(field.default, msgspec.Struct):
            yield from _settings(type(field.default), f"{key}.")
        elif field.default is not msgspec.NODEFAULT:
            default = "none" if field.default is None else f"`{msgspec.json.encode(field.default).decode()}`"
            yield key, default, about[field.name]


def _table(rows: Iterable[tuple[str, str, str]]) -> str:
    head = ["| key | default | what it does |", "| --- | --- | --- |"]
    return "\n".join([*head, *(f"| `{key}` | {default} | {about} |" for key, default, about in rows)]) + "\n"


PARTS: dict[str, tuple[Callable[[], str], ...]] = {
    "cli.md": (settings, settings_of_aging, commands),
    "python.md": (client,),
    "operations.md": (metrics,),
}
"""The written parts of each page, in the order of the page."""


def page(name: str) -> str:
    """Return the text of a page with its parts as the code has them now."""
    made, *rest = (DOCS / name).read_text().split(BEGIN)
    for part, after in zip(PARTS[name], rest, strict=True):
        made += BEGIN + part() + END + after.partition(END)[2]
    return made


if __name__ == "__main__":
    for name in PARTS:
        (DOCS / name).write_text(page(name))
        print(DOCS / name)
