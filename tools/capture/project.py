"""The scope of a folder: created once for a repository or folder, pinned, and the same ever after.

The home lists the scope of each repository, and the repository keeps it as `memtape.scope` in its common git
configuration: worktrees share the scope, and a rename loses nothing. A downloaded folder brings its
configuration and origin along; without the home's list, neither opens the memory of a project of this home. A
person allows it once by `adopt`. A path is not enough either: a token beside the scope, made by this home,
proves that the repository is the listed one. For a folder outside git the home keeps the scope, and the
folder is a project by itself. Folders below it may be parts of it or projects of their own; only the latter
assumption mixes nothing up. The work of a session below its first folder belongs to the first folder all the
same.

A scope that was taken out of a repository is kept in the home: where Memtape is used there again, the
repository has the same scope as before.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from contextlib import nullcontext, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from memtape.schemas.errors import MemtapeError, NotAdopted
from memtape.schemas.patterns import lazy
from memtape.schemas.scopes import PROJECT_PREFIX, check_scope, slug
from memtape.sinks.home.files import write_whole
from memtape.sinks.home.folders import Home

if TYPE_CHECKING:
    from memtape.tools.capture.secrets.redaction import Redactor

GIT_KEY, TOKEN_KEY = "memtape.scope", "memtape.token"
GIT_TIMEOUT_S = 10
_UNMADE = "-new"

_SCP_URL = lazy(r"^(?:[^@/]+@)?([^:/]+):(?!//)(.+)\Z")
_URL = lazy(r"^[a-z][a-z0-9+.-]*://(?:[^@/]*@)?([^/]+)/(.+)\Z", re.IGNORECASE)


class Repository(NamedTuple):
    """A repository's scope, and the mark by which its git folder is known again.

    The mark of a git folder is a token that this home wrote into its configuration, or its inode, once the
    token was taken out. The mark of a `.git` file is its inode and time.
    """

    scope: str
    mark: str


Repositories = dict[str, Repository]
"""The repositories of a home, by the git folder that all worktrees share."""
Began = Callable[[], Path | None]
"""Tells the folder that a session began in, None where that is not known; asked outside git alone."""


class Checkout(NamedTuple):
    """A working tree: its folder, its git folder, the scopes, tokens and marks kept there now."""

    top: str
    common: str
    scopes: list[str]
    tokens: list[str]
    marks: list[str]


def scope_of_folder(folder: Path, home: Home, *, pin: bool = True, began: Began | None = None) -> str:
    """Return the scope of a folder's project, created and pinned at the first call.

    A missing folder belongs to its former repository, as a removed worktree. Without `pin` nothing is
    written, and a scope that would be created `is_unmade`. Raises `NotAdopted` for a clone of a repository of
    this home that no person has allowed to share its scope.
    """
    if not folder.is_dir():
        there = next((parent for parent in folder.parents if parent.is_dir()), folder)
        folder = there if git(there, "rev-parse", "--show-toplevel") else folder
    known = repositories_of(home)  # Before the configuration: who pins writes that first.
    tree = checkout_of(folder)
    if tree is None:
        return _scope_outside_git(folder.resolve(), home, pin, began)
    if scope := _listed(tree, known, home, pin):
        return check_scope(scope)
    origin = git(folder, "config", "--get", "remote.origin.url")
    named = _normal_origin(origin).rpartition("/")[2] if origin else Path(tree.top).name
    name = _redactor(home, keeps_key=pin).name(named)
    new = _new_scope(name, origin)
    before = _scope_of_mark(tree, known, new)
    if not pin:
        return before or (new if origin else f"{PROJECT_PREFIX}{slug(name)}{_UNMADE}")
    with home.lock("folders"):
        known, tree = repositories_of(home), checkout_of(folder) or tree
        if first := _listed(tree, known, home):  # Another process was first.
            return check_scope(first)
        _pin(tree, home, before or new)
    return before or new


def checkout_of(folder: Path) -> Checkout | None:
    """Return the working tree around a folder, None outside of git and in git's own folders.

    A `.git` file counts as its own git folder if it names a git folder that does not name the file in turn:
    anybody can make a folder whose file points at any repository.
    """
    asked = ("--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    told = git(folder, "rev-parse", *asked)
    if told is None:
        return None
    top, within, common = told.splitlines()
    link = Path(top, ".git")
    if link.is_file():
        try:
            is_named = (Path(within) / Path(within, "gitdir").read_text().strip()).resolve() == link.resolve()
        except OSError:
            is_named = False
        common = common if is_named else str(link)
    scopes, tokens = configuration_of(folder)
    return Checkout(top, common, scopes, tokens, [_stat_mark(common)] if Path(common).is_file() else tokens)


def configuration_of(folder: Path) -> tuple[list[str], list[str]]:
    """Return the scopes and tokens in the configuration of a repository's worktrees: one of each home."""
    told = git(folder, "config", "--local", "--get-regexp", r"^memtape\.(scope|token)$") or ""
    lines = [line.partition(" ") for line in told.splitlines()]
    scopes, tokens = ([value for name, _, value in lines if name == key] for key in (GIT_KEY, TOKEN_KEY))
    return scopes, tokens


def _listed(tree: Checkout, known: Repositories, home: Home, pin: bool = False) -> str | None:
    """Return the scope that this home has given to a repository, also where the repository was moved since.

    With `pin` the home notes where a repository was moved to.
    """
    ours = {it: held for it, held in known.items() if held.scope in tree.scopes and held.mark in tree.marks}
    if tree.common in ours:
        return ours[tree.common].scope
    was = next((it for it in ours if not Path(it).exists()), None)
    if was is None:
        return None
    if pin:
        with home.lock("folders"):
            _note(home, tree.common, ours[was], was)
    return ours[was].scope


def _scope_of_mark(tree: Checkout, known: Repositories, new: str) -> str | None:
    """Return the scope of a repository with none of this home's in its configuration, as after `take_out`.

    Raises `NotAdopted` where the configuration, or the origin, by which `new` was made, names a scope of
    another folder of this home, or of an earlier repository at the same path.
    """
    held = known.get(tree.common)
    before = held.scope if held is not None and held.mark in (*tree.marks, _stat_mark(tree.common)) else None
    for scope in (*tree.scopes, new):
        there = [it for it, its in known.items() if its.scope == scope]
        if there and scope != before:
            elsewhere = next((it for it in there if it != tree.common), None)
            raise NotAdopted(tree.top, scope, elsewhere and str(Path(elsewhere).parent))
    return before


def _pin(tree: Checkout, home: Home, scope: str) -> None:
    """Write a scope into a repository's configuration and into the home's list, under its lock.

    Other homes keep theirs.
    """
    is_file, token, place = Path(tree.common).is_file(), os.urandom(16).hex(), Path(tree.top)
    added = [] if scope in tree.scopes else [(GIT_KEY, scope)]
    for key, value in [*added, *([] if is_file else [(TOKEN_KEY, token)])]:
        if git(place, "config", "--local", "--add", key, value) is None:
            raise MemtapeError(
                f"The scope of {place} cannot be kept in its git configuration.",
                f"Name one with --scope, as {scope}.",
            )
    own = [held.mark for held in repositories_of(home).values()]
    _note(home, tree.common, Repository(scope, _stat_mark(tree.common) if is_file else token))
    for old in [] if is_file else tree.tokens:
        if old in own:  # As of the repository that this one copies.
            _unset(place, TOKEN_KEY, old)


def take_out(home: Home, common: str) -> bool:
    """Take this home's scope and token out of a git folder's configuration; whether that could be written."""
    folder, known = Path(common), repositories_of(home)
    own, scope = [held.mark for held in known.values()], known[common].scope
    tokens = [token for token in configuration_of(folder)[1] if token in own]
    if not all([_unset(folder, GIT_KEY, scope), *(_unset(folder, TOKEN_KEY, token) for token in tokens)]):
        return False
    with home.lock("folders"):
        _note(home, common, Repository(scope, _stat_mark(common)))
    return True


def _unset(folder: Path, key: str, value: str) -> bool:
    return git(folder, "config", "--local", "--fixed-value", "--unset-all", key, value) is not None


def _place_of(folder: Path) -> Path:
    """Return the folder of a project: the working tree around a folder, outside git the folder itself."""
    top = git(folder, "rev-parse", "--show-toplevel")
    return Path(top) if top else folder.resolve()


def passing_scope(unmade: str, folder: Path) -> str:
    """Return a folder's scope for a process that keeps none, the same as long as the folder has its path."""
    digits = blake2b(str(_place_of(folder)).encode(), digest_size=4).hexdigest()
    return f"{unmade.removesuffix(_UNMADE)}-{digits}"


def is_unmade(scope: str) -> bool:
    """Whether a scope found without `pin` is not created yet; its digits have an ending unused otherwise."""
    return scope.endswith(_UNMADE)


def told_scope(scope: str) -> str:
    """Return how people are told of a scope: one that is unmade has no digits yet, and no name to ask by."""
    return f"{scope.removesuffix(_UNMADE)} (new)" if is_unmade(scope) else scope


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


class Adopted(NamedTuple):
    """A folder with a new scope, and the scope before (None if none)."""

    folder: str
    scope: str
    before: str | None


def adopt(folder: Path, home: Home, once: str) -> Adopted:
    """Give a folder's project the scope of a folder that no longer exists, or a named scope.

    Raises `MemtapeError` for a folder that never had a scope or still exists, and for `global`.
    """
    place, before = _place_of(folder), None
    with suppress(NotAdopted):
        before = scope_of_folder(place, home, pin=False)
    with home.lock("folders"):
        folders, redactor = _read(home.folders_path), _redactor(home)
        paths = os.path.abspath(once), str(Path(once).resolve())
        was = next((name for name in map(redactor.name, paths) if name in folders), None)
        if was is not None and Path(once).is_dir() and Path(once).resolve() != place:
            told = f"{once} is still there and keeps its memory."
            raise MemtapeError(told, "--scope asks that from anywhere.")
        if was is None and not once.startswith(PROJECT_PREFIX):
            raise MemtapeError(
                f"No folder {once} outside git has a memory here.",
                "`memtape status` names scopes: give one of them.",
            )
        scope = check_scope(once) if was is None else folders.pop(was)
        if (tree := checkout_of(place)) is None:
            folders[redactor.name(str(place))] = scope
        else:
            _pin(tree, home, scope)
        _write(home.folders_path, folders)
    is_same = before is None or is_unmade(before) or before == scope
    return Adopted(str(place), scope, None if is_same else before)


def folders_known(home: Home) -> dict[str, str]:
    """Return the folder of each scope known on this machine: a repository, or a folder outside git."""
    known = repositories_of(home).items()
    within = {held.scope: str(Path(it).parent if Path(it).name == ".git" else it) for it, held in known}
    return {scope: folder for folder, scope in _read(home.folders_path).items()} | within


def _read(path: Path) -> dict[str, Any]:
    noted: dict[str, Any] = {}
    with suppress(FileNotFoundError):
        noted = orjson.loads(path.read_bytes())
    return noted


def _write(path: Path, noted: dict[str, Any]) -> None:
    write_whole(path, orjson.dumps(noted, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS), durable=True)


def _scope_outside_git(folder: Path, home: Home, pin: bool, began: Began | None) -> str:
    """Return the scope of the session's first folder if `folder` is below that, else of `folder`."""
    start = began() if began is not None else None
    if start is not None and start.is_absolute():
        from tempfile import gettempdir

        start = start.resolve()
        wide = (Path(start.anchor), Path.home().resolve(), Path(gettempdir()).resolve())
        folder = start if folder.is_relative_to(start) and start not in wide else folder
    with home.lock("folders") if pin else nullcontext():
        folders, redactor = _read(home.folders_path), _redactor(home, keeps_key=pin)
        if scope := folders.get(redactor.name(str(folder))):
            return check_scope(scope)
        name = redactor.name(folder.name)
        if not pin:
            return f"{PROJECT_PREFIX}{slug(name)}{_UNMADE}"
        folders[redactor.name(str(folder))] = scope = _new_scope(name, None)
        _write(home.folders_path, folders)
    return scope


def _redactor(home: Home, keeps_key: bool = True) -> Redactor:
    """Return the redactor of names. Its rules are imported late: a folder with a scope needs none of them."""
    from memtape.tools.capture.secrets.redaction import Redactor

    return Redactor(home, keeps_key=keeps_key)


def git(folder: Path, *words: str) -> str | None:
    """Return the output of a git command, None if it fails or git is missing."""
    try:
        asked = ["git", "-C", str(folder), *words]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=GIT_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _note(home: Home, common: str, held: Repository, was: str | None = None) -> None:
    """Record a repository's scope by its git folder; `was` is the former path.

    The caller holds the lock `folders`.
    """
    noted = repositories_of(home)
    if was is not None:
        noted.pop(was, None)
    noted[common] = held
    _write(home.path / "repositories.json", {it: list(its) for it, its in noted.items()})


def _stat_mark(common: str) -> str:
    """Return the mark of a `.git` file, which has no configuration of its own, or of a folder without one."""
    told, is_file = Path(common).stat(), Path(common).is_file()
    return f"{told.st_ino}.{told.st_mtime_ns}" if is_file else f"inode {told.st_ino}"


def repositories_of(home: Home) -> Repositories:
    """Return the repositories with a scope of a home."""
    return {common: Repository(*held) for common, held in _read(home.path / "repositories.json").items()}
