"""The documentation runs: every block of the README that is marked to run does, and the demo says what it should."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from memtape.sinks.home.settings import LocalSettings

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"<!-- run -->\n```(sh|python)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home of its own, and a `memtape` on the path that is this checkout's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, words in (("memtape", f"{sys.executable} -m memtape"), ("python3", sys.executable)):
        (folder / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (folder / name).chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    home = str(tmp_path / "home")
    return {**os.environ, "PATH": path, "MEMTAPE_HOME": home, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}


@pytest.mark.slow
def test_every_command_of_the_readme_is_true(environment: dict[str, str], tmp_path: Path) -> None:
    assert len(BLOCKS) >= 5
    for language, block in BLOCKS:
        command = ["sh", "-euxc", block] if language == "sh" else [sys.executable, "-c", block]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        for search in re.findall(r"^memtape search .*", block, re.MULTILINE) if language == "sh" else ():
            if "--as-of" in search:  # Nothing was there an hour ago.
                continue
            asked = re.sub(r"\s+#.*", "", search) + " --quiet"
            found = subprocess.run(["sh", "-c", asked], env=environment, cwd=tmp_path, capture_output=True, text=True)
            assert found.returncode == 0 and "Nothing found" not in found.stdout, f"{asked}\n{found.stdout}"


@pytest.mark.slow
def test_the_demo_shows_what_it_promises(environment: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", str(ROOT / "examples" / "demo.sh")],
        env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for line in ("Captured 24 events.", "The views are what the log says.", "# Memory of project:lighthouse"):
        assert line in done.stdout
    assert "member: similar" in done.stdout


def test_the_documents_name_what_there_is() -> None:
    """Links between documents lead somewhere, and paths of the architecture exist."""
    for document in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]:
        text = document.read_text()
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
        for path in re.findall(r"`((?:schemas|state|flows|sinks|tools|tests|examples)/[\w./-]+\.\w+)`", text):
            assert (ROOT / path).exists(), f"{document.name} speaks of {path}"


def keys_of(struct: type[msgspec.Struct], before: str = "") -> dict[str, Any]:
    """Return every key of the settings with its default, those of tables under `table.key`."""
    keys: dict[str, Any] = {}
    for field in msgspec.structs.fields(struct):
        if isinstance(field.default, msgspec.Struct):
            keys |= keys_of(type(field.default), f"{before}{field.name}.")
        else:
            keys[before + field.name] = field.default
    return keys


def test_every_setting_is_documented_with_its_default_and_nothing_else_is() -> None:
    text = (ROOT / "docs" / "settings.md").read_text()
    rows = dict(re.findall(r"^\| `([\w.]+)` \| (.*?) \|", text, re.MULTILINE))
    defaults = {
        key: "none" if value is None else f"`{json_of(value)}`" for key, value in keys_of(LocalSettings).items()
    }
    assert rows == defaults
    for example in re.findall(r"```toml\n(.*?)```", text, re.DOTALL):
        assert msgspec.toml.decode(example, type=LocalSettings) != LocalSettings()


def json_of(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def test_the_readme_names_the_page_of_the_settings() -> None:
    assert "(docs/settings.md)" in (ROOT / "README.md").read_text()
