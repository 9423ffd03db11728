"""Pages that are proposed by rule: of tags, names and sessions, each once, and written by itself only where asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.folders import Home
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.keep.owner import Owner
from memtape.tools.keep.workers import WORKERS

FACTS = (
    ("The harbour lights of Memphis run on port 5433.", ("infra",), "one"),
    ("We moved the logs of `tide-api` to Memphis in May.", ("infra", "logs"), "one"),
    ("Ada restarts `tide-api` on Mondays.", ("infra",), "one"),
    ("The backups of `tide-api` are kept for 30 days.", (), "one"),
    ("Tests run in Memphis before each release.", (), "one"),
    ("The office has four chairs.", (), "two"),
)


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MEMTAPE_SESSION", raising=False)
    with Client(tmp_path / "home", scope="project:a", actor="Ada", origin="user") as made:
        made.capture_many([Line(text=text, tags=tags, session=session) for text, tags, session in FACTS])
        yield made


def slugs(client: Client) -> list[str]:
    return [it.slug for it in client.tree_proposals.waiting()]


def test_what_shares_a_tag_a_name_or_a_session_is_proposed_with_why(client: Client) -> None:
    found = {it.slug: it for it in client.tree_proposals.waiting()}
    session = next(slug for slug in found if slug.startswith("sessions/"))
    assert found.keys() == {"overview", "tags/infra", "names/tide-api", "names/memphis", session}
    assert len(found["tags/infra"].ids) == 3 and found["tags/infra"].why == "3 memories carry the tag infra."
    assert found[session].title == "Memphis, tide-api" and len(found[session].ids) == 5
    assert client.tree_proposals.waiting() == client.tree_proposals.waiting()
    assert client.tree.listed() == []  # Nothing was written.


def test_what_was_applied_or_declined_is_not_proposed_again(client: Client) -> None:
    (page,) = client.tree_proposals.apply(["tags/infra"])
    assert page.under == "tags" and len(client.tree.show("tags/infra").references) == 3
    assert client.tree.show("tags/infra").references[0].text == FACTS[0][0]
    (declined,) = client.tree_proposals.decline(["names/memphis"])
    assert not {"tags/infra", "names/memphis"} & set(slugs(client))
    with pytest.raises(MemtapeError):
        client.tree_proposals.apply(["names/memphis"])
    client.forget(page.id)
    assert "tags/infra" not in slugs(client)
    client.capture("The mole is lit from Memphis.", tags=("infra",))
    assert not {"tags/infra", "names/memphis"} & set(slugs(client))
    client.tree_writing.new("overview", "Mine.")
    assert "overview" not in slugs(client)
    assert declined and [it.kind for it in client.tree_writing.problems()] == ["dangling"]  # It was forgotten.


def test_the_command_lists_applies_and_declines(client: Client) -> None:
    def call(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(main, ("tree", "propose", *words, "--scope", "project:a", "--origin", "user"))
        assert result.exit_code == code, result.output
        return result.output

    assert "5 pages are proposed" in call() and "names/memphis  Memphis" in call()
    assert "To undo: memtape restore" in call("names/memphis", "--decline")
    assert call("--apply", "--all").count("To undo: memtape forget") == 4
    assert "No page is proposed." in call()
    call("--apply", code=2)
    call("tags/infra", code=2)
    assert {it.name for it in client.tree.listed()} >= {"overview", "tags", "tags/infra", "names", "names/tide-api"}


def test_the_worker_writes_them_only_where_somebody_asked(client: Client) -> None:
    home: Home = client.home
    with Owner(home, client.log) as owner:
        owner.project()
    worker = WORKERS["propose"].make(home, client.log, lambda note: None)
    worker.catch_up()
    assert worker.done == 0 and client.tree.listed() == []
    home.settings_path.write_text("[tree]\nauto = true\n")
    client.tree_proposals.decline(["names/memphis"])
    for _ in range(2):  # Another one, that knows nothing of the first, writes none twice.
        worker = WORKERS["propose"].make(home, client.log, lambda note: None)
        worker.catch_up()
    names = {it.name for it in client.tree.listed()}
    assert "tags/infra" in names and "names/memphis" not in names and worker.done == 0
    shown = client.tree.show("tags/infra")
    assert shown.row.origin == "tool" and len(shown.history) == 1
    client.tree_writing.edit("tags/infra", "# Infra\n\nAsk Ada.")  # People are trusted more than a rule.
    assert client.tree.show("tags/infra").text == "# Infra\n\nAsk Ada."
