"""The folders of a home: where each thing lies, its bytes, and its locks. Only this file spells their names.

Locks are kernel locks (flock), which end with their holder in any case and are never stolen. The file of a
lock holds the holder's pid for refused processes.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from memtape.schemas.errors import Locked, MemtapeError
from memtape.schemas.patterns import lazy
from memtape.schemas.scopes import GLOBAL, PROJECT_PREFIX

HOME_VARIABLE = "MEMTAPE_HOME"
POLL_S = 0.02
_NOWHERE = Path("/proc/self/memtape-nowhere")
"""A path where not even the superuser can make a folder. Without `/proc` only the superuser can."""
UNFINISHED = ".new"
"""The ending of an unfinished file. Each has one writer; the file of a killed writer is overwritten."""
ContentT = TypeVar("ContentT")
_KIND = lazy(
    r"(?P<log>log\.db)[^/]*\Z|(?P<pages>vault)/|(?P<past>as-of)/|builds/[^/]+/"
    r"(?:(?P<snapshots>state)/|lance/[^/]+/(?P<index>index)/|(?P<tables>lance)/)"
)
"""The kind of a file by its path in the home; any other is of the kind `rest`."""
KINDS = ("log", "tables", "index", "snapshots", "pages", "past", "rest")


def write_whole(
    path: Path,
    data: bytes,
    *,
    durable: bool = False,
    unfinished: Path | None = None,
    unless: Callable[[], bool] = lambda: False,
    mode: int = 0o600,
) -> bool:
    """Write a file whole or not at all; `durable` also survives a power failure.

    The file is readable by its owner alone unless `mode` gives it other permissions. It is written beside its
    place, or as `unfinished`, and renamed.

    `unless` is called right before the rename; if it returns True nothing is written. Returns whether the
    file was written.
    """
    temporary = unfinished or unfinished_beside(path)
    with open(temporary, "wb", opener=private) as file:
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    if mode != 0o600:
        temporary.chmod(mode)
    if unless():
        temporary.unlink()
        return False
    temporary.replace(path)
    return True


def write_new(path: Path, parts: Iterable[bytes]) -> int:
    """Write a new file, readable by the owner alone; return the number of parts written.

    Raises `MemtapeError` for an existing file.
    """
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        raise MemtapeError(f"{path} is there already.", "Name a new file.") from None
    count = 0
    with path.open("wb") as stream:
        for count, part in enumerate(parts, start=1):  # noqa: B007
            stream.write(part)
    return count


def read_json(path: Path, kind: type[ContentT]) -> ContentT | None:
    """Return the content of a file of JSON, None for a missing or damaged one."""
    import msgspec  # A process that only hands on has no time for it.

    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def private(name: str, flags: int) -> int:
    """Open a file as `open` does; a new file is readable by its owner alone."""
    return os.open(name, flags, 0o600)


def make_folder(path: Path) -> None:
    """Make a folder and its missing parents, accessible to their owner alone.

    `Path.mkdir` applies its mode to the last folder only.
    """
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def unfinished_beside(path: Path) -> Path:
    """Return the path of an unfinished file or folder, renamed to `path` once complete."""
    return path.with_name(f".{path.name}{UNFINISHED}")


class Build:
    """One whole set of LanceDB tables, with the state that a projector keeps beside them.

    `state`: the snapshots of all partitions. `blanked_path`: up to where erased slots of the log are known to
    be blank.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.state = path / "state"
        self.blanked_path = self.state / "blanked.json"

    @property
    def number(self) -> int:
        """Builds are counted from 1."""
        return int(self.path.name)

    @property
    def name(self) -> str:
        """The place of the views: another one once other views are served."""
        return str(self.path)

    def snapshots(self, partition: int) -> Path:
        """The snapshots of one partition."""
        return self.state / f"p{partition:02}"

    def damage_path(self, partition: int) -> Path:
        """The file that records unreadable tables of a partition; a projector then rebuilds them."""
        return self.state / f"damaged-p{partition:02}"

    def note_damage(self, partition: int) -> None:
        """Record that tables of a partition are unreadable. A mere reader may lack the permission."""
        with suppress(OSError):
            make_folder(self.state)
            self.damage_path(partition).touch()

    def shard(self, partition: int) -> Path:
        """The LanceDB folder of one partition."""
        return self.path / "lance" / f"p{partition:02}"

    def adopt(self, other: Build, partition: int) -> None:
        """Take over the tables and snapshots of a partition from another build by links, without copying.

        Files of LanceDB and the projector are never changed in place, so that both builds can share them.
        """
        from shutil import copytree, rmtree

        for folder in (self.shard(partition), self.snapshots(partition)):
            source = other.path / folder.relative_to(self.path)
            if source.is_dir() and not folder.exists():
                unfinished = unfinished_beside(folder)
                rmtree(unfinished, ignore_errors=True)
                copytree(source, unfinished, copy_function=os.link)
                unfinished.rename(folder)

    def discard(self) -> None:
        """Delete the build. Files that cannot be deleted are tried again at the next build."""
        from shutil import rmtree

        rmtree(self.path, ignore_errors=True)


CLAIM = lazy(r"p(\d{2,})-(\d{8})\Z")
"""The name of a claim on a partition and of its build, by `claim_name`."""


def claim_name(partition: int, number: int) -> str:
    """Return the name of a partition's claim."""
    return f"p{partition:02}-{number:08}"


class SharedBuild(Build):
    """The views in a folder that machines share: of each partition the complete build of its newest claim.

    A build has a claim's name once it is complete. `claims` numbers the served claims by partition.
    """

    number = 0  # Stands for whatever is served.

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        found = (CLAIM.match(name) for name in (os.listdir(path) if path.is_dir() else ()))
        self.claims: dict[int, int] = {}
        for partition, number in sorted((int(it[1]), int(it[2])) for it in found if it):
            self.claims[partition] = number

    @property
    def name(self) -> str:
        """See `Build.name`."""
        return f"{self.path} {self.claims}"

    def of(self, partition: int) -> Build:
        """Return the served build of a partition."""
        return Build(self.path / claim_name(partition, self.claims.get(partition, 0)))

    def epoch_lock(self, partition: int) -> FileLock:
        """The epoch lock of a partition's served claim."""
        return claim_lock(self.path, claim_name(partition, self.claims.get(partition, 0)))

    def snapshots(self, partition: int) -> Path:
        """See `Build.snapshots`."""
        return self.of(partition).snapshots(partition)

    def shard(self, partition: int) -> Path:
        """See `Build.shard`."""
        return self.of(partition).shard(partition)

    def damage_path(self, partition: int) -> Path:
        """See `Build.damage_path`."""
        return self.of(partition).damage_path(partition)

    def note_damage(self, partition: int) -> None:
        """See `Build.note_damage`."""
        if partition in self.claims:
            self.of(partition).note_damage(partition)


class FileLock:
    """A lock on a file, held by one process, and inside the process by one `acquire` at a time.

    `fd` is the descriptor of the open lock file, None while the lock is not held here. A child that inherits
    it holds the lock until its end.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self.what = what
        self.fd: int | None = None

    def acquire(self, wait_s: float) -> None:
        """Take the lock, waiting at most `wait_s`; raise `Locked`, which names the holder."""
        deadline = time.monotonic() + wait_s
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    pid = _pid(os.pread(fd, 32, 0))
                    os.close(fd)
                    named = f"the process with pid {pid}" if pid else "another process"
                    raise Locked(
                        f"{self.what} is held by {named} ({self.path}).",
                        pid,
                        "Wait for it, or end it if it should not be there; the lock ends with its holder.",
                    ) from None
                time.sleep(POLL_S)
        self.fd = fd
        self.name(os.getpid())

    def name(self, pid: int) -> None:
        """Name the process that holds the lock, which is held here too."""
        assert self.fd is not None
        os.ftruncate(self.fd, 0)
        os.pwrite(self.fd, str(pid).encode(), 0)

    def release(self) -> None:
        """Give the lock back; nothing happens if it is not held."""
        fd, self.fd = self.fd, None
        if fd is not None:
            os.close(fd)

    @contextmanager
    def held(self, wait_s: float) -> Iterator[None]:
        """Hold the lock in a block, waiting at most `wait_s` for it; raise `Locked`."""
        self.acquire(wait_s)
        try:
            yield
        finally:
            self.release()

    def holder(self) -> int | None:
        """Return the pid of the process that holds the lock, None if it is free."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
        except BlockingIOError:
            return _pid(os.pread(fd, 32, 0))
        finally:
            os.close(fd)

    def __enter__(self) -> FileLock:
        self.acquire(wait_s=3_600)
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def claim_lock(folder: Path, name: str) -> FileLock:
    """Return the epoch lock of a claim in a shared folder: a frozen writer holds only its own."""
    make_folder(folder / "claims")
    return FileLock(folder / "claims" / f"{name}.lock", f"The right to the views of {name}")


@contextmanager
def all_of(locks: Sequence[FileLock], wait_s: float) -> Iterator[None]:
    """Hold several locks, taken in the given order; all callers must use the same order."""
    with ExitStack() as held:
        for lock in locks:
            held.enter_context(lock.held(wait_s))
        yield


def _pid(data: bytes) -> int | None:
    return int(data) if data.isdigit() else None


LOCKS = {
    "consolidation": "The right to consolidate memories",
    "folders": "The list of folders",
    "hook-server": "The right to answer hooks",
    "late-session": "The right to do the rest after a session",
    "late-turn": "The right to do the rest after a turn",
    "imports": "The right to import into this home",
    "model-use": "The count of what models are asked",
    "pauses": "The right to pause and resume",
    "projector": "The right to project this home",
    "spool": "The spool",
    "spool-delivery": "The delivery of the spool",
    "turn": "The right to project this home next",
    "windows": "The right to ask a model about talk",
}
"""What is held by each lock of a home. Those to project and to answer hooks are held until a process ends. An
importer holds the right from finding new events to appending them, so that none is added twice. So with a
pass of consolidation and with questions to a model: no two processes decide, or ask, about the same.
"""


class Home:
    """A data folder, readable by its owner alone (0700), made when first opened unless `make` is false.

    `is_nowhere`: whether nothing can be made in it.

    `log_path`: the embedded log. `spool_path`: captures that wait for a broker. `vault`: the root of the
    Markdown. `vault_notes`: lists of written pages, and their offsets. `erasures`: plans of erasures cut
    short. `as_of`: views of past positions. `embedding_path`, `statements_path`, `shadows_path`: below which
    offsets no text waits for a vector, no turn for its statements, and no search for a shadow retriever.
    `windows_path`: windows of late talk that a model was asked about. `model_use_path`: how often models were
    asked, and how that went. `daily_path`: what was done within a day. `known_ids`: ids of a
    log on Kafka. `folders_path`: scopes of folders outside git.
    `imports_path`, `zones`: how far imported files and people's zones have been read. `settings_path`: the
    machine's settings. `redaction_key_path`: the key of the placeholders of secrets. `met_secrets_path`:
    keyed digests of secrets that were met.
    """

    LOG_NAME = "log.db"

    def __init__(self, path: Path, *, make: bool = True) -> None:
        self.path = path
        self.is_nowhere = path == _NOWHERE
        self.log_path = path / self.LOG_NAME
        self.spool_path = path / "spool.jsonl"
        self.vault = path / "vault"
        self.vault_notes = self.vault / ".memtape"
        self.erasures = path / "erasures"
        self.as_of = path / "as-of"
        self.embedding_path = path / "embedding.json"
        self.statements_path = path / "statements.json"
        self.shadows_path = path / "shadows.json"
        self.windows_path = path / "windows.json"
        self.model_use_path = path / "model-use.json"
        self.daily_path = path / "daily.json"
        self.known_ids = path / "known-ids"
        self.folders_path = path / "folders.json"
        self.imports_path = path / "imports.json"
        self.zones = path / "zones"
        self.settings_path = path / "settings.toml"
        self.redaction_key_path = path / "redaction.key"
        self.met_secrets_path = path / "redaction.met"
        if not make:
            return
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if path.stat().st_uid == os.getuid() and path.stat().st_mode & 0o077:
                path.chmod(0o700)
        except OSError as error:
            raise MemtapeError(
                f"The home {path} cannot be used: {error.strerror}.",
                "Choose another with --home or MEMTAPE_HOME.",
            ) from error

    @classmethod
    def nowhere(cls) -> Home:
        """Return a home at an impossible path: readers find nothing, and the system refuses writers."""
        return cls(_NOWHERE, make=False)

    def scope_folder(self, scope: str) -> Path:
        """The Markdown of one scope."""
        name = scope.removeprefix(PROJECT_PREFIX)
        return self.vault / GLOBAL if scope == GLOBAL else self.vault / "projects" / name

    @cached_property
    def shared(self) -> Path | None:
        """The folder in which machines share the views of a topic, None for views of its own."""
        import msgspec

        try:
            place = msgspec.toml.decode(self.settings_path.read_bytes()).get("views")
        except (OSError, ValueError, msgspec.MsgspecError):
            return None  # Whoever reads all settings says what is wrong.
        return self.path / place if isinstance(place, str) else None

    def current(self) -> Build:
        """Return the served build, named by the link `current`; the first build without a link.

        It is a `SharedBuild` where machines share their views.
        """
        if self.shared is not None:
            return SharedBuild(self.shared)
        pointer = self.path / "current"
        try:
            number = pointer.read_text().strip()
        except FileNotFoundError:
            number = "1"
        if not number.isdigit():
            raise MemtapeError(f"{pointer} names no build.", f"Delete it and {self.path / 'builds'}.")
        return self.build(int(number))

    def build(self, number: int) -> Build:
        """Return the build with a number, existing or not."""
        return Build(self.path / "builds" / str(number))

    def builds(self) -> list[Build]:
        """Return the existing builds, oldest first."""
        folder = self.path / "builds"
        found = (path for path in folder.iterdir() if path.name.isdigit()) if folder.is_dir() else ()
        return sorted((Build(path) for path in found), key=lambda build: build.number)

    def serve(self, build: Build) -> None:
        """Make `current` name a build, in one step."""
        write_whole(self.path / "current", f"{build.number}\n".encode(), durable=True)

    def remove_unfinished(self) -> None:
        """Remove the unfinished files of killed projectors; the caller holds the projector's lock."""
        from shutil import rmtree

        # The rest of the vault is people's as well.
        folders = (self.known_ids, self.zones, self.vault_notes, self.path / "builds")
        found = [path for folder in folders for path in folder.rglob(f".*{UNFINISHED}")]
        for path in (*self.path.glob(f".current{UNFINISHED}"), *found):
            if path.is_dir():
                rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def lock(self, name: str) -> FileLock:
        """Return a lock of `LOCKS`."""
        return FileLock(self.path / f"{name}.lock", LOCKS[name])

    def start_lock(self, what: str) -> FileLock:
        """The lock of a background process, from before its start to its end: one process of each kind."""
        return FileLock(self.path / f"{what}-start.lock", f"The right to start a {what}")

    def as_of_lock(self) -> FileLock:
        """Held while a view of the past is made or taken away."""
        return self._epochs_lock("as-of", "The right to name a view of the past")

    def epoch_lock(self, partition: int) -> FileLock:
        """The lock of an epoch, from its first write to its watermark. A reader with it sees whole epochs."""
        if self.shared is not None:
            return SharedBuild(self.shared).epoch_lock(partition)
        return self._epochs_lock(f"p{partition:02}", f"The right to the views of partition {partition}")

    def lease(self, partition: int) -> FileLock:
        """The lock of a process that projects a partition for the owner, held until the process ends."""
        return self._epochs_lock(f"lease-p{partition:02}", f"The lease of partition {partition}")

    def _epochs_lock(self, name: str, what: str) -> FileLock:
        folder = self.path / "epochs"
        folder.mkdir(mode=0o700, exist_ok=True)
        return FileLock(folder / f"{name}.lock", what)

    def leases(self) -> list[FileLock]:
        """Return the locks of all leases that were ever given."""
        return [FileLock(path, "A lease") for path in sorted((self.path / "epochs").glob("lease-*.lock"))]

    def epoch_locks(self, partitions: Iterable[int], wait_s: float) -> AbstractContextManager[None]:
        """Hold the locks of partitions, waiting up to `wait_s` for each; raises `Locked`."""
        return all_of([self.epoch_lock(number) for number in sorted(partitions)], wait_s)


def default_home() -> Path:
    """Return `$MEMTAPE_HOME`, or the user's data folder of this platform."""
    named = os.environ.get(HOME_VARIABLE)
    if named:
        return Path(named)
    from platformdirs import user_data_path

    return user_data_path("memtape", appauthor=False)


def disk_of(home: Home) -> dict[str, int]:
    """Return the bytes of each kind that there is, in the order of `KINDS`; a file that vanishes has none."""
    if home.is_nowhere:
        return {}
    found = dict.fromkeys(KINDS, 0)
    for folder, _, names in os.walk(home.path):
        for path in (Path(folder, name) for name in names):
            kind = _KIND.match(path.relative_to(home.path).as_posix())
            with suppress(OSError):
                found[kind.lastgroup if kind and kind.lastgroup else "rest"] += path.lstat().st_size
    return {kind: size for kind, size in found.items() if size}
