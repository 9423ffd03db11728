"""Connections to SQLite databases, and the reading of files past SQLite while this process has them open.

POSIX releases every lock of a process on a file as soon as the process closes any descriptor of it. SQLite
would then hold no lock on its database: another process that ends takes itself for the last one, deletes the
write-ahead file, and later appends of this process are lost. So such a descriptor is closed after the
database.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

USE_WAL = "PRAGMA journal_mode=WAL"
WAIT_S = 60.0
_SUFFIXES = ("-wal", "-shm", "-journal")

_lock = threading.Lock()
_uses = Counter[str]()
_held: dict[str, list[BinaryIO]] = {}


class KeptConnection(sqlite3.Connection):
    """A connection that retries where SQLite gives up, and whose files may be read past it, by `opened`.

    While other processes begin, end and rewrite at once, SQLite tries a hundred times to find a state to read
    and then says "locking protocol". To switch to WAL it waits for no process at all. Nothing was done by
    then, and the statement is run again, as for a busy file.

    A `read_only` connection writes no file beside the database either. Without a write-ahead file it takes
    the database for one that never changes.
    """

    _name: str | None = None

    def __init__(self, path: Path, *, read_only: bool = False, **options: Any) -> None:
        place: Path | str = path
        if read_only:
            still = "" if os.path.exists(f"{path}-wal") else "&immutable=1"
            place = f"{path.absolute().as_uri()}?mode=ro{still}"
        super().__init__(place, uri=read_only, **options)
        self._name = os.path.realpath(path)
        with _lock:
            _uses[self._name] += 1

    def __del__(self) -> None:
        if self._name is not None:
            self.close()

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        wanting = "lock" if statement[0] == USE_WAL else "locking protocol"
        give_up = time.monotonic() + WAIT_S
        while True:
            try:
                return super().execute(*statement)
            except sqlite3.OperationalError as error:
                if wanting not in str(error) or time.monotonic() > give_up:
                    raise
            time.sleep(0.002 + os.urandom(1)[0] / 10_000)  # Another time for each: not all meet again.

    def close(self) -> None:
        super().close()
        name, self._name = self._name, None
        with _lock:
            if name is not None:
                _uses[name] -= 1
                for file in [] if _uses[name] else _held.pop(name, []):
                    file.close()


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open any file to read it; one of a database in use is closed with the database."""
    file, name = path.open("rb"), os.path.realpath(path)
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    try:
        yield file
    finally:
        with _lock:
            if _uses.get(name):
                _held.setdefault(name, []).append(file)
            else:
                file.close()
