"""Problems of a scope's tree, and the links that repair them, read from the folded state.

No function is recursive: a tree may be as deep as its number of pages.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from memtape.schemas.events import CHILD, EDGES, Linked
from memtape.state.core.scope import Scope
from memtape.state.subjects.lifecycle import is_archived
from memtape.state.subjects.pages import ROOT_BIRTH, Page
from memtape.state.subjects.validity import successor
from memtape.state.views.tree_pages import name_of

Kind = Literal["dangling", "orphan", "cycle", "stale", "unknown_edge", "diverged"]


class TreeProblem(msgspec.Struct, frozen=True):
    """A problem of a page: its id and slug, the kind, a description, and the link that repairs it.

    Without a link a person has to decide.
    """

    page: str
    slug: str
    kind: Kind
    what: str
    fix: Linked | None = None


def check(scope: Scope) -> list[TreeProblem]:
    """Return the problems of a scope's tree, kind by kind, of each kind in the order of the pages.

    Once every fix is appended, a check finds no cycle, no orphan, and no known edge to a removed page.
    """
    if not scope.pages.by_birth:
        return []
    # Links are laid by age, oldest first, so that the youngest link of a circle closes it. In any
    # case the root is below no page.
    links = list(_child_links(scope))
    above = {number: source for number, source, target in links if target == ROOT_BIRTH}
    closing = above | laid(link for link in links if link[0] not in above)
    found = [*_orphans(scope, closing), *_cycles(scope, closing)]
    for page in _living(scope):
        for link in page.links.values():
            end = scope.pages.end(link)
            what = f"{link.relation} leads to {link.to if end is None else name_of(end)}, which"
            if end is None:
                found.append(_problem(page, "dangling", f"{what} nobody has written"))
            elif not end.lives:
                known = link.relation in EDGES
                fix = _link(page, link.relation, end.id, on=False) if known else None
                found.append(_problem(page, "dangling", f"{what} is gone", fix))
            if link.relation not in EDGES:
                what = f"{link.relation} is no edge that Memtape knows"
                found.append(_problem(page, "unknown_edge", what))
        since, refs, summary = page.standing.current, page.given.get("refs"), page.given.get("summary")
        for ref in () if refs is None else refs.value:
            if refs is not None and (became := _became(scope, ref, max(since, refs.seq))):
                found.append(_problem(page, "stale", f"refers to {ref}, which {became}"))
        if summary is not None and summary.value and summary.seq < since:
            found.append(_problem(page, "stale", "its summary is older than its text"))
        if page.standing.beside:
            what = f"{1 + len(page.standing.beside)} versions stand, since nobody has seen all of them"
            found.append(_problem(page, "diverged", what))
    order: tuple[Kind, ...] = ("dangling", "orphan", "cycle", "stale", "unknown_edge", "diverged")
    return sorted(found, key=lambda problem: order.index(problem.kind))


def _problem(page: Page, kind: Kind, what: str, fix: Linked | None = None) -> TreeProblem:
    return TreeProblem(page.id, page.slug, kind, what, fix)


def _living(scope: Scope) -> Iterator[Page]:
    return (page for page in scope.pages.by_birth.values() if page.lives)


def _child_links(scope: Scope) -> Iterator[tuple[int, int, int]]:
    """Yield the links from living pages to living children: number, birth of the page, birth of the child."""
    for page in _living(scope):
        for number, link in page.links.items():
            end = scope.pages.end(link)
            if link.relation == CHILD and end is not None and end.lives:
                yield number, page.birth, end.birth


def _cycles(scope: Scope, closing: dict[int, int]) -> Iterator[TreeProblem]:
    for number, birth in sorted(closing.items()):
        page = scope.pages.by_birth[birth]
        child = scope.pages.end(page.links[number])
        assert child is not None
        what = f"its child {name_of(child)} leads back to it"
        if child is page:
            what = "names itself as its child"
        elif child.birth == ROOT_BIRTH:
            what = "names the root as its child"
        yield _problem(page, "cycle", what, _link(page, CHILD, child.id, on=False))


def _orphans(scope: Scope, closing: dict[int, int]) -> Iterator[TreeProblem]:
    """Yield the pages not reachable from the root; a link that closes a circle does not count.

    Of unreachable pages below each other only the topmost is repaired, which repairs the rest.
    """
    children: dict[int, list[int]] = {}
    parents: dict[int, int] = {}
    for number, source, child in _child_links(scope):
        if number not in closing:
            children.setdefault(source, []).append(child)
            parents[child] = source
    known = dict.fromkeys(reached(children, ROOT_BIRTH))
    unknown = (page for page in _living(scope) if page.birth not in known)
    lost = [page for page in unknown if page.slug or page.birth in children]
    top = sorted((it for it in lost if it.birth not in parents), key=lambda it: (it.slug, it.birth))
    fixes: dict[int, Linked] = {}
    for page in top:
        above = _above(scope, page, dict.fromkeys(reached(children, page.birth)))
        children.setdefault(above.birth, []).append(page.birth)
        fixes[page.birth] = _link(above, CHILD, page.id, on=True)
    what = "cannot be reached from the root"
    for page in lost:
        if page.birth in fixes:
            yield _problem(page, "orphan", what, fixes[page.birth])
        else:
            above = scope.pages.by_birth[parents[page.birth]]
            yield _problem(page, "orphan", f"{what}, nor can {name_of(above)} above it")


def _above(scope: Scope, page: Page, below: Container[int]) -> Page:
    """Return the page of the longest slug that begins the page's slug, not below the page; else the root."""
    segments = page.slug.split("/")
    for length in range(len(segments) - 1, 0, -1):
        other = scope.pages.at("/".join(segments[:length]))
        if other is not None and other.lives and other.birth not in below:
            return other
    return scope.pages.by_birth[ROOT_BIRTH]


def _became(scope: Scope, id: str, since: int) -> str:
    """Return the change of a captured id after the event `since`, empty if it still holds."""
    capture = scope.captures.get(id)
    if capture is None:
        return ""
    page, memory = scope.pages.of(capture.seq), scope.memories.of(capture.seq)
    if page is not None:
        return "" if page.lives else "is gone"
    if memory is None:
        archived = is_archived(scope, capture.seq)
        return "was forgotten" if capture.hidden else "was archived" if archived else ""
    if not memory.lives:
        return "was forgotten"
    after = successor(scope, memory)
    if after is not None and after.birth > since:
        return f"was replaced by {scope.captures.by_seq[after.name].id}"
    return "was archived" if is_archived(scope, memory.birth) else ""


def _link(page: Page, relation: str, to: str, *, on: bool) -> Linked:
    return Linked(id=page.id, on=on, relation=relation, slug=None, to=to)


def laid(links: Iterable[tuple[int, int, int]]) -> dict[int, int]:
    """Return the links (number, from, to) that close a circle, by number with their sources.

    Links are laid in the order of their numbers, and a link that would close a circle with those laid is left
    out.
    """
    down: dict[int, list[int]] = {}
    up: dict[int, list[int]] = {}
    closing: dict[int, int] = {}
    for number, source, target in sorted(links):
        # The shorter walk ends the search.
        walks = zip(reached(down, target), reached(up, source), strict=False)
        if any(low == source or high == target for low, high in walks):
            closing[number] = source
        else:
            down.setdefault(source, []).append(target)
            up.setdefault(target, []).append(source)
    return closing


def reached(children: Mapping[int, Sequence[int]], start: int) -> Iterator[int]:
    """Yield all that can be reached from a start, the start first, each once."""
    found, rest = {start: None}, [start]
    for one in rest:
        yield one
        for other in children.get(one, ()):
            if other not in found:
                found[other] = None
                rest.append(other)
