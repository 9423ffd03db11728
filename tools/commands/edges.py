"""The command that shows edges between memories used together."""

from __future__ import annotations

import click

from memtape.schemas.visible import many, one_line
from memtape.tools.client import Client
from memtape.tools.commands.options import as_of_option, print_json, say, with_client


@click.command()
@click.argument("id", required=False)
@click.option("--candidates", is_flag=True, help="The strongest of the whole scope, proposed for curated edges.")
@as_of_option
@with_client
def edges(client: Client, id: str | None, candidates: bool, as_of: str | None, as_json: bool) -> None:
    """Show the memories and turns used together with one, with weights as of now.

    Two texts used within 30 minutes of one session gain 1, which halves every three days: the first weight.
    The second is learned, from 0.2 to 1: how much more often than by chance they were used together within 90
    days, three times at least. Then comes the number of joint uses.

    \b
    Example:
      memtape edges 019ab0c4-9a3c-7000-8000-0123456789ab
      memtape edges --candidates
    """
    if bool(id) is candidates:
        raise click.UsageError("Give an id, or --candidates.")
    found = client.edges(id, as_of=as_of) if id else client.edge_candidates(as_of=as_of)
    if as_json:
        print_json(found)
        return
    for edge in found.edges:
        if candidates:
            say(f"        {edge.source.id}  {edge.source.kind}  {one_line(edge.source.text, 120)}")
        learned = f"{edge.learned:5.3f}" if edge.learned else "    -"
        windows = max(edge.windows, edge.learned_windows)
        target = f"{edge.target.id}  {edge.target.kind}  {one_line(edge.target.text, 120)}"
        say(f"{edge.weight:6.3f}  {learned}  {windows:3}  {target}")
    if not found.edges:
        say("Nothing is strong enough." if candidates else "Nothing was used together with it.")
    if found.lag:
        say(f"The views lack {many(found.lag, 'event')}, and what they link.", err=True)
