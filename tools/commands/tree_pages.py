"""The commands that write pages of the tree: new, edit, move and link. They are part of `memtape tree`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click
from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import EDGES, NO_EDIT, edit_of
from memtape.schemas.visible import many
from memtape.tools.ask.telling import redacted
from memtape.tools.ask.tree_writing import Written
from memtape.tools.client import Client
from memtape.tools.commands.capture import decoded
from memtape.tools.commands.options import is_asked, printed_json, say, with_client


def field_options(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take the fields of a page."""
    options = (
        click.option("--title", help="What it is called; by default its first heading."),
        click.option("--summary", help="What it says in short; by default its first sentence."),
        click.option("--hint", "hints", multiple=True, help="A question that leads here. May be repeated."),
        click.option("--ref", "refs", multiple=True, help="A file, URL or id that it tells of. May be repeated."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("slug")
@click.argument("text", required=False)
@field_options
@click.option("--under", help="The page below which it stands; by default that whose slug it begins with, or _root.")
@with_client
def new(client: Client, slug: str, text: str | None, under: str | None, **fields: Any) -> None:
    """Write a page: TEXT, or stdin; at a terminal your editor opens. At most 64 KiB of Markdown.

    \b
    Example:
      memtape tree new deploy "How we deploy." --title Deploying
      memtape tree new deploy/staging - < staging.md
    """
    said = _text(text, lambda: f"# {fields['title'] or slug}\n\n")
    if said is None:
        raise MemtapeError("The page has no text.", "Give one, or pipe one in.")
    _say(client.tree_writing.new(slug, said, edit_of(**fields), under=under), "Wrote")


@click.command()
@click.argument("page")
@click.argument("text", required=False)
@field_options
@click.option("--base", help="The version that the text was written upon; by default the current one.")
@with_client
def edit(client: Client, page: str, text: str | None, **fields: Any) -> None:
    """Give a page another text: TEXT, or with - stdin; at a terminal your editor opens.

    With --title and the like alone the text stays. All versions are kept. If the page has another version by
    now than --base, or than the one in your editor, both stand until somebody has seen both.

    \b
    Example:
      memtape tree edit deploy/staging "Staging listens on port 5434."
      memtape tree edit deploy --summary "Who deploys, when and how."
    """
    given, said = edit_of(**fields), text
    others = replace(given, base=None) != NO_EDIT
    if text is not None or not others:
        shown = client.tree.show(page)
        given = replace(given, base=given.base or shown.row.version)
        said = _text(text, lambda: shown.text)
        if said is None and not others:
            raise MemtapeError("Nothing was changed.", "Save another text in your editor, or give one.")
    given = given if said is not None else replace(given, base=None)
    _say(client.tree_writing.edit(page, said, given), "Changed")


@click.command()
@click.argument("page")
@click.argument("slug", required=False)
@click.option("--under", help="The page below which it stands from now on, and below that alone.")
@with_client
def move(client: Client, page: str, slug: str | None, under: str | None) -> None:
    """Give a page another slug, or put it below another page, or both. Links to it follow.

    \b
    Example:
      memtape tree move deploy/staging staging --under _root
    """
    _say(client.tree_writing.move(page, slug, under=under), "Moved")


@click.command()
@click.argument("page")
@click.argument("to")
@click.option("--as", "relation", type=click.Choice(EDGES), default="related", show_default=True, help="As what.")
@click.option("--undo", is_flag=True, help="End this link.")
@with_client
def link(client: Client, page: str, to: str, relation: str, undo: bool) -> None:
    """Link a page to another. As a child the other stands below it. TO may be a slug that no page has yet.

    \b
    Example:
      memtape tree link deploy deploy/staging --as child
      memtape tree link deploy/staging backups --as depends_on
    """
    done = client.tree_writing.link(page, to, relation, undo=undo)
    if printed_json(done):
        return
    ends = f"{done.source} {done.relation} {done.target}"
    if undo:
        say(f"Ended: {ends}. To undo: memtape tree link {done.source} {done.target} --as {done.relation}")
        return
    waits = "" if done.is_there else " No page has this slug yet; the link leads there when one is written."
    say(f"Linked: {ends}.{waits}")
    say(f"To undo: memtape tree link {done.source} {done.target} --as {done.relation} --undo")


def _text(text: str | None, start: Callable[[], str]) -> str | None:
    """Return the given text, with - or a pipe the text on stdin, or the text saved in an editor."""
    if text is not None and text != "-":
        return text
    if text == "-" or not is_asked():
        return decoded(sys.stdin.buffer.read())
    return click.edit(start(), extension=".md")


def _say(done: Written, what: str) -> None:
    if printed_json(done):
        return
    below = f", below {done.under}" if done.under else ""
    say(f"{what} {done.slug or done.id} ({done.scope}{below}), page {done.id}, version {done.version}.")
    if done.beside:
        say(
            f"{many(done.beside, 'other version stands', 'other versions stand')} beside the current one: "
            f"memtape tree show {done.slug or done.id}"
        )
    if told := redacted(done.redacted):
        say(told)
