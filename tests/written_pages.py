"""Writes the parts of `docs/` that follow from the code: the commands, the Python client, the metrics (`make docs`).

A part stands between two marks of its page. People write the rest of a page, and nothing here changes the rest.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from memtape.schemas.metrics import METRICS, sample_names
from memtape.tools.ask.archived import Projects
from memtape.tools.ask.asking import SearchOptions
from memtape.tools.ask.tree import Tree
from memtape.tools.capture.writing import WriterOptions
from memtape.tools.client import Client
from memtape.tools.commands.cli import LONGEST_CHARS, main
from memtape.tools.former_verbs import OPTIONS as OPTION_VERBS
from memtape.tools.former_verbs import TITLES, VERBS

DOCS = Path(__file__).resolve().parent.parent / "docs"
BEGIN = "<!-- written by `make docs` from here -->\n"
END = "<!-- until here -->\n"
COMMON = {"scope", "actor", "origin", "session", "home", "as_json", "profile", "log_format", "log_level"}
"""The options that many commands have; the page describes them once."""
LONG_ID = re.compile(r"(?<=[0-9a-f]{8}-[0-9a-f]{4})(-[0-9a-f]{4}){2}-[0-9a-f]{12}")
"""The part of an id that an example can do without."""
OTHERS = {
    "capture": ("capture_many",),
    "show": ("whole",),
    "sessions": ("session_turns",),
    "edges": ("edge_candidates",),
    "settle": ("proposals", "accept", "decline"),
    "admin lifecycle": ("age",),
    "erase": ("erase",),
    "forget": ("hidden",),
}
"""Methods of the client that stand beside a verb's own method."""
LONGEST_DEFAULT = 12
"""A default of more characters is not shown."""
PARTS_OF_CLIENT = {"projects": Projects, "tree": Tree}
OPTIONS = {"Unpack[SearchOptions]": SearchOptions, "Unpack[WriterOptions]": WriterOptions}
"""The keywords that a method takes under a name with two stars, by the name's annotation."""


def commands() -> str:
    """Return the commands in their groups: an example, the summary, and the command's own options."""
    lines: list[str] = []
    for group, names in TITLES.items():
        lines += [f"**{group}**", "", *(line for name in names for line in _lines(name, main.commands[name])), ""]
    return "\n".join(lines)


def _lines(name: str, command: click.Command) -> Iterator[str]:
    if isinstance(command, click.Group):
        for word, inner in command.commands.items():
            yield from _lines(f"{name} {word}", inner)
        return
    found = re.search(rf"^ *(memtape {name}\b.*)$", command.help or "", re.MULTILINE)
    example = LONG_ID.sub("", found[1] if found else f"memtape {name}")
    own = [
        f"`{option.opts[-1]}`" for option in command.params if isinstance(option, click.Option) and not _common(option)
    ]
    yield f"- `{example}`: {command.get_short_help_str(LONGEST_CHARS)}" + (f" {', '.join(own)}" if own else "")


def _common(option: click.Option) -> bool:
    """Whether the option is one that many commands have. Some commands have a `--session` with a meaning of its own."""
    return option.name in COMMON and (option.name != "session" or bool(option.envvar))


def client() -> str:
    """Return the client, then its methods in the groups of the commands, each with its signature and docstring."""
    parts = [_described(Client, "Client"), _described(Client.close, "close")]
    for group, names in TITLES.items():
        methods = [(VERBS[name].method, *_of_options(name), *OTHERS.get(name, ())) for name in _whole(names)]
        found = [getattr(Client, name) for name in dict.fromkeys(name for some in methods for name in some if name)]
        told = [_described(method, method.__name__) for method in found if inspect.isfunction(method)]
        parts += [f"## {group.partition(',')[0]}", *told] if told else []
    parts.append("## Projects and pages")
    for name, kind in PARTS_OF_CLIENT.items():
        parts.append(f"`{name}`: {inspect.getdoc(getattr(Client, name))}")
        parts += [
            _described(method, f"{name}.{method.__name__}")
            for method in vars(kind).values()
            if inspect.isfunction(method)
            and method.__name__ not in ("state", "folded")
            and not method.__name__.startswith("_")
        ]
    return "\n\n".join(parts) + "\n"


def _whole(names: Iterable[str]) -> Iterator[str]:
    """Yield names of commands, and after a group those of its commands."""
    for name in names:
        yield name
        yield from (verb for verb in VERBS if verb.startswith(f"{name} "))


def _of_options(name: str) -> Iterator[str | None]:
    """Yield the methods of the verbs that are options of a command."""
    for verb, row in OPTION_VERBS.items():
        if row.command == name:
            yield row.method
            yield from OTHERS.get(verb, ())


def _described(what: Any, name: str) -> str:
    return f"**`{name}{_signature(what)}`**\n\n{inspect.getdoc(what)}"


def _signature(method: Callable[..., Any]) -> str:
    """Return the parameters and the result of a method, without `self` and with what two stars stand for."""
    shown: list[str] = []
    signature = inspect.signature(method)
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD and parameter.annotation in OPTIONS:
            shown += [f"{name}=…" for name in OPTIONS[parameter.annotation].__annotations__]
        elif parameter.kind is parameter.VAR_KEYWORD:
            shown.append(f"**{parameter.name}")
        elif parameter.name != "self":
            shown += ["*"] if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown else []
            shown.append(_parameter(parameter))
    result = "" if isinstance(method, type) else f" -> {signature.return_annotation}"
    return f"({', '.join(shown)}){result}"


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return parameter.name
    shown = repr(parameter.default)
    is_short = len(shown) <= LONGEST_DEFAULT and not parameter.name.startswith("on_")
    return f"{parameter.name}={shown if is_short else '…'}"


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
