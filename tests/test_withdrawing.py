"""A file that was edited or deleted takes back what it had said; what others say or people decided stays."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import transcripts as t
from commanding import call
from test_importing import SCOPE, put

from memtape.schemas.events import Erased
from memtape.schemas.scopes import partition_of
from memtape.tools.client import Client
from memtape.tools.importing.finding import host_files, memory_folders, named_files
from memtape.tools.importing.records import ImportSummary
from memtape.tools.importing.taking import Importer

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
    return Importer(client, SCOPE, dry_run=dry_run).take(named_files(folder), folders)


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
            note.touch()
            summary = Importer(client).take(named_files(note))
            assert (summary.taken, summary.withdrawn) == (1, 0)
    note.unlink()
    put(notes, "b.md", "The bell rings.")
    with Client(tmp_path / "home", scope=SCOPE, origin="user") as client:
        assert take(client, notes).withdrawn == 0  # The note was never taken with its folder.
        assert "The gauge is red." in shown(client)


GONE, STAYS = "The gauge is red.", "The bell rings."


def html(said: list[str]) -> str:
    return "<html><body>" + "".join(f"<p>{text}</p>" for text in said) + "</body></html>"


def mem0(said: list[str]) -> list[dict[str, Any]]:
    return [{"id": text[:12], "memory": text, "created_at": t.at(1)} for text in said]


SOURCES: dict[str, Callable[[list[str]], str]] = {
    "CLAUDE.md": "\n".join, "page.html": html,
    "mem0.json": lambda said: json.dumps({"results": mem0(said)}),
    "list.json": lambda said: json.dumps(mem0(said)),
    "rows.jsonl": lambda said: "".join(json.dumps(row) + "\n" for row in mem0(said)),
    "memories.json": lambda said: json.dumps([{"project_memories": {text[:9]: text for text in said}}]),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_what_a_file_says_no_longer_is_withdrawn(client: Client, notes: Path, name: str) -> None:
    written = SOURCES[name]
    path = put(notes, name, written([GONE, STAYS]))
    assert take(client, path).taken
    put(notes, name, written([STAYS]))
    assert take(client, path).withdrawn == 1
    assert [text for text in shown(client) if "red" in text] == [] and "bell rings" in str(shown(client))
    put(notes, name, written([GONE, STAYS]))
    assert take(client, path).again == 1
    assert "gauge is red" in str(shown(client))


@pytest.mark.parametrize("name", SOURCES)
def test_a_deleted_file_is_withdrawn_and_a_cut_one_is_not(client: Client, notes: Path, name: str) -> None:
    put(notes, "other.md", STAYS)
    path = put(notes, name, SOURCES[name]([GONE]))
    take(client, notes)
    if name.endswith(("json", "jsonl")):  # A note or a page that is cut can be read, and says less.
        path.write_bytes(path.read_bytes()[:-6])
        assert take(client, notes).withdrawn == 0 and "gauge is red" in str(shown(client))
        path.write_bytes(b"")
        assert take(client, notes).withdrawn == 0 and "gauge is red" in str(shown(client))
    path.unlink()
    assert take(client, notes).withdrawn == 1
    assert shown(client) == [STAYS]


def test_a_conversation_that_an_export_has_no_longer_stays(client: Client, notes: Path) -> None:
    path = put(notes, "conversations.json", json.dumps(t.claude_ai()))
    taken = take(client, path).taken
    put(notes, "conversations.json", json.dumps([{**t.claude_ai()[0], "chat_messages": []}]))
    assert taken and take(client, path).withdrawn == 0
    path.unlink()
    put(notes, "a.md", STAYS)
    assert take(client, notes).withdrawn == 0 and withdrawals(client) == 0


def test_a_missing_or_empty_folder_withdraws_nothing(client: Client, notes: Path) -> None:
    for name, text in (("a.md", GONE), ("b.md", STAYS)):
        put(notes, name, text)
    take(client, notes)
    away = notes.rename(notes.with_name("away"))
    missing = Importer(client, SCOPE).take([], [notes])
    notes.mkdir()  # As the place of a disk that is not mounted.
    empty = take(client, notes)
    assert [(each.withdrawn, each.missing) for each in (missing, empty)] == [(0, 2), (0, 2)]
    notes.rmdir()
    away.rename(notes)
    assert (take(client, notes).withdrawn, shown(client)) == (0, [STAYS, GONE])
    shutil.rmtree(notes)
    assert Importer(client, SCOPE, gone=True).take([], [notes]).withdrawn == 2
    assert shown(client) == []


def test_file_memory_is_withdrawn(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    project = tmp_path / "claude" / "projects" / "p"
    put(project, "s.jsonl", t.lines(t.claude(tmp_path)).decode())
    put(project, "memory/MEMORY.md", f"- {GONE}\n- {STAYS}\n")
    put(project, "memory/ports.md", t.MEMORY_TOPIC)

    def everything() -> ImportSummary:
        return Importer(client, SCOPE).take(host_files(), memory_folders())

    everything()
    put(project, "memory/MEMORY.md", f"- {STAYS}\n")
    (project / "memory" / "ports.md").unlink()
    (project / "s.jsonl").unlink()
    assert everything().withdrawn == 2
    assert shown(client) == [STAYS] and client.search("staging 5433").results[0].kind == "turn"


@pytest.mark.parametrize("reads", range(1, 6))
def test_a_killed_import_withdraws_nothing(client: Client, tmp_path: Path, notes: Path, reads: int) -> None:
    for name in "abcd":
        put(notes, f"{name}.md", f"{name}: {GONE} {LONG}")
    take(client, notes)
    client.close()
    put(notes, "b.md", STAYS)
    (notes / "d.md").unlink()
    if not (pid := os.fork()):
        left = [reads]

        def read(taken: int) -> None:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

        with Client(tmp_path / "home", scope=SCOPE, origin="user") as killed:
            Importer(killed, SCOPE, on_progress=read).take(named_files(notes), [notes])
        os._exit(0)
    os.waitpid(pid, 0)
    with Client(tmp_path / "home", scope=SCOPE, origin="user") as after:
        texts = {text.partition(":")[0] for text in shown(after)}
        assert {"a", "c"} <= texts
        take(after, notes)
        texts = {text.partition(":")[0] for text in shown(after)}
        assert {"a", "c", STAYS} <= texts and not {"b", "d"} & texts


def test_the_events_behind_say_what_withdrew(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))

    def run(*words: str) -> str:
        return call(*words, scope=SCOPE).output

    put(notes, "a.md", GONE)
    put(notes, "b.md", STAYS)
    run("import", str(notes))
    (notes / "a.md").unlink()
    with Client(tmp_path / "home", scope=SCOPE) as client:
        (found,) = client.search("gauge").results
        assert "Withdrawn" in run("import", str(notes))
        client.project()
        said = run("show", found.id)
        assert "Hidden: forgotten, withdrawn by its source" in said
        assert f"memtape restore {found.id[-8:]}" in said
        assert "tombstone: withdrawn" in run("show", "--why", found.id)
        run("restore", found.id)
        run("import", str(notes))
        client.project()
        assert "Hidden" not in run("show", found.id)
        client.forget(found.id)
        client.project()
        assert "Hidden: forgotten" in run("show", found.id)
    shutil.rmtree(notes)
    assert "Nothing is withdrawn of 1 file" in call("import", notes, scope=SCOPE, code=1).output
    assert "Withdrawn, since files say them no longer: 1" in run("import", str(notes), "--gone")
