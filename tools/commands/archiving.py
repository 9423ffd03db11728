"""The commands by which people put memories into the archive, look through it, and bring them back."""

from __future__ import annotations

from itertools import groupby

import click

from memtape.schemas.rows import project_told
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line
from memtape.tools.ask.archived import ArchivedNow, ArchivedText, Why
from memtape.tools.client import Client
from memtape.tools.commands.options import print_json, progress, say, with_arguments, with_client

SHOWN_CHARS = 120
SHOWN = 20
TOLD_WHY = {"asked": "since somebody asked for it", "age": "by age"}


@click.command()
@with_arguments("archive")
@with_client
def archive(client: Client, ids: tuple[str, ...], reason: str | None, as_json: bool) -> None:
    """Archive memories or turns: searches, starts and MEMORY.md leave them out, and the log keeps them.

    Each returns by `unarchive`, and by itself once used, pinned or said again. Pinned memories stay. Of a
    document only the named part is archived.

    \b
    Example:
      memtape archive 019ab0c4-9a3c-7000-8000-0123456789ab --reason "done with"
    """
    done = client.archive(ids, reason=reason)
    if as_json:
        print_json(done)
        return
    _say_done(done, "Archived", "Archived before")
    if done.done:
        say(
            "It leaves searches, starts and MEMORY.md, and comes back by itself where it is used, pinned or said again."
        )
        say(f"To undo: memtape unarchive {' '.join(it.id for it in done.done)}")


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@with_arguments("unarchive", "all_of", "reason")
@with_client
def unarchive(client: Client, ids: tuple[str, ...], all_of: Why | None, reason: str | None, as_json: bool) -> None:
    """Bring back archived texts, also those no longer in the views; by ids, or all of the project by reason.

    Texts archived with their project come back by `memtape project resume`.

    \b
    Example:
      memtape unarchive 019ab0c4-9a3c-7000-8000-0123456789ab
      memtape unarchive --all-of age
    """
    if bool(ids) is (all_of is not None):
        raise click.UsageError("Give ids, or --all-of.")
    done = client.unarchive(ids, all_of=all_of, reason=reason)
    if as_json:
        print_json(done)
        return
    _say_done(done, "Brought back", "Not archived")
    if ids and done.done:
        say(f"To undo: memtape archive {' '.join(it.id for it in done.done)}")


@click.command()
@with_arguments("archived")
@with_client
def archived(client: Client, purged: bool, limit: int, as_json: bool) -> None:
    """List the archived texts, the latest first, and the dormant and finished projects.

    With --purged list the texts that have left the views; the log still has them. All can come back by
    `unarchive`.

    \b
    Example:
      memtape archived
      memtape archived --purged --limit 50
    """
    with progress(limit, "Reading") as bar:
        found = client.archived(limit, purged=purged, on_read=lambda done: bar.update(done - bar.pos))
    if as_json:
        print_json(found)
        return
    for why, texts in groupby(found.archived, key=lambda it: it.why):
        say(f"Archived {TOLD_WHY[why]}: {found.counts[why]:,}")
        for it in texts:
            say(_archived(it, found.scope))
    if not found.archived:
        say("Nothing has left the views by itself." if purged else "Nothing is archived by itself.")
    elif (left := sum(found.counts.values()) - len(found.archived)) > 0:
        say(f"{left:,} more; --limit shows them.")
    if found.archived:
        say("To bring one back: memtape unarchive ID")
    if found.purged and not purged:
        say(f"{many(found.purged, 'text has', 'texts have')} left the views too: memtape archived --purged")
    for scope, mark in found.projects.items():
        say(f"{scope}: {project_told(mark)}")
    if found.lag:
        say(f"The views lack {many(found.lag, 'event')}, and what they archive.", err=True)


def _say_done(done: ArchivedNow, what: str, else_: str) -> None:
    for it in done.done[:SHOWN]:
        said = f"{what} {it.kind} {it.id}" + (f", {many(it.captures, 'capture')}" if it.captures > 1 else "")
        say(f"{said}: {one_line(it.text, SHOWN_CHARS)}")
    if len(done.done) > SHOWN:
        say(f"{what}: {len(done.done) - SHOWN:,} more.")
    for it in done.already:
        say(f"{else_}: {it.kind} {it.id}: {one_line(it.text, SHOWN_CHARS)}")


def _archived(it: ArchivedText, scope: str) -> str:
    text = next(iter(it.text.splitlines()), "") or "(its text is erased)"
    about = [it.kind, f"said {format_day(it.at)}", f"archived {format_day(it.archived_at)}"]
    about += ["forgotten or withdrawn too"] * it.hidden + [it.scope] * (it.scope != scope)
    return f"  {one_line(text, SHOWN_CHARS)}\n    {' · '.join(about)}\n    {it.id}"
