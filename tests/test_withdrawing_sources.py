"""Each kind of source that is not a transcript, as a new user has it: what it lost is withdrawn, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transcripts as t
from click.testing import CliRunner
from test_importing import SCOPE, put
from test_withdrawing import LONG, client, notes, shown, take, withdrawals

from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.importing.finding import host_files, memory_folders, named_files
from memtape.tools.importing.records import ImportSummary
from memtape.tools.importing.taking import Importer, ImportOptions

__all__ = ["client", "notes"]  # Fixtures.

GONE, STAYS = "The gauge is red.", "The bell rings."


def html(said: list[str]) -> str:
    return "<html><body>" + "".join(f"<p>{text}</p>" for text in said) + "</body></html>"


def mem0(said: list[str]) -> list[dict[str, Any]]:
    return [{"id": text[:12], "memory": text, "created_at": t.at(1)} for text in said]


SOURCES: dict[str, Callable[[list[str]], str]] = {
    "CLAUDE.md": "\n".join,
    "page.html": html,
    "mem0.json": lambda said: json.dumps({"results": mem0(said)}),
    "list.json": lambda said: json.dumps(mem0(said)),
    "rows.jsonl": lambda said: "".join(json.dumps(row) + "\n" for row in mem0(said)),
    "memories.json": lambda said: json.dumps([{"project_memories": {text[:9]: text for text in said}}]),
}


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


def test_what_is_left_out_by_a_format_is_not_gone(client: Client, notes: Path) -> None:
    path = put(notes, "all.zip", "")
    path.write_bytes(t.zipped({"a.md": GONE.encode(), "m.json": json.dumps(mem0([STAYS])).encode()}))
    take(client, path)
    summary = Importer(client, SCOPE, ImportOptions(reread=True, only="mem0")).take(named_files(path))
    assert summary.withdrawn == 0 and shown(client) == [STAYS, GONE]
    path.write_bytes(t.zipped({"m.json": json.dumps(mem0([STAYS])).encode()}))
    assert take(client, path).withdrawn == 1 and shown(client) == [STAYS]


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
    assert Importer(client, SCOPE, ImportOptions(gone=True)).take([], [notes]).withdrawn == 2
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


def test_show_says_which_file_withdrew(tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))

    def run(*words: str) -> str:
        done = CliRunner().invoke(main, [*words, "--scope", SCOPE])
        assert done.exit_code == 0, done.output
        return done.output

    put(notes, "a.md", GONE)
    put(notes, "b.md", STAYS)
    run("import", str(notes))
    (notes / "a.md").unlink()
    with Client(tmp_path / "home", scope=SCOPE) as client:
        (found,) = client.search("gauge").results
        assert "Withdrawn" in run("import", str(notes))
        client.project()
        said = run("show", found.id)
        assert "withdrawn: its source a.md says it no longer since 20" in said
        assert f"memtape restore {found.id}" in said
        assert "withdrawn: its source a.md says it no longer since 20" in run("show", "--why", found.id)
        run("restore", found.id)
        run("import", str(notes))
        client.project()
        assert "Hidden" not in run("show", found.id)
        client.forget(found.id)
        client.project()
        assert "Hidden: forgotten" in run("show", found.id)
    shutil.rmtree(notes)
    lost = CliRunner().invoke(main, ["import", str(notes), "--scope", SCOPE])
    assert lost.exit_code == 1 and "Nothing is withdrawn of 1 file" in lost.output
    assert "Withdrawn, since files say them no longer: 1" in run("import", str(notes), "--gone")
