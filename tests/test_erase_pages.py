"""Erasing pages of the tree for good: what they said, were called and led to stands in no file of a home afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from test_erase import CANARY, SCOPE, TEXT, erase, remains

from memtape.schemas.events import edit_of
from memtape.sinks.remains import search_home
from memtape.tools.client import Client
from memtape.tools.keep.erasing import prove
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.verify import verify


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text("catch_up = false\n")
    with Client(home, scope=SCOPE, actor="Ada", origin="user") as made:
        made.tree.new("deploy", "We deploy on Tuesdays.")
        made.tree.new("deploy/staging", "Staging listens on port 5433.")
        project(made)
        yield made


def project(client: Client) -> None:
    with Owner(client.home, client.log) as owner:
        owner.project()


def file(client: Client, slug: str) -> Path:
    return client.home.scope_folder(SCOPE) / "pages" / f"{slug}.md"


def settled(client: Client) -> None:
    """See that nothing is left, that the views are what the log says, and that making them anew brings nothing back."""
    assert remains(client.home) == []
    assert verify(client.home, client.log).ok
    project(client)
    with Owner(client.home, client.log) as owner:
        assert owner.rebuild(lambda *_: None)
    assert remains(client.home) == [] and verify(client.home, client.log).ok


def test_a_page_goes_with_all_its_versions_and_all_that_was_given_it(client: Client) -> None:
    page = client.tree.new("deploy/codename", f"# Zebrafish\n\n{TEXT}", edit_of(hints=["Who is quokka?"]))
    project(client)
    edit = edit_of(title="Zebrafish-Quokka", summary="Of zebrafish.")
    client.tree.edit("deploy/codename", f"{TEXT} Twice.", edit)
    client.tree.link("deploy/codename", "deploy/staging")
    client.tree.link("deploy", "deploy/codename", "depends_on")
    project(client)
    path = file(client, "deploy/codename")
    path.write_text(path.read_text().replace("Twice.", "Thrice, quokka.").replace("children:", "quokka: 1\nchildren:"))
    project(client)
    assert client.tree.show("deploy/codename").text.endswith("Thrice, quokka.")
    assert len(client.tree.show("deploy/codename").history) == 3
    client.search("codename zebrafish quokka")
    before = remains(client.home)
    for form in ("log.db", "builds/", "pages/deploy.md", "pages/deploy/codename.md"):  # It stands in the node's index.
        assert any(form in name for name in before), before
    erasure = erase(client, page.id, everywhere=True)
    assert erasure.ok and {"captured", "edited"} <= {item.type for item in erasure.plan.items}
    assert not path.exists() and [it.name for it in client.tree.listed()] == ["_root", "deploy", "deploy/staging"]
    settled(client)
    assert "codename" not in file(client, "deploy").read_text()
    assert prove(client.home, client.log, [page.id], [TEXT])[0].clean


def test_a_person_is_told_of_a_file_of_theirs_that_still_says_it(client: Client) -> None:
    """What a person keeps beside the pages is theirs: the erasure is not proven before they delete it."""
    page = client.tree.new("codename", TEXT)
    project(client)
    path = file(client, "codename")
    path.write_text(path.read_text().replace("title:", "title: [") + "\nA note of zebrafish below.\n")
    project(client)
    kept = [name for name in remains(client.home) if "(yours)" in name]
    assert kept
    erasure = erase(client, page.id, everywhere=True)
    left = remains(client.home)
    assert erasure.ok is (not left) and all("(yours)" in name for name in left)
    for place in search_home(client.home.path, CANARY):
        if place.found:
            (client.home.path / place.path).unlink()
    settled(client)


def test_a_slug_that_is_the_text_names_no_file_afterwards(client: Client) -> None:
    page = client.tree.new("zebrafish-quokka/zebrafish", TEXT)
    client.tree.link("deploy", "zebrafish-quokka/zebrafish")
    project(client)
    path = file(client, "zebrafish-quokka/zebrafish")
    path.write_text(path.read_text().replace("at dawn.", "at dusk."))
    project(client)
    assert client.tree.show(page.id).text.endswith("at dusk.")
    assert erase(client, page.id, everywhere=True).ok
    assert not list(client.home.path.rglob("*zebrafish*"))
    settled(client)
