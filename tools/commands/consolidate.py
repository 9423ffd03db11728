"""The commands that make memories of memories and of talk: consolidate, distill."""

from __future__ import annotations

import sys

import click

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Captured
from memtape.schemas.visible import many, one_line
from memtape.state.consolidation.rules import ConcludedOperation
from memtape.tools.client import Client
from memtape.tools.commands.options import is_json, phases, print_json, say, with_client, with_home

SHOWN_CHARS = 300
_STANDS = {
    "add": "drawn from",
    "conflict": "cannot hold beside (`memtape settle` asks people which holds)",
    "replace": "stands for",
    "remove": "says the same as, and stands for",
}


@click.command()
@click.option("--dry-run", is_flag=True, help="Print what the rules would do by now, and change nothing.")
@click.option("--now", "at_once", is_flag=True, help="Do not wait until enough is new and a day has passed.")
@with_client
def consolidate(client: Client, dry_run: bool, at_once: bool) -> None:
    """Consolidate similar memories: restatements, and a value with its earlier values.

    Each decision is an event of the log. The sources stay, and return once one of them changes; `memtape
    update ID --unfold` separates them for good. `memtape run` does the same once a day if enough is new. Exits 1 where
    a model gave no usable answer.

    \b
    Example:
      memtape admin consolidate --dry-run
      memtape admin consolidate --now
    """
    with phases() as update:
        done = client.consolidate(
            dry_run=dry_run, at_once=at_once, on_cluster=lambda at, total: update("looking", at, total)
        )
    operations = [operation for conclusion in done.conclusions for operation in conclusion.operations]
    if is_json():
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
            when = "begin now" if done.gate.is_open else "not begin yet"
            say(f"The rules would look at {what}. By itself a pass would {when}: {done.gate.reason}.")
        else:
            hint = "" if at_once else " `memtape admin consolidate --now` does not wait."
            say(f"Nothing was done: {done.gate.reason}.{hint}")
        for problem in done.problems:
            say(f"Not decided: {problem}", err=True)
    if done.problems:
        sys.exit(1)


def _told(operation: ConcludedOperation) -> dict[str, object]:
    survivor = operation.survivor.id if operation.survivor else None
    ids = [candidate.id for candidate in operation.of]
    return {"op": operation.op, "ids": ids, "survivor": survivor, "text": operation.text or None}


def _lines(operation: ConcludedOperation) -> list[str]:
    text = operation.survivor.text if operation.survivor else operation.text
    told = [f"  {candidate.id} {one_line(candidate.text, SHOWN_CHARS)}" for candidate in operation.of]
    return [one_line(text, SHOWN_CHARS), f" {_STANDS[operation.op]}", *told]


@click.command()
@click.argument("session")
@click.option("--again", is_flag=True, help="Ask about everything again, and add what is said beside what there is.")
@with_home
def distill(client: Client, session: str, again: bool) -> None:
    """Have the model that you named take facts from a session of any age.

    SESSION is the id that its host gave it, as `memtape show` prints it. The model is asked about messages
    without a usable answer so far; its facts are trusted less than anybody's words, and are erased with their
    messages. Exits 1 where an answer could not be used.

    \b
    Example:
      memtape admin distill 7f6c1e0a-58f4-4d0e-9d4f-0f8a6a3a1c55
    """
    from memtape.tools.keep.models import is_named

    if not is_named(client.home):
        raise MemtapeError("No model is named.", "Name one under [model] in settings.toml, or by MEMTAPE_MODEL_URL.")
    with phases() as update:
        done = client.distill(session, again=again, on_window=lambda at, total: update("asking", at, total))
    if not done.turns:
        raise MemtapeError(
            f"Nothing was said in a session {session}.", "`memtape show ID` prints the session of what a search found."
        )
    facts = [(event, event.body) for event in done.events if isinstance(event.body, Captured)]
    if is_json():
        told = [{"id": event.id, "scope": event.scope, "tags": body.tags, "text": body.text} for event, body in facts]
        print_json({"turns": done.turns, "asked": done.asked, "facts": told, "problems": done.problems})
    else:
        for _, body in facts:
            say(f"  {', '.join(body.tags[1:])}: {body.text}")
        say(f"Asked {many(done.asked, 'time')} about {many(done.turns, 'message')}: {many(len(facts), 'new fact')}.")
        for problem in done.problems:
            say(f"Not answered: {problem} The same command asks again.", err=True)
    if done.problems:
        sys.exit(1)
