"""The command of `memtape tree` that lists, writes or declines proposed pages."""

from __future__ import annotations

import click

from memtape.schemas.visible import many, one_line
from memtape.tools.ask.tree_proposals import told
from memtape.tools.client import Client
from memtape.tools.commands.options import print_json, say, with_client

SHOWN_CHARS = 80


@click.command()
@click.argument("slugs", metavar="[SLUG]...", nargs=-1)
@click.option("--apply", "how", flag_value="apply", help="Write the pages that are named.")
@click.option("--decline", "how", flag_value="decline", help="Never propose again what is named.")
@click.option("--all", "every", is_flag=True, help="All that are proposed.")
@with_client
def propose(client: Client, slugs: tuple[str, ...], how: str | None, every: bool, as_json: bool) -> None:
    """List proposed pages: by rule of memories with one tag, one named thing, or one session.

    With a model in settings.toml, `memtape run` has it propose more. Each page refers to the memories and
    does not copy them. With --apply they are written, with --decline never proposed again. `tree.auto = true`
    in settings.toml has them written by themselves.

    \b
    Example:
      memtape tree propose
      memtape tree propose --apply --all
    """
    if bool(how) is not (bool(slugs) or every):
        raise click.UsageError("Give slugs or --all, with --apply or --decline.")
    waiting = client.tree_proposals.waiting()
    named = [it.slug for it in waiting] if every else list(slugs)
    if how == "apply":
        written = client.tree_proposals.apply(named)
        if as_json:
            print_json({"applied": written})
            return
        for page in written:
            say(f"Wrote {page.slug} ({page.scope}, below {page.under}). To undo: memtape forget {page.id}")
    elif how == "decline":
        ids = client.tree_proposals.decline(named)
        if as_json:
            print_json({"declined": ids})
            return
        for slug, id in zip(named, ids, strict=True):
            say(f"Declined, and not proposed again: {slug}. To undo: memtape restore {id}")
    elif as_json:
        print_json({"proposed": [told(it) for it in waiting]})
        return
    else:
        for it in waiting:
            by = f"  (by {one_line(it.by, SHOWN_CHARS)}, a model)" if it.by else ""
            say(f"{it.slug}  {one_line(it.title, SHOWN_CHARS)}{by}\n    {one_line(it.why)}")
        if waiting:
            say(f"{many(len(waiting), 'page is', 'pages are')} proposed. To write: memtape tree propose --apply SLUG")
    if not waiting:
        say("No page is proposed.")
