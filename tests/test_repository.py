"""What a repository says of its project: one line for what it is built with, one for its last commits."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from met import events_of

from memtape.tools.agents import hooks
from memtape.tools.capture import repository
from memtape.tools.capture.repository import MOST_CHARS, repository_lines
from memtape.tools.client import Client


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.com")
        monkeypatch.setenv(f"GIT_{name}_DATE", "2026-09-21T10:00:00Z")
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


def commit(folder: Path, message: str) -> None:
    git(folder, "commit", "-q", "--allow-empty", "-m", message)


def said(folder: Path) -> list[str]:
    return [line.text for line in repository_lines(folder)]


def test_a_repository_says_its_stack_and_its_commits(project: Path, tmp_path: Path) -> None:
    assert said(tmp_path) == [] == said(project)
    (project / "pyproject.toml").write_text(
        '[project]\nname = "shop"\nrequires-python = ">=3.11"\ndependencies = ["click>=8", "lancedb==1.0"]\n'
    )
    (project / "package.json").write_text(
        json.dumps({"dependencies": {"react": "1"}, "devDependencies": {"typescript": "5"}})
    )
    (project / "go.mod").write_text("module shop\n\ngo 1.22\n\nrequire (\n\tgithub.com/a/b v1.0.0\n)\n")
    (project / "Cargo.toml").write_text('[dependencies]\nserde = "1"\n')
    (project / "Makefile").write_text("all:\n")
    for message in ("Begin", "Round prices\n\nAt the end.", "Ship"):
        commit(project, message)
    (project / "inner").mkdir()
    stack, commits = said(project / "inner")
    assert stack == (
        "Built with: Python >=3.11 with click, lancedb; TypeScript with react; Rust with serde; "
        "Go 1.22 with github.com/a/b; make"
    )
    assert [piece.split(" (")[0] for piece in commits.removeprefix("Last commits: ").split("; ")] == [
        f"2026-09-21 {subject}" for subject in ("Ship", "Round prices", "Begin")
    ]


@given(st.binary(max_size=300), st.sampled_from(sorted(repository._MANIFESTS)))
def test_a_manifest_of_any_bytes_says_something_or_nothing(data: bytes, name: str) -> None:
    try:
        told = repository._MANIFESTS[name](data)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return
    assert isinstance(told, str)


@pytest.mark.parametrize(
    "text", ["[project]\ndependencies = 3\n", "[project\n", "[]", "\xff", '[project]\ndependencies = [["a"]]']
)
def test_a_manifest_that_makes_no_sense_is_passed_over(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(text)
    (project / "package.json").write_text(text)
    (project / "Makefile").write_text("all:\n")
    assert said(project) in (["Built with: make"], ["Built with: Python; make"])
    (project / "pyproject.toml").unlink()
    (project / "pyproject.toml").symlink_to("/dev/zero")
    assert said(project) == ["Built with: make"]


def test_a_session_that_ends_captures_what_has_changed(project: Path, tmp_path: Path) -> None:
    commit(project, "Begin " + "x" * 600)

    def end() -> None:
        told = {"hook_event_name": "SessionEnd", "session_id": "s", "cwd": str(project), "reason": "exit"}
        hooks.run("claude", tmp_path / "home", json.dumps(told).encode(), alone=True)

    (tmp_path / "home").mkdir()
    (project / "Makefile").write_text("all:\n")
    end()
    end()
    with Client(tmp_path / "home", folder=project) as client:
        items = {item.text for item in client.context().items if item.section == "repository"}
        assert len(items) == 2 and "Built with: make" in items
        assert all(len(text) <= MOST_CHARS for text in items)
        captured = [event for event in events_of(client.log) if event.type == "captured"]
        assert len(captured) == 2, "each line once"
    (project / "Makefile").unlink()
    (project / "mix.exs").write_text("\n")
    commit(project, "Ship <b>\u202e it")
    end()
    with Client(tmp_path / "home", folder=project) as client:
        context = client.context()
        items = {item.text for item in context.items if item.section == "repository"}
        assert len(items) == 2 and "Built with: Elixir" in items and any("Ship" in text for text in items)
        assert "\u202e" not in context.text
