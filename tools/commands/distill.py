"""The command that has a model take facts from a session."""

from __future__ import annotations

import sys

import click

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Captured
from memtape.schemas.visible import many
from memtape.tools.client import Client
from memtape.tools.commands.options import Phases, print_json, say, with_home


@click.command()
@click.argument("session")
@click.option("--again", is_flag=True, help="Ask about everything again, and add what is said beside what there is.")
@with_home
def distill(client: Client, session: str, again: bool, as_json: bool) -> None:
    """Have the model that you named take facts from a session of any age.

    SESSION is the id that its host gave it, as `memtape show` prints it. The model is asked about messages
    without a usable answer so far; its facts are trusted less than anybody's words, and are erased with their
    messages. Exits 1 where an answer could not be used.

    \b
    Example:
      memtape distill 7f6c1e0a-58f4-4d0e-9d4f-0f8a6a3a1c55
    """
    from memtape.tools.keep.models import is_named

    if not is_named(client.home):
        raise MemtapeError("No model is named.", "Name one under [model] in settings.toml, or by MEMTAPE_MODEL_URL.")
    with Phases() as phases:
        done = client.distill(session, again=again, on_window=lambda at, total: phases.update("asking", at, total))
    if not done.turns:
        raise MemtapeError(
            f"Nothing was said in a session {session}.",
            "`memtape show ID` prints the session of what a search found.",
        )
    facts = [(event, event.body) for event in done.events if isinstance(event.body, Captured)]
    if as_json:
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
