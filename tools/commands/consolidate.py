"""The command to consolidate similar memories."""

from __future__ import annotations

import sys

import click

from memtape.schemas.visible import many, one_line
from memtape.state.consolidation.gate import Gate
from memtape.state.consolidation.rules import ConcludedOperation
from memtape.tools.client import Client
from memtape.tools.commands.options import Phases, print_json, say, with_client

SHOWN_CHARS = 300
_STANDS = {
    "add": "drawn from",
    "conflict": "cannot hold beside (`memtape conflicts` asks people which holds)",
    "replace": "stands for",
    "remove": "says the same as, and stands for",
}


@click.command()
@click.option("--dry-run", is_flag=True, help="Print what the rules would do by now, and change nothing.")
@click.option("--now", "at_once", is_flag=True, help="Do not wait until enough is new and a day has passed.")
@with_client
def consolidate(client: Client, dry_run: bool, at_once: bool, as_json: bool) -> None:
    """Consolidate similar memories: restatements, and a value with its earlier values.

    Each decision is an event of the log. The sources stay, and return once one of them changes; `memtape
    unfold ID` separates them for good. `memtape run` does the same once a day if enough is new. Exits 1 where
    a model gave no usable answer.

    \b
    Example:
      memtape consolidate --dry-run
      memtape consolidate --now
    """
    with Phases() as phases:
        done = client.consolidate(
            dry_run=dry_run, at_once=at_once, on_cluster=lambda at, total: phases.update("looking", at, total)
        )
    operations = [operation for conclusion in done.conclusions for operation in conclusion.operations]
    if as_json:
        gate = {"open": done.gate.is_open, "reason": done.gate.reason}
        decided = [_told(operation) for operation in operations]
        print_json(
            {"done": done.is_done, "gate": gate, "clusters": done.clusters, "decided": decided,
             "problems": done.problems}
        )  # fmt: skip
    else:
        for operation in operations:
            say("\n".join(_lines(operation)))
        what = f"{many(done.clusters, 'cluster')} of memories that are alike: {many(len(operations), 'decision')}"
        if done.is_done:
            say(f"Looked at {what}.")
        elif dry_run:
            say(f"The rules would look at {what}. By itself a pass would {_when(done.gate)}.")
        else:
            hint = "" if at_once else " `memtape consolidate --now` does not wait."
            say(f"Nothing was done: {done.gate.reason}.{hint}")
        for problem in done.problems:
            say(f"Not decided: {problem}", err=True)
    if done.problems:
        sys.exit(1)


def _when(gate: Gate) -> str:
    return f"begin now: {gate.reason}" if gate.is_open else f"not begin yet: {gate.reason}"


def _told(operation: ConcludedOperation) -> dict[str, object]:
    survivor = operation.survivor.id if operation.survivor else None
    ids = [candidate.id for candidate in operation.of]
    return {"op": operation.op, "ids": ids, "survivor": survivor, "text": operation.text or None}


def _lines(operation: ConcludedOperation) -> list[str]:
    text = operation.survivor.text if operation.survivor else operation.text
    told = [f"  {candidate.id} {one_line(candidate.text, SHOWN_CHARS)}" for candidate in operation.of]
    return [one_line(text, SHOWN_CHARS), f" {_STANDS[operation.op]}", *told]
