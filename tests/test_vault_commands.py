"""Commands beside people: run, rebuild, erase and verify over a vault in which somebody works too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from test_vault_people import files_of
from test_zones_taken import SCOPE, capture, home, project, run

from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import kept

__all__ = ["home"]
TEXT = "The codename is Zebrafish-Quokka and the vault opens at dawn."


@pytest.fixture
def folder(home: Home) -> Path:
    """Where somebody works: the vault of a scope with two pages."""
    capture("The staging port is 5433.", kind="fact")
    capture(TEXT, kind="turn", at="2026-01-02")
    project()
    return home.scope_folder(SCOPE)


def notes(folder: Path) -> dict[str, bytes]:
    """Put what people keep beside pages, and return it."""
    made = {
        "idea.md": b"# mine\n", ".obsidian/a.json": b"{}", "memories/mine.md": b"me", "logs/a.canvas": b"{}",
        "memory.txt": b"a file without .md", "images/a.png": b"\x89PNG\0\0",
    }  # fmt: skip
    for name, data in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "out.md").symlink_to(folder.parent.parent.parent / "log.db")
    return made


def mine(folder: Path, made: dict[str, bytes]) -> bool:
    return (folder / "out.md").is_symlink() and made.items() <= files_of(folder).items()


def test_a_line_in_a_page_is_kept_beside_and_said(home: Home, folder: Path) -> None:
    page = folder / "MEMORY.md"
    page.write_text(page.read_text() + "A line of mine.\n")
    assert "changed: vault project:a MEMORY.md" in run("verify", code=1).stdout
    capture("Anna deploys on Tuesdays.")
    said = project()
    name = "vault/projects/a/MEMORY (yours).md"
    assert f'kept as "{name}"' in said.stderr
    assert "A line of mine." in (home.path / name).read_text()
    assert "Tuesdays" in page.read_text() and "A line of mine." not in page.read_text()
    for command in ("status", "verify"):
        assert name in run(command).stdout
        assert json.loads(run(command, "--json").stdout)["kept"] == [name]
    page.write_text("Another line of mine.\n")
    assert "(yours 2)" in run("rebuild").stderr
    run("verify")
    (home.path / name).unlink()
    assert json.loads(run("status", "--json").stdout)["kept"] == ["vault/projects/a/MEMORY (yours 2).md"]


def test_a_scope_that_the_log_has_no_longer_takes_our_pages_and_no_notes(home: Home, folder: Path) -> None:
    made = notes(folder)
    page = folder / "logs" / "2026-01-02.md"
    page.write_text("mine now\n")
    for path in home.path.glob("log.db*"):
        path.unlink()
    run("capture", "Something else.", "--scope", "project:b")
    run("rebuild")
    assert mine(folder, made)
    left = {name for name in files_of(folder) if name not in made}
    assert left == {"out.md", "logs/2026-01-02 (yours).md"}
    run("verify")


def test_erasing_says_which_notes_hold_it_and_takes_it_out_of_the_rest(home: Home, folder: Path) -> None:
    id = capture(TEXT, kind="turn", at="2026-01-03")
    first = json.loads(run("search", "codename", "--scope", SCOPE, "--json").stdout)["results"][0]["id"]
    project()
    made = notes(folder)
    (folder / "idea.md").write_text(f"# Mine\n{TEXT}\n")
    (folder / "data.idx").write_bytes(b"LANCE, as somebody else understands it")
    page = folder / "logs" / "2026-01-03.md"
    page.write_text(page.read_text() + "A line of mine.\n")
    for one in (first, id):
        done = run("erase", one, "--scope", SCOPE, "--json", code=None)
    code, said = done.exit_code, json.loads(done.stdout)
    own = {place["path"] for place in said["after"]["files"] if place["own"] and place["found"]}
    assert own == {"vault/projects/a/idea.md", "vault/projects/a/logs/2026-01-03 (yours).md"}
    assert not [place for place in said["after"]["files"] if place["found"] and not place["own"]]
    assert (code, said["ok"]) == (1, False)
    assert TEXT in (folder / "idea.md").read_text()
    made.pop("idea.md")
    assert mine(folder, made)
    (folder / "text").write_text(TEXT)
    proof = run("verify", "--erased", id, "--text", str(folder / "text"), code=1)
    assert 'Your own file "vault/projects/a/idea.md" holds it' in proof.stdout
    for name in ("idea.md", "text", "logs/2026-01-03 (yours).md"):
        (folder / name).unlink()
    assert "Not proven" in run("verify", "--erased", id, code=None).output
    run("verify")


@pytest.mark.parametrize("lists", ["there", "lost"])
@pytest.mark.parametrize("command", ["rebuild", "run", "erase", "verify"])
def test_notes_stay_where_lists_of_pages_are_lost(home: Home, folder: Path, command: str, lists: str) -> None:
    """Whatever comes first, also with events behind the views: no page of ours is taken for a note."""
    if lists == "lost":
        shutil.rmtree(home.vault_notes)
    made = notes(folder)
    run("verify")
    first = json.loads(run("search", "codename", "--scope", SCOPE, "--json").stdout)["results"][0]["id"]
    if command != "erase":
        capture("Anna deploys on Tuesdays.")
    words = {"erase": ("erase", first, "--scope", SCOPE), "run": ("run", "--once", "--no-embed")}
    run(*words.get(command, (command,)))
    project()
    assert kept(home) == []
    assert mine(folder, made)
    run("verify")
