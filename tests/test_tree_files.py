"""What people do to the files of the tree becomes events, before anything is written over: each once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from commanding import call
from met import events_of
from soaked import soaked
from tables import table
from test_vault_people import Killed, killed_at

from memtape.schemas.events import Captured, Edited, Event, Linked
from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import kept, zone_problems
from memtape.state.views.tree_pages import name_of
from memtape.tools.client import Client
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.zones import Zones
from memtape.tools.verbs.tree import rows

SCOPE = "project:a"


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A home with two pages, one below the other, as files."""
    monkeypatch.delenv("MEMTAPE_SESSION", raising=False)
    with Client(tmp_path / "home", scope=SCOPE, actor="Ada", origin="user") as made:
        made.new_page("deploy", "We deploy on Tuesdays.", title="Deploying")
        made.new_page("deploy/staging", "Staging listens on port 5433.")
        project(made)
        yield made


def project(client: Client) -> list[str]:
    """Bring the views up to date, and return what people were told."""
    notes: list[str] = []
    with Owner(client.home, client.log, notes.append) as owner:
        owner.project()
    return notes


def settled(client: Client) -> None:
    """Assert that nothing more comes of files, and that they are what the log says."""
    end = sum(client.log.ends())
    project(client)
    project(client)
    assert sum(client.log.ends()) == end
    assert client.verify().ok


def file(client: Client, slug: str) -> Path:
    return client.home.scope_folder(SCOPE) / "pages" / f"{slug}.md"


def change(client: Client, slug: str, *pairs: tuple[str, str]) -> str:
    """Save a file with something else in it, and return what it said."""
    before = text = file(client, slug).read_text()
    for old, new in pairs:
        head, fence, body = text.rpartition("\n---\n")
        assert old in text
        text = f"{head}{fence}{body.replace(old, new)}" if old in body else text.replace(old, new)
    file(client, slug).write_text(text)
    return before


def events(client: Client, type: type[Captured | Edited | Linked]) -> list[Event]:
    return [event for event in events_of(client.log) if isinstance(event.body, type)]


def test_a_changed_text_is_the_next_version_upon_the_one_that_was_seen(client: Client) -> None:
    first = client.read_page("deploy").row.version
    change(client, "deploy", ("Tuesdays", "Wednesdays"))
    project(client)
    shown = client.read_page("deploy")
    assert shown.text == "We deploy on Wednesdays." and not shown.row.diverged
    assert [it.origin for it in shown.history] == ["user", "user"]
    edit = events(client, Edited)[-1].body
    assert isinstance(edit, Edited) and edit.base == first and edit.by == shown.row.version
    assert "We deploy on Wednesdays." in file(client, "deploy").read_text() and not kept(client.home)
    settled(client)


def test_front_matter_is_taken_field_by_field_and_what_is_unknown_word_for_word(client: Client) -> None:
    title = "title: No\ncss: [wide]\n# mine\nwhen: 2026-01-02\nrefs:\n  - a.md\n"
    hints = "routing_hints:\n  - when deployed\nedges:\n  - depends_on: backups\n"
    change(client, "deploy", ('title: "Deploying"\n', title), ("children:\n", f"{hints}children:\n"))
    project(client)
    shown = client.read_page("deploy")
    assert (shown.row.title, shown.row.hints, shown.row.refs) == ("No", ("when deployed",), ("a.md",))
    assert [(it.relation, it.name, it.is_there) for it in shown.edges] == [("depends_on", "backups", False)]
    assert shown.rest == "css: [wide]\n# mine\nwhen: 2026-01-02"
    assert shown.rest in file(client, "deploy").read_text()
    change(client, "deploy", ('title: "No"\n', ""), ("  - page: deploy/staging\n", ""), ("# mine\n", ""))
    project(client)
    shown = client.read_page("deploy")
    assert shown.row.title == "deploy" and not shown.below and "# mine" not in shown.rest
    for slug in ("deploy/live", "deploy/test"):
        client.new_page(slug, f"The port of {slug}.")
    project(client)
    one, other = "  - page: deploy/live\n", "  - page: deploy/test\n"
    change(client, "deploy", (one + other, other + one))
    project(client)
    assert [it.name for it in client.read_page("deploy").below] == ["deploy/test", "deploy/live"]
    settled(client)


def test_front_matter_that_is_no_yaml_loses_nothing(client: Client) -> None:
    mine = change(client, "deploy", ("title: ", "title: [never closed\nx: "), ("Tuesdays", "Fridays"))
    mine = file(client, "deploy").read_text()
    project(client)
    shown = client.read_page("deploy")
    assert shown.text == "We deploy on Fridays." and shown.row.title == "Deploying"
    (name,) = kept(client.home)
    assert (client.home.path / name).read_text() == mine
    (problem,) = zone_problems(client.home)
    assert "is no YAML (line" in problem and "mend that" in problem and "deploy (yours).md" in problem
    assert client.status().zones == (problem,)
    project(client)
    assert zone_problems(client.home) == [problem]  # It is told as long as the file is there.
    (client.home.path / name).unlink()
    change(client, "deploy", ("Fridays", "Mondays"))
    project(client)
    assert not zone_problems(client.home)
    settled(client)


@pytest.mark.parametrize("name", ["release", "Release notes", "a/b/release"])
def test_a_page_that_was_renamed_on_disk_has_another_slug(client: Client, name: str) -> None:
    id = client.read_page("deploy").row.id
    file(client, name).parent.mkdir(parents=True, exist_ok=True)
    file(client, "deploy").rename(file(client, name))
    project(client)
    slug = name.replace(" ", "-").lower()
    shown = client.read_page(slug)
    assert shown.row.id == id and shown.text == "We deploy on Tuesdays." and len(shown.history) == 1
    assert {*map(name_of, rows(client).values())} == {"_root", "deploy/staging", slug}
    assert file(client, slug).exists() and not file(client, "deploy").exists() and not kept(client.home)
    settled(client)


def test_a_file_or_a_copy_that_a_person_puts_there_is_a_page_of_its_own(client: Client) -> None:
    file(client, "release").write_text(file(client, "deploy").read_text().replace("Tuesdays", "Sundays"))
    said = "---\nsummary: Who is on call.\nedges:\n  - [[deploy]]\n---\nAda is.\n"
    file(client, "deploy/On call").write_text(said)
    file(client, "Ünterwegs").write_text("# On the way\n\nTwo trains.\n")
    (file(client, "x").parent / ".hidden.md").write_text("Not mine to read.")
    project(client)
    shown = client.read_page("deploy/on-call")
    assert (shown.text, shown.row.title, shown.row.summary) == ("Ada is.", "On call", "Who is on call.")
    assert [(it.relation, it.name) for it in shown.edges] == [("related", "deploy")]
    assert [it.name for it in client.read_page("deploy").below] == ["deploy/staging", "deploy/on-call"]
    assert client.read_page("unterwegs").row.title == "On the way"
    assert not file(client, "deploy/On call").exists() and not kept(client.home)
    copy, whole = client.read_page("release"), client.read_page("deploy")
    assert (copy.text, whole.text) == ("We deploy on Sundays.", "We deploy on Tuesdays.")
    assert copy.row.id != whole.row.id
    settled(client)


def test_windows_changes_nothing_and_a_deleted_file_is_written_again(client: Client) -> None:
    path, end = file(client, "deploy"), sum(client.log.ends())
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    project(client)
    assert sum(client.log.ends()) == end and not kept(client.home)
    settled(client)
    id = client.read_page("deploy/staging").row.id
    before = file(client, "deploy/staging").read_bytes()
    file(client, "deploy/staging").unlink()
    (note,) = project(client)
    assert "was deleted and is written again" in note and f"memtape forget {id}" in note
    assert file(client, "deploy/staging").read_bytes() == before
    settled(client)


@pytest.mark.parametrize("log_is", ["older", "gone"])
def test_a_text_that_the_log_has_lost_is_kept_beside(client: Client, tmp_path: Path, log_is: str) -> None:
    """As where somebody brings back a log of the day before, or deletes the log."""
    home = client.home
    call("admin", "copy", "--to", tmp_path / "backup.db", home=home.path)
    change(client, "deploy", ("Tuesdays", "Wednesdays"))
    project(client)
    written = file(client, "deploy").read_text()
    client.close()
    for path in home.path.glob("log.db*"):
        path.unlink()
    if log_is == "older":
        shutil.copy(tmp_path / "backup.db", home.log_path)
    with Client(home.path, scope=SCOPE, actor="Ada", origin="user") as again:
        notes = project(again)
        beside = file(again, "deploy (yours)")
        assert beside.read_text() == written and "Wednesdays" in beside.read_text()
        assert any("the log lacks the text" in note and "deploy (yours).md" in note for note in notes)
        assert not file(again, "deploy/staging (yours)").exists() or log_is == "gone"
        if log_is == "older":
            assert again.read_page("deploy").text == "We deploy on Tuesdays."
            beside.replace(file(again, "deploy"))  # As the note says.
            project(again)
            assert again.read_page("deploy").text == "We deploy on Wednesdays."
            settled(again)


def test_two_people_who_edit_one_zone_are_both_heard(client: Client) -> None:
    seen = change(client, "deploy", ("Tuesdays", "Saturdays"))
    project(client)
    file(client, "deploy").write_text(seen.replace("Tuesdays", "Sundays"))
    project(client)
    shown = client.read_page("deploy")
    assert shown.row.diverged and {it.stands for it in shown.history} == {"current", "beside", "before"}
    text = file(client, "deploy").read_text()
    mine, _, other = text.partition("## Another version")
    assert "We deploy on Sundays." in mine and "We deploy on Saturdays." in other
    change(client, "deploy", ("Sundays.\n<!--", "Sundays and Saturdays.\n<!--"))
    project(client)
    assert not client.read_page("deploy").row.diverged
    settled(client)


ODD = {name: its for name, *its in table("tree-file-changes")["cases"]}
ODD["a long slug"] = [[["slug: deploy\n", f"slug: {'a' * 300}\n"]], "Tuesdays", "slug"]


@pytest.mark.parametrize("odd", ODD)
def test_what_cannot_be_taken_is_kept_beside_and_told(client: Client, odd: str) -> None:
    pairs, day, told = ODD[odd]
    change(client, "deploy", *pairs)
    mine = file(client, "deploy").read_text()
    project(client)
    assert client.read_page("deploy").text == f"We deploy on {day}." and not client.check_tree()
    assert [told in problem for problem in zone_problems(client.home)] == [True] * bool(told)
    beside = [(client.home.path / name).read_text() for name in kept(client.home)]
    assert (mine in beside) is bool(beside) is bool(told)
    settled(client)


def test_secrets_are_taken_out_and_private_parts_kept_beside(client: Client) -> None:
    change(client, "deploy", ("Tuesdays.", "Tuesdays. token ghp_" + "a1B2c3D4" * 4 + "abcd"))
    project(client)
    assert "ghp_" not in client.read_page("deploy").text and "ghp_" not in file(client, "deploy").read_text()
    change(client, "deploy", ("We deploy", "<private>Never say so.</private> We deploy"))
    project(client)
    assert "Never say so" not in client.read_page("deploy").text
    assert any("Never say so" in (client.home.path / name).read_text() for name in kept(client.home))


@pytest.mark.parametrize("step", soaked(range(1, 24), 3, 8, 13, 18))
def test_a_kill_loses_nothing_and_says_nothing_twice(client: Client, step: int) -> None:
    change(client, "deploy", ("Tuesdays", "Saturdays"), ('title: "Deploying"', "title: Releases"))
    file(client, "deploy/staging").rename(file(client, "staging"))
    file(client, "New page").write_text("Brand new.\n")
    try:
        with killed_at(step):
            Zones(client.home, client.log).catch_up()
            project(client)
    except Killed:
        pass
    client.home.remove_unfinished()
    project(client)
    project(client)
    assert {*map(name_of, rows(client).values())} == {"_root", "deploy", "staging", "new-page"}
    shown = client.read_page("deploy")
    assert (shown.text, shown.row.title) == ("We deploy on Saturdays.", "Releases") and not shown.row.diverged
    texts = [event.body.text for event in events(client, Captured) if isinstance(event.body, Captured)]
    assert sorted(texts) == sorted({*texts}) and len(texts) == 4
    assert not kept(client.home)
    settled(client)


def test_nothing_is_taken_in_global(client: Client) -> None:
    with Client(client.home, scope="global", origin="operator") as everywhere:
        everywhere.new_page("rules", "Tests first.")
        project(everywhere)
        path = Home(client.home.path).scope_folder("global") / "pages" / "rules.md"
        path.write_text(path.read_text().replace("Tests first.", "Tests last."))
        project(everywhere)
        assert everywhere.read_page("rules").text == "Tests first." and "Tests first." in path.read_text()
        assert any("Tests last." in (client.home.path / name).read_text() for name in kept(client.home))
