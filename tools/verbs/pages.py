"""The tree of pages: draw, show and check it, and write, edit, move and link pages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import click
from msgspec import Meta
from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError
from memtape.schemas.ids import ROOT
from memtape.schemas.rows import PageEnd
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line
from memtape.state.views.tree_pages import name_of
from memtape.tools.doors import markdown
from memtape.tools.doors.terminal import is_asked
from memtape.tools.query.telling import redacted
from memtape.tools.verb import Offer, Output, Verb
from memtape.tools.verbs import tree
from memtape.tools.verbs.lines import decoded

if TYPE_CHECKING:
    from memtape.state.tree.checking import TreeProblem
    from memtape.state.tree.walking import DrawnTree, TreeNode
    from memtape.tools.world import World

SHOWN_CHARS = 80
SHOWN_PROBLEMS = 50
DETAILS_BYTES = 3_000


class AgentNewPageAsks(tree.NewPageAsks, frozen=True, kw_only=True):
    text: Annotated[str, Meta(description="The page, as Markdown. At most 64 KiB.")]


def _new_shell(world: World, asked: tree.NewPageAsks) -> Output:
    text = _text(asked.text or None, lambda: f"# {asked.title or asked.slug}\n\n")
    if text is None:
        raise MemtapeError("The page has no text.", "Give one, or pipe one in.")
    done = tree.new(world, replace(asked, text=text))
    yield done
    yield from _written_lines("Wrote", world, asked, done)


def _edit_shell(world: World, asked: tree.EditPageAsks) -> Output:
    """Take the text of an editor where none is given, on the version that the editor was given."""
    text, base = asked.text, asked.base
    others = any(it not in (None, ()) for it in (asked.title, asked.summary, asked.hints, asked.refs))
    if text is not None or not others:
        shown = tree.show_page(world, asked.page)
        base = base or shown.row.version
        text = _text(text, lambda: shown.text)
        if text is None and not others:
            raise MemtapeError("Nothing was changed.", "Save another text in your editor, or give one.")
    done = tree.edit(world, replace(asked, text=text, base=base if text is not None else None))
    yield done
    yield from _written_lines("Changed", world, asked, done)


def _link_lines(world: World, asked: Any, done: tree.LinkSaid) -> Iterator[str]:
    ends = f"{done.source} {done.relation} {done.target}"
    again = f"To undo: memtape tree link {done.source} {done.target} --as {done.relation}"
    if asked.undo:
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


def _written_lines(what: str, world: World, asked: Any, done: tree.Written) -> Iterator[str]:
    below = f", below {done.under}" if done.under else ""
    yield f"{what} {done.slug or done.id} ({done.scope}{below}), page {done.id}, version {done.version}."
    if done.beside:
        beside = many(done.beside, "other version stands", "other versions stand")
        yield f"{beside} beside the current one: memtape tree show {done.slug or done.id}"
    if told := redacted(done.redacted):
        yield told


def _tree_lines(world: World, asked: Any, drawn: DrawnTree) -> Iterator[str]:
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


def _page_lines(world: World, asked: Any, shown: tree.PageShown) -> Iterator[str]:
    row = shown.row
    yield f"{row.slug or row.id}  {one_line(row.title, SHOWN_CHARS)}"
    told = {"id": row.id, "summary": row.summary, "hints": "; ".join(row.hints)}
    for name, value in told.items():
        if value:
            yield f"{name:<9}{one_line(value)}"
    if shown.text:
        yield f"\n{shown.text.strip()}\n"
    below = [(it.name, it.title) for it in shown.below]
    refs = [(one_line(name, SHOWN_CHARS), text) for name, text in shown.references.items()]
    said = {it.id: f"by {one_line(it.actor, 40)} ({it.origin}), {it.stands}" for it in shown.history}
    lists = {
        "Below": [f"{name}  {one_line(title, SHOWN_CHARS)}".rstrip() for name, title in below],
        "Leads to": list(map(_end, shown.edges)),
        "Linked from": [f"{it.relation}: {it.name}" for it in shown.backlinks],
        "Tells of": [f"{name}  {one_line(text, SHOWN_CHARS)}".rstrip() for name, text in refs],
        "Versions": [f"{it.id}  {format_day(it.at)} {said[it.id]}" for it in shown.history],
    }
    for title, lines in lists.items():
        if lines:
            yield f"{title}:"
            yield from (f"  {line}" for line in lines)
    if row.diverged:
        beside = many(len(row.beside), "version stands", "versions stand")
        yield f"{beside} beside the current one, since two were"
        yield f"written upon one. Say what is so: memtape tree edit {row.slug or row.id}"


def _end(it: PageEnd) -> str:
    return f"{it.relation}: {it.name}{'' if it.is_there else ' (not there)'}"


def _check_lines(world: World, asked: Any, found: list[TreeProblem]) -> Iterator[str]:
    names = {id: name_of(row) for id, row in tree.rows(world).items()}
    for problem in found[:SHOWN_PROBLEMS]:
        yield f"{problem.kind:<13}{problem.slug or problem.page}: {one_line(problem.what)}"
        if (fix := problem.fix) is not None:
            page, to = (names.get(id or "", id) for id in (fix.id, fix.to))
            yield f"  To mend: memtape tree link {page} {to} --as {fix.relation}{'' if fix.on else ' --undo'}"
    if not found:
        yield "Nothing is wrong with the tree."
    elif (more := len(found) - SHOWN_PROBLEMS) > 0:
        yield f"{many(more, 'more problem')}: memtape tree check --json"


def _tell_page(world: World, asked: Any, found: tree.PageShown) -> str:
    """Show a page with its child pages and links, as many as fit."""
    row, part = found.row, markdown.part_of(found.text, 0)
    about = f"{one_line(row.slug or row.id, 200)} in {world.scope}"
    lines = [f"{about} · {markdown.name_of(row.title, 200)} · version `{row.version}`"]
    lines += [markdown.quoted(part)] if part else []
    below = [f"below: {it.name}{f' ({one_line(it.title, 120)})' if it.told else ''}" for it in found.below]
    refs = found.references.items()
    told = [f"tells of {one_line(name, 200)}: {one_line(text, 200)}" for name, text in refs]
    if details := "\n".join((*below, *map(_end, found.edges), *told)):
        lines.append(markdown.fitted(markdown.quoted(details), DETAILS_BYTES))
    rest = len(found.text) - len(part)
    more = f"{rest:,} characters follow: get_memory of `{row.version}` with from_char={len(part)}."
    tail = [more] if rest else []
    if row.diverged:
        others = ", ".join(f"`{id}`" for id in row.beside[:5])
        tail.append(f"Beside it stand {others}, which get_memory opens.")
    return markdown.list_pieces("", lines, tail)


VERBS = (
    Verb("tree draw", tree.draw, lines=_tree_lines),
    Verb(
        "tree show",
        tree.show_page,
        lines=_page_lines,
        tool=Offer(
            "Read a page of the project's tree, and what stands below it; _root is the top.",
            _tell_page,
            common=False,
        ),
    ),
    Verb("tree check", tree.check, lines=_check_lines, listed="problems"),
    Verb(
        "tree new",
        tree.new,
        lines=partial(_written_lines, "Wrote"),
        shell=_new_shell,
        effect="adds",
        tool=Offer(
            "Write a longer text that is kept up to date, as a page of the project's tree.",
            idempotent=False,
            common=False,
            asks=AgentNewPageAsks,
        ),
    ),
    Verb(
        "tree edit",
        tree.edit,
        lines=partial(_written_lines, "Changed"),
        shell=_edit_shell,
        effect="adds",
        tool=Offer(
            "Give a page another text. What a person wrote stays, and yours stands beside it.",
            idempotent=False,
            common=False,
            asks=tree.AgentEditPageAsks,
        ),
    ),
    Verb("tree move", tree.move, lines=partial(_written_lines, "Moved"), effect="adds"),
    Verb("tree link", tree.link, lines=_link_lines, effect="adds"),
)
