"""Files written whole, folders of their owner alone, and locks.

Locks are kernel locks (flock), which end with their holder in any case and are never stolen. The file of a
lock holds the holder's pid for refused processes.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from memtape.schemas.errors import Locked, MemtapeError

POLL_S = 0.02
UNFINISHED = ".new"
"""The ending of an unfinished file. Each has one writer; the file of a killed writer is overwritten."""
ContentT = TypeVar("ContentT")


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


def is_read_only(folder: Path) -> bool:
    """Whether a folder is there, and nothing can be made in it."""
    return folder.is_dir() and not os.access(folder, os.W_OK)


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


@contextmanager
def all_of(locks: Sequence[FileLock], wait_s: float) -> Iterator[None]:
    """Hold several locks, taken in the given order; all callers must use the same order."""
    with ExitStack() as held:
        for lock in locks:
            held.enter_context(lock.held(wait_s))
        yield


def _pid(data: bytes) -> int | None:
    return int(data) if data.isdigit() else None
