"""The command `prune`, which forgets old captures with a tag. `tools/keep/pruning.py` decides which."""

from __future__ import annotations

from collections import Counter
from functools import partial

import click
import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.times import format_time
from memtape.schemas.visible import many, one_line
from memtape.tools.client import Client
from memtape.tools.commands.options import Phases, confirmed, print_json, say, with_arguments, with_client
from memtape.tools.keep.pruning import Pruned
from memtape.tools.keep.pruning import prune as forget

LISTED = 20


@click.command()
@with_arguments("prune")
@click.option("--all", "every", is_flag=True, help="Every scope, not just this project.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--yes", is_flag=True, help="Do not ask before forgetting.")
@with_client
def prune(
    client: Client, tags: tuple[str, ...], before: str, every: bool, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Forget old captures with a tag: by default those of development, after 7 days.

    Memories derived from them alone are forgotten too. A text that somebody also captured without the tag
    stays. Nothing is erased: `memtape restore` shows a memory again.

    \b
    Example:
      memtape prune --dry-run
      memtape prune --tag env:dev --before 2d --yes
    """
    with Phases() as phases:
        looked = partial(phases.update, "looking")
        made = client.prune(tags, before, every=every, dry_run=True, on_progress=looked)
    if not as_json:
        _print(made, dry_run)
    if made.items and not dry_run:
        if not yes and not confirmed(f"Forget {many(len(made.items), 'capture')}?"):
            raise MemtapeError("Nothing was forgotten.", "Confirm it, or give --yes.")
        made = forget(client, made)
        if not as_json:
            first = made.items[0]
            undo = f"memtape restore {first.id} --scope {first.scope}"
            say(f"Forgot {many(len(made.items), 'capture')}. To undo: {undo}, and so of each.")
    if as_json:
        print_json(made if made.items else msgspec.structs.replace(made, dry_run=dry_run))


def _print(made: Pruned, dry_run: bool) -> None:
    """Print the forgotten texts, their number by scope, and the reasons of kept ones."""
    tags, before = ", ".join(made.tags), format_time(made.before)
    what = f"tagged {one_line(tags, 200)}, or taken from that, and captured before {before}"
    if not made.items:
        say(f"Nothing that is shown is {what}.")
    else:
        would = " would be forgotten" if dry_run else ""
        say(f"{many(len(made.items), 'capture')} {what}{would}:")
    for item in made.items[:LISTED]:
        say(f"  {item.id}  {format_time(item.at)[:10]}  {item.kind}  {one_line(item.text, 80)}")
    if len(made.items) > LISTED:
        say(f"  … and {len(made.items) - LISTED:,} more; --json names them")
    scopes = Counter(item.scope for item in made.items)
    if len(scopes) > 1:
        say("\n".join(f"  {name}: {count:,}" for name, count in scopes.items()))
    if made.kept:
        say(f"{made.kept:,} of the kind stay: the same was also captured later, or without the tag.")
    if made.hidden:
        say(f"{made.hidden:,} more are hidden already.")
