"""The commands that decide something of a memory: forget, restore and the like, each made from its row in `VERBS`."""

from __future__ import annotations

from typing import Any

import click

from memtape.schemas.visible import many
from memtape.tools.client import Client
from memtape.tools.commands.options import Output, with_arguments, with_client
from memtape.tools.verbs import VERBS, Decision

EXAMPLE_ID = "019ab0c4-9a3c-7000-8000-0123456789ab"


def _command(name: str, method: str, decision: Decision) -> click.Command:
    def decide(client: Client, **asked: Any) -> Output:
        ids = getattr(client, method)(**asked)
        note = getattr(ids, "note", "")
        yield {"ids": ids} | ({"was_hidden": False} if note else {})
        undo = f" To undo: memtape {decision.undo} {ids[0]}" if decision.undo else ""
        yield f"{decision.done} {many(len(ids), 'capture')}.{note}{undo}"

    decide.__doc__ = f"{decision.help}\n\n\b\nExample:\n  memtape {name} {EXAMPLE_ID}{decision.example}\n"
    return click.command(name)(with_arguments(name)(with_client(decide)))


def __getattr__(name: str) -> click.Command:
    """Return the command of a verb, made when it is first asked for."""
    verb = VERBS.get(name)
    if verb is None or verb.decision is None or verb.method is None:
        raise AttributeError(name)
    return _command(name, verb.method, verb.decision)
