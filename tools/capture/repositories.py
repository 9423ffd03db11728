"""The repositories with a scope of this home: no other copy reads it, and a removal reaches all of them.

A removed scope is kept in the home: where Memtape is used there again, the repository has the same scope as
before. A repository is known by the path of its git folder and by a mark: another one at the same path has
another mark. Nothing here runs git.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from memtape.sinks.home.folders import Home, write_whole
from memtape.sinks.home.locks import FileLock

Repositories = dict[str, dict[str, str]]
"""`pinned` and `taken`: scopes by the git folder shared by all worktrees; `marks`: each folder's mark.

The mark of a pinned git folder is a token that this home wrote into its configuration, that of a `.git` file
is `file_mark`, and that of a folder from which everything was taken out is its inode.
"""


def note_pinned(home: Home, common: str, scope: str, mark: str, was: str | None = None) -> None:
    """Record the scope in a repository's configuration; `was` is the former path of its git folder.

    The caller holds the `lock`.
    """
    noted = read(home)
    if was is not None:
        noted["pinned"].pop(was, None)
        noted["marks"].pop(was, None)
    noted["taken"].pop(common, None)
    noted["pinned"][common], noted["marks"][common] = scope, mark
    _write(home, noted)


def note_taken(home: Home, common: str, scope: str) -> None:
    """Note that a scope was taken out of a repository's configuration."""
    with lock(home):
        noted = read(home)
        noted["pinned"].pop(common, None)
        noted["taken"][common], noted["marks"][common] = scope, _inode(common)
        _write(home, noted)


def is_marked(noted: Repositories, common: str, tokens: Sequence[str]) -> bool:
    """Whether the git folder or `.git` file at a path is the recorded one; `tokens` are from its config."""
    mark = noted["marks"].get(common)
    return mark == _inode(common) if common in noted["taken"] else mark in _marks(common, tokens)


def moved_from(noted: Repositories, common: str, tokens: Sequence[str]) -> str | None:
    """Return where the git folder or `.git` file at a path was noted before it was moved, None where it never was."""
    own, marks = _marks(common, tokens), noted["marks"]
    return next((it for it in noted["pinned"] if marks.get(it) in own and not Path(it).exists()), None)


def _marks(common: str, tokens: Sequence[str]) -> Sequence[str]:
    return [file_mark(common)] if Path(common).is_file() else tokens


def file_mark(common: str) -> str:
    """Return the mark of a `.git` file, a file without a configuration of its own."""
    told = Path(common).stat()
    return f"{told.st_ino}.{told.st_mtime_ns}"


def _inode(common: str) -> str:
    return str(Path(common).stat().st_ino)


def read(home: Home) -> Repositories:
    """Return the list of repositories."""
    try:
        noted = orjson.loads(_path(home).read_bytes())
    except FileNotFoundError:
        noted = {}
    return {name: noted.get(name, {}) for name in ("pinned", "taken", "marks")}


def lock(home: Home) -> FileLock:
    """Return the lock for changes of the list of repositories."""
    return FileLock(home.path / "repositories.lock", "The list of repositories")


def _write(home: Home, noted: Repositories) -> None:
    data = orjson.dumps(noted, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
    write_whole(_path(home), data, durable=True)


def _path(home: Home) -> Path:
    return home.path / "repositories.json"
