"""The scope of a folder: created once for a repository or folder, pinned, and the same ever after.

The home lists the scope of each repository, and the repository keeps it as `memtape.scope` in its common git
configuration: worktrees share the scope, and a rename loses nothing. A downloaded folder brings its
configuration and origin along; without the home's list, neither opens the memory of a project of this home. A
person allows it once by `adopt`. A path is not enough either: a token beside the scope, made by this home,
proves that the repository is the listed one. For a folder outside git the home keeps the scope, and the
folder is a project by itself. Folders below it may be parts of it or projects of their own; only the latter
assumption mixes nothing up. The work of a session below its first folder belongs to the first folder all the
same.

A scope that was taken out of a repository is kept in the home: where Memtape is used there again, the repository has
the same scope as before.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from memtape.schemas.errors import MemtapeError, NotAdopted
from memtape.schemas.patterns import lazy
from memtape.schemas.scopes import PROJECT_PREFIX, check_scope, slug
from memtape.sinks.home.folders import Home, write_whole
from memtape.sinks.home.locks import FileLock

if TYPE_CHECKING:
    from memtape.tools.capture.secrets.redaction import Redactor

GIT_KEY, TOKEN_KEY = "memtape.scope", "memtape.token"
GIT_TIMEOUT_S = 10
_UNMADE = "-new"

_SCP_URL = lazy(r"^(?:[^@/]+@)?([^:/]+):(?!//)(.+)\Z")
_URL = lazy(r"^[a-z][a-z0-9+.-]*://(?:[^@/]*@)?([^/]+)/(.+)\Z", re.IGNORECASE)


Repositories = dict[str, dict[str, str]]
"""`pinned` and `taken`: scopes by the git folder shared by all worktrees; `marks`: each folder's mark.

The mark of a pinned git folder is a token that this home wrote into its configuration, that of a `.git` file
is `_file_mark`, and that of a folder from which everything was taken out is its inode.
"""
Began = Callable[[], Path | None]
"""Tells the folder that a session began in, None where that is not known; asked outside git alone."""


def scope_of_folder(folder: Path, home: Home, *, pin: bool = True, began: Began | None = None) -> str:
    """Return the scope of a folder's project, created and pinned at the first call.

    A missing folder belongs to its former repository, as a removed worktree. Without `pin` nothing is
    written, and a scope that would be created `is_unmade`. Raises `NotAdopted` for a clone of a repository of
    this home that no person has allowed to share its scope.
    """
    if not folder.is_dir():
        there = next((parent for parent in folder.parents if parent.is_dir()), folder)
        folder = there if git(there, "rev-parse", "--show-toplevel") else folder
    # Git takes some milliseconds to answer: most hooks stand in a tree that has a scope, and ask nothing else.
    if _is_in_tree(folder.absolute()) and (scope := _listed(folder, home, pin)):
        return check_scope(scope)
    top = git(folder, "rev-parse", "--show-toplevel")
    if top is None:
        return _scope_outside_git(_where_begun(folder.resolve(), began), home, pin)
    if scope := _listed(folder, home, pin):
        return check_scope(scope)
    common = _common(folder)
    origin = git(folder, "config", "--get", "remote.origin.url")
    name = _name_of(top, origin, _redactor(home, keeps_key=pin))
    scope, is_made = _unlisted_scope(folder, home, _new_scope(name, origin))
    if not pin:
        return scope if origin or not is_made else _unmade_scope(name)
    with _lock(home):
        if first := _listed(folder, home):  # Another process was first.
            return check_scope(first)
        _pin(top, home, common, scope)
    return scope


def _listed(folder: Path, home: Home, pin: bool = False) -> str | None:
    """Return the scope that this home has given to a repository, also where the repository was moved since.

    With `pin` the home notes where a repository was moved to.
    """
    noted = repositories_of(home)  # Before the configuration: who pins writes that first.
    scopes, tokens = _configured(folder)
    if not scopes:
        return None
    common, pinned = _common(folder), noted["pinned"]
    if pinned.get(common) in scopes and _is_marked(noted, common, tokens):
        return pinned[common]
    was = _moved_from(noted, common, tokens)
    if was is None or pinned[was] not in scopes:
        return None
    if pin:
        with _lock(home):
            _note_pinned(home, common, pinned[was], noted["marks"][was], was)
    return pinned[was]


def _unlisted_scope(folder: Path, home: Home, new: str) -> tuple[str, bool]:
    """Return the scope of a repository with none of this home's in its configuration, and if it is `new`.

    Raises `NotAdopted` where the configuration, or the origin, names a scope of another folder of this home,
    or of an earlier repository at the same path.
    """
    common, noted = _common(folder), repositories_of(home)
    scopes, tokens = _configured(folder)
    known = {**noted["taken"], **noted["pinned"]}
    before = known.get(common) if _is_marked(noted, common, tokens) else None
    for scope in (*scopes, new):
        there = [it for it, its in known.items() if its == scope]
        if there and scope != before:
            elsewhere = next((it for it in there if it != common), None)
            raise NotAdopted(str(folder), scope, elsewhere and str(Path(elsewhere).parent))
    if before is not None and common in noted["taken"]:
        return before, False
    return new, True


def _pin(top: str, home: Home, common: str, scope: str) -> None:
    """Write a scope into a repository's configuration and into the home's list, under its lock.

    Other homes keep theirs.
    """
    place = Path(top)
    scopes, tokens = _configured(place)
    is_file, token = Path(common).is_file(), os.urandom(16).hex()
    added = [] if scope in scopes else [(GIT_KEY, scope)]
    for key, value in [*added, *([] if is_file else [(TOKEN_KEY, token)])]:
        if git(place, "config", "--local", "--add", key, value) is None:
            raise MemtapeError(
                f"The scope of {top} cannot be kept in its git configuration.", f"Name one with --scope, as {scope}."
            )
    own = repositories_of(home)["marks"].values()
    _note_pinned(home, common, scope, _file_mark(common) if is_file else token)
    for old in [] if is_file else [it for it in tokens if it in own]:  # As of the repository that this one copies.
        _unset(place, TOKEN_KEY, old)


def take_out(folder: Path, home: Home, scope: str) -> bool:
    """Take a scope and the token of this home out of a repository's configuration; whether that could be written."""
    own = repositories_of(home)["marks"].values()
    return all(
        [_unset(folder, GIT_KEY, scope), *(_unset(folder, TOKEN_KEY, it) for it in _configured(folder)[1] if it in own)]
    )


def _unset(folder: Path, key: str, value: str) -> bool:
    return git(folder, "config", "--local", "--fixed-value", "--unset-all", key, value) is not None


def scopes_in_configuration(folder: Path) -> list[str]:
    """Return the scopes in the configuration that all worktrees of a repository share: one of each home."""
    return _configured(folder)[0]


def _configured(folder: Path) -> tuple[list[str], list[str]]:
    """Return the scopes and the tokens in the configuration of a repository."""
    lines = (git(folder, "config", "--local", "--get-regexp", r"^memtape\.(scope|token)$") or "").splitlines()
    told = [line.partition(" ") for line in lines]
    scopes, tokens = ([value for name, _, value in told if name == key] for key in (GIT_KEY, TOKEN_KEY))
    return scopes, tokens


def _common(folder: Path) -> str:
    """Return the git folder shared by all worktrees of a repository.

    A `.git` file counts as its own git folder if it names a git folder that does not name the file in turn:
    anybody can make a folder whose file points at any repository.
    """
    told = git(folder, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    if told is None:  # The folder is one of git's own.
        return str(git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir"))
    top, within, common = told.splitlines()
    link = Path(top, ".git")
    return str(link) if link.is_file() and not _names(Path(within), link) else common


def _names(within: Path, link: Path) -> bool:
    """Whether the git folder of a worktree names the worktree's `.git` file."""
    try:
        return (within / (within / "gitdir").read_text().strip()).resolve() == link.resolve()
    except OSError:
        return False


def passing_scope(unmade: str, folder: Path) -> str:
    """Return the scope of a folder for a process that keeps none, the same as long as the folder has its path."""
    top = git(folder, "rev-parse", "--show-toplevel") or str(folder.resolve())
    return f"{unmade.removesuffix(_UNMADE)}-{blake2b(top.encode(), digest_size=4).hexdigest()}"


def _is_in_tree(folder: Path) -> bool:
    """Whether a folder surely stands in a working tree; one of git's own folders does not."""
    return ".git" not in folder.parts and any((place / ".git").exists() for place in (folder, *folder.parents))


def is_unmade(scope: str) -> bool:
    """Whether a scope found without `pin` is not created yet; its digits have an ending unused otherwise."""
    return scope.endswith(_UNMADE)


def told_scope(scope: str) -> str:
    """Return how people are told of a scope: one that is unmade has no digits yet, and no name to ask by."""
    return f"{scope.removesuffix(_UNMADE)} (new)" if is_unmade(scope) else scope


def _name_of(top: str, origin: str | None, redactor: Redactor) -> str:
    return redactor.name(_normal_origin(origin).rpartition("/")[2] if origin else Path(top).name)


def _new_scope(name: str, origin: str | None) -> str:
    """Return a scope: a slug for people, and hex digits (of the origin if any) against equal folder names."""
    made = blake2b(_normal_origin(origin).encode(), digest_size=4).digest() if origin else os.urandom(4)
    return f"{PROJECT_PREFIX}{slug(name)}-{made.hex()}"


def _normal_origin(url: str) -> str:
    """Return host and path alone, so that ssh, https and a user's name in the URL give the same scope."""
    url = url.strip()
    found = _URL.match(url) or _SCP_URL.match(url)
    if not found:
        return url.rstrip("/").removesuffix(".git")
    host = found[1].lower().partition(":")[0]
    return f"{host}/{found[2].strip('/').removesuffix('.git').rstrip('/')}"


def _unmade_scope(name: str) -> str:
    return f"{PROJECT_PREFIX}{slug(name)}{_UNMADE}"


def _where_begun(folder: Path, began: Began | None) -> Path:
    """Return the session's first folder outside git if `folder` is below it, else `folder`."""
    start = began() if began is not None else None
    if start is None or not start.is_absolute():
        return folder
    start = start.resolve()
    from tempfile import gettempdir

    wide = (Path(start.anchor), Path.home().resolve(), Path(gettempdir()).resolve())
    return start if folder.is_relative_to(start) and start not in wide else folder


class Adopted(NamedTuple):
    """A folder with a new scope, and the scope before (None if none)."""

    folder: str
    scope: str
    before: str | None


def adopt(folder: Path, home: Home, once: str) -> Adopted:
    """Give a folder's project the scope of a folder that no longer exists, or a named scope.

    Raises `MemtapeError` for a folder that never had a scope or still exists, and for `global`.
    """
    top = git(folder, "rev-parse", "--show-toplevel")
    place = Path(top) if top else folder.resolve()
    before = _scope_before(place, home)
    with FileLock(home.path / "folders.lock", "The list of folders"):
        folders, redactor = _folders(home), _redactor(home)
        was = next((name for name in map(redactor.name, _paths(once)) if name in folders), None)
        if was is not None and Path(once).is_dir() and Path(once).resolve() != place:
            raise MemtapeError(f"{once} is still there and keeps its memory.", "--scope asks that from anywhere.")
        if was is None and not once.startswith(PROJECT_PREFIX):
            raise MemtapeError(
                f"No folder {once} outside git has a memory here.", "`memtape status` names scopes: give one of them."
            )
        scope = check_scope(once) if was is None else folders.pop(was)
        if top is None:
            folders[redactor.name(str(place))] = scope
        else:
            with _lock(home):
                _pin(top, home, _common(place), scope)
        _write(home.folders_path, folders)
    return Adopted(str(place), scope, None if before == scope else before)


def _scope_before(place: Path, home: Home) -> str | None:
    """Return the scope of a folder, None before its first capture."""
    try:
        scope = scope_of_folder(place, home, pin=False)
    except NotAdopted:
        return None
    return None if is_unmade(scope) else scope


def set_apart(folder: Path, home: Home) -> Adopted:
    """Give a repository a scope of its own, regardless of the origin."""
    return adopt(folder, home, _new_scope(_redactor(home).name(folder.name), None))


def once_elsewhere(folder: Path, home: Home) -> list[str]:
    """Return the possible former folders of a folder without a scope: missing ones of its name, or beside it.

    A repository may also have been the same folder outside git.
    """
    top = git(folder, "rev-parse", "--show-toplevel")
    place = Path(top) if top else folder.resolve()
    known = map(Path, _folders(home))
    alike = [path for path in known if path.name == place.name or path.parent == place.parent]
    found = [path for path in alike if path == place or not path.is_dir()]
    return [str(path) for path in sorted(found, key=lambda path: (path.name != place.name, path))]


def folders_known(home: Home) -> dict[str, str]:
    """Return the folder of each scope known on this machine: a repository, or a folder outside git."""
    pinned = repositories_of(home)["pinned"]
    within = {scope: str(Path(it).parent if Path(it).name == ".git" else it) for it, scope in pinned.items()}
    return {scope: folder for folder, scope in _folders(home).items()} | within


def _paths(once: str) -> tuple[str, str]:
    """Return the absolute and the resolved path of a folder, its possible keys."""
    return os.path.abspath(once), str(Path(once).resolve())


def _folders(home: Home) -> dict[str, str]:
    """Return the scopes of folders outside git."""
    return _read(home.folders_path)


def _read(path: Path) -> dict[str, Any]:
    try:
        noted: dict[str, Any] = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    return noted


def _write(path: Path, noted: dict[str, Any]) -> None:
    write_whole(path, orjson.dumps(noted, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS), durable=True)


def _scope_outside_git(folder: Path, home: Home, pin: bool) -> str:
    with FileLock(home.path / "folders.lock", "The list of folders") if pin else nullcontext():
        folders, redactor = _folders(home), _redactor(home, keeps_key=pin)
        if scope := folders.get(redactor.name(str(folder))):
            return check_scope(scope)
        if not pin:
            return _unmade_scope(redactor.name(folder.name))
        folders[redactor.name(str(folder))] = scope = _new_scope(redactor.name(folder.name), None)
        _write(home.folders_path, folders)
    return scope


def _redactor(home: Home, keeps_key: bool = True) -> Redactor:
    """Return the redactor of names. Its rules are imported late: a folder with a scope needs none of them."""
    from memtape.tools.capture.secrets.redaction import Redactor

    return Redactor(home, keeps_key=keeps_key)


def git(folder: Path, *words: str) -> str | None:
    """Return the output of a git command, None if it fails or git is missing."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=GIT_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _note_pinned(home: Home, common: str, scope: str, mark: str, was: str | None = None) -> None:
    """Record the scope in a repository's configuration; `was` is the former path of its git folder.

    The caller holds the `_lock`.
    """
    noted = repositories_of(home)
    if was is not None:
        noted["pinned"].pop(was, None)
        noted["marks"].pop(was, None)
    noted["taken"].pop(common, None)
    noted["pinned"][common], noted["marks"][common] = scope, mark
    _write(home.path / "repositories.json", noted)


def note_taken(home: Home, common: str, scope: str) -> None:
    """Note that a scope was taken out of a repository's configuration."""
    with _lock(home):
        noted = repositories_of(home)
        noted["pinned"].pop(common, None)
        noted["taken"][common], noted["marks"][common] = scope, _inode(common)
        _write(home.path / "repositories.json", noted)


def _is_marked(noted: Repositories, common: str, tokens: Sequence[str]) -> bool:
    """Whether the git folder or `.git` file at a path is the recorded one; `tokens` are from its config."""
    mark = noted["marks"].get(common)
    return mark == _inode(common) if common in noted["taken"] else mark in _marks(common, tokens)


def _moved_from(noted: Repositories, common: str, tokens: Sequence[str]) -> str | None:
    """Return where the git folder or `.git` file at a path was noted before it was moved, None where it never was."""
    own, marks = _marks(common, tokens), noted["marks"]
    return next((it for it in noted["pinned"] if marks.get(it) in own and not Path(it).exists()), None)


def _marks(common: str, tokens: Sequence[str]) -> Sequence[str]:
    return [_file_mark(common)] if Path(common).is_file() else tokens


def _file_mark(common: str) -> str:
    """Return the mark of a `.git` file, a file without a configuration of its own."""
    told = Path(common).stat()
    return f"{told.st_ino}.{told.st_mtime_ns}"


def _inode(common: str) -> str:
    return str(Path(common).stat().st_ino)


def repositories_of(home: Home) -> Repositories:
    """Return the repositories with a scope of a home."""
    noted = _read(home.path / "repositories.json")
    return {name: noted.get(name, {}) for name in ("pinned", "taken", "marks")}


def _lock(home: Home) -> FileLock:
    """Return the lock for changes of the list of repositories."""
    return FileLock(home.path / "repositories.lock", "The list of repositories")
