"""A folder of Markdown as pages: links, nodes, versions of what changed; what people said stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from commanding import call as command
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.events import edit_of
from memtape.schemas.slugs import is_slug
from memtape.schemas.zones import ZONE_END, ZONE_START
from memtape.tools.client import Client
from memtape.tools.importing.page_folder import PageFolder, PagesTaken
from memtape.tools.importing.page_layout import parts_of, slugs_of


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MEMTAPE_SESSION", raising=False)
    with Client(tmp_path / "home", scope="project:a", origin="user") as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two nodes, links of each kind, and what is left out."""
    files = {
        "wiki/README.md": "# The wiki\n\nSee [deploying](deploy/index.md#when) and [[On call|who]].\n",
        "wiki/On call.md": "---\ntitle: On call\ntags: [people]\n---\nAda, see [d](deploy/), [x](../out.md).\n",
        "wiki/deploy/index.md": "# Deploying\n\nOn Tuesdays. `[[not a link]]` [site](https://example.org/a.md)\n",
        "wiki/deploy/staging.md": "Port 5433. See [n](missing.md), [[index]] and [up](../On%20call.md).\n",
        "wiki/.obsidian/x.md": "No.",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "wiki"


def taken(client: Client, folder: Path) -> PagesTaken:
    return PageFolder(client, folder).take()


def edges(client: Client, slug: str) -> list[tuple[str, str, bool]]:
    return [tuple(it) for it in client.tree.show(slug).edges]


def below(client: Client, slug: str) -> list[str]:
    return [it.name for it in client.tree.show(slug).below]


def test_files_are_pages_with_their_links_and_folders_are_nodes(client: Client, folder: Path) -> None:
    done = taken(client, folder)
    assert done.new == ["wiki", "wiki/on-call", "wiki/deploy", "wiki/deploy/staging"] and not done.problems
    assert (below(client, "_root"), below(client, "wiki/deploy")) == (["wiki"], ["wiki/deploy/staging"])
    assert below(client, "wiki") == ["wiki/on-call", "wiki/deploy"]
    assert edges(client, "wiki") == edges(client, "wiki/deploy") == [], "what stands below is linked already"
    assert edges(client, "wiki/deploy/staging") == [
        ("related", "wiki/deploy/missing", False),
        ("related", "wiki/on-call", True),
    ]
    assert (done.edges, done.waiting) == (2, 1)
    shown = client.tree.show("wiki/on-call")
    assert (shown.row.title, shown.rest) == ("On call", "tags: [people]") and "Ada, see" in shown.text
    assert client.tree.show("wiki/deploy/staging").row.title == "staging"


def test_imported_again_only_what_changed_is_a_version(client: Client, folder: Path) -> None:
    taken(client, folder)
    end = sum(client.log.ends())
    assert taken(client, folder).unchanged == 4 and sum(client.log.ends()) == end
    path = folder / "deploy" / "staging.md"
    for text, told in (("Port 5434. [[On call]]", 2), ("Port 5433.", 3), ("Port 5434. [[On call]]", 4)):
        path.write_text(text)
        assert taken(client, folder).versions == ["wiki/deploy/staging"]
        shown = client.tree.show("wiki/deploy/staging")
        assert shown.text == text and len(shown.history) == told and not shown.row.diverged
        assert ("related", "wiki/deploy/missing", False) not in edges(client, "wiki/deploy/staging")
        assert (("related", "wiki/on-call", True) in edges(client, "wiki/deploy/staging")) is ("[[" in text)


def test_what_people_said_since_stays(client: Client, folder: Path) -> None:
    taken(client, folder)
    tree = client.tree
    tree.edit("wiki/on-call", "Grace is.", edit_of(title="Who is on call"))
    tree.move("wiki/on-call", "people")
    tree.link("wiki/deploy/staging", "people", undo=True)
    tree.link("wiki/deploy/staging", "people", "depends_on")
    client.forget(client.tree.show("wiki/deploy").row.id)
    (folder / "On call.md").write_text("---\ntitle: Duty\n---\nAda and Tomas are.\n")
    (folder / "deploy" / "index.md").write_text("# Deploying\n\nOn Mondays.\n")
    (folder / "deploy" / "staging.md").write_text("Port 5433, still. See [up](../On%20call.md).\n")
    done = taken(client, folder)
    shown = client.tree.show("people")
    assert shown.row.title == "Who is on call" and shown.row.diverged
    assert {shown.text, "Grace is."} == {"Ada and Tomas are.", "Grace is."}
    assert edges(client, "wiki/deploy/staging") == [("depends_on", "people", True)]
    (problem,) = done.problems
    assert problem.path == "deploy/index.md" and "memtape restore" in problem.reason
    assert "wiki/deploy" not in [it.name for it in client.tree.listed()]


def test_a_page_of_somebody_is_not_written_over_and_none_is_taken_back(client: Client, folder: Path) -> None:
    client.tree.new("wiki/deploy", "Mine.")
    assert "was not imported; it stays as it is" in taken(client, folder).problems[0].reason
    assert client.tree.show("wiki/deploy").text == "Mine."
    (folder / "On call.md").unlink()
    assert taken(client, folder).gone == ["wiki/on-call"] and client.tree.show("wiki/on-call").text


def test_bad_files_are_told_and_lose_nothing(client: Client, folder: Path) -> None:
    (folder / "bad.md").write_text("---\ntitle: [never closed\n---\nStill here.\n")
    (folder / "empty.md").write_text("\n")
    (folder / "bytes.md").write_bytes(b"\xff\xfe\x00no")
    parts = "".join(f"## Part {n}\n\n{'x' * 9_000}\n\n" for n in range(8))
    parts += "## Part 8\n\n" + "".join(f"### Deep {n}\n\n{'x' * 9_000}\n\n" for n in range(8))
    (folder / "long.md").write_text(f"# Long\n\nFirst.\n\n{parts}")
    (folder / "longer.md").write_text("y" * 70_000)
    (folder / ".env.md").write_text("no")
    (folder / "marks.md").write_text(f"See:\n\n{ZONE_START}\nas in a file\n{ZONE_END}\n\nand below.\n")
    done = taken(client, folder)
    told = {it.path: it.reason for it in done.problems}
    assert told.keys() == {"bad.md", "empty.md", "bytes.md", "longer.md"}
    assert "no YAML (line" in told["bad.md"] and "64 KiB" in told["longer.md"]
    assert client.tree.show("wiki/bad").text == "---\ntitle: [never closed\n---\nStill here."
    assert below(client, "wiki/long") == [f"wiki/long/part-{n}" for n in range(9)]
    assert len(below(client, "wiki/long/part-8")) == 8
    assert client.tree.show("wiki/marks").text.endswith("and below.")
    assert taken(client, folder).new == []


def test_the_command_imports_and_says_what_it_did(client: Client, folder: Path) -> None:
    def call(*words: str) -> str:
        return command("import", folder, "--as", "pages", *words, scope="project:b").stdout

    assert call("--dry-run").startswith("Would take 4 new pages")
    with Client(client.home.path, scope="project:b") as other:
        assert other.tree.listed() == []
        assert call().startswith("Took 4 new pages and 0 new versions below wiki in project:b")
        assert json.loads(call("--json"))["folders"][0]["unchanged"] == 4
        assert len(other.tree.listed()) == 5


NAMED = st.characters(exclude_characters="/\0", exclude_categories=["Cs"])


@given(st.lists(st.text(NAMED, min_size=1, max_size=90)))
def test_every_file_has_a_slug_of_its_own(names: list[str]) -> None:
    paths = [*(f"{name}.md" for name in names), f"{'d' * 200}/{'e' * 300}.md", "a b.md", "a-b.md"]
    slugs = slugs_of("top", list(dict.fromkeys(paths)))
    assert all(map(is_slug, slugs.values())) and len(dict.fromkeys(slugs.values())) == len(slugs)


@given(st.text("#ab \n`~-=>", max_size=200))
def test_the_parts_of_a_page_are_the_page(text: str) -> None:
    assert b"".join(part for _, part in parts_of(text.encode())) == text.encode()
