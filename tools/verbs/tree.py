"""The tree of pages: draw, show and check it, and write, edit, move and link pages.

Pages are read from the folded state, which has the latest events. A change against the form of the tree is
refused; any other is put on the log at once. `state/subjects/pages.py` decides the meaning of a change.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any

import click
import msgspec
from msgspec import Meta
from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import (
    CHILD,
    EDGES,
    NO_EDIT,
    Edited,
    Event,
    Linked,
    Origin,
    refs_of_edit,
)
from memtape.schemas.ids import ROOT, SEGMENT_CHARS, SLUG_CHARS, is_slug, root_id, short_id, slug_of
from memtape.schemas.rows import ListedPage, PageEnd, PageRow
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import TRUST
from memtape.state.subjects.pages import Page
from memtape.state.tree import checking
from memtape.state.tree.checking import TreeProblem
from memtape.state.tree.walking import DrawnTree, TreeNode, drawn
from memtape.state.views import tree_pages
from memtape.state.views.tree_pages import name_of, page_of, page_row
from memtape.tools.capture.profiles import check_storing
from memtape.tools.capture.writing import Line, Writer
from memtape.tools.doors import markdown
from memtape.tools.doors.terminal import decoded, is_asked
from memtape.tools.query.plan import named_by, state_of
from memtape.tools.query.telling import redacted, told_author
from memtape.tools.verb import Asks, Offer, Text, Verb, people, said

REF_CHARS = 300
SHOWN_CHARS = 80
SHOWN_PROBLEMS = 50
DETAILS_BYTES = 3_000
PageName = Annotated[str, said("The slug or id of a page; _root is the top.", 200)]


class PageFields(Asks, frozen=True, kw_only=True):
    title: Annotated[Text | None, Meta(description="What it is called; by default its first heading.")] = None
    summary: Annotated[
        Text | None, Meta(description="What it says in short; by default its first sentence.")
    ] = None
    hints: Annotated[tuple[str, ...], people("A question that leads here.")] = ()
    refs: Annotated[tuple[str, ...], people("A file, URL or id that it tells of.")] = ()


class NewPageAsks(PageFields, frozen=True):
    slug: Annotated[str, said("The slug of a page, as deploy/staging.", 200)]
    text: Annotated[str, said("The page, as Markdown. At most 64 KiB.", argument=True)] = ""
    under: Annotated[str | None, people("The page above; by default from the slug, or _root.")] = None


class AgentNewPageAsks(NewPageAsks, frozen=True, kw_only=True):
    text: Annotated[str, Meta(description="The page, as Markdown. At most 64 KiB.")]


class EditPageAsks(PageFields, frozen=True):
    page: PageName
    text: Annotated[str | None, said("The whole page as it is to be.", argument=True)] = None
    base: Annotated[str | None, people("The version on which the text builds, else the current.")] = None


class AgentEditPageAsks(Asks, frozen=True):
    page: PageName
    text: Annotated[str, Meta(description="The whole page as it is to be.")]
    base: Annotated[str, said("The version that you read, as read_page named it.", 64)]


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a page and its status: current, diverged, or earlier."""

    id: str
    at: int
    actor: str
    origin: Origin
    stands: str


class PageShown(msgspec.Struct, frozen=True, kw_only=True):
    """A page with its text, the pages below it, its links and backlinks, and its versions, the latest first.

    `rest` is front matter unknown to Memtape. `references` has files, URLs and ids, with texts of visible
    memories.
    """

    row: PageRow
    text: str
    rest: str
    below: tuple[ListedPage, ...]
    edges: tuple[PageEnd, ...]
    backlinks: tuple[PageEnd, ...]
    references: dict[str, str]
    history: tuple[Version, ...]


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a page: its id, slug, scope and version, and the number of diverged versions.

    `redacted` counts the removed secrets by kind.
    """

    id: str
    slug: str
    scope: str
    version: str | None
    beside: int = 0
    under: str | None = None
    redacted: dict[str, int] = {}


class LinkSaid(msgspec.Struct, frozen=True, kw_only=True):
    """A link that was made or ended; `is_there` says whether the target page exists."""

    source: str
    relation: str
    target: str
    is_there: bool
    on: bool


def draw(
    world: Writer,
    page: Annotated[str, said("The page at the top.", argument=True)] = ROOT,
    depth: Annotated[int, Meta(description="How far down.", ge=0, le=100)] = 6,
    limit: Annotated[int, Meta(description="The most below one page.", ge=1)] = 50,
) -> DrawnTree:
    """Draw the tree from PAGE down, by default all of it. Children of a page in two places are drawn once.

        memtape tree draw
        memtape tree --depth 2
        memtape tree deploy --json

    Raises `NotFound`.
    """
    found = rows(world)
    top = root_id(world.scope) if page == ROOT else _named(world, page)[1].id
    return drawn(world.scope, found, top, depth, limit)


def show_page(
    world: Writer,
    page: Annotated[str, said("The slug or id of a page; _root is the top.", 200, argument=True)] = "_root",
) -> PageShown:
    """Show a page: text, child pages, links, backlinks and versions.

        memtape tree show _root

    Raises `NotFound`.
    """
    scope, named = _named(world, page)
    row = page_row(scope, named.id)
    assert row is not None
    return PageShown(
        row=row,
        text=tree_pages.text_of(scope, named),
        rest=named.told("rest", ""),
        below=tuple(tree_pages.listed(scope, named)),
        edges=tree_pages.ends_of(scope, named),
        backlinks=tree_pages.sources_of(scope, named),
        references={ref: _told(scope, ref) for ref in row.refs},
        history=tuple(_history(scope, named)),
    )


def new(world: Writer, asked: NewPageAsks) -> Written:
    """Write a page: TEXT, or stdin; at a terminal your editor opens. At most 64 KiB of Markdown.

        memtape tree new deploy "How we deploy." --title Deploying
        memtape tree new deploy/staging - < staging.md

    Raises `MemtapeError` for an invalid or taken slug, and for an empty or too long text.
    """
    check_slug(asked.slug)
    _check_text(asked.text)
    name = world.made_scope()
    scope = state_of(world, name)
    _check_free(scope, asked.slug, f"`memtape tree edit {asked.slug}` changes it.")
    parent, slug = root_id(name), asked.slug
    while "/" in slug:  # Below the page of the longest prefix that is there.
        slug = slug.rpartition("/")[0]
        if (above := scope.pages.at(slug)) is not None and above.lives:
            parent = above.id
            break
    if asked.under is not None:
        parent = _named(world, asked.under)[1].id
    before = world.redactor.counts.copy()
    (capture,) = world.events_of(Line(text=asked.text, kind="page", path=asked.slug, scope=name), {})
    edits = _edits(world, replace(_edit(asked), id=capture.id), name)
    link = Linked(id=parent, on=True, relation=CHILD, slug=None, to=capture.id)
    world.log.append([capture, *edits, world.made("linked", link, name)])
    return _written(world, capture.id, dict(world.redactor.counts - before))


def edit(world: Writer, asked: EditPageAsks) -> Written:
    """Give a page another text: TEXT, or with - stdin; at a terminal your editor opens.

        memtape tree edit deploy/staging "Staging listens on port 5434."
        memtape tree edit deploy --summary "Who deploys, when and how."

    With --title and the like alone the text stays. All versions are kept. If the page has another version by
    now than --base, or than the one in your editor, both stand until somebody has seen both.

    Raises `NotFound`, and `MemtapeError` where nothing changes.
    """
    check_storing(world.home.path, lambda: world.scope)
    if asked.text is not None:
        _check_text(asked.text)
    scope, page = _named(world, asked.page)
    edit, events = replace(_edit(asked), id=page.id), list[Event]()
    _check_trust(world, page, edit)
    if asked.text is not None:
        path = None if page.slug == ROOT else page.slug or None
        events = world.events_of(Line(text=asked.text, kind="page", path=path, scope=scope.name), {})
        edit = replace(edit, by=events[0].id, base=asked.base or current_version(scope, page))
    edits = _edits(world, edit, scope.name)
    if not edits:
        told = "Nothing was given that would change the page."
        raise MemtapeError(told, "Give a text, or --title and the like.")
    world.log.append([*events, *edits])
    return _written(world, page.id)


def move(
    world: Writer,
    page: PageName,
    slug: Annotated[str | None, said("Its new slug.", argument=True)] = None,
    under: Annotated[
        str | None, said("The page below which it stands from now on, and below that alone.")
    ] = None,
) -> Written:
    """Give a page another slug, or put it below another page, or both. Links to it follow.

        memtape tree move deploy/staging staging --under _root

    Raises `NotFound` and `MemtapeError`.
    """
    scope, named = _named(world, page)
    if named.slug == ROOT:
        raise MemtapeError("The root stays where it is.", "Move a page below it.")
    if slug is None and under is None:
        raise MemtapeError("Nothing was said of where to.", "Give a slug, or --under with a page.")
    events: list[Event] = []
    if slug is not None and slug != named.slug:
        check_slug(slug)
        _check_free(scope, slug, "Give another slug.")
        edit = replace(NO_EDIT, id=named.id, slug=slug)
        _check_trust(world, named, edit)
        events += _edits(world, edit, scope.name)
    if under is not None:
        parent = meant(scope, under)
        above = [(link, source) for link, source in scope.pages.sources(named) if link.relation == CHILD]
        trust, is_there = TRUST[world.actor.origin], any(source is parent for _, source in above)
        on = {source.id: False for link, source in above if source is not parent and link.trust <= trust}
        if not is_there:
            check_circle(scope, parent, named)
            on = {parent.id: True, **on}
        links = (Linked(id=id, on=its, relation=CHILD, slug=None, to=named.id) for id, its in on.items())
        events += [world.made("linked", link, scope.name) for link in links]
    if not events:
        raise MemtapeError(f"{name_of(named)} stands there already.", "`memtape tree` draws where.")
    world.log.append(events)
    return _written(world, named.id)


def link(
    world: Writer,
    page: PageName,
    to: str,
    relation: Annotated[str, said("As what.", option="--as", choices=EDGES)] = "related",
    undo: Annotated[bool, said("End this link.")] = False,
) -> LinkSaid:
    """Link a page to another. As a child the other stands below it. TO may be a slug that no page has yet.

        memtape tree link deploy deploy/staging --as child
        memtape tree link deploy/staging backups --as depends_on

    Raises `NotFound` and `MemtapeError`.
    """
    if relation not in EDGES:
        raise MemtapeError(f"{relation[:40]} is no relation of pages.", f"There are {', '.join(EDGES)}.")
    scope, named = _named(world, page)
    try:
        target: Page | None = meant(scope, to)
    except MemtapeError:
        ends = map(scope.pages.end, named.links.values()) if undo else ()
        target = next((it for it in ends if it is not None and to in (it.id, it.slug)), None)  # It is gone.
        if target is None and not is_slug(to):  # Else no page has this slug yet.
            raise
    here, there = name_of(named), to if target is None else name_of(target)
    if target is named and not undo:
        raise MemtapeError(f"{here} would lead to itself.", "Name another page.")
    found = scope.pages.numbers.get((named.birth, relation, there if target is None else target.birth))
    if (found is not None) is not undo:
        leads = "does not lead" if undo else "leads"
        told = f"{here} {leads} to {there} as {relation}{'' if undo else ' already'}."
        raise MemtapeError(told, f"`memtape tree show {here}` has where it leads.")
    if undo and found is not None and named.links[found].trust > TRUST[world.actor.origin]:
        raise MemtapeError(f"Somebody trusted more made this link of {here}.", "The user can end it.")
    if relation == CHILD and target is not None and not undo:
        check_circle(scope, named, target)
    slug, id = (there, None) if target is None else (None, target.id)
    world.append("linked", Linked(id=named.id, on=not undo, relation=relation, slug=slug, to=id), scope.name)
    return LinkSaid(source=here, relation=relation, target=there, is_there=target is not None, on=not undo)


def check(world: Writer) -> list[TreeProblem]:
    """List the problems of the tree: links to nothing, unreachable pages, circles, stale pages.

        memtape tree check

    Each says how it is mended, unless a person has to decide. Nothing is changed.
    """
    return checking.check(state_of(world, world.scope))


def rows(world: Writer) -> dict[str, PageRow]:
    """Return the rows of all pages that live, the root included, by id."""
    scope = state_of(world, world.scope)
    found = (page_row(scope, id) for id in tree_pages.page_ids(scope))
    return {row.id: row for row in found if row is not None}


def _named(world: Writer, name: str) -> tuple[Scope, Page]:
    """Return the state of the scope at the end of the log, and its page of a name. Raises `NotFound`."""
    scope = state_of(world, world.scope)
    return scope, meant(scope, name)


def _edit(asked: NewPageAsks | EditPageAsks | AgentEditPageAsks) -> Edited:
    """Return the given fields of a page; an agent that edits gives none, and an empty list gives nothing."""
    given = {name: getattr(asked, name, None) for name in ("title", "summary", "hints", "refs")}
    texts = {name: it if isinstance(it, str) else tuple(it or ()) or None for name, it in given.items()}
    return replace(NO_EDIT, **texts)


def _check_free(scope: Scope, slug: str, hint: str) -> None:
    """Raise `MemtapeError` where a page has a slug already."""
    if (taken := scope.pages.at(slug)) is not None and taken.lives:
        raise MemtapeError(f"The page {slug} is there already.", hint)


def _edits(world: Writer, edit: Edited, scope: str) -> list[Event]:
    """Return the event of an edit; none for an edit without changes."""
    if replace(edit, id="") == NO_EDIT:
        return []
    return [world.made("edited", edit, scope, refs_of_edit(edit))]


def _check_trust(world: Writer, page: Page, edit: Edited) -> None:
    """Raise `MemtapeError` where a more trusted author set a field to be changed."""
    for name, before in page.given.items():
        if getattr(edit, name) is not None and before.trust > TRUST[world.actor.origin]:
            told = f"Somebody trusted more gave {name_of(page)} its {name}."
            raise MemtapeError(told, "The user can change it.")


def _written(world: Writer, id: str, redacted: dict[str, int] | None = None) -> Written:
    """Return how a page stands after something was done to it."""
    scope, page = _named(world, id)
    links = scope.pages.sources(page)
    parents = (name_of(source) for link, source in links if link.relation == CHILD and source.lives)
    return Written(
        id=page.id,
        slug=page.slug,
        scope=scope.name,
        version=current_version(scope, page),
        beside=len(page.standing.beside),
        under=next(parents, None),
        redacted=redacted or {},
    )


def meant(scope: Scope, name: str) -> Page:
    """Return the living page that a slug or an id means, or the beginning of an id. Raises `NotFound`."""
    page = scope.pages.at(name) if is_slug(name) or name == ROOT else None
    if page is None or not page.lives:
        page = page_of(scope, name)
    if page is None:
        by_seq = scope.captures.by_seq
        birth = named_by(name, ((by_seq[seq].id, birth) for seq, birth in scope.pages.of_capture.items()))
        page = None if birth is None else scope.pages.by_birth[birth]
    if page is None or not page.lives:
        hint = "`memtape tree` draws all; `memtape tree new` writes one."
        raise NotFound(f"{scope.name} has no page {name[:80]}.", hint)
    return page


def _told(scope: Scope, ref: str) -> str:
    """Return the text of a captured id that is shown, empty of anything else."""
    capture = scope.captures.get(ref)
    memory = scope.memory_of(ref)
    if memory is not None and memory.canonical >= 0:
        capture = scope.captures.by_seq[memory.canonical]
    return "" if capture is None or capture.hidden else scope.captures.body(capture).text[:REF_CHARS]


def _history(scope: Scope, page: Page) -> Iterator[Version]:
    for seq in reversed(page.versions):
        capture, standing = scope.captures.by_seq[seq], page.standing
        stands = "current" if seq == standing.current else "beside" if seq in standing.beside else "before"
        actor = capture.actor
        yield Version(id=capture.id, at=capture.at, actor=actor.name, origin=actor.origin, stands=stands)


def current_version(scope: Scope, page: Page) -> str | None:
    """Return the id of the version that speaks for a page, None of a root without a text."""
    spoken = scope.captures.by_seq.get(page.standing.current)
    return None if spoken is None else spoken.id


def check_slug(slug: str) -> None:
    """Raise `MemtapeError` with a suggestion where `slug` is not a valid slug."""
    if is_slug(slug):
        return
    if slug == ROOT:
        told = f"{ROOT} is the root, which is there by itself."
        raise MemtapeError(told, f"`memtape tree edit {ROOT}` gives it a text.")
    told = "A slug is segments of a-z, 0-9, _ and -, joined by /"
    if len(slug) > SLUG_CHARS or any(len(part) > SEGMENT_CHARS for part in slug.split("/")):
        most = f"{SLUG_CHARS} characters, and {SEGMENT_CHARS} between two /"
        told = f"A slug has at most {most}; this one has {len(slug)}"
    raise MemtapeError(f"{told}.", f"`{slug_of(slug)}` would do.")


def _check_text(text: str) -> None:
    if not text.strip():
        raise MemtapeError("A page says something, and this text is empty.", "`memtape forget` hides a page.")


def check_circle(scope: Scope, parent: Page, child: Page) -> None:
    """Raise `MemtapeError` where a page would stand below itself."""
    if parent is child:
        raise MemtapeError(f"{name_of(parent)} would stand below itself.", "Name another page.")
    if way := tree_pages.way_down(scope, child, parent):
        told = " > ".join(name_of(page) for page in way)
        raise MemtapeError(
            f"{name_of(child)} would stand below itself: {told} already.",
            f"`memtape tree link {name_of(way[-2])} {name_of(parent)} --as child --undo` ends that first.",
        )


def _new_shell(world: Writer, asked: NewPageAsks) -> Written:
    text = _given_text(asked.text or None, lambda: f"# {asked.title or asked.slug}\n\n")
    if text is None:
        raise MemtapeError("The page has no text.", "Give one, or pipe one in.")
    return new(world, replace(asked, text=text))


def _edit_shell(world: Writer, asked: EditPageAsks) -> Written:
    """Take the text of an editor where none is given, on the version that the editor was given."""
    text, base = asked.text, asked.base
    others = any(it not in (None, ()) for it in (asked.title, asked.summary, asked.hints, asked.refs))
    if text is not None or not others:
        shown = show_page(world, asked.page)
        base = base or shown.row.version
        text = _given_text(text, lambda: shown.text)
        if text is None and not others:
            raise MemtapeError("Nothing was changed.", "Save another text in your editor, or give one.")
    return edit(world, replace(asked, text=text, base=base if text is not None else None))


def _link_lines(world: Writer, asked: Any, done: LinkSaid) -> Iterator[str]:
    ends = f"{done.source} {done.relation} {done.target}"
    again = f"Undo: memtape tree link {done.source} {done.target} --as {done.relation}"
    if asked.undo:
        yield f"Ended: {ends}. {again}"
        return
    waits = "" if done.is_there else " No page has this slug yet; the link leads there when one is written."
    yield f"Linked: {ends}.{waits}"
    yield f"{again} --undo"


def _given_text(text: str | None, start: Callable[[], str]) -> str | None:
    """Return the given text, with - or a pipe the text on stdin, or the text saved in an editor."""
    if text is not None and text != "-":
        return text
    if text == "-" or not is_asked():
        return decoded(sys.stdin.buffer.read())
    return click.edit(start(), extension=".md")


def _written_lines(what: str, world: Writer, asked: Any, done: Written) -> Iterator[str]:
    below = f", below {done.under}" if done.under else ""
    version = f", version {done.version}" if done.version else ""
    yield f"{what} {done.slug or short_id(done.id)} ({done.scope}{below}), page {short_id(done.id)}{version}."
    if done.beside:
        beside = many(done.beside, "other version stands", "other versions stand")
        yield f"{beside} beside the current one: memtape tree show {done.slug or short_id(done.id)}"
    if told := redacted(done.redacted):
        yield told


def _tree_lines(world: Writer, asked: Any, drawn: DrawnTree) -> Iterator[str]:
    if drawn.top is None:
        yield f"{drawn.scope} has no page yet. `memtape tree new` writes one."
        return
    said = drawn.scope if drawn.top.name == ROOT else drawn.top.title
    yield f"{drawn.top.name}  {one_line(said, SHOWN_CHARS)} ({many(drawn.pages, 'page')})"
    yield from _below(drawn.top, "")
    if drawn.loose:
        yield "Below no page:"
        for node in drawn.loose:
            yield _node_line(node)
            yield from _below(node, "")


def _below(node: TreeNode, margin: str) -> Iterator[str]:
    rest = [f"… {many(node.more, 'more page')}: memtape tree {node.name}"] if node.more else []
    last = len(node.children) + len(rest) - 1
    for number, child in enumerate(node.children):
        yield f"{margin}{'└── ' if number == last else '├── '}{_node_line(child)}"
        yield from _below(child, margin + ("    " if number == last else "│   "))
    for line in rest:
        yield f"{margin}└── {line}"


def _node_line(node: TreeNode) -> str:
    title = "" if node.title == node.name else f"  {one_line(node.title, SHOWN_CHARS)}"
    marks = ["see above"] * node.again + [f"{node.versions} versions stand"] * (node.versions > 1)
    told = f" ({', '.join(marks)})" if marks else ""
    return f"{node.name}{title}{told}"


def _page_lines(world: Writer, asked: Any, shown: PageShown) -> Iterator[str]:
    row = shown.row
    yield f"{row.slug or short_id(row.id)}  {one_line(row.title, SHOWN_CHARS)}"
    told = {"id": short_id(row.id), "summary": row.summary, "hints": "; ".join(row.hints)}
    for name, value in told.items():
        if value:
            yield f"{name:<9}{one_line(value)}"
    if shown.text:
        yield f"\n{shown.text.strip()}\n"
    below = [(it.name, it.title) for it in shown.below]
    refs = [(one_line(name, SHOWN_CHARS), text) for name, text in shown.references.items()]
    said = {it.id: f"by {told_author(it)}, {it.stands}" for it in shown.history}
    lists = {
        "Below": [f"{name}  {one_line(title, SHOWN_CHARS)}".rstrip() for name, title in below],
        "Leads to": list(map(_end_line, shown.edges)),
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
        yield f"written upon one. Say what is so: memtape tree edit {row.slug or short_id(row.id)}"


def _end_line(it: PageEnd) -> str:
    return f"{it.relation}: {it.name}{'' if it.is_there else ' (not there)'}"


def _check_lines(world: Writer, asked: Any, found: list[TreeProblem]) -> Iterator[str]:
    names = {id: name_of(row) for id, row in rows(world).items()}
    for problem in found[:SHOWN_PROBLEMS]:
        yield f"{problem.kind:<13}{problem.slug or problem.page}: {one_line(problem.what)}"
        if (fix := problem.fix) is not None:
            page, to = (names.get(id or "", id) for id in (fix.id, fix.to))
            yield f"  To mend: memtape tree link {page} {to} --as {fix.relation}{'' if fix.on else ' --undo'}"
    if not found:
        yield "Nothing is wrong with the tree."
    elif (more := len(found) - SHOWN_PROBLEMS) > 0:
        yield f"{many(more, 'more problem')}: memtape tree check --json"


def _tell_page(world: Writer, asked: Any, found: PageShown) -> str:
    """Show a page with its child pages and links, as many as fit."""
    row, part = found.row, markdown.part_of(found.text, 0)
    about = f"{one_line(row.slug or row.id, 200)} in {world.scope}"
    lines = [f"{about} · {markdown.name_of(row.title, 200)} · version `{row.version}`"]
    lines += [markdown.quoted(part)] if part else []
    below = [f"below: {it.name}{f' ({one_line(it.title, 120)})' if it.told else ''}" for it in found.below]
    refs = found.references.items()
    told = [f"tells of {one_line(name, 200)}: {one_line(text, 200)}" for name, text in refs]
    if details := "\n".join((*below, *map(_end_line, found.edges), *told)):
        lines.append(markdown.fitted(markdown.quoted(details), DETAILS_BYTES))
    rest = len(found.text) - len(part)
    more = f"{rest:,} characters follow: get_memory of `{row.version}` with from_char={len(part)}."
    tail = [more] if rest else []
    if row.diverged:
        others = ", ".join(f"`{id}`" for id in row.beside[:5])
        tail.append(f"Beside it stand {others}, which get_memory opens.")
    return markdown.list_pieces("", lines, tail)


VERBS = (
    Verb("tree draw", draw, lines=_tree_lines),
    Verb(
        "tree show",
        show_page,
        lines=_page_lines,
        tool=Offer(
            "Read a page of the project's tree, and what stands below it; _root is the top.",
            _tell_page,
            common=False,
        ),
    ),
    Verb("tree check", check, lines=_check_lines, listed="problems"),
    Verb(
        "tree new",
        new,
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
        edit,
        lines=partial(_written_lines, "Changed"),
        shell=_edit_shell,
        effect="adds",
        tool=Offer(
            "Give a page another text. What a person wrote stays, and yours stands beside it.",
            idempotent=False,
            common=False,
            asks=AgentEditPageAsks,
        ),
    ),
    Verb("tree move", move, lines=partial(_written_lines, "Moved"), effect="adds"),
    Verb("tree link", link, lines=_link_lines, effect="adds"),
)
