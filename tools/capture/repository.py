"""A repository's facts about its project, a line each: its dependencies and its latest commits.

Changed lines are captured. Their content is data by the authors of files and commits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from memtape.schemas.events import REPOSITORY_TAG
from memtape.schemas.times import US_PER_S
from memtape.tools.capture.lines import Line
from memtape.tools.capture.native_ids import digest
from memtape.tools.capture.project import git

STACK_TAG, COMMITS_TAG = "stack", "commits"
COMMITS, DEPENDENCIES, MOST_CHARS = 5, 8, 400
MOST_BYTES = 1_000_000
"""A larger file is no manifest that a person keeps."""
_NAME = re.compile(r"\A[A-Za-z0-9@][\w.@/-]*")


def repository_lines(folder: Path) -> list[Line]:
    """Return the lines about a folder's repository; none outside of git."""
    top = git(folder, "rev-parse", "--show-toplevel")
    if top is None:
        return []
    found = [(STACK_TAG, _stack(Path(top))), (COMMITS_TAG, _commits(Path(top)))]
    return [
        Line(
            text=text[:MOST_CHARS],
            kind="journal",
            origin="tool",
            actor="memtape",
            source=REPOSITORY_TAG,
            native_id=f"{tag}:{digest(text)}",
            tags=(REPOSITORY_TAG, tag),
        )
        for tag, text in found
        if text
    ]


def last_commit(folder: str) -> int | None:
    """Return the time of the last commit on any branch, in microseconds; None without commits.

    `folder` is any folder in the repository, its git folder too.
    """
    said = git(Path(folder), "log", "-1", "--branches", "--format=%ct")
    return int(said) * US_PER_S if said and said.isdecimal() else None


def _commits(top: Path) -> str:
    said = git(top, "log", f"-{COMMITS}", "--no-merges", "--date=short", "--format=%ad %s (%h)")
    return f"Last commits: {'; '.join(said.splitlines())}" if said else ""


def _stack(top: Path) -> str:
    found = [told for name, tell in _MANIFESTS.items() if (told := _told(top / name, tell))]
    return f"Built with: {'; '.join(found)}" if found else ""


def _told(path: Path, tell: Callable[[bytes], str]) -> str:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
            return ""
        return tell(path.read_bytes())
    except (OSError, ValueError, msgspec.DecodeError, TypeError, AttributeError, KeyError, RecursionError):
        return ""


def _named(language: str, names: Iterable[Any]) -> str:
    """Return a language with the first names of its dependencies."""
    held = [found[0] for name in names if isinstance(name, str) and (found := _NAME.match(name.strip()))]
    more = f" and {len(held) - DEPENDENCIES} more" if len(held) > DEPENDENCIES else ""
    return f"{language} with {', '.join(held[:DEPENDENCIES])}{more}" if held else language


def _python(data: bytes) -> str:
    project = msgspec.toml.decode(data).get("project", {})
    wanted = project.get("requires-python")
    return _named(f"Python {wanted}" if isinstance(wanted, str) else "Python", project.get("dependencies", []))


def _node(data: bytes) -> str:
    package = json.loads(data)
    wanted = {**package.get("dependencies", {}), **package.get("devDependencies", {})}
    return _named("TypeScript" if "typescript" in wanted else "JavaScript", package.get("dependencies", {}))


def _rust(data: bytes) -> str:
    return _named("Rust", msgspec.toml.decode(data).get("dependencies", {}))


def _go(data: bytes) -> str:
    lines = data.decode().splitlines()
    version = next((line.split()[1] for line in lines if line.startswith("go ")), "")
    return _named(f"Go {version}".strip(), [line.strip() for line in lines if re.match(r"\s+[\w.]+\.\w+/", line)])


_MANIFESTS: dict[str, Callable[[bytes], str]] = {
    "pyproject.toml": _python,
    "package.json": _node,
    "Cargo.toml": _rust,
    "go.mod": _go,
    "Gemfile": lambda data: "Ruby",
    "pom.xml": lambda data: "Java, by Maven",
    "build.gradle": lambda data: "Java, by Gradle",
    "build.gradle.kts": lambda data: "Kotlin, by Gradle",
    "mix.exs": lambda data: "Elixir",
    "composer.json": lambda data: "PHP",
    "CMakeLists.txt": lambda data: "C or C++, by CMake",
    "Makefile": lambda data: "make",
    "Dockerfile": lambda data: "Docker",
}
