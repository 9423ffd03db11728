"""The command that prints the context of a starting agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memtape.schemas.visible import one_line
from memtape.tools.client import Client
from memtape.tools.commands.options import as_of_option, print_json, say, with_arguments, with_client
from memtape.tools.commands.project import say_where_it_was

if TYPE_CHECKING:
    from memtape.tools.ask.context import FormName


@click.command()
@with_arguments("context")
@click.option(
    "--form",
    type=click.Choice(("prompt", "agents", "gemini")),
    default="prompt",
    show_default=True,
    help="For --append-system-prompt, or as a section of AGENTS.md or GEMINI.md.",
)
@click.option("--explain", is_flag=True, help="Say of each line where it comes from: a page of the vault, and the id.")
@as_of_option
@with_client
def context(
    client: Client, budget_tokens: int, form: FormName, explain: bool, as_of: str | None, as_json: bool
) -> None:
    """Print the context of a starting agent: standing instructions, goal, plan, valid facts, and recent work.

    Standing instructions are sentences by users with "always", "never", "I prefer" and the like, in five
    languages. The budget is never exceeded. A section of a file stands between <!-- memtape:begin --> and
    <!-- memtape:end -->.

    \b
    Example:
      claude --append-system-prompt "$(memtape context)"
      memtape context --form agents --budget 1000
      memtape context --explain
    """
    found = client.context(budget_tokens, form, as_of=as_of)
    if as_json:
        print_json(found)
        return
    if explain:
        for item in found.items:
            say(f"{item.section:10} {item.page or '-':13} {item.id}  {one_line(item.text, 80)}")
    else:
        say(found.text, nl=False)
    if not found.items:
        say(_why_empty(client, as_of, has_more=bool(found.omitted)), err=True)
        say_where_it_was(client)


def _why_empty(client: Client, as_of: str | None, *, has_more: bool) -> str:
    """Return why a context tells of no text, and the command that shows more."""
    if has_more:
        return "Nothing fits the budget. `memtape status` says what there is."
    archive = None if as_of is not None else client.archived(1)
    if archive is not None and (archive.counts or archive.purged):
        return "Nothing is told here that is not archived. `memtape archived` lists the rest."
    return "Nothing is remembered yet. `memtape status` says what there is."
