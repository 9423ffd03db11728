"""The locks of a home, for the projector's life, and for each epoch of a partition until its watermark.

All are kernel locks (flock), which end with their holder in any case and are never stolen. The file holds the
holder's pid for refused processes.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from memtape.schemas.errors import Locked

POLL_S = 0.02


class FileLock:
    """A lock on a file, held by one process and inside it by one thread at a time."""

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self.what = what
        self._thread_lock = threading.Lock()
        self._fd: int | None = None

    def acquire(self, wait_s: float) -> None:
        """Take the lock, waiting at most `wait_s`; raise `Locked`, which names the holder."""
        deadline = time.monotonic() + wait_s
        if not self._thread_lock.acquire(timeout=wait_s):
            raise self._refusal(os.getpid())
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    pid = _pid(os.pread(fd, 32, 0))
                    os.close(fd)
                    self._thread_lock.release()
                    raise self._refusal(pid) from None
                time.sleep(POLL_S)
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
        self._fd = fd

    def release(self) -> None:
        """Give the lock back; nothing happens if it is not held."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)
            self._thread_lock.release()

    @contextmanager
    def held(self, wait_s: float) -> Iterator[None]:
        """Hold the lock in a block, waiting at most `wait_s` for it; raise `Locked`."""
        self.acquire(wait_s)
        try:
            yield
        finally:
            self.release()

    @property
    def fd(self) -> int | None:
        """The descriptor of the open lock file. A child that inherits it holds the lock until its end."""
        return self._fd

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

    def _refusal(self, pid: int | None) -> Locked:
        named = f"the process with pid {pid}" if pid else "another process"
        return Locked(
            f"{self.what} is held by {named} ({self.path}).",
            pid,
            "Wait for it, or end it if it should not be there; the lock ends with its holder.",
        )


@contextmanager
def all_of(locks: Sequence[FileLock], wait_s: float) -> Iterator[None]:
    """Hold several locks, taken in the given order; all callers must use the same order."""
    with ExitStack() as held:
        for lock in locks:
            held.enter_context(lock.held(wait_s))
        yield


def _pid(data: bytes) -> int | None:
    return int(data) if data.isdigit() else None
