"""Which repositories have a scope of this home in their git configuration, so that a farewell can take it out of all.

What was taken out is kept in the home: where Memtape is used there again, the repository has the same scope as before.
Nothing here runs git.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from memtape.sinks.home.folders import Home, write_whole
from memtape.sinks.home.locks import FileLock

Repositories = dict[str, dict[str, str]]
"""`pinned` and `taken`: scopes by the git folder that all worktrees of a repository share."""


def note_pinned(home: Home, common: str, scope: str) -> None:
    """Note that a repository has this scope in its configuration."""
    with _lock(home):
        noted = read(home)
        noted["taken"].pop(common, None)
        _write(home, noted | {"pinned": noted["pinned"] | {common: scope}})


def note_taken(home: Home, common: str, scope: str) -> None:
    """Note that a scope was taken out of a repository's configuration."""
    with _lock(home):
        noted = read(home)
        noted["pinned"].pop(common, None)
        _write(home, noted | {"taken": noted["taken"] | {common: scope}})


def read(home: Home) -> Repositories:
    """Return what is noted."""
    try:
        noted = orjson.loads(_path(home).read_bytes())
    except FileNotFoundError:
        noted = {}
    return {"pinned": noted.get("pinned", {}), "taken": noted.get("taken", {})}


def _lock(home: Home) -> FileLock:
    return FileLock(home.path / "repositories.lock", "The list of repositories")


def _write(home: Home, noted: Repositories) -> None:
    data = orjson.dumps(noted, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
    write_whole(_path(home), data, durable=True)


def _path(home: Home) -> Path:
    return home.path / "repositories.json"
