"""A repository's facts about its project, a line each: its dependencies and its latest commits.

Changed lines are captured. Their content is data by the authors of files and commits.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec

from memtape.schemas.events import REPOSITORY_TAG
from memtape.schemas.times import US_PER_S
from memtape.tools.capture.injected import host_texts
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
    stack = "; ".join(filter(None, (_told(Path(top, name)) for name in host_texts()["manifests"])))
    commits = git(folder, "log", f"-{COMMITS}", "--no-merges", "--date=short", "--format=%ad %s (%h)") or ""
    found = [
        (STACK_TAG, stack and f"Built with: {stack}"),
        (COMMITS_TAG, commits and f"Last commits: {'; '.join(commits.splitlines())}"),
    ]
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


def _told(path: Path) -> str:
    """Return a manifest's language and first dependencies, empty for a missing or damaged manifest."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
            return ""
        return _stated(path.name, path.read_bytes())
    except (OSError, ValueError, msgspec.DecodeError, TypeError, AttributeError, KeyError, RecursionError):
        return ""


def _stated(name: str, data: bytes) -> str:
    """Return a manifest's language with the first names of its dependencies."""
    language, names = host_texts()["manifests"][name], list[Any]()
    match name:
        case "pyproject.toml":
            project = msgspec.toml.decode(data).get("project", {})
            wanted, names = project.get("requires-python"), project.get("dependencies", [])
            language = f"{language} {wanted}" if isinstance(wanted, str) else language
        case "package.json":
            package = json.loads(data)
            names = package.get("dependencies", {})
            is_typed = "typescript" in {**names, **package.get("devDependencies", {})}
            language = "TypeScript" if is_typed else language
        case "Cargo.toml":
            names = msgspec.toml.decode(data).get("dependencies", {})
        case "go.mod":
            lines = data.decode().splitlines()
            language += next((f" {line.split()[1]}" for line in lines if line.startswith("go ")), "")
            names = [line.strip() for line in lines if re.match(r"\s+[\w.]+\.\w+/", line)]
    held = [found[0] for name in names if isinstance(name, str) and (found := _NAME.match(name.strip()))]
    more = f" and {len(held) - DEPENDENCIES} more" if len(held) > DEPENDENCIES else ""
    return f"{language} with {', '.join(held[:DEPENDENCIES])}{more}" if held else language
