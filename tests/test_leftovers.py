"""What `disconnect` takes out of the files of a host and a repository, and what it leaves since others wrote it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from memtape.sinks.home.folders import Home
from memtape.tools.agents.leftovers import GEMINI_LINK, drop_dangling_link, note_before, take_away
from memtape.tools.agents.plugins import SELECTOR
from memtape.tools.capture.project import scope_of_folder

AFTER = {"enabledPlugins": {}, "extraKnownMarketplaces": {}}
"""What Claude Code leaves when it removes the last plugin."""


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the hosts a folder of their own, as where nobody has moved theirs."""
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for host in ("claude", "codex", "gemini"):
        (tmp_path / "user" / f".{host}").mkdir(parents=True)
    return tmp_path / "user"


def written(settings: object) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, AFTER, None),
        ({}, AFTER, {}),
        ({"model": "ö"}, {"model": "ö"} | AFTER, {"model": "ö"}),
        ({"enabledPlugins": {}}, AFTER, {"enabledPlugins": {}}),
        ({"enabledPlugins": {"a@b": True}} | {"extraKnownMarketplaces": {"b": {}}}, AFTER, AFTER),
        (None, {"enabledPlugins": {"a@b": True}, "extraKnownMarketplaces": {}}, {"enabledPlugins": {"a@b": True}}),
        (None, {"enabledPlugins": {"a@b": False}}, {"enabledPlugins": {"a@b": False}}),
    ],
)
def test_keys_that_were_not_there_are_taken_once_they_are_empty(
    before: object, after: dict[str, object], expected: object, user: Path, home: Path
) -> None:
    path = user / ".claude" / "settings.json"
    if before is not None:
        path.write_text(written(before))
    for _ in range(2):  # Connected again, what was there before still counts.
        note_before(Home(home), "claude")
        path.write_text(written(after))
    path.chmod(0o640)
    found = take_away(Home(home), "claude", user, last=False)
    assert (json.loads(path.read_text()) if path.exists() else None) == expected
    assert not path.exists() or path.stat().st_mode & 0o777 == 0o640
    assert bool(found.taken) == (expected != after)
    assert any("perhaps not ours" in sentence for sentence in found.left) == (
        expected is not None and {} in expected.values()  # type: ignore[attr-defined]
    )


@pytest.mark.parametrize("text", ['{"enabledPlugins": {}}', "{\n    // mine\n}", "[]", ""])
def test_settings_in_a_form_of_somebodys_own_stay_to_the_byte(text: str, user: Path, home: Path) -> None:
    note_before(Home(home), "claude")
    (user / ".claude" / "settings.json").write_text(text)
    take_away(Home(home), "claude", user, last=False)
    assert (user / ".claude" / "settings.json").read_text() == text


def test_settings_that_are_a_link_stay_one(user: Path, home: Path) -> None:
    real = user / "dotfiles.json"
    real.write_text(written({"model": "opus"}))
    (user / ".claude" / "settings.json").symlink_to(real)
    note_before(Home(home), "claude")
    real.write_text(written({"model": "opus"} | AFTER))
    take_away(Home(home), "claude", user, last=False)
    assert (user / ".claude" / "settings.json").is_symlink() and real.read_text() == written({"model": "opus"})


OURS = f"""
[hooks.state."{SELECTOR}:hooks/hooks.json:stop:0:0"]
trusted_hash = "sha256:a"
"""
THEIRS = """
[hooks.state."/home/ada/hooks.json:stop:0:0"]  # Mine.
trusted_hash = "sha256:b"
"""
MODEL = 'model = "gpt"  # The one.\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[hooks.state]\n" + OURS, ""),
        (MODEL + "\n[hooks.state]\n" + OURS, MODEL),
        (MODEL + OURS, MODEL),
        (f"{MODEL}\n[hooks.state]\n{THEIRS}{OURS}", f"{MODEL}\n[hooks.state]\n{THEIRS}"),
        (f"{MODEL}\n[hooks.state]\n{THEIRS}", None),
        ("[hooks.state]\n# Mine.\n" + OURS, "[hooks.state]\n# Mine."),
        (MODEL, None),
        ("hooks = 3\n", None),
        ("no toml [", None),
    ],
)
def test_trust_in_our_hooks_is_taken_and_nobody_elses(text: str, expected: str | None, user: Path, home: Path) -> None:
    path = user / ".codex" / "config.toml"
    path.write_text(text)
    found = take_away(Home(home), "codex", user, last=False)
    assert path.read_text().strip() == (text if expected is None else expected).strip()
    assert bool(found.taken) == (expected is not None)


@pytest.mark.parametrize(
    ("type", "there", "more", "dropped"),
    [
        ("link", False, False, True),
        ("link", True, False, False),
        ("link", False, True, False),
        ("git", False, False, False),
    ],
)
def test_a_link_to_a_home_that_is_gone_is_dropped(
    type: str, there: bool, more: bool, dropped: bool, user: Path, home: Path
) -> None:
    folder = user / ".gemini" / "extensions" / "memtape"
    folder.mkdir(parents=True)
    (folder / GEMINI_LINK).write_text(json.dumps({"source": str(home), "type": type}))
    if there:
        home.mkdir()
    if more:
        (folder / "notes.md").write_text("Mine.")
    drop_dangling_link("claude")
    assert folder.exists()
    drop_dangling_link("gemini")
    assert folder.exists() != dropped


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("origin", ["", "git@example.org:me/tide.git"])
@pytest.mark.parametrize("last", [True, False])
def test_a_repositorys_scope_is_taken_where_its_origin_gives_it_again(
    origin: str, last: bool, project: Path, home: Path
) -> None:
    git(project, "init", "--quiet")
    if origin:
        git(project, "remote", "add", "origin", origin)
    before = (project / ".git" / "config").read_text()
    scope = scope_of_folder(project, Home(home))
    found = take_away(Home(home), "codex", project, last=last)
    assert ((project / ".git" / "config").read_text() == before) == bool(origin and last)
    assert bool(found.taken) == bool(origin and last) and bool(found.left) == last
    assert any(scope in sentence for sentence in found.taken + found.left) == last
    assert scope_of_folder(project, Home(home)) == scope


def test_a_scope_that_somebody_chose_stays(project: Path, home: Path) -> None:
    git(project, "init", "--quiet")
    git(project, "remote", "add", "origin", "git@example.org:me/tide.git")
    git(project, "config", "memtape.scope", "project:chosen")
    found = take_away(Home(home), "codex", project, last=True)
    assert git(project, "config", "memtape.scope").strip() == "project:chosen" and not found.taken
    assert any("git config --local --unset" in sentence for sentence in found.left)


@pytest.mark.parametrize("indent", [2, 4])
def test_gemini_forgets_that_our_folder_was_trusted_and_our_extension_enabled(
    user: Path, home: Path, indent: int
) -> None:
    """A file that nobody has given a form of their own loses our key; of any other the key is named."""
    trusted = user / ".gemini" / "trustedFolders.json"
    enabled = user / ".gemini" / "extensions" / "extension-enablement.json"
    enabled.parent.mkdir()
    held = {trusted: {"/work": "TRUST_FOLDER"}, enabled: {"other": {"overrides": ["/*"]}}}
    own = {trusted: str(home / "plugins" / "gemini"), enabled: "memtape"}
    for path, others in held.items():
        path.write_text(json.dumps(others | {own[path]: "TRUST_FOLDER"}, indent=indent))
    found = take_away(Home(home), "gemini", user, last=False)
    for path, others in held.items():
        assert (json.loads(path.read_text()) == others) is (indent == 2)
        assert [path.name in said for said in (found.taken if indent == 2 else found.left)].count(True) == 1
    assert not take_away(Home(home), "gemini", user, last=False).taken
