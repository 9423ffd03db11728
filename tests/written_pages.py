"""Writes the parts of `docs/` that follow from the code: commands, Python client, metrics (`make docs`).

A part stands between two marks of its page. People write the rest, and nothing here changes it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from memtape.tools.capture.writing import WriterOptions
from memtape.tools.client import Client
from memtape.tools.doors.cli import LONGEST_CHARS, main
from memtape.tools.measure.metrics import METRICS
from memtape.tools.table import METHODS, TITLES, VERBS
from memtape.tools.verb import Verb, fields_of

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
    by_hand = (Client, Client.capture, Client.capture_many, Client.project, Client.erase, Client.close)
    parts = [_described(method, method.__name__) for method in by_hand]
    for group, names in TITLES.items():
        own = {method: name for method, name in METHODS.items() if name.partition(" ")[0] in names}
        told = [_method(method, VERBS[name]) for method, name in own.items()]
        parts += [f"## {group.partition(',')[0]}", *told] if told else []
    return "\n\n".join(parts) + "\n"


def _method(name: str, verb: Verb) -> str:
    """Return a method made from the table: its arguments, and what the help of its command does not say."""
    fields = fields_of(verb.asks)
    shown = [field.name if field.required else f"{field.name}={_default(field.default)}" for field in fields]
    about = " ".join([verb.summary, *verb.for_programs])
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


PARTS: dict[str, Callable[[], str]] = {"cli.md": commands, "python.md": client, "metrics.md": metrics}
"""The written part of each page."""


def page(name: str) -> str:
    """Return the text of a page with its part as the code has it now."""
    before, _, rest = (DOCS / name).read_text().partition(BEGIN)
    return before + BEGIN + PARTS[name]() + END + rest.partition(END)[2]


if __name__ == "__main__":
    for name in PARTS:
        (DOCS / name).write_text(page(name))
        print(DOCS / name)
