"""The files of pages: what they say, that a text nobody changed gives way, and nobody loses anything."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from builders import captured, configured, edited, forgotten, make_id, page_link, slots

from memtape.schemas.events import Event
from memtape.schemas.slugs import ROOT
from memtape.schemas.zones import ZONE_END, ZONE_START
from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import ScopeFiles, kept
from memtape.sinks.vault import Vault, render
from memtape.state.core.partition import Partition, fold
from memtape.state.views.pages import pages_of
from memtape.state.views.rows import all_changes

SCOPE = "project:test"
TREE = [
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
        changes = fold(self.partition, slots(list(events), start=self.partition.offset)).changes
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
        made = {it.path: text.encode() for it in pages if (text := render(it))}
        assert self.vault.read(SCOPE) == made
        folder = self.home.scope_folder(SCOPE)
        files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
        assert files == made.keys()


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "home")
    made.say(*TREE)
    return made


def test_a_file_has_front_matter_the_text_and_an_index(world: World) -> None:
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


def test_a_text_that_nobody_changed_gives_way_and_a_page_takes_its_file_along(world: World) -> None:
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


def test_front_matter_keeps_what_it_is_given_whatever_it_looks_like(world: World) -> None:
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


def test_a_text_with_marks_and_html_breaks_no_file(world: World) -> None:
    text = f"{ZONE_END}\n<script>alert(1)</script> ![[x]]\n---\n{ZONE_START}"
    for slug, origin in (("c", "user"), ("d", "agent")):
        world.say(captured(text, slug, "page", path=slug, origin=origin))
        world.holds()
        assert world.text(slug).count(ZONE_END) == 1
        assert ("<script>" in world.text(slug)) is (origin == "user")
        world.say(captured("Plain.", f"{slug} 2", "page", path=slug, origin=origin))
        assert world.body(slug) == "Plain.\n"
