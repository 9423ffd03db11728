"""Which repositories this home has given a scope, so that no other copy reads it and a farewell can take it out of all.

What was taken out is kept in the home: where Memtape is used there again, the repository has the same scope as before.
A repository is known by the path of its git folder, and after a move by the inode. Nothing here runs git.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from memtape.sinks.home.folders import Home, write_whole
from memtape.sinks.home.locks import FileLock

Repositories = dict[str, dict[str, str]]
"""`pinned` and `taken`: scopes by the git folder that all worktrees of a repository share; `inodes`: its inode."""


def note_pinned(home: Home, common: str, scope: str, was: str | None = None) -> None:
    """Note that a repository has this scope in its configuration; `was` is where its git folder was moved from."""
    with _lock(home):
        noted = read(home)
        if was is not None:
            noted["pinned"].pop(was, None)
            noted["inodes"].pop(was, None)
        noted["taken"].pop(common, None)
        noted["pinned"][common], noted["inodes"][common] = scope, _inode(common)
        _write(home, noted)


def note_taken(home: Home, common: str, scope: str) -> None:
    """Note that a scope was taken out of a repository's configuration."""
    with _lock(home):
        noted = read(home)
        noted["pinned"].pop(common, None)
        _write(home, noted | {"taken": noted["taken"] | {common: scope}})


def moved_from(home: Home, common: str) -> str | None:
    """Return where the git folder at a path was noted before it was moved here, None where it never was."""
    inode = _inode(common)
    noted = read(home)
    return next(
        (it for it, its in noted["inodes"].items() if its == inode and it in noted["pinned"] and not Path(it).exists()),
        None,
    )


def _inode(common: str) -> str:
    return str(Path(common).stat().st_ino)


def read(home: Home) -> Repositories:
    """Return what is noted."""
    try:
        noted = orjson.loads(_path(home).read_bytes())
    except FileNotFoundError:
        noted = {}
    return {name: noted.get(name, {}) for name in ("pinned", "taken", "inodes")}


def _lock(home: Home) -> FileLock:
    return FileLock(home.path / "repositories.lock", "The list of repositories")


def _write(home: Home, noted: Repositories) -> None:
    data = orjson.dumps(noted, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
    write_whole(_path(home), data, durable=True)


def _path(home: Home) -> Path:
    return home.path / "repositories.json"
