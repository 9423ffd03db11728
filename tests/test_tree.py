"""The tree of pages: its check against a naive one, its fixes, the walk, trouble, and the files of pages."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import builders
import pytest
import yaml
from builders import captured, configured, edited, forgotten, make_id, page_id, page_link, slots
from hypothesis import given
from hypothesis import strategies as st
from soaked import soaked

from memtape.schemas.events import CHILD, EDGES, Event
from memtape.schemas.ids import ROOT
from memtape.schemas.places import ZONE_END, ZONE_START
from memtape.schemas.rows import PageRow
from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import ScopeFiles, kept
from memtape.sinks.vault import Vault
from memtape.state.core.partition import Partition, fold
from memtape.state.core.scope import Scope
from memtape.state.tree.checking import TreeProblem, check, laid
from memtape.state.tree.walking import walk
from memtape.state.views.pages import pages_of
from memtape.state.views.rows import all_changes
from memtape.state.views.tree_pages import page_row

SCOPE = "project:test"


def folded(events: list[Event]) -> Scope:
    """The scope of a history."""
    partition = Partition(0)
    fold(partition, slots([configured(), *events]))
    return partition.scopes.get(SCOPE) or Scope(SCOPE)


def rows_of(scope: Scope) -> dict[str, PageRow]:
    """The rows of all pages, by id."""
    found = (page_row(scope, page.id) for page in scope.pages.by_birth.values())
    return {row.id: row for row in found if row is not None}


def pages(*slugs: str) -> list[Event]:
    """Pages of these slugs, each with a text that says nothing else."""
    return [captured(f"# {slug}\n\nThis is {slug}.", slug, "page", path=slug) for slug in slugs]


def children(*links: tuple[object, object]) -> list[Event]:
    """Links from pages to their children, in order."""
    return [page_link(above, CHILD, f"{n}: {above}>{below}", below) for n, (above, below) in enumerate(links)]


def mended(events: list[Event], problems: Iterable[TreeProblem]) -> list[Event]:
    """A history with what mends it, as an operator says it."""
    bodies = [problem.fix for problem in problems if problem.fix]
    name = f"after {len(events)}: fix"
    fixes = [builders.event("linked", it, f"{name} {n}", origin="operator") for n, it in enumerate(bodies)]
    return events + fixes


def told(problems: Iterable[TreeProblem]) -> list[tuple[str, str]]:
    """The kind and slug of each problem."""
    return [(problem.kind, problem.slug) for problem in problems]


def test_orphans_are_put_below_a_page_and_links_that_lead_nowhere_named_or_taken_off() -> None:
    """Below the root too where the page of its slug stands below the orphan."""
    tree = [*pages("a", "a/b", "a/b/c/d", "z/y", "a/b/e"), *children((ROOT, "a"), ("a/b", "a/b/e"))]
    tree += [*pages("p", "p/t"), *children((ROOT, "p"), ("p/t", "p"))]
    problems = check(folded(tree))
    assert told(problems) == [("orphan", slug) for slug in ("a/b", "a/b/c/d", "z/y", "a/b/e", "p/t")]
    assert [(body.id, body.to) for problem in problems if (body := problem.fix)] == [
        (make_id("a"), make_id("a/b")), (make_id("a/b"), make_id("a/b/c/d")), (page_id(ROOT), make_id("z/y")),
        (page_id(ROOT), make_id("p/t")),
    ]  # fmt: skip
    assert check(folded(mended(tree, problems))) == []
    tree = [*pages("a", "b"), *children((ROOT, "a"), ("a", "b")), page_link("a", "related", "r", slug="c")]
    assert told(check(folded(tree))) == [("dangling", "a")]
    tree.append(forgotten(["b"], "f"))
    problems = check(folded(tree))
    assert told(problems) == [("dangling", "a"), ("dangling", "a")]
    assert sum(problem.fix is not None for problem in problems) == 1
    after = check(folded(mended(tree, problems)))
    assert [problem.what for problem in after] == ["related leads to c, which nobody has written"]
    assert check(folded([*mended(tree, problems), *pages("c"), *children((ROOT, "c"))])) == []


def test_what_is_stale_diverged_or_of_no_known_edge_is_listed() -> None:
    facts = [captured("The port is 8080.", "fact"), captured("Tea.", "tea"), captured("Gone.", "gone")]
    tree = [*facts, *pages("a"), *children((ROOT, "a")), page_link("a", "odd_one", "o", ROOT)]
    tree.append(edited("a", "e", refs=(*map(make_id, ("fact", "tea", "gone")), "x.md"), summary="Short."))
    assert told(check(folded(tree))) == [("unknown_edge", "a")]
    tree += [captured("The port is 8081.", "now"), builders.linked("fact", "replaced_by", "now", "w"),
             forgotten(["gone"], "f"), captured("Newer.", "a2", "page", path="a"),
             captured("From an agent.", "a3", "page", path="a", origin="agent")]  # fmt: skip
    problems = check(folded(tree))
    assert told(problems) == [("stale", "a")] * 2 + [("unknown_edge", "a"), ("diverged", "a")]
    assert [problem.fix for problem in problems] == [None] * 4
    assert {"was forgotten" in problem.what for problem in problems[:1]} == {True}
    assert problems[1].what == "its summary is older than its text"
    said = [captured("The port is 8080.", "old"), *pages("a"), *children((ROOT, "a"))]
    replaced = [captured("The port is 8081.", "new"), builders.linked("old", "replaced_by", "new", "w")]
    refers = edited("a", "e", refs=(make_id("old"),))
    assert told(check(folded([*said, refers, *replaced]))) == [("stale", "a")]
    assert check(folded([*said, *replaced, refers])) == []


def naive(scope: Scope) -> dict[str, list[tuple[str, str]]]:
    """Of each kind of problem the pages and what they lead to, found by the plainest way there is."""
    rows = rows_of(scope)
    living = {page.birth: page for page in scope.pages.by_birth.values() if page.lives}
    every = [(number, page.birth, link) for page in living.values() for number, link in page.links.items()]
    links = sorted((n, birth, to.to) for n, birth, to in every if to.relation == CHILD and to.to in living)
    kept: list[tuple[int, int]] = []
    closing: list[tuple[str, str]] = []
    for _, source, target in links:
        if target == -1 or source in reach(kept, target):
            closing.append((living[source].id, living[target].id))
        else:
            kept.append((source, target))
    there, has_child = reach(kept, -1), {source for source, _ in kept}
    every = [(page, link) for page in living.values() for link in page.links.values()]
    lost = [page for page in living.values() if page.birth not in there]
    return {
        "cycle": sorted(closing),
        "orphan": sorted((page.id, "") for page in lost if page.slug or page.birth in has_child),
        "dangling": sorted((it.id, end_of(scope, to)) for it, to in every if to.to not in living),
        "unknown_edge": sorted((it.id, to.relation) for it, to in every if to.relation not in EDGES),
        "diverged": sorted((row.id, "") for row in rows.values() if row.beside),
    }


def end_of(scope: Scope, link: Any) -> str:
    end = scope.pages.end(link)
    return str(link.to) if end is None else end.id


def reach(links: list[tuple[int, int]], start: int) -> set[int]:
    found = {start}
    while more := {target for source, target in links if source in found} - found:
        found |= more
    return found


@given(builders.worlds(of=(builders.TREE,)))
def test_the_check_finds_what_a_naive_one_finds_and_its_fixes_mend_it(events: list[Event]) -> None:
    scope = folded(events)
    problems, expected = check(scope), naive(scope)
    for kind, named in expected.items():
        found = [problem for problem in problems if problem.kind == kind]
        assert sorted(problem.page for problem in found) == [page for page, _ in named], kind
    cycles = [(body.id, body.to) for problem in problems if problem.kind == "cycle" and (body := problem.fix)]
    assert sorted(cycles) == expected["cycle"]
    after = check(folded(mended(events, problems)))
    assert [problem for problem in after if problem.kind in ("cycle", "orphan") or problem.fix] == []


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40, unique=True))
def test_links_are_laid_as_if_each_were_looked_at_alone(pairs: list[tuple[int, int]]) -> None:
    kept: list[tuple[int, int]] = []
    closing = {}
    for number, (source, target) in enumerate(pairs):
        if source in reach(kept, target):
            closing[number] = source
        else:
            kept.append((source, target))
    assert laid((number, *pair) for number, pair in enumerate(pairs)) == closing


def test_a_walk_goes_down_by_the_best_of_each_level() -> None:
    tree = [*pages("good", "bad", "good/one", "good/two", "bad/good"),
            *children((ROOT, "good"), (ROOT, "bad"), ("good", "good/one"), ("good", "good/two"),
                      ("bad", "bad/good"), ("good/one", "good"))]  # fmt: skip
    scope = folded(tree)
    found = walk(lambda id: page_row(scope, id), SCOPE, lambda row: len(re.findall("good|one", row.title)))
    assert [(it.row.slug, len(it.path), it.score) for it in found] == [
        ("good", 2, 1), ("good/one", 3, 2), ("good/two", 3, 1),
    ]  # fmt: skip
    assert found[1].path == (page_id(ROOT), make_id("good"), make_id("good/one"))
    assert walk(lambda id: page_row(scope, id), SCOPE, lambda row: 0) == []
    narrow = walk(lambda id: page_row(scope, id), SCOPE, lambda row: 1, breadth=1, depth=1)
    assert [it.row.slug for it in narrow] == ["good"]
    assert walk(lambda id: None, SCOPE, lambda row: 1) == []


@given(builders.worlds(of=(builders.TREE,)), st.integers(1, 3), st.integers(1, 4))
def test_a_walk_ends_and_sees_each_page_once(events: list[Event], breadth: int, depth: int) -> None:
    scope = folded(events)
    found = walk(lambda id: page_row(scope, id), SCOPE, lambda row: len(row.summary) + 1, breadth, depth)
    assert len({it.row.id for it in found}) == len(found)
    assert all(1 <= len(it.path) - 1 <= depth for it in found)
    assert all(sum(len(it.path) == length for it in found) <= breadth for length in range(2, depth + 2))
    rows = rows_of(scope)
    assert all(it.path[-1] in rows[it.path[-2]].children for it in found)


@pytest.mark.parametrize("count", soaked([2_000, 10_000], 2_000))
def test_many_children_and_as_deep_a_chain_are_folded_checked_and_walked(count: int) -> None:
    wide = [captured(f"Page {number}.", f"w{number}", "page", path=f"w{number}") for number in range(count)]
    wide += [page_link(ROOT, CHILD, f"l{number}", f"w{number}") for number in range(count)]
    deep = [page_link(f"w{number}", CHILD, f"d{number}", f"w{number + 1}") for number in range(count - 1)]
    scope = folded([*wide, *deep, page_link(f"w{count - 1}", CHILD, "back", "w0")])
    assert count > sys.getrecursionlimit()
    began = time.perf_counter()
    problems = check(scope)
    assert told(problems) == [("cycle", f"w{count - 1}")]
    assert time.perf_counter() - began < 20  # It is well under a second; quadratic would be minutes.
    row = page_row(scope, page_id(ROOT))
    assert row is not None and len(row.children) == count
    assert len(walk(lambda id: page_row(scope, id), SCOPE, lambda row: 1)) == 11


def test_links_of_ten_thousand_pages_against_their_order_are_laid() -> None:
    count = 10_000
    links = [(number, count - number, count - number + 1) for number in range(1, count)]
    assert laid([*links, (count, count, 1)]) == {count: count}


PROXY = [
    captured("# The proxy\n\nIt listens on 8080.", 1, "page", path="infra/proxy"),
    captured("Two.", 2, "page", path="b"),
    page_link(ROOT, "child", "l", 1),
    page_link(1, "child", "m", 2),
    page_link(2, "odd_one", "n", slug="not/there"),
    edited(1, "e", hints=("Which port: 1?", '"q"'), refs=("a.md",), rest="aliases: [x]\nlang: de",
           summary="Kurz: größe"),
]  # fmt: skip


class World:
    """A vault that is written as events come."""

    def __init__(self, path: Path) -> None:
        self.home = Home(path)
        self.vault = Vault(self.home)
        self.partition = Partition(0)
        self.say(configured())

    def say(self, *events: Event) -> None:
        changes = fold(self.partition, slots(list(events), start=self.partition.offset))
        self.vault.write(pages_of(self.partition, changes), [])

    def path(self, slug: str) -> Path:
        return self.home.scope_folder(SCOPE) / "pages" / f"{slug}.md"

    def text(self, slug: str) -> str:
        return self.path(slug).read_text()

    def body(self, slug: str) -> str:
        return self.text(slug).partition(ZONE_START + "\n")[2].partition(ZONE_END)[0]

    def front(self, slug: str) -> dict[str, object]:
        found: dict[str, object] = yaml.safe_load(self.text(slug).split("---\n")[1])
        return found

    def holds(self) -> None:
        """Every file is what its page says, and no other is there."""
        scope = self.partition.scopes[SCOPE]
        pages = pages_of(self.partition, all_changes(scope))
        made = {it.path: text.encode() for it in pages if (text := it.text)}
        assert self.vault.read(SCOPE) == made
        folder = self.home.scope_folder(SCOPE)
        files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
        assert files == made.keys()


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "home")
    made.say(*PROXY)
    return made


def test_a_file_has_front_matter_text_and_index_and_gives_way_unless_changed(world: World) -> None:
    world.holds()
    front = world.front("infra/proxy")
    assert front["id"] == make_id(1) and front["title"] == "The proxy" and front["summary"] == "Kurz: größe"
    assert front["routing_hints"] == ["Which port: 1?", '"q"'] and front["children"] == [{"page": "b"}]
    assert (front["aliases"], front["lang"], front["refs"]) == (["x"], "de", ["a.md"])
    assert world.body("infra/proxy") == "# The proxy\n\nIt listens on 8080.\n"
    assert "- [b](../b.md): Two." in world.text("infra/proxy")
    assert "- child: [infra/proxy](infra/proxy.md)" in world.text("b")
    assert world.front("b")["edges"] == [{"odd_one": "not/there"}]
    assert world.front(ROOT)["children"] == [{"node": "infra/proxy"}]
    world.say(captured("Newer.", 3, "page", path="infra/proxy"))
    assert world.body("infra/proxy") == "Newer.\n"
    world.say(edited(1, "g", slug="deep/er/proxy"))
    assert not world.path("infra/proxy").exists() and not world.path("infra/proxy").parent.exists()
    assert "(deep/er/proxy.md)" in world.text("b") and world.body("deep/er/proxy") == "Newer.\n"
    world.say(forgotten([1, 3], "f"))
    assert not world.path("deep/er/proxy").exists() and "proxy" not in world.text("b")
    world.holds()
    assert kept(world.home) == []


def test_a_text_that_somebody_changed_stays_with_its_whole_file_until_it_was_read(world: World) -> None:
    path = world.path("infra/proxy")
    mine = world.text("infra/proxy").replace("8080", "9090")
    path.write_text(mine)
    world.say(captured("Newer.", 3, "page", path="infra/proxy"))
    assert path.read_text() == mine
    world.say(forgotten([1, 3], "f"))
    assert path.read_text() == mine
    ScopeFiles(world.home, SCOPE).taken("pages/infra/proxy.md", mine.encode())
    world.say(captured("# The proxy\n\nIt listens on 9090.", 4, "page", path="infra/proxy"))
    assert world.body("infra/proxy") == "# The proxy\n\nIt listens on 9090.\n"
    world.holds()
    assert kept(world.home) == []


def test_a_file_in_the_place_of_a_page_is_kept_and_one_that_lost_its_marks_waits(world: World) -> None:
    world.path("mine").write_text("My own.\n")
    world.say(captured("A page.", 3, "page", path="mine"))
    world.path("b").write_text("no marks any more\n")
    world.say(captured("Newer.", 4, "page", path="b"))
    assert world.body("mine") == "A page.\n" and world.text("b") == "no marks any more\n"
    (beside,) = [world.home.path / name for name in kept(world.home)]
    assert beside.read_text() == "My own.\n"
    ScopeFiles(world.home, SCOPE).taken("pages/b.md", b"no marks any more\n")
    world.say(captured("Newest.", 5, "page", path="b"))
    assert world.body("b") == "Newest.\n" and len(kept(world.home)) == 1


def test_front_matter_and_texts_break_no_file(world: World) -> None:
    """What cannot stand there is one string; a title and a summary are texts."""
    for rest in ("---\nid: other", "a: <!-- memtape: yours from here -->", "a: \u202eb", "...\nx: y"):
        world.say(edited(2, rest, rest=rest))
        assert world.front("b")["memtape_rest"] == rest and world.front("b")["id"] == make_id(2)
        world.holds()
    for title in ("true", "a: b", "- x", "\u2028", '"', "# no", "2026-11-23", "null", "{a}", "\\"):
        world.say(edited(2, title, title=title, summary=title))
        front = world.front("b")
        assert isinstance(front["title"], str) and front["title"] == front["summary"]
        assert front["id"] == make_id(2)
    text = f"{ZONE_END}\n<script>alert(1)</script> ![[x]]\n---\n{ZONE_START}"
    for slug, origin in (("c", "user"), ("d", "agent")):
        world.say(captured(text, slug, "page", path=slug, origin=origin))
        world.holds()
        assert world.text(slug).count(ZONE_END) == 1
        assert ("<script>" in world.text(slug)) is (origin == "user")
        world.say(captured("Plain.", f"{slug} 2", "page", path=slug, origin=origin))
        assert world.body(slug) == "Plain.\n"
