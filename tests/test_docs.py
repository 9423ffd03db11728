"""The documents are true: their commands run or at least exist, and what they name is there."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from forking import forking
from test_rooms import PLACES_OF_TOOLS, ROOMS
from written_pages import DOCS, PARTS, page

from memtape.sinks.home.settings import LocalSettings
from memtape.tools.doors.cli import main
from memtape.tools.table import GROUPS

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples" / "one_day"))
import replay  # noqa: E402

PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("**/*.md"))]
"""What is for people who use Memtape. Each section of a page runs by itself, in a home of its own."""
RUN = re.compile(r"<!-- run -->\n```(sh|python)\n(.*?)```", re.DOTALL)
RUNNING = [page for page in PAGES if RUN.search(page.read_text())]
SECTIONS = {
    f"{page.stem}, {section.splitlines()[0].strip('# ')}": section
    for page in RUNNING
    for section in re.split(r"^(?=## )", page.read_text(), flags=re.MULTILINE)
    if RUN.search(section)
}
PIPED: Any = {"capture_output": True, "text": True}
BEFORE = """
memtape capture "The staging database listens on port 5433." --origin user
echo '{"text": "We moved staging to port 5434.", "kind": "turn", "actor": "Mira", "session": "monday"}' |
    memtape capture - --origin user
memtape search "staging port"
"""
"""What the first sections of the pages do, and others build upon."""


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A `memtape` that has imported most of what it needs already."""
    command = tmp_path_factory.mktemp("forking") / "memtape"
    with forking(command):
        yield command


@pytest.fixture
def environment(tmp_path: Path, forked: Path) -> dict[str, str]:
    """A home of its own, and a `memtape` on the path that is this checkout's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (folder / "python3").chmod(0o755)
    shutil.copy(forked, folder / "memtape")
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    home = str(tmp_path / "home")
    own = {"PATH": path, "MEMTAPE_HOME": home, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    return {**os.environ, **own}


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_every_block_of_a_section_runs(section: str, environment: dict[str, str], tmp_path: Path) -> None:
    """The blocks run one after another, as somebody types them."""
    for language, block in (("sh", BEFORE), *RUN.findall(SECTIONS[section])):
        command = ["sh", "-euxc", block] if language == "sh" else [sys.executable, "-c", block]
        done = subprocess.run(command, env=environment, cwd=tmp_path, timeout=600, **PIPED)
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        # Every search finds something, but for those that ask an hour ago, when nothing was there.
        assert "--as-of" in block or "Nothing found" not in done.stdout, f"{block}\n{done.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_commands_says_whether_it_runs_and_every_named_command_exists(page: Path) -> None:
    """`<!-- run -->`, or `<!-- not run: … -->` with the reason; those of the tasks run."""
    blocks = re.findall(r"(.*)\n```(?:sh|python)\n", page.read_text())
    assert [mark for mark in blocks if not re.fullmatch(r"<!-- (run|not run: .+) -->", mark)] == []
    assert page in RUNNING or page.stem not in ("README", "cli", "python", "quickstart")
    for block in re.findall(r"```(?:sh|console)\n(.*?)```", page.read_text(), re.DOTALL):
        for line in re.findall(r"^(?:\$ )?memtape (.*)", block, re.MULTILINE):
            parse(shlex.split(re.sub(r'"\$\(.*\)"', "id", line).split("|")[0], comments=True))


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 1_000


@pytest.mark.parametrize("name", PARTS)
def test_a_written_part_is_what_the_code_says(name: str) -> None:
    """`make docs` writes it again."""
    assert (DOCS / name).read_text() == page(name)


def parse(words: list[str]) -> None:
    """Read the words of a command as Memtape does. Raises for a command or an option that there is not."""
    command: click.Command = main
    while isinstance(command, click.Group):
        context = click.Context(command)
        if not words or words[0] not in command.list_commands(context):
            assert GROUPS[command.name or ""].default
            return
        command, words = command.get_command(context, words[0]), words[1:]
    command.make_parser(click.Context(command)).parse_args(words)


@pytest.mark.slow
def test_the_demo_shows_what_it_promises(environment: dict[str, str], tmp_path: Path) -> None:
    """In a home of its own: nothing is left in the folder, and nothing in the user's home."""
    done = subprocess.run(["memtape", "demo"], env=environment, cwd=tmp_path, timeout=300, **PIPED)
    assert done.returncode == 0, done.stdout + done.stderr
    for told in ("before: 5432", "Memory of project:harbour", "Erased for good", "are what the log says."):
        assert told in done.stdout
    past = done.stdout.partition("--as-of")[2].partition("5.")[0]
    assert "5432" in past and "5433" not in past, "what held before"
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


def test_the_documents_name_what_there_is() -> None:
    """Links lead somewhere, headings included; files, folders and constants in backticks exist."""
    folders = [ROOT / room for room in (*ROOMS, "tests", "examples", "docker")]
    names = {path.name for folder in folders for path in folder.rglob("*.py")}
    code = "\n".join(path.read_text() for room in (*ROOMS, "tests") for path in (ROOT / room).rglob("*.py"))
    about_code = [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "architecture.md", ROOT / "docs" / "decisions.md"]
    for document in {*PAGES, *about_code}:
        text = document.read_text()
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        for target, heading in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", prose):
            there = document.parent / target if target else document
            assert there.exists(), f"{document.name} links to {target}"
            assert not heading or heading in anchors(there), f"{document.name} links to {target}#{heading}"
        for script in re.findall(r"\b(?:tests|examples)/[\w/]+\.py", text):
            assert (ROOT / script).exists(), f"{document.name} names {script}"
        spoken = re.findall(r"`([^`\n]+)`", prose)
        for said in spoken:
            if re.fullmatch(rf"({'|'.join(ROOMS)}|tests|examples|docker|docs|memtape)/[\w./-]*", said):
                assert (ROOT / said).exists(), f"{document.name} speaks of {said}"
            elif document in about_code and re.fullmatch(r"\w+\.py", said):
                assert said in names, f"{document.name} speaks of {said}"
            elif document in about_code and re.fullmatch(r"[A-Z]+(_[A-Z]+)*", said):
                assert re.search(rf"\b{said}\b", code), f"{document.name} speaks of {said}"


def anchors(page: Path) -> list[str]:
    """Return the names under which a page's headings can be linked to."""
    headings = re.findall(r"^#+ (.*)", page.read_text(), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_the_architecture_draws_the_folders_and_arrows_that_there_are() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    drawn: list[str] = []
    for depth, name in re.findall(r"^( *)(\w+)/ +\S", text, re.MULTILINE):
        drawn.append("/".join([*drawn[-1].split("/")[: len(depth) // 2], name] if depth else [name]))
    assert all(re.search(rf"^ *{place.split('/')[-1]}/ +\S", text, re.MULTILINE) for place in drawn)
    rooms = [path.parent for room in ROOMS for path in (ROOT / room).rglob("__init__.py")]
    assert sorted(drawn) == sorted(room.relative_to(ROOT).as_posix() for room in rooms)
    assert " ← ".join(", ".join(f"`{place}`" for place in places) for places in PLACES_OF_TOOLS) in text


def test_the_example_of_settings_is_read() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", (DOCS / "cli.md").read_text(), re.DOTALL)
    assert msgspec.toml.decode(example, type=LocalSettings) != LocalSettings()


def test_the_forms_of_issues_and_the_workflow_are_read() -> None:
    """Each form asks for what has a name of its own; the workflow runs what a laptop runs."""
    for form in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        told = msgspec.yaml.decode(form.read_bytes())
        if form.stem == "config":
            assert told == {"blank_issues_enabled": False}
            continue
        asked = [part for part in told["body"] if part["type"] != "markdown"]
        assert told["name"] and told["description"] and all(part["attributes"]["label"] for part in asked)
        assert len({part["id"] for part in asked}) == len(asked) > 1
    (job,) = msgspec.yaml.decode((ROOT / ".github/workflows/checks.yml").read_bytes())["jobs"].values()
    assert job["steps"][-1] == {"run": ".ci/run"} and os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.slow
def test_the_page_says_what_is_measured() -> None:
    page = replay.PAGE.read_text()
    assert replay.with_measured(page, replay.measured()) == page, "Run `make one-day`."


def test_every_prompt_and_answer_of_the_scripts_is_in_a_transcript_and_no_path_of_a_machine() -> None:
    for host in replay.HOSTS:
        stored = (replay.DAY / f"{host}.jsonl").read_text()
        turns = replay.read(f"{host}.toml")["turn"]
        said = [json.dumps(turn[side], ensure_ascii=False) for turn in turns for side in ("prompt", "reply")]
        assert [text for text in said if text[1:-1] not in stored] == []
        assert re.findall(r"/(?:home|tmp|root|Users)/(?!dev/memtape)\S*", stored) == []
