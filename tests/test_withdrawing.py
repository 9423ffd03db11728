"""A file that was edited or deleted takes back what it had said; what others say, and what people decided, stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_importing import SCOPE, put

from memtape.schemas.events import Erased
from memtape.schemas.scopes import partition_of
from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.importing.finding import named_files
from memtape.tools.importing.records import ImportSummary
from memtape.tools.importing.taking import Importer, ImportOptions

LONG = "The tide gauge is read at noon. " * 100


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path / "home", scope=SCOPE, actor="Ada", origin="user") as client:
        yield client


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


def take(client: Client, folder: Path, dry_run: bool = False) -> ImportSummary:
    folders = [folder] if folder.is_dir() else []
    return Importer(client, SCOPE, ImportOptions(dry_run)).take(named_files(folder), folders)


def shown(client: Client) -> list[str]:
    """Return the visible texts of the views, and see that before the projection the tail says the same."""
    found = [sorted(result.text for result in client.search("gauge buoy bell", 100).results)]
    client.project()
    found.append(sorted(result.text for result in client.search("gauge buoy bell", 100).results))
    assert found[0] == found[1] and client.verify().ok
    return found[0]


def withdrawals(client: Client) -> int:
    partition = partition_of(SCOPE, client.log.partitions)
    return len(client.log.read(partition, 0, 100_000, scope=SCOPE, types=("withdrawn",)))


def test_an_edited_file_says_what_it_says_now(client: Client, notes: Path) -> None:
    note = put(notes, "a.md", "The gauge is red.")
    take(client, notes)
    put(notes, "a.md", "The gauge is green.")
    summary = take(client, notes)
    assert (summary.taken, summary.withdrawn, summary.again) == (1, 1, 0)
    assert shown(client) == ["The gauge is green."]
    put(notes, "a.md", "The gauge is red.")
    back = take(client, note)  # By itself, and not with its folder.
    assert (back.taken, back.withdrawn, back.again) == (0, 1, 1)
    assert shown(client) == ["The gauge is red."]


def test_a_deleted_file_says_nothing_and_comes_back(client: Client, notes: Path) -> None:
    put(notes, "a.md", "The gauge is red.")
    put(notes, "b.md", LONG)
    take(client, notes)
    (notes / "b.md").rename(notes.parent / "b.md")
    assert take(client, notes, dry_run=True).withdrawn == 1 and withdrawals(client) == 0
    assert take(client, notes).withdrawn == 1
    assert shown(client) == ["The gauge is red."]
    assert take(client, notes).withdrawn == 0
    (notes.parent / "b.md").rename(notes / "b.md")
    assert take(client, notes).again == 1
    assert len(shown(client)) > 3
    put(notes, "b.md", "The buoy.")
    assert take(client, notes).withdrawn == 1
    assert shown(client) == ["The buoy.", "The gauge is red."]


@pytest.mark.parametrize("repeated", [1, 10, 80])
def test_a_document_without_its_first_part_is_withdrawn(client: Client, notes: Path, repeated: int) -> None:
    put(notes, "a.md", LONG * repeated)
    take(client, notes)
    parts = client.log.ends()[partition_of(SCOPE, client.log.partitions)]
    (first,) = (result for result in client.search("gauge", 1_000).results if "part=1/" in str(result.path))
    client.append("erased", Erased(ids=(first.id,)), SCOPE)
    (notes / "a.md").unlink()
    assert take(client, notes).withdrawn == 1 and parts > 3 * repeated
    client.project()
    assert client.search("gauge", 1_000).results == []


def test_what_another_file_or_a_person_says_too_stays(client: Client, notes: Path) -> None:
    observed = "---\npermalink: x\n---\n- [colour] The gauge is red.\n"
    put(notes, "one/a.md", observed)
    put(notes.parent, "two/a.md", observed)
    client.capture("The gauge is red.")
    take(client, notes / "one")
    take(client, notes.parent / "two")
    (notes / "one" / "a.md").unlink()
    assert take(client, notes / "one").withdrawn == 0  # The same note stands in the other folder.
    (notes.parent / "two" / "a.md").unlink()
    assert take(client, notes.parent / "two").withdrawn == 1
    assert shown(client) == ["The gauge is red."]
    (result,) = client.search("gauge").results
    assert result.confirmations == 0


def test_what_a_person_forgot_or_restored_stays(client: Client, notes: Path) -> None:
    put(notes, "a.md", "The gauge is red.")
    take(client, notes)
    (forgotten,) = client.search("gauge").results
    client.forget(forgotten.id)
    put(notes, "a.md", "The gauge is green.")
    take(client, notes)
    put(notes, "a.md", "The gauge is red.")
    assert take(client, notes).again == 1
    assert shown(client) == []
    client.restore(forgotten.id)
    assert shown(client) == ["The gauge is red."]
    put(notes, "a.md", "The gauge is green.")
    take(client, notes)
    client.restore(forgotten.id)
    assert shown(client) == ["The gauge is green.", "The gauge is red."]
    assert "withdrawn" in [behind.event.type for behind in client.why(forgotten.id).events]


def test_what_is_read_for_another_project_is_not_withdrawn(tmp_path: Path, notes: Path) -> None:
    note = put(notes, "a.md", "The gauge is red.")
    for scope in (SCOPE, "project:other"):
        with Client(tmp_path / "home", scope=scope, origin="user") as client:
            summary = Importer(client, options=ImportOptions(reread=True)).take(named_files(note))
            assert (summary.taken, summary.withdrawn) == (1, 0)
    note.unlink()
    put(notes, "b.md", "The bell rings.")
    with Client(tmp_path / "home", scope=SCOPE, origin="user") as client:
        assert take(client, notes).withdrawn == 0  # The note was never taken with its folder.
        assert "The gauge is red." in shown(client)


def test_the_command_tells_withdrawals(tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))

    def run(*words: str) -> str:
        return CliRunner().invoke(main, ["import", str(notes), "--scope", SCOPE, *words]).stdout

    put(notes, "a.md", "The gauge is red.")
    put(notes, "b.md", "The bell rings.")
    run()
    (notes / "b.md").unlink()
    assert "Withdrawn" in run()
    put(notes, "b.md", "The bell rings.")
    assert json.loads(run("--json"))["again"] == 1
