"""`memtape refold`: folding anew under the embedder and the thresholds in force, and switching folding off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memtape.schemas.visible import many, one_line
from memtape.tools.client import Client
from memtape.tools.commands.options import Phases, print_json, progress, say, with_home

if TYPE_CHECKING:
    from memtape.state.views.folds import Moved
    from memtape.tools.keep.refolding import Folding, Refolded

SHOWN_PAIRS, SHOWN_CHARS = 20, 200


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option(
    "--fold",
    type=click.Choice(("on", "off")),
    help="off: each text stands by itself from now on. on: texts fold again, as by default.",
)
@with_home
def refold(client: Client, dry_run: bool, fold: Folding | None, as_json: bool) -> None:
    """Fold everything anew under the rules, the embedder and the thresholds in force.

    An embedder that takes over leaves past folds as they are; this command makes them follow it. It shows
    which memories fold together and which come apart, in all projects. Unfolded memories stay apart, an echo
    stays an echo, and a consolidated memory stays while its sources say the same. Nothing is lost: folding
    changes which captures are one memory, and all wordings of a memory are found.

    \b
    Example:
      memtape refold --dry-run
      memtape refold
      memtape refold --fold off
    """
    with Phases() as phases:
        found = client.refold(dry_run=dry_run, fold=fold, on_phase=phases.update)
    if not dry_run:
        with progress(client.reader.unread(), "Projecting") as bar:
            scopes = (pair.scope for pair in found.pairs)
            client.reader.reach(found.revision, scopes, lambda done: bar.update(done - bar.pos))
    if as_json:
        print_json(found)
        return
    for line in _lines(found, "" if fold is None else f" --fold {fold}"):
        say(line)


def _lines(found: Refolded, said: str) -> list[str]:
    lines = [line for pair in found.pairs[:SHOWN_PAIRS] for line in _pair(pair)]
    if len(found.pairs) > SHOWN_PAIRS:
        lines.append(f"… and {many(len(found.pairs) - SHOWN_PAIRS, 'more pair', 'more pairs')}; --json has all.")
    by = f"by {found.embedder}" if found.folding else "with folding off"
    taken_in, apart = many(found.together, "memory", "memories"), many(found.apart, "memory", "memories")
    lines.append(f"Folded anew {by}. Taken in by others: {taken_in}. Come apart from others: {apart}.")
    if not found.done:
        lines.append(f"That was only tried, and nothing was changed. `memtape refold{said}` does it.")
    elif found.folding:
        lines.append("`memtape unfold ID` sets apart for good what should not have folded; `--fold off` all of it.")
    else:
        lines.append("To undo: `memtape refold --fold on`.")
    return lines


def _pair(pair: Moved) -> list[str]:
    sides = (f"  {one_line(side.text, SHOWN_CHARS)} ({side.id})" for side in (pair.first, pair.second))
    return [f"{pair.change} in {pair.scope}:", *sides]
