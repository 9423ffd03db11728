"""The commands that are not yet values, beside those that are."""

from __future__ import annotations

from importlib import import_module

import click

from memtape.tools.doors import cli
from memtape.tools.doors.cli import LONGEST_CHARS, Commands, main
from memtape.tools.former_verbs import VERBS
from memtape.tools.table import COMMANDS

__all__ = ["LONGEST_CHARS", "Commands", "main"]

_made = cli._made


def _made_or_loaded(words: str) -> click.Command:
    former = VERBS.get(words)
    if (
        former is None
        or words in COMMANDS
        or former.command.split(".")[0] in ("cli",)
        or words in ("project", "tree", "admin embedder", "admin retriever")
    ):
        made = _made(words)
        if isinstance(made, Commands):
            before = f"{words} "
            names = [name.removeprefix(before) for name in VERBS if name.startswith(before)]
            made.names = made.titles["Commands"] = tuple(dict.fromkeys([*made.names, *names]))
        return made
    file, _, function = former.command.partition(".")
    return getattr(import_module(f"memtape.tools.commands.{file}"), function)


cli._made = _made_or_loaded
