"""Which folders are one project: repositories whole, others by themselves; reading makes none."""

from __future__ import annotations

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from memtape.schemas.codec import decode
from memtape.schemas.errors import MemtapeError, NotAdopted
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import format_time
from memtape.sinks.home.folders import Home
from memtape.tools.agents import hooks
from memtape.tools.agents.mcp.handlers import ServedMemory
from memtape.tools.capture.project import adopt, is_unmade, scope_of_folder
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.importing.finding import began_in


@pytest.fixture(autouse=True)
def outside_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for name in ("CLAUDE_PROJECT_DIR", "MEMTAPE_SCOPE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def folder(tmp_path: Path, name: str) -> Path:
    made = tmp_path / name
    made.mkdir(parents=True, exist_ok=True)
    return made


def hook(home: Home, where: Path, event: str, **more: Any) -> None:
    told = {"hook_event_name": event, "session_id": "s-1", "cwd": str(where), **more}
    hooks.run("claude", home.path, json.dumps(told).encode())


def test_no_folder_outside_git_takes_in_those_below_it(tmp_path: Path, home: Home) -> None:
    """Whatever happened in the parent, and in whatever order the others came."""
    parent = folder(tmp_path, "work")
    hook(home, parent, "SessionStart")
    hook(home, parent, "UserPromptSubmit", prompt="Hello there.", prompt_id="p-1")
    first, second = folder(tmp_path, "work/one/api"), folder(tmp_path, "work/two/api")
    folders = (first, second, parent, tmp_path, Path("/"), Path.home())
    scopes = [scope_of_folder(each, home) for each in folders]
    assert len(set(scopes)) == 6
    assert scopes == [scope_of_folder(each, home) for each in folders]


def test_looking_makes_no_project_and_puts_nothing_on_the_log(tmp_path: Path, home: Home) -> None:
    plain, repository = folder(tmp_path, "plain"), folder(tmp_path, "repository")
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    with Client(home.path, scope="global", origin="operator") as operator:
        operator.capture("Use tabs everywhere.")
    memory = ServedMemory(home.path)
    for where in (plain, repository):
        hook(home, where, "SessionStart")
        with Client(home.path, folder=where) as client:
            assert [result.text for result in client.search("tabs").results] == ["Use tabs everywhere."]
            assert client.search("tabs").recall_id is None and is_unmade(client.scope)
        assert "tabs" in memory.call("search_memories", {"query": "tabs"}, where, "x")
        memory.call("get_context", {}, where, "x")
    memory.call("get_context", {}, Path("/"), "x")
    assert not home.folders_path.exists()
    assert "memtape" not in (repository / ".git/config").read_text()
    # What is kept makes it, for everyone who asks from then on.
    memory.call("add_memory", {"text": "Use spaces here."}, plain, "x")
    assert "spaces" in memory.call("search_memories", {"query": "spaces"}, plain, "x")
    memory.close()
    [(path, scope)] = json.loads(home.folders_path.read_text()).items()
    assert path == str(plain)
    with Client(home.path, folder=plain) as client:
        assert client.scope == scope and client.search("spaces").recall_id is not None
        read = [client.log.read(number, 0, 100) for number in range(client.log.partitions)]
        assert {decode(slot.payload).scope for slots in read for slot in slots} <= {scope, "global", None}


def row(cwd: Path, number: int, text: str) -> str:
    at = format_time(1_760_000_000_000_000 + number)
    said = {"type": "user", "uuid": f"u-{number}", "message": {"role": "user", "content": text}}
    return json.dumps(said | {"sessionId": "s-1", "cwd": str(cwd), "timestamp": at})


def test_a_session_that_goes_below_where_it_began_stays_one_project(tmp_path: Path, home: Home) -> None:
    began, below, beside = (folder(tmp_path, name) for name in ("app", "app/src", "other"))
    transcript = tmp_path / "s-1.jsonl"
    rows = [row(began, 1, "In the folder."), row(below, 2, "Below it."), row(beside, 3, "Beside it.")]
    transcript.write_text("\n".join([json.dumps({"type": "summary", "summary": "x"}), *rows, ""]))
    assert began_in(transcript) == began
    for where, text in ((below, "Below it."), (began, "In the folder."), (beside, "Beside it.")):
        hook(home, where, "UserPromptSubmit", prompt=text, transcript_path=str(transcript))
    assert set(json.loads(home.folders_path.read_text())) == {str(began), str(beside)}
    done = CliRunner().invoke(main, ["import", str(transcript), "--home", str(home.path), "--json"])
    assert done.exit_code == 0, done.output
    assert set(json.loads(home.folders_path.read_text())) == {str(began), str(beside)}
    with Client(home.path, folder=began) as client:
        number = partition_of(client.scope, client.log.partitions)
        slots = client.log.read(number, 0, 100, scope=client.scope, types=("captured",))
    assert len(slots) == 2  # Hook and import mean the same project.


def call(home: Home, *words: str) -> Any:
    return CliRunner().invoke(main, [*words, "--home", str(home.path)])


def scope_here(home: Home) -> str:
    return scope_of_folder(Path.cwd(), home, pin=False)


@pytest.mark.parametrize("became", ["renamed", "moved", "repository"])
def test_the_memory_of_a_renamed_folder_is_brought_along(
    became: str, tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = folder(tmp_path, "work/app")
    monkeypatch.chdir(old)
    assert call(home, "capture", "Use tabs.").exit_code == 0
    scope = scope_here(home)
    places = {"renamed": old.with_name("app2"), "moved": folder(tmp_path, "else") / "app", "repository": old}
    new = places[became]
    old.rename(new)
    if became == "repository":
        subprocess.run(["git", "init", "-q", str(new)], check=True)
    monkeypatch.chdir(new)
    for words in (("search", "tabs"), ("context",), ("capture", "Use spaces.")):
        assert call(home, *words).exit_code == 0, words
    between = scope_here(home)
    adopted = call(home, "project", "adopt", str(old))
    assert adopted.exit_code == 0 and scope in adopted.output and f"--scope {between}" in adopted.output
    assert scope_here(home) == scope and "tabs" in call(home, "search", "tabs").output
    assert str(old) not in json.loads(home.folders_path.read_text()), "a new folder there is another project"
    assert json.loads(call(home, "project", "adopt", between, "--json").stdout)["scope"] == between


ORIGIN = "git@example.org:team/shop.git"


def repository(folder: Path, origin: str = ORIGIN, **configured: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet")
    git(folder, "remote", "add", "origin", origin)
    for name, value in configured.items():
        git(folder, "config", name.replace("_", "."), value)
    return folder


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def linked(folder: Path, to: Path) -> Path:
    """A folder whose `.git` file points at another repository."""
    folder.mkdir()
    (folder / ".git").write_text(f"gitdir: {to / '.git'}\n")
    return folder


COPIES = {
    "origin": lambda folder, known, scope: repository(folder),
    "another way": lambda folder, known, scope: repository(folder, "https://me@Example.org/team/shop"),
    "configuration": lambda folder, known, scope: repository(folder, "x@y.org:z.git", memtape_scope=scope),
    "link": lambda folder, known, scope: linked(folder, known),
}


@pytest.mark.parametrize("how", COPIES)
def test_a_folder_that_names_a_known_repository_reads_nothing_until_a_person_allows_it(
    how: str, tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its origin, its configuration, or a link; at every door."""
    known = repository(tmp_path / "work/shop")
    monkeypatch.chdir(known)
    assert call(home, "capture", "The staging password hint is on the wall.").exit_code == 0
    scope = scope_here(home)
    copy = COPIES[how](tmp_path / "downloads", known, scope)
    monkeypatch.chdir(copy)
    for words in (("search", "staging"), ("context",), ("capture", "Injected.")):
        done = call(home, *words)
        assert done.exit_code == 1 and "on the wall" not in done.output, words
        assert f"memtape project adopt {scope}" in done.stderr and "Traceback" not in done.stderr
    told = {"hook_event_name": "SessionStart", "session_id": "s-1", "cwd": str(copy)}
    shown = hooks.run("claude", home.path, json.dumps(told).encode()).decode()
    assert f"memtape project adopt {scope}" in shown and "on the wall" not in shown
    prompt = told | {"hook_event_name": "UserPromptSubmit", "prompt": "What is on the staging wall?"}
    assert hooks.run("claude", home.path, json.dumps(prompt).encode()) == b""
    memory = ServedMemory(home.path)
    with pytest.raises(MemtapeError, match="new copy of the repository"):
        memory.call("search_memories", {"query": "staging"}, copy, "x")
    memory.close()
    assert scope_of_folder(known, home) == scope
    assert call(home, "project", "adopt", scope).exit_code == 0
    assert "on the wall" in call(home, "search", "staging").output
    with Client(home.path, folder=copy) as client:
        assert client.scope == scope and "Injected" not in str(client.search("injected").results)


@pytest.mark.parametrize("is_adopted", [True, False])
@pytest.mark.parametrize("how", COPIES)
def test_another_repository_at_a_known_path_is_a_new_copy(
    how: str, is_adopted: bool, tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the one before was to this home, and though its number on the disk may be given again."""
    known = repository(tmp_path / "work/shop")
    scope = scope_of_folder(known, home)
    place = COPIES[how](tmp_path / "second", known, scope) if is_adopted else known
    monkeypatch.chdir(place)
    if is_adopted:
        assert call(home, "project", "adopt", scope).exit_code == 0
    assert call(home, "capture", "The staging password hint is on the wall.").exit_code == 0
    other = known if is_adopted else repository(tmp_path / "other", "x@y.org:other.git")
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(place)
    monkeypatch.chdir(COPIES[how](place, other, scope))
    if how == "link" and not is_adopted:  # What the link points at has another scope, and its origin too.
        assert scope_here(home) != scope
        return
    refused = call(home, "search", "staging")
    assert refused.exit_code == 1 and "new copy of the repository" in refused.stderr
    assert "on the wall" not in refused.output and f"memtape project adopt {scope}" in refused.stderr
    assert call(home, "project", "adopt", scope).exit_code == 0
    assert "on the wall" in call(home, "search", "staging").output


def test_what_was_moved_or_copied_beside_does_not_lend_its_token(tmp_path: Path, home: Home) -> None:
    known = repository(tmp_path / "work/shop")
    scope = scope_of_folder(known, home)
    shutil.copytree(known, tmp_path / "copy")
    with pytest.raises(NotAdopted):
        scope_of_folder(tmp_path / "copy", home)
    apart = adopt(tmp_path / "copy", home, "project:copy").scope
    for was in (known, tmp_path / "copy"):
        was.rename(was.with_name("moved"))
    assert scope_of_folder(tmp_path / "moved", home) == apart != scope
    assert scope_of_folder(known.with_name("moved"), home) == scope


def test_hooks_that_begin_at_once_make_one_project(tmp_path: Path, home: Home) -> None:
    place = folder(tmp_path, "new")
    git(place, "init", "--quiet")
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: scope_of_folder(place, home), range(4)))) == 1


def test_worktrees_and_a_moved_repository_are_the_same_project(tmp_path: Path, home: Home) -> None:
    known = repository(tmp_path / "work/shop")
    scope = scope_of_folder(known, home)
    git(known, "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "First")
    git(known, "worktree", "add", "--quiet", str(tmp_path / "beside"))
    assert scope_of_folder(tmp_path / "beside", home) == scope
    other = Home(tmp_path / "other home")
    assert scope_of_folder(known, other) == scope_of_folder(known, home) == scope, "each has its list"
    git(known, "gc", "--quiet")
    moved = known.rename(tmp_path / "moved")
    assert scope_of_folder(moved, home) == scope
    with pytest.raises(NotAdopted):
        scope_of_folder(repository(known), home)
    assert scope_of_folder(moved, home) == scope
