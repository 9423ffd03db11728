"""The commands of the tree of pages: draw, show, list and check, and those that write: new, edit, move and link."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import click
from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import EDGES, NO_EDIT, Linked, edit_of
from memtape.schemas.slugs import ROOT
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line
from memtape.state.tree.checking import TreeProblem
from memtape.tools.ask.telling import redacted
from memtape.tools.ask.tree import DEPTH, MOST_DEPTH, PER_PAGE, ListedNode, PageShown, TreeNode, Version, Written
from memtape.tools.client import Client
from memtape.tools.commands.options import (
    Commands,
    Output,
    confirmed,
    is_asked,
    is_json,
    listed,
    print_json,
    printed_json,
    say,
    say_some,
    with_client,
)
from memtape.tools.verbs.lines import decoded


def field_options(command: Callable[..., Output]) -> Callable[..., Output]:
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
def new(client: Client, slug: str, text: str | None, under: str | None, **fields: Any) -> Output:
    """Write a page: TEXT, or stdin; at a terminal your editor opens. At most 64 KiB of Markdown.

    \b
    Example:
      memtape tree new deploy "How we deploy." --title Deploying
      memtape tree new deploy/staging - < staging.md
    """
    said = _text(text, lambda: f"# {fields['title'] or slug}\n\n")
    if said is None:
        raise MemtapeError("The page has no text.", "Give one, or pipe one in.")
    return _written(client.tree.new(slug, said, edit_of(**fields), under=under), "Wrote")


@click.command()
@click.argument("page")
@click.argument("text", required=False)
@field_options
@click.option("--base", help="The version that the text was written upon; by default the current one.")
@with_client
def edit(client: Client, page: str, text: str | None, **fields: Any) -> Output:
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
    return _written(client.tree.edit(page, said, given), "Changed")


@click.command()
@click.argument("page")
@click.argument("slug", required=False)
@click.option("--under", help="The page below which it stands from now on, and below that alone.")
@with_client
def move(client: Client, page: str, slug: str | None, under: str | None) -> Output:
    """Give a page another slug, or put it below another page, or both. Links to it follow.

    \b
    Example:
      memtape tree move deploy/staging staging --under _root
    """
    return _written(client.tree.move(page, slug, under=under), "Moved")


@click.command()
@click.argument("page")
@click.argument("to")
@click.option("--as", "relation", type=click.Choice(EDGES), default="related", show_default=True, help="As what.")
@click.option("--undo", is_flag=True, help="End this link.")
@with_client
def link(client: Client, page: str, to: str, relation: str, undo: bool) -> Output:
    """Link a page to another. As a child the other stands below it. TO may be a slug that no page has yet.

    \b
    Example:
      memtape tree link deploy deploy/staging --as child
      memtape tree link deploy/staging backups --as depends_on
    """
    done = client.tree.link(page, to, relation, undo=undo)
    yield done
    ends = f"{done.source} {done.relation} {done.target}"
    again = f"To undo: memtape tree link {done.source} {done.target} --as {done.relation}"
    if undo:
        yield f"Ended: {ends}. {again}"
        return
    waits = "" if done.is_there else " No page has this slug yet; the link leads there when one is written."
    yield f"Linked: {ends}.{waits}"
    yield f"{again} --undo"


def _text(text: str | None, start: Callable[[], str]) -> str | None:
    """Return the given text, with - or a pipe the text on stdin, or the text saved in an editor."""
    if text is not None and text != "-":
        return text
    if text == "-" or not is_asked():
        return decoded(sys.stdin.buffer.read())
    return click.edit(start(), extension=".md")


def _written(done: Written, what: str) -> Output:
    yield done
    below = f", below {done.under}" if done.under else ""
    yield f"{what} {done.slug or done.id} ({done.scope}{below}), page {done.id}, version {done.version}."
    if done.beside:
        beside = many(done.beside, "other version stands", "other versions stand")
        yield f"{beside} beside the current one: memtape tree show {done.slug or done.id}"
    if told := redacted(done.redacted):
        yield told


SHOWN_CHARS = 80
SHOWN_PROBLEMS = 50


class _Tree(Commands):
    """A group that draws the tree when called without a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Treat an unknown first word as the argument of `draw`."""
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["draw", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Tree)
def tree() -> None:
    """The tree of pages by people and agents: draw it, show a page, and write, move and link pages.

    Without a command it is drawn. A page is called by its slug, as deploy/staging, or by its id; the root is
    _root. In the vault each page is a file that you can edit: pages/SLUG.md.

    \b
    Example:
      memtape tree
      memtape tree new deploy/staging "Staging listens on port 5433." --title "The staging database"
    """


@tree.command()
@click.argument("page", default=ROOT)
@click.option("--depth", default=DEPTH, show_default=True, type=click.IntRange(0, MOST_DEPTH), help="How far down.")
@click.option("--limit", default=PER_PAGE, show_default=True, type=click.IntRange(1), help="The most below one page.")
@with_client
def draw(client: Client, page: str, depth: int, limit: int) -> Output:
    """Draw the tree from PAGE down, by default all of it. Children of a page in two places are drawn once.

    \b
    Example:
      memtape tree draw
      memtape tree --depth 2
      memtape tree deploy --json
    """
    drawn = client.tree.draw(page, depth, limit)
    yield drawn
    if drawn.top is None:
        yield f"{drawn.scope} has no page yet. `memtape tree new` writes one."
        return
    said = drawn.scope if drawn.top.name == ROOT else drawn.top.title
    yield f"{drawn.top.name}  {one_line(said, SHOWN_CHARS)} ({many(drawn.pages, 'page')})"
    yield from _below(drawn.top, "")
    if drawn.loose:
        yield "Below no page:"
        for node in drawn.loose:
            yield _named(node)
            yield from _below(node, "")


def _below(node: TreeNode, margin: str) -> Iterator[str]:
    rest = [f"… {many(node.more, 'more page')}: memtape tree {node.name}"] if node.more else []
    last = len(node.children) + len(rest) - 1
    for number, child in enumerate(node.children):
        yield f"{margin}{'└── ' if number == last else '├── '}{_named(child)}"
        yield from _below(child, margin + ("    " if number == last else "│   "))
    for line in rest:
        yield f"{margin}└── {line}"


def _named(node: TreeNode) -> str:
    title = "" if node.title == node.name else f"  {one_line(node.title, SHOWN_CHARS)}"
    marks = ["see above"] * node.again + [f"{node.versions} versions stand"] * (node.versions > 1)
    told = f" ({', '.join(marks)})" if marks else ""
    return f"{node.name}{title}{told}"


@tree.command()
@click.argument("page")
@with_client
def show(client: Client, page: str) -> Output:
    """Show a page: text, child pages, links, backlinks and versions.

    \b
    Example:
      memtape tree show _root
    """
    shown = client.tree.show(page)
    yield shown
    yield from _page(shown)


def _page(shown: PageShown) -> Iterator[str]:
    row = shown.row
    yield f"{row.slug or row.id}  {one_line(row.title, SHOWN_CHARS)}"
    told = {"id": row.id, "summary": row.summary, "hints": "; ".join(row.hints)}
    for name, value in told.items():
        if value:
            yield f"{name:<9}{one_line(value)}"
    if shown.text:
        yield f"\n{shown.text.strip()}\n"
    lists = {
        "Below": [_with(it.name, it.title) for it in shown.below],
        "Leads to": [f"{it.relation}: {it.name}{'' if it.is_there else ' (not there)'}" for it in shown.edges],
        "Linked from": [f"{it.relation}: {it.name}" for it in shown.backlinks],
        "Tells of": [_with(one_line(it.name, SHOWN_CHARS), it.text) for it in shown.references],
        "Versions": [_version(it) for it in shown.history],
    }
    for title, lines in lists.items():
        if lines:
            yield f"{title}:"
            yield from (f"  {line}" for line in lines)
    if row.diverged:
        yield f"{many(len(row.beside), 'version stands', 'versions stand')} beside the current one, since two were"
        yield f"written upon one. Say what is so: memtape tree edit {row.slug or row.id}"


def _with(name: str, told: str) -> str:
    return f"{name}  {one_line(told, SHOWN_CHARS)}" if told else name


def _version(it: Version) -> str:
    return f"{it.id}  {format_day(it.at)} by {one_line(it.actor, 40)} ({it.origin}), {it.stands}"


@tree.command("list")
@with_client
def list_pages(client: Client) -> Output:
    """List all pages of the project by their slugs.

    \b
    Example:
      memtape tree list --json
    """
    return listed("pages", client.tree.listed(), _listed, "There is no page yet. `memtape tree new` writes one.")


def _listed(number: int, it: ListedNode) -> Iterator[str]:
    below = f" ({it.children:,} below)" if it.children else ""
    yield f"{it.name}  {one_line(it.title, SHOWN_CHARS)}{below}"


@tree.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended, after you have said yes.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_client
def check(client: Client, fix: bool, yes: bool) -> None:
    """List the problems of the tree: links to nothing, unreachable pages, circles, stale pages.

    With --fix, links to missing pages and links that close a circle end, and an unreachable page is put below
    another. No text is changed, and no page is removed.

    Example:
      memtape tree check
      memtape tree check --fix --yes
    """
    problems = client.tree.problems()
    mended = [problem for problem in problems if problem.fix]
    if is_json() and not fix:
        print_json({"problems": problems})
        return
    if not is_json():
        say_some(problems, lambda it: f"{it.kind:<13}{it.slug or it.page}: {one_line(it.what)}")
        if not problems:
            say("Nothing is wrong with the tree.")
        elif not fix and mended:
            say(f"{many(len(mended), 'problem')} of {len(problems):,} can be mended: memtape tree check --fix")
    if not fix:
        return
    names = {it.id: it.name for it in client.tree.listed()}
    steps = [_step(problem, body, names) for problem in mended for body in problem.fix]
    if mended and not yes:
        for said, _ in steps[:SHOWN_PROBLEMS]:
            say(f"Will be done: {said}", err=True)
        if not confirmed(f"Do these {len(steps):,}?"):
            raise MemtapeError("Nothing was changed.", "Confirm it, or give --yes.")
    left = client.tree.mend(mended)
    if printed_json({"mended": mended, "problems": left}):
        return
    for said, undo in steps[:SHOWN_PROBLEMS]:
        say(f"Done: {said}\n  To undo: {undo}")
    if problems:
        say(f"{many(len(steps), 'link')} changed, {many(len(left), 'problem')} left.")


def _step(problem: TreeProblem, body: Linked, names: dict[str, str]) -> tuple[str, str]:
    """Return an event in words, and the command that undoes the event."""
    page, to = names.get(body.id, body.id), body.slug or names.get(body.to or "", body.to or "")
    said = f"{page} {'leads' if body.on else 'no longer leads'} to {to} as {body.relation}"
    return said, f"memtape tree link {page} {to} --as {body.relation}{' --undo' if body.on else ''}"


for command in (new, edit, move, link):
    tree.add_command(command)
